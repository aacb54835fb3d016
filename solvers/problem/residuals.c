// Residuals of an answer, independent of the solvers: recomputes σ = (J M⁻¹ Jᵀ + R) λ + g from the raw problem and
// measures how far (λ, σ) is from Signorini's condition and Coulomb's law, with projections of its own. Nothing here is
// shared with a solver, so that an error there cannot hide itself.
//
// The projection on an elliptic cone ‖D⁻¹ λ_f‖ ≤ λ_N: with a multiplier κ ≥ 0, p_i = x_i D_i²/(D_i² + κ) and
// p_N = h = ‖D⁻¹ p_f‖, where κ makes x_N = (1 − κ) h. The right side falls with κ, on either side of 1: Newton's steps
// between bounds, and the middle where they leave them.
#include <tribo/problem.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "lanes.h"
#include "memory.h"

// (inline, where fmax is a call; a number that is not one is found at the end)
static inline double larger(double a, double b) {
  return a > b ? a : b;
}

// p_f and h of a multiplier, and by how much h falls with it
static double ellipse(int n, const double* x, const double* D, double kappa, double* p, double* fall) {
  double sum = 0, falls = 0;
  for (int i = 0; i < n; ++i) {
    const double w = D[i] * D[i] + kappa, y = D[i] > 0 ? x[i] * D[i] / w : 0;
    p[i] = D[i] * y;
    sum += y * y;
    falls += D[i] > 0 ? y * y / w : 0;
  }
  const double h = sqrt(sum);
  *fall = h > 0 ? falls / h : 0;
  return h;
}

// Projection on ‖D⁻¹ p_f‖ ≤ p_N.
static void project_elliptic(int n, const double* x, const double* D, double* p) {
  double norm = 0, polar = 0, xn = x[n];
  for (int i = 0; i < n; ++i) {
    p[i] = D[i] > 0 ? x[i] : 0;
    norm += D[i] > 0 ? x[i] * x[i] / (D[i] * D[i]) : 0;
    polar += x[i] * x[i] * D[i] * D[i];
  }
  if (sqrt(norm) <= xn) {
    p[n] = xn;
    return;
  }
  if (sqrt(polar) <= -xn) {
    memset(p, 0, sizeof(double) * (size_t)(n + 1));
    return;
  }
  // above the base κ is below 1, under it above
  double lo = xn > 0 ? 0 : 1, hi = xn > 0 ? 1 : 2, fall;
  while (hi < 1e300 && (1 - hi) * ellipse(n, x, D, hi, p, &fall) > xn) {
    lo = hi;
    hi *= 2;
  }
  double k = xn > 0 ? 0 : hi;
  for (int it = 0; it < 2000; ++it) {
    p[n] = ellipse(n, x, D, k, p, &fall);
    const double left = (1 - k) * p[n] - xn;
    *(left > 0 ? &lo : &hi) = k;
    double next = k + left / (p[n] + (1 - k) * fall);
    next = next > lo && next < hi ? next : 0.5 * (lo + hi);
    if (fabs(left) <= DBL_EPSILON * fabs(xn) || fabs(next - k) <= DBL_EPSILON * k) {
      break;
    }
    k = next;
  }
}

// ‖x_f‖ ≤ μ x_N in three dimensions, in closed form
static inline void project_circular(const double* x, double mu, double* p) {
  double s = sqrt(x[0] * x[0] + x[1] * x[1]), n = x[2];
  // without friction the cone is a ray, and 0 ≤ 0 n holds below it too
  if (n >= 0 && s <= mu * n) {
    p[0] = x[0], p[1] = x[1], p[2] = n;
  } else if (mu * s <= -n) {
    p[0] = p[1] = p[2] = 0;
  } else {
    const double h = (n + mu * s) / (1 + mu * mu), shrink = mu * h / s;
    p[0] = shrink * x[0], p[1] = shrink * x[1], p[2] = h;
  }
}

static inline int is_circular(const TriboCone* k) {
  return k->kind == TRIBO_CONE_FRICTION && k->dim == 3 && k->mu[0] == k->mu[1];
}

// projection of x on a cone, known to be circular or not; its bounds are multiplied by `scale`
static inline void project(const TriboCone* k, int circular, double scale, const double* x, double* p) {
  if (circular) {
    project_circular(x, k->mu[0], p);
    return;
  }
  switch (k->kind) {
    case TRIBO_CONE_FREE:
      for (int i = 0; i < k->dim; ++i) {
        p[i] = x[i];
      }
      return;
    case TRIBO_CONE_NONNEG: p[0] = larger(x[0], 0); return;
    case TRIBO_CONE_BOX: p[0] = fmin(fmax(x[0], scale * k->lo), scale * k->hi); return;
    case TRIBO_CONE_FRICTION: project_elliptic(k->dim - 1, x, k->mu, p); return;
  }
}

// Distance of σ̂ to the dual cone, and λᵀσ̂. A box counts as its two sides, whose multipliers are the parts of σ.
static inline double dual_distance(const TriboCone* k, int circular, const double* lambda, const double* s,
                                   double* comp) {
  const int dim = circular ? 3 : k->dim;
  double x[6] = {0}, p[6] = {0}, worst = 0;
  *comp = 0;
  if (!circular && k->kind == TRIBO_CONE_BOX) {
    double down = s[0] > 0 ? s[0] : 0, up = s[0] < 0 ? -s[0] : 0;
    double below = isfinite(k->lo) ? down * (lambda[0] - k->lo) : 0;
    double above = isfinite(k->hi) ? up * (k->hi - lambda[0]) : 0;
    *comp = larger(fabs(below), fabs(above));
    return larger(isfinite(k->lo) ? 0 : down, isfinite(k->hi) ? 0 : up);
  }
  // Moreau: σ̂ − P_K*(σ̂) = −P_K(−σ̂)
  for (int i = 0; i < dim; ++i) {
    x[i] = -s[i];
    *comp += lambda[i] * s[i];
  }
  project(k, circular, 1, x, p);
  for (int i = 0; i < dim; ++i) {
    worst = larger(worst, fabs(p[i]));
  }
  return worst;
}

static size_t widest_block(const TriboProblem* p) {
  int width = 0;
  for (int b = 0; b < p->nblock; ++b) {
    width = p->block_dim[b] > width ? p->block_dim[b] : width;
  }
  return (size_t)width;
}

// What a row j of a block with the symmetric inverse mass B adds to the diagonal: jᵀ B j. Of a robot's velocities few
// move a contact, and one a limit.
static double quadratic(int n, const double* B, const double* j) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    if (j[i] == 0) {
      continue;
    }
    double half = 0.5 * B[i * n + i] * j[i];
    for (int k = 0; k < i; ++k) {
      half += B[i * n + k] * j[k];
    }
    sum += 2 * j[i] * half;
  }
  return sum;
}

// ---- trees: more velocities than a body has, four of them at once

// The same for the three rows of a contact, and their momentum. The end of a stretch left of the diagonal counts half
// on it and nothing behind it.
TRIBO_LANES static void add_tree_contact(int n, const double* B, const double* J, const double* lambda,
                                         double* momentum, double* diagonal) {
  static const double END[4][4] = {{0.5, 0, 0, 0}, {1, 0.5, 0, 0}, {1, 1, 0.5, 0}, {1, 1, 1, 0.5}};
  const double *x = J, *y = J + n, *z = J + 2 * n;
  TriboFour dx = {0}, dy = {0}, dz = {0};
  for (int i = 0; i < n; ++i, B += n) {
    if (x[i] == 0 && y[i] == 0 && z[i] == 0) {
      continue;
    }
    TriboFour sx = {0}, sy = {0}, sz = {0};
    int k = 0;
    for (; k + 4 <= i; k += 4) {
      sx += TRIBO_FOUR_CONST(B + k) * TRIBO_FOUR_CONST(x + k);
      sy += TRIBO_FOUR_CONST(B + k) * TRIBO_FOUR_CONST(y + k);
      sz += TRIBO_FOUR_CONST(B + k) * TRIBO_FOUR_CONST(z + k);
    }
    if (k + 4 <= n) {
      const TriboFour end = TRIBO_FOUR_CONST(B + k) * TRIBO_FOUR_CONST(END[i - k]);
      sx += end * TRIBO_FOUR_CONST(x + k);
      sy += end * TRIBO_FOUR_CONST(y + k);
      sz += end * TRIBO_FOUR_CONST(z + k);
    } else {
      for (; k <= i; ++k) {
        const double b = k < i ? B[k] : 0.5 * B[k];
        sx[0] += b * x[k];
        sy[0] += b * y[k];
        sz[0] += b * z[k];
      }
    }
    dx += x[i] * sx;
    dy += y[i] * sy;
    dz += z[i] * sz;
    momentum[i] = momentum[i] + x[i] * lambda[0] + y[i] * lambda[1] + z[i] * lambda[2];
  }
  diagonal[0] += 2 * ((dx[0] + dx[1]) + (dx[2] + dx[3]));
  diagonal[1] += 2 * ((dy[0] + dy[1]) + (dy[2] + dy[3]));
  diagonal[2] += 2 * ((dz[0] + dz[1]) + (dz[2] + dz[3]));
}

// sigma += J v
TRIBO_LANES static void add_tree_speed(int dim, int n, const double* J, const double* v, double* sigma) {
  for (int i = 0; i < dim; ++i, J += n) {
    TriboFour sum = {0};
    double rest = 0;
    int j = 0;
    for (; j + 4 <= n; j += 4) {
      sum += TRIBO_FOUR_CONST(J + j) * TRIBO_FOUR_CONST(v + j);
    }
    for (; j < n; ++j) {
      rest += J[j] * v[j];
    }
    sigma[i] += (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
  }
}

// ---- free bodies: six velocities. Most of their inverse masses do not mix shifting with turning.

static int couples_rotation(const double* B) {
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 3; j < 6; ++j) {
      most = larger(most, larger(fabs(B[6 * i + j]), fabs(B[6 * j + i])));
    }
  }
  return most != 0;
}

// jᵀ A j for three of the six, whose rows A has at stride 6
static inline double quadratic_3(const double* A, const double* j) {
  return j[0] * (A[0] * j[0] + 2 * (A[6] * j[1] + A[12] * j[2])) + j[1] * (A[7] * j[1] + 2 * A[13] * j[2]) +
         j[2] * A[14] * j[2];
}

// momentum Jᵀλ and the diagonal of a contact
TRIBO_LANES static void __attribute__((noinline))
add_contact(const double* restrict J, const double* restrict B, const double* restrict lambda,
            double* restrict momentum, double* restrict diagonal) {
  for (int j = 0; j < 6; ++j) {
    momentum[j] += J[j] * lambda[0] + J[6 + j] * lambda[1] + J[12 + j] * lambda[2];
  }
  for (int i = 0; i < 3; ++i) {
    diagonal[i] += quadratic_3(B, J + 6 * i) + quadratic_3(B + 21, J + 6 * i + 3);
  }
}

// sigma += J v, by two sums side by side
static inline void add_speed(int dim, int n, const double* restrict J, const double* restrict v,
                             double* restrict sigma) {
  for (int i = 0; i < dim; ++i, J += n) {
    double even = 0, odd = 0;
    for (int j = 0; j + 1 < n; j += 2) {
      even += J[j] * v[j];
      odd += J[j + 1] * v[j + 1];
    }
    sigma[i] += even + odd + (n % 2 ? J[n - 1] * v[n - 1] : 0);
  }
}
static inline void speed(int dim, int n, const double* J, const double* v, double* sigma) {
  if (n == 6 && dim == 3) {
    add_speed(3, 6, J, v, sigma);
  } else if (n == 6) {
    add_speed(dim, 6, J, v, sigma);
  } else if (n > 6) {
    add_tree_speed(dim, n, J, v, sigma);
  } else {
    add_speed(dim, n, J, v, sigma);
  }
}

// ---- σ = (G + R) λ + g and the diagonal of G + R

static void apply_explicit(const TriboProblem* p, const double* lambda, double* sigma, double* diagonal) {
  for (int j = 0; j < p->nrow; ++j) {
    for (int e = p->G_col[j]; e < p->G_col[j + 1]; ++e) {
      sigma[p->G_row[e]] += p->G_val[e] * lambda[j];
      diagonal[j] += p->G_row[e] == j ? p->G_val[e] : 0;
    }
  }
}

// momentum Jᵀλ per block, then velocity M⁻¹ of it; every block has room for the largest
TRIBO_LANES static void __attribute__((noinline))
apply_motion(const TriboProblem* p, const double* lambda, double* sigma, double* diagonal, double* work) {
  const size_t width = widest_block(p), all = width * (size_t)p->nblock;
  double *momentum = work, *velocity = work + all;
  memset(work, 0, sizeof(double) * 2 * all);
  for (int c = 0, last = -1, is_decoupled = 0; c < p->ncone; ++c) {
    const int dim = p->cones[c].dim, row = p->cones[c].row;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t], n = p->block_dim[b];
      const double *J = p->jac + p->term_at[t], *B = p->minv + p->block_at[b];
      double* m = momentum + (size_t)b * width;
      is_decoupled = b == last ? is_decoupled : n == 6 && !couples_rotation(B);
      last = b;
      if (is_decoupled && dim == 3) {
        add_contact(J, B, lambda + row, m, diagonal + row);
        continue;
      }
      if (n > 6 && dim == 3) {
        add_tree_contact(n, B, J, lambda + row, m, diagonal + row);
        continue;
      }
      for (int i = 0; i < dim; ++i) {
        diagonal[row + i] += quadratic(n, B, J + i * n);
        for (int j = 0; j < n; ++j) {
          m[j] += J[i * n + j] * lambda[row + i];
        }
      }
    }
  }
  for (int b = 0; b < p->nblock; ++b) {
    const int n = p->block_dim[b];
    speed(n, n, p->minv + p->block_at[b], momentum + (size_t)b * width, velocity + (size_t)b * width);
  }
  for (int c = 0; c < p->ncone; ++c) {
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int b = p->term_block[t];
      speed(p->cones[c].dim, p->block_dim[b], p->jac + p->term_at[t], velocity + (size_t)b * width,
            sigma + p->cones[c].row);
    }
  }
}

static void apply(const TriboProblem* p, const double* lambda, double* sigma, double* diagonal, double* work) {
  for (int i = 0; i < p->nrow; ++i) {
    double r = p->R ? p->R[i] : 0;
    sigma[i] = p->g[i] + r * lambda[i];
    diagonal[i] = r;
  }
  if (p->G_col) {
    apply_explicit(p, lambda, sigma, diagonal);
  } else {
    apply_motion(p, lambda, sigma, diagonal, work);
  }
}

// All residuals of one cone; the squares of the natural map in one common unit d are added up in `square`, the largest
// (dᵢ‖λᵢ‖)² goes to `most`
static inline __attribute__((always_inline)) void residuals_of_cone(const TriboCone* k, int circular,
                                                                    const double* lambda, const double* sigma,
                                                                    double mean, double d, TriboResiduals* out, int c,
                                                                    double* square, double* most) {
  const int dim = circular ? 3 : k->dim;
  double s[6] = {0}, x[6] = {0}, p[6] = {0}, comp, norm = 0, nat = 0;
  // σ̂ = σ + Γ(σ)
  for (int i = 0; i < dim; ++i) {
    s[i] = sigma[i];
    norm += lambda[i] * lambda[i];
  }
  if (circular || k->kind == TRIBO_CONE_FRICTION) {
    double slip = 0;
    for (int i = 0; i < dim - 1; ++i) {
      slip += k->mu[i] * s[i] * k->mu[i] * s[i];
    }
    s[dim - 1] += sqrt(slip);
  }
  project(k, circular, 1, lambda, p);
  for (int i = 0; i < dim; ++i) {
    out->prim = larger(out->prim, fabs(lambda[i] - p[i]));
  }
  out->dual = larger(out->dual, dual_distance(k, circular, lambda, s, &comp));
  out->comp = larger(out->comp, fabs(comp));
  for (int i = 0; i < dim; ++i) {
    x[i] = mean * lambda[i] - s[i];
  }
  project(k, circular, mean, x, p);
  for (int i = 0; i < dim; ++i) {
    nat = larger(nat, fabs(mean * lambda[i] - p[i]));
  }
  if (out->worst < 0 || nat > out->nat) {
    out->nat = nat;
    out->worst = c;
  }
  *most = larger(*most, mean * mean * norm);
  for (int i = 0; i < dim; ++i) {
    x[i] = d * lambda[i] - s[i];
  }
  project(k, circular, d, x, p);
  for (int i = 0; i < dim; ++i) {
    *square += (d * lambda[i] - p[i]) * (d * lambda[i] - p[i]);
  }
}

// All residuals of all cones.
TRIBO_LANES static void residuals_of_problem(const TriboProblem* p, const double* lambda, const double* sigma,
                                             const double* diagonal, TriboResiduals* out) {
  double d = 0, square = 0, most = 0, ng = 0, nl = 0, ns = 0;
  for (int i = 0; i < p->nrow; ++i) {
    d += diagonal[i];
    ng += p->g[i] * p->g[i];
    nl += lambda[i] * lambda[i];
    ns += sigma[i] * sigma[i];
  }
  d /= p->nrow;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    double sum = 0;
    for (int i = 0; i < k->dim; ++i) {
      sum += diagonal[k->row + i];
    }
    if (is_circular(k)) {
      residuals_of_cone(k, 1, lambda + k->row, sigma + k->row, sum / 3, d, out, c, &square, &most);
    } else {
      residuals_of_cone(k, 0, lambda + k->row, sigma + k->row, sum / k->dim, d, out, c, &square, &most);
    }
  }
  double unit = larger(sqrt(ng), larger(d * sqrt(nl), sqrt(ns)));
  out->natmap_unit = unit > 0 ? sqrt(square) / unit : 0;
  out->floor = fmin(50 * DBL_EPSILON * sqrt(most), 1e-8);
  // a NaN hides from fmax: say it
  if (!isfinite(nl + ns)) {
    out->prim = out->dual = out->comp = out->nat = out->natmap_unit = INFINITY;
  }
}

size_t tribo_problem_workspace(const TriboProblem* p) {
  return (size_t)p->nrow + 2 * widest_block(p) * (size_t)p->nblock;
}

TriboStatus tribo_problem_residuals_in(const TriboProblem* p, const double* lambda, double* sigma, double* workspace,
                                       TriboResiduals* out) {
  if (p == NULL || out == NULL || (p->nrow > 0 && (lambda == NULL || sigma == NULL || workspace == NULL))) {
    return tribo_fail(TRIBO_INVALID, "tribo_problem_residuals: problem, lambda, sigma, workspace or out is NULL");
  }
  *out = (TriboResiduals){.worst = -1};
  if (p->nrow == 0) {
    return TRIBO_OK;
  }
  double* diagonal = workspace;
  apply(p, lambda, sigma, diagonal, workspace + p->nrow);
  residuals_of_problem(p, lambda, sigma, diagonal, out);
  return TRIBO_OK;
}

TriboStatus tribo_problem_residuals(const TriboProblem* p, const double* lambda, double* sigma, TriboResiduals* out) {
  if (p == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_problem_residuals: problem is NULL");
  }
  double* workspace = tribo_alloc(tribo_problem_workspace(p), sizeof(double));
  if (workspace == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_problem_residuals: no memory for %d rows", p->nrow);
  }
  TriboStatus status = tribo_problem_residuals_in(p, lambda, sigma, workspace, out);
  tribo_free(workspace);
  return status;
}
