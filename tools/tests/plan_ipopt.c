// Ipopt on the six planning problems, from the same guesses and by the same callbacks, beside Tribo's own solve:
//
//     plan_ipopt LIBIPOPT      a line for each default task
//
// Ipopt gets exact derivatives: the Hessian of its Lagrangian by differences of the Jacobians, stage by stage. What
// callbacks cost is taken from its time, not from ours.
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan_impl.h"
#include "plan_problem.h"

// Ipopt's C interface, as its header declares it
typedef struct IpoptProblem* Ipopt;
typedef bool EvalF(int n, double* x, bool is_new, double* f, void* user);
typedef bool EvalGradF(int n, double* x, bool is_new, double* grad, void* user);
typedef bool EvalG(int n, double* x, bool is_new, int m, double* g, void* user);
typedef bool EvalJac(int n, double* x, bool is_new, int m, int entries, int* row, int* col, double* values, void* user);
typedef bool EvalHess(int n, double* x, bool is_new, double factor, int m, double* lambda, bool new_lambda, int entries,
                      int* row, int* col, double* values, void* user);
typedef struct Api {
  Ipopt (*create)(int n, double* x_low, double* x_high, int m, double* g_low, double* g_high, int jac, int hess,
                  int style, EvalF* f, EvalG* g, EvalGradF* grad, EvalJac* jacobian, EvalHess* hessian);
  void (*destroy)(Ipopt problem);
  bool (*set_text)(Ipopt problem, char* name, char* value);
  bool (*set_int)(Ipopt problem, char* name, int value);
  bool (*set_real)(Ipopt problem, char* name, double value);
  int (*solve)(Ipopt problem, double* x, double* g, double* f, double* of_g, double* of_low, double* of_high,
               void* user);
} Api;

typedef struct Task {
  TriboPlan* plan;
  double *grad, *hess, *jac, *other, *moved;  // derivatives, and Jacobians at a point moved in one unknown
  double spent;                               // in callbacks [s]
  int evaluations;
} Task;

static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool eval_f(int n, double* x, bool is_new, double* f, void* user) {
  (void)n, (void)is_new;
  Task* t = user;
  const double before = processor_time();
  const TriboStatus status = tribo_plan_values(t->plan, x, f, t->plan->c_trial);
  t->spent += processor_time() - before;
  return status == TRIBO_OK;
}

static bool eval_g(int n, double* x, bool is_new, int m, double* g, void* user) {
  (void)n, (void)m, (void)is_new;
  Task* t = user;
  double f;
  const double before = processor_time();
  const TriboStatus status = tribo_plan_values(t->plan, x, &f, g);
  t->spent += processor_time() - before;
  t->evaluations++;
  return status == TRIBO_OK;
}

static bool eval_grad(int n, double* x, bool is_new, double* grad, void* user) {
  (void)is_new;
  Task* t = user;
  const double before = processor_time();
  const TriboStatus status = tribo_plan_derivatives(t->plan, x, t->grad, t->hess, t->jac);
  memcpy(grad, t->grad, (size_t)n * sizeof(double));
  t->spent += processor_time() - before;
  return status == TRIBO_OK;
}

static bool eval_jac(int n, double* x, bool is_new, int m, int entries, int* row, int* col, double* values,
                     void* user) {
  (void)n, (void)is_new;
  Task* t = user;
  const TriboPlan* p = t->plan;
  if (values == NULL) {
    for (int i = 0; i < m; ++i) {
      for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
        row[e] = i, col[e] = p->col[e];
      }
    }
    return true;
  }
  const double before = processor_time();
  const TriboStatus status = tribo_plan_derivatives(t->plan, x, t->grad, t->hess, t->jac);
  memcpy(values, t->jac, (size_t)entries * sizeof(double));
  t->spent += processor_time() - before;
  return status == TRIBO_OK;
}

// The lower triangle over the unknowns of each stage and the next one's states; shared entries are given twice and
// added up by Ipopt.
static int columns_of(const TriboPlan* p, int k) {
  return p->colour_at[k + 1] - p->colour_at[k];
}

// ∂(Jᵀλ)/∂x of stage k by central differences in one unknown after the other
static void add_curvature(Task* t, int k, double* x, const double* lambda, double factor, double* values) {
  const TriboPlan* p = t->plan;
  const TriboPlanStage* s = &p->stage[k];
  const int first = p->z_at[k], wide = columns_of(p, k), row = p->row_at[k], end = p->row_at[k + 1];
  const double* next = k + 1 < p->shape.nstage ? x + p->z_at[k + 1] : NULL;
  const int base = p->start[row];
  for (int j = 0, at = 0; j < wide; at += wide - j, ++j) {
    const double keep = x[first + j], h = 6e-6 * fmax(1, fabs(keep));
    for (int sign = 1; sign >= -1; sign -= 2) {
      double* jac = sign > 0 ? t->other : t->moved;
      x[first + j] = keep + sign * h;
      if (s->jacobian(s->user, k, x + first, next, jac, jac + p->start[row + s->neq] - base) != TRIBO_OK) {
        return;
      }
    }
    x[first + j] = keep;
    for (int i = row; i < end; ++i) {
      for (int e = p->start[i]; e < p->start[i + 1]; ++e) {
        const int c = p->col[e] - first;
        if (c >= j) {
          values[at + c - j] += lambda[i] * (t->other[e - base] - t->moved[e - base]) / (2 * h);
        }
      }
    }
    for (int i = j; i < s->nz; ++i) {
      values[at + i - j] += factor * t->hess[p->hess_at[k] + (size_t)(j * s->nz + i)];
    }
  }
}

// The Hessian of the Lagrangian, or its pattern.
static bool eval_hess(int n, double* x, bool is_new, double factor, int m, double* lambda, bool new_lambda, int entries,
                      int* row, int* col, double* values, void* user) {
  (void)n, (void)m, (void)is_new, (void)new_lambda;
  Task* t = user;
  const TriboPlan* p = t->plan;
  const double before = processor_time();
  if (values != NULL) {
    memset(values, 0, (size_t)entries * sizeof(double));
    if (tribo_plan_derivatives(t->plan, x, t->grad, t->hess, t->jac) != TRIBO_OK) {
      return false;
    }
  }
  for (int k = 0, at = 0; k < p->shape.nstage; ++k) {
    const int wide = columns_of(p, k);
    if (values != NULL) {
      add_curvature(t, k, x, lambda, factor, values + at);
      at += wide * (wide + 1) / 2;
      continue;
    }
    for (int j = 0; j < wide; ++j) {
      for (int i = j; i < wide; ++i, ++at) {
        row[at] = p->z_at[k] + i, col[at] = p->z_at[k] + j;
      }
    }
  }
  t->spent += processor_time() - before;
  return true;
}

static void* need(void* memory) {
  if (memory == NULL) {
    fprintf(stderr, "plan_ipopt: no memory\n");
    exit(1);
  }
  return memory;
}
static double* reals(int count, double value) {
  double* a = need(malloc(((size_t)count + 1) * sizeof *a));
  for (int i = 0; i < count; ++i) {
    a[i] = value;
  }
  return a;
}

// Ipopt from the guess z, in place. Returns its status; *own is its time without callbacks.
static int run_ipopt(const Api* api, TriboPlan* p, double* z, double* f, double* own) {
  const int nonzeros = p->start[p->m];
  Task t = {p,
            reals(p->n, 0),
            reals((int)p->hess_at[p->shape.nstage], 0),
            reals(nonzeros, 0),
            reals(nonzeros, 0),
            reals(nonzeros, 0),
            0,
            0};
  double *low = reals(p->n, -2e19), *high = reals(p->n, 2e19), *g_low = reals(p->m, 0), *g_high = reals(p->m, 0);
  int hess = 0;
  for (int i = 0; i < p->m; ++i) {
    g_high[i] = p->is_inequality[i] ? 2e19 : 0;
  }
  for (int k = 0; k < p->shape.nstage; ++k) {
    hess += columns_of(p, k) * (columns_of(p, k) + 1) / 2;
  }
  Ipopt problem = api->create(p->n, low, high, p->m, g_low, g_high, nonzeros, hess, 0, eval_f, eval_g, eval_grad,
                              eval_jac, eval_hess);
  char print[] = "print_level", quiet[] = "sb", yes[] = "yes", most[] = "max_iter", cpu[] = "max_cpu_time",
       tol[] = "tol";
  char solver[] = "linear_solver", mumps[] = "mumps", constraint[] = "constr_viol_tol";
  api->set_int(problem, print, 0);
  api->set_text(problem, quiet, yes);
  api->set_text(problem, solver, mumps);
  api->set_int(problem, most, 3000);
  api->set_real(problem, cpu, 30);
  api->set_real(problem, tol, 1e-6);
  api->set_real(problem, constraint, 1e-6);
  const double before = processor_time();
  const int status = api->solve(problem, z, NULL, f, NULL, NULL, NULL, &t);
  *own = processor_time() - before - t.spent;
  api->destroy(problem);
  double* const arrays[] = {t.grad, t.hess, t.jac, t.other, t.moved, low, high, g_low, g_high};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; ++i) {
    free(arrays[i]);
  }
  return status;
}

// Both solvers on the default task of a problem, and a line about them.
static void compare(const Api* api, const PlanKind* kind) {
  PlanProblem* p;
  TriboPlanResult r;
  TriboPlanResidual judged;
  PlanError ours, theirs;
  double f, own;
  if (plan_problem_create(kind, 0, 0, &p) != TRIBO_OK) {
    fprintf(stderr, "plan_ipopt: %s\n", tribo_last_error());
    exit(1);
  }
  double* z = reals(p->plan->n, 0);
  plan_problem_guess(p, z);
  if (tribo_plan_solve(p->plan, z, NULL, NULL, &r) != TRIBO_OK) {
    fprintf(stderr, "plan_ipopt: %s\n", tribo_last_error());
    exit(1);
  }
  const int reached = plan_problem_success(p, r.z, r.violation, &ours);
  const double cost = r.cost, violation = r.violation, time = r.time;
  const int status = run_ipopt(api, p->plan, z, &f, &own);
  if (tribo_plan_residual(p->plan, z, &judged) != TRIBO_OK) {
    fprintf(stderr, "plan_ipopt: %s\n", tribo_last_error());
    exit(1);
  }
  const int their_reached = plan_problem_success(p, z, judged.violation, &theirs);
  printf("%s %.8g %.2e %d %.4f %d %.8g %.2e %d %.4f\n", kind->name, cost, violation, reached, time, status, judged.cost,
         judged.violation, their_reached, own);
  fflush(stdout);
  free(z);
  plan_problem_destroy(p);
}

int main(int argc, char** argv) {
  void* library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "plan_ipopt: %s\n", argc == 2 ? dlerror() : "usage: plan_ipopt LIBIPOPT");
    return 2;
  }
  Api api;
  *(void**)&api.create = dlsym(library, "CreateIpoptProblem");
  *(void**)&api.destroy = dlsym(library, "FreeIpoptProblem");
  *(void**)&api.set_text = dlsym(library, "AddIpoptStrOption");
  *(void**)&api.set_int = dlsym(library, "AddIpoptIntOption");
  *(void**)&api.set_real = dlsym(library, "AddIpoptNumOption");
  *(void**)&api.solve = dlsym(library, "IpoptSolve");
  if (api.create == NULL || api.solve == NULL) {
    fprintf(stderr, "plan_ipopt: %s has no C interface\n", argv[1]);
    return 2;
  }
  for (int i = 0; i < plan_kind_count(); ++i) {
    compare(&api, plan_kind(i));
  }
  return 0;
}
