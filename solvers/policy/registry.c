// The registry: the solvers by name, their settings, and the life of a solver object. It stands above every method;
// nothing below calls it.
#include <strings.h>

#include "memory.h"
#include "policy.h"

// One table per set of defaults.
#define ROW_PLAIN(...) TRIBO_SETTING_ROW(TriboCommonSettings, __VA_ARGS__)
#define ROW_ADMM(...) TRIBO_SETTING_ROW(TriboAdmmSettings, __VA_ARGS__)
#define ROW_PGS(...) TRIBO_SETTING_ROW(TriboPgsSettings, __VA_ARGS__)
#define ROW_AUTO(...) TRIBO_SETTING_ROW(TriboAutoSettings, __VA_ARGS__)
#define ROW_CANAL(...) TRIBO_SETTING_ROW(TriboCanalSettings, __VA_ARGS__)
#define ROW_SUBADMM(...) TRIBO_SETTING_ROW(TriboSubadmmSettings, __VA_ARGS__)
static const TriboSetting plain_table[] = {TRIBO_PLAIN_SETTINGS(ROW_PLAIN)};
static const TriboSetting auto_table[] = {TRIBO_AUTO_SETTINGS(ROW_AUTO)};
static const TriboSetting admm_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1.5, 1e-6, 0, 1, 0, 5)};
static const TriboSetting admm_ccp_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 0, 1, 0, 1, 0)};
static const TriboSetting admm_fixed_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 1e-6, 1, 0, 0, 0)};
static const TriboSetting admm_linear_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 1e-6, 1, 3, 0, 0)};
static const TriboSetting admm_spectral_table[] = {TRIBO_ADMM_SETTINGS(ROW_ADMM, 1, 1e-6, 0, 2, 0, 0)};
static const TriboSetting pgs_table[] = {TRIBO_PGS_SETTINGS(ROW_PGS, 0, 0)};
static const TriboSetting pgs_saxce_table[] = {TRIBO_PGS_SETTINGS(ROW_PGS, 1, 0)};
static const TriboSetting pgs_early_table[] = {TRIBO_PGS_SETTINGS(ROW_PGS, 1, 1e-8)};
static const TriboSetting canal_table[] = {TRIBO_CANAL_SETTINGS(ROW_CANAL)};
static const TriboSetting subadmm_table[] = {TRIBO_SUBADMM_SETTINGS(ROW_SUBADMM)};
#define TABLE(t) (t), (int)(sizeof(t) / sizeof(t)[0])
#define TABLE_1 "Tsounis, Grandia, Baecher 2025, Table I"

// A new solver is a line here and a function.
static const TriboMethod methods[] = {
    {{"auto",
      "proximal points, each by Newton, from old impulses or from ADMM's; an interior point and central paths behind "
      "them",
      "this project; rungs as in tribo_rung_name", TABLE(auto_table)},
     tribo_sol_run_auto,
     TRIBO_METHOD_AUTO,
     0},
    {{"admm", "alternating directions with row scaling, adaptive penalty and Anderson acceleration",
      "Carpentier, Le Lidec, Montaut 2024, Algorithm 1; Tsounis, Grandia, Baecher 2025, Algorithm 6",
      TABLE(admm_table)},
     tribo_sol_run_admm,
     TRIBO_METHOD_ADMM,
     0},
    {{"newton", "semismooth Newton on the reduced, regularised Alart-Curnier system", "Alart and Curnier 1991",
      TABLE(plain_table)},
     tribo_sol_run_newton,
     TRIBO_METHOD_PLAIN,
     0},
    {{"ipm", "interior point with Nesterov-Todd scaling and the De Saxce term inside, Newton at the end",
      "Nesterov and Todd 1998; Mehrotra 1992", TABLE(plain_table)},
     tribo_sol_run_interior,
     TRIBO_METHOD_PLAIN,
     0},
    {{"canal", "augmented Lagrangians, each minimised by exact Newton steps, De Saxce's term held between them",
      "Lee, Lee, Park, Yun, Lee 2025, Algorithm 1", TABLE(canal_table)},
     tribo_sol_run_canal,
     TRIBO_METHOD_CANAL,
     0},
    {{"subadmm", "alternating directions over subsystems: a fixed, small cost, on all threads; no certificate",
      "Lee, Lee, Park, Yun, Lee 2025, Algorithm 2", TABLE(subadmm_table)},
     tribo_sol_run_subadmm,
     TRIBO_METHOD_SUBADMM,
     0},
    {{"pgs-ccp", "Gauss-Seidel with Euclidean projections on the cones and De Saxce's term",
      TABLE_1 ", Algorithms 5 and 2; Tasora and Anitescu 2011", TABLE(pgs_saxce_table)},
     tribo_sol_run_pgs,
     TRIBO_METHOD_PGS,
     TRIBO_LOCAL_CCP},
    {{"pgs-ncp", "Gauss-Seidel with normal rows first, friction rows on the disc they allow",
      TABLE_1 ", Algorithms 5 and 3", TABLE(pgs_table)},
     tribo_sol_run_pgs,
     TRIBO_METHOD_PGS,
     TRIBO_LOCAL_NCP},
    {{"nbgs", "Gauss-Seidel with every contact solved exactly, by a quartic", TABLE_1 ", Algorithms 5 and 4",
      TABLE(pgs_table)},
     tribo_sol_run_pgs,
     TRIBO_METHOD_PGS,
     TRIBO_LOCAL_QUARTIC},
    {{"raisim", "Gauss-Seidel with every contact solved by bisection", TABLE_1 "; Hwangbo, Lee, Hutter 2018",
      TABLE(pgs_table)},
     tribo_sol_run_pgs,
     TRIBO_METHOD_PGS,
     TRIBO_LOCAL_BISECTION},
    {{"raisim-ds", "raisim with De Saxce's term", TABLE_1, TABLE(pgs_saxce_table)},
     tribo_sol_run_pgs,
     TRIBO_METHOD_PGS,
     TRIBO_LOCAL_BISECTION},
    {{"raisim-ds-es", "raisim-ds that ends when the objective hardly changes", TABLE_1 ", (160)",
      TABLE(pgs_early_table)},
     tribo_sol_run_pgs,
     TRIBO_METHOD_PGS,
     TRIBO_LOCAL_BISECTION},
    {{"admm-ccp", "ADMM on the convex relaxation, fixed penalty", TABLE_1 ", Algorithm 6", TABLE(admm_ccp_table)},
     tribo_sol_run_admm,
     TRIBO_METHOD_ADMM,
     0},
    {{"admm-ncp-fp", "ADMM with a fixed penalty", TABLE_1 ", Algorithm 6", TABLE(admm_fixed_table)},
     tribo_sol_run_admm,
     TRIBO_METHOD_ADMM,
     0},
    {{"admm-ncp-la", "ADMM whose penalty is multiplied or divided by 1.5", TABLE_1 ", Algorithm 6, (171)",
      TABLE(admm_linear_table)},
     tribo_sol_run_admm,
     TRIBO_METHOD_ADMM,
     0},
    {{"admm-ncp-sa", "ADMM whose penalty follows the spectrum", TABLE_1 ", Algorithm 6, (172)",
      TABLE(admm_spectral_table)},
     tribo_sol_run_admm,
     TRIBO_METHOD_ADMM,
     0},
};
enum { METHODS = sizeof methods / sizeof methods[0] };

int tribo_solver_count(void) {
  return METHODS;
}

const TriboSolverInfo* tribo_solver_info(int index) {
  return index >= 0 && index < METHODS ? &methods[index].info : NULL;
}

static const TriboMethod* find(const char* id) {
  if (id == NULL) {
    return NULL;
  }
  for (int i = 0; i < METHODS; ++i) {
    if (strcasecmp(methods[i].info.id, id) == 0) {
      return &methods[i];
    }
  }
  return NULL;
}

const TriboSolverInfo* tribo_solver_find(const char* id) {
  const TriboMethod* m = find(id);
  return m ? &m->info : NULL;
}

TriboStatus tribo_solver_create(const char* id, TriboSolver** out) {
  if (id == NULL || out == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_create: id or out is NULL");
  }
  *out = NULL;
  const TriboMethod* method = find(id);
  if (method == NULL) {
    const char* known[METHODS];
    for (int i = 0; i < METHODS; ++i) {
      known[i] = methods[i].info.id;
    }
    const char* near = tribo_nearest_word(id, known, METHODS);
    return tribo_fail(TRIBO_NOT_FOUND, "tribo_solver_create: there is no solver '%s'%s%s%s", id,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  }
  TRIBO_TRY(tribo_la_init());
  TriboSolver* s = tribo_alloc(1, sizeof *s);
  if (s == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_solver_create: no memory");
  }
  s->method = method;
  s->scaled.effort = &s->effort;
  tribo_settings_default(method->info.settings, method->info.nsetting, &s->settings);
  TriboStatus status = tribo_sol_system_create(&s->system);
  if (status != TRIBO_OK) {
    tribo_solver_destroy(s);
    return status;
  }
  *out = s;
  return TRIBO_OK;
}

void tribo_solver_destroy(TriboSolver* s) {
  if (s == NULL) {
    return;
  }
  tribo_sol_scaled_free(&s->scaled);
  tribo_sol_system_free(&s->system);
  tribo_sol_scratch_free(&s->scratch);
  tribo_sol_subadmm_free(&s->subadmm);
  tribo_free(s);
}

TriboStatus tribo_solver_set(TriboSolver* s, const char* key, double value) {
  if (s == NULL || key == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_set: solver or key is NULL");
  }
  const TriboSolverInfo* info = &s->method->info;
  return tribo_settings_set(info->settings, info->nsetting, &s->settings, info->id, key, value);
}

TriboStatus tribo_solver_get(const TriboSolver* s, const char* key, double* value) {
  if (s == NULL || key == NULL || value == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_solver_get: solver, key or value is NULL");
  }
  const TriboSolverInfo* info = &s->method->info;
  return tribo_settings_get(info->settings, info->nsetting, &s->settings, info->id, key, value);
}

void tribo_solver_set_history(TriboSolver* s, TriboSolverHistoryFn* fn, void* user) {
  s->history = fn;
  s->history_user = user;
}
