// What the callbacks of a plan say: rows, costs and their derivatives, by the callbacks or by differences, and judged
// by differences.
#include <float.h>
#include <math.h>
#include <string.h>

#include "memory.h"
#include "plan_impl.h"
#include "small_dense.h"

static const double* next_of(const TriboPlan* plan, int k, const double* z) {
  return k + 1 < plan->shape.nstage ? z + plan->z_at[k + 1] : NULL;
}

static TriboStatus stage_values(const TriboPlan* plan, int k, const double* z, const double* next, double* c) {
  const TriboPlanStage* s = &plan->stage[k];
  return s->neq + s->nin > 0 ? s->values(s->user, k, z, next, c, c + s->neq) : TRIBO_OK;
}

TriboStatus tribo_plan_values(const TriboPlan* plan, const double* z, double* f, double* c) {
  *f = 0;
  for (int k = 0; k < plan->shape.nstage; ++k) {
    const TriboPlanStage* s = &plan->stage[k];
    double part = 0;
    TRIBO_TRY(s->cost(s->user, k, z + plan->z_at[k], &part, NULL, NULL));
    TRIBO_TRY(stage_values(plan, k, z + plan->z_at[k], next_of(plan, k, z), c + plan->row_at[k]));
    *f += part;
  }
  return TRIBO_OK;
}

// ---- names ----

static const char* row_name(const TriboPlan* plan, int k, int row) {
  const TriboPlanStage* s = &plan->stage[k];
  const char* const* names = row < s->neq ? s->eq_name : s->in_name;
  const char* name = names != NULL ? names[row < s->neq ? row : row - s->neq] : NULL;
  return name != NULL ? name : row < s->neq ? "an equality" : "an inequality";
}

double tribo_plan_violation(const TriboPlan* plan, const double* c, int* stage, const char** row) {
  double most = 0;
  *stage = 0, *row = "";
  for (int k = 0; k < plan->shape.nstage; ++k) {
    for (int i = plan->row_at[k]; i < plan->row_at[k + 1]; ++i) {
      const double v = plan->is_inequality[i] ? -c[i] : fabs(c[i]);
      if (v > most || isnan(v)) {
        most = v, *stage = k, *row = row_name(plan, k, i - plan->row_at[k]);
      }
    }
  }
  return most;
}

TriboStatus tribo_plan_finite_values(const TriboPlan* plan, const double* z, const char* who, double* f, double* c) {
  for (int k = 0; k < plan->shape.nstage; ++k) {
    for (int j = plan->z_at[k]; j < plan->z_at[k + 1]; ++j) {
      if (!isfinite(z[j])) {
        return tribo_fail(TRIBO_INVALID, "%s: unknown %d of stage %d is %g, not a number that is finite", who,
                          j - plan->z_at[k], k, z[j]);
      }
    }
  }
  TRIBO_TRY(tribo_plan_values(plan, z, f, c));
  if (!isfinite(*f)) {
    return tribo_fail(TRIBO_NUMERIC, "%s: the cost of the given point is %g", who, *f);
  }
  for (int k = 0; k < plan->shape.nstage; ++k) {
    for (int i = plan->row_at[k]; i < plan->row_at[k + 1]; ++i) {
      if (!isfinite(c[i])) {
        return tribo_fail(TRIBO_NUMERIC, "%s: %s (row %d of stage %d) is %g at the given point", who,
                          row_name(plan, k, i - plan->row_at[k]), i - plan->row_at[k], k, c[i]);
      }
    }
  }
  return TRIBO_OK;
}

// ---- derivatives ----

// The step of a central difference: ∛ε balances its own error h² against rounding ε/h.
static double difference_step(double x) {
  return 6e-6 * fmax(1, fabs(x));
}

// Stage k's Jacobian by central differences, all columns of one colour at once. plan->trial, c_trial, work are scratch.
static TriboStatus difference_stage(TriboPlan* plan, int k, const double* z, double* jac) {
  const int first = plan->z_at[k], begin = plan->row_at[k], end = plan->row_at[k + 1];
  const int columns = plan->colour_at[k + 1] - plan->colour_at[k], *colour = plan->colour + plan->colour_at[k];
  double *x = plan->work, *plus = plan->work + plan->n, *minus = plus + plan->m;
  for (int pick = 0; pick < plan->colours[k]; ++pick) {
    for (int sign = 1; sign >= -1; sign -= 2) {
      for (int j = 0; j < columns; ++j) {
        x[first + j] = z[first + j] + (colour[j] == pick ? sign * difference_step(z[first + j]) : 0);
      }
      TRIBO_TRY(stage_values(plan, k, x + first, next_of(plan, k, x), sign > 0 ? plus : minus));
    }
    for (int i = begin; i < end; ++i) {
      for (int e = plan->start[i]; e < plan->start[i + 1]; ++e) {
        const int j = plan->col[e];
        if (colour[j - first] == pick) {
          const double h = difference_step(z[j]);
          jac[e] = (plus[i - begin] - minus[i - begin]) / ((z[j] + h) - (z[j] - h));
        }
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus stage_derivatives(TriboPlan* plan, int k, const double* z, double* grad, double* hess, double* jac) {
  const TriboPlanStage* s = &plan->stage[k];
  double f;
  memset(grad, 0, (size_t)s->nz * sizeof(double));
  memset(hess, 0, (size_t)s->nz * (size_t)s->nz * sizeof(double));
  TRIBO_TRY(s->cost(s->user, k, z + plan->z_at[k], &f, grad, hess));
  if (s->neq + s->nin == 0) {
    return TRIBO_OK;
  }
  if (s->jacobian == NULL) {
    return difference_stage(plan, k, z, jac);
  }
  const int row = plan->row_at[k];
  return s->jacobian(s->user, k, z + plan->z_at[k], next_of(plan, k, z), jac + plan->start[row],
                     jac + plan->start[row + s->neq]);
}

TriboStatus tribo_plan_derivatives(TriboPlan* plan, const double* z, double* grad, double* hess, double* jac) {
  for (int k = 0; k < plan->shape.nstage; ++k) {
    TRIBO_TRY(stage_derivatives(plan, k, z, grad + plan->z_at[k], hess + plan->hess_at[k], jac));
  }
  return TRIBO_OK;
}

// ---- judgements ----

// A Hessian is accepted when it has a Cholesky factor after a shift by rounding; `work` (nz × nz).
static int is_semidefinite(int n, const double* hess, double* work) {
  double trace = 0;
  for (int j = 0; j < n; ++j) {
    trace += fabs(hess[(size_t)j * (size_t)n + (size_t)j]);
  }
  memcpy(work, hess, (size_t)n * (size_t)n * sizeof(double));
  const double shift = 1e-12 * trace + DBL_MIN;
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double sum = work[i * n + j] + (i == j ? shift : 0);
      for (int l = 0; l < j; ++l) {
        sum -= work[i * n + l] * work[j * n + l];
      }
      if (i == j && !(sum > 0)) {
        return 0;
      }
      work[i * n + j] = i == j ? sqrt(sum) : sum / work[j * n + j];
    }
  }
  return 1;
}

TriboStatus tribo_plan_check_convex(TriboPlan* plan, const char* who) {
  for (int k = 0; k < plan->shape.nstage; ++k) {
    const int nz = plan->stage[k].nz;
    const double* H = plan->hess + plan->hess_at[k];
    for (int e = 0; e < nz * nz; ++e) {
      if (!isfinite(H[e]) || fabs(H[e] - H[e % nz * nz + e / nz]) > 1e-12 * (1 + fabs(H[e]))) {
        return tribo_fail(TRIBO_INVALID, "%s: the cost's Hessian at stage %d is not symmetric or not finite in row %d",
                          who, k, e / nz);
      }
    }
    if (!is_semidefinite(nz, H, plan->scratch)) {
      return tribo_fail(TRIBO_INVALID, "%s: the cost of stage %d is not convex: its Hessian has a negative eigenvalue",
                        who, k);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_plan_residual(TriboPlan* plan, const double* z, TriboPlanResidual* out) {
  TRIBO_REQUIRE(plan);
  TRIBO_REQUIRE(z);
  TRIBO_REQUIRE(out);
  TRIBO_TRY(tribo_plan_finite_values(plan, z, "tribo_plan_residual", &out->cost, plan->c_trial));
  out->violation = tribo_plan_violation(plan, plan->c_trial, &out->stage, &out->row);
  TRIBO_TRY(tribo_plan_derivatives(plan, z, plan->grad, plan->hess, plan->jac));
  out->is_convex = tribo_plan_check_convex(plan, "tribo_plan_residual") == TRIBO_OK;
  return TRIBO_OK;
}

// the cost's gradient of stage k by central differences
static TriboStatus check_gradient(TriboPlan* plan, int k, const double* z, double tolerance) {
  const TriboPlanStage* s = &plan->stage[k];
  double* x = plan->trial;
  memcpy(x, z + plan->z_at[k], (size_t)s->nz * sizeof(double));
  for (int j = 0; j < s->nz; ++j) {
    const double at = x[j], h = difference_step(at), given = plan->grad[plan->z_at[k] + j];
    double plus, minus;
    x[j] = at + h;
    TRIBO_TRY(s->cost(s->user, k, x, &plus, NULL, NULL));
    x[j] = at - h;
    TRIBO_TRY(s->cost(s->user, k, x, &minus, NULL, NULL));
    x[j] = at;
    const double wanted = (plus - minus) / (2 * h);
    // rounding of f itself leaves ε f/h
    if (!(fabs(given - wanted) <= tolerance * (1 + fabs(wanted)) + 1e-15 * fabs(plus) / h)) {
      return tribo_fail(TRIBO_INVALID, "stage %d: the cost's gradient by unknown %d is %.9g, by differences %.9g", k, j,
                        given, wanted);
    }
  }
  return TRIBO_OK;
}

// Stage k's rows by column `j` of the stage and the next states, by central differences: every row, also those whose
// pattern has no such column.
static TriboStatus check_column(TriboPlan* plan, int k, int j, const double* z, double tolerance) {
  const int first = plan->z_at[k], begin = plan->row_at[k], count = plan->row_at[k + 1] - begin;
  const int nz = plan->stage[k].nz;
  double *x = plan->trial, *plus = plan->work, *minus = plus + count, h = difference_step(z[first + j]);
  memcpy(x, z, (size_t)plan->n * sizeof(double));
  x[first + j] = z[first + j] + h;
  TRIBO_TRY(stage_values(plan, k, x + first, next_of(plan, k, x), plus));
  x[first + j] = z[first + j] - h;
  TRIBO_TRY(stage_values(plan, k, x + first, next_of(plan, k, x), minus));
  for (int i = 0; i < count; ++i) {
    const double wanted = (plus[i] - minus[i]) / (2 * h);
    double given = 0;
    for (int e = plan->start[begin + i]; e < plan->start[begin + i + 1]; ++e) {
      given = plan->col[e] == first + j ? plan->jac[e] : given;
    }
    if (!(fabs(given - wanted) <= tolerance * (1 + fabs(wanted)))) {
      return tribo_fail(TRIBO_INVALID, "stage %d: the derivative of %s (row %d) by %s %d is %.9g, by differences %.9g",
                        k, row_name(plan, k, i), i, j < nz ? "unknown" : "the next stage's state", j < nz ? j : j - nz,
                        given, wanted);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_plan_check_derivatives(TriboPlan* plan, const double* z, double tolerance) {
  TRIBO_REQUIRE(plan);
  TRIBO_REQUIRE(z);
  double f;
  TRIBO_TRY(tribo_plan_finite_values(plan, z, "tribo_plan_check_derivatives", &f, plan->c_trial));
  TRIBO_TRY(tribo_plan_derivatives(plan, z, plan->grad, plan->hess, plan->jac));
  for (int k = 0; k < plan->shape.nstage; ++k) {
    TRIBO_TRY(check_gradient(plan, k, z, tolerance));
    for (int j = 0; j < plan->colour_at[k + 1] - plan->colour_at[k]; ++j) {
      TRIBO_TRY(check_column(plan, k, j, z, tolerance));
    }
  }
  return TRIBO_OK;
}
