// Block Gauss–Seidel (Tsounis, Grandia, Baecher 2025, Algorithm 5): cone after cone solves its own problem with all the
// others held, bilateral rows first, then rows with bounds, then contacts. With D the cone's block of W, u = W x + q
// and z = u + s, s = (0, μ‖u_f‖) De Saxcé's term or 0, a contact moves by one of
//
//     CCP   x ← P_K(x − z / mean diag D)                                                         (Algorithm 2)
//     NCP   x_N ← max(0, x_N − z_N / D_NN),   x_f ← P_disc(μ x_N)(x_f − z_f / min diag D_ff)      (Algorithm 3)
//     NB    the block exactly (Algorithm 4). With u⁰ = u − D x: open for u⁰_N ≥ 0, stick when −D⁻¹u⁰ lies in K,
//     otherwise
//           the point of least energy ½xᵀDx + xᵀ(u⁰ + s) where the cone's face meets the plane u_N = 0.
//
// On that curve x = r(θ) (μ t, 1), t = (cos θ, sin θ), r = −u⁰_N/(D_NN (1 + μ e·t)), e = D_TN/D_NN. With S = D_TT −
// D_TN D_NT/D_NN the energy seen from the plane has the gradient S x_T + b, b = u⁰_T − e (u⁰_N + s_N), and is
// stationary where it is parallel to the curve's normal:
//
//     (−u⁰_N μ S t + D_NN (1 + μ e·t) b) × (t + μ e) = 0,
//
// a quartic in tan θ/2. NBGS takes the best of all its roots, RaiSim's rule goes downhill from the unconstrained
// impulse and bisects. Fixed points: CCP and NB with De Saxcé's term and NCP without it solve the nonlinear problem;
// CCP without it the convex relaxation; NB without it neither, when D couples normal and friction rows.
#include <math.h>
#include <string.h>

#include "math3.h"
#include "methods.h"
#include "small_dense.h"

enum { S = TRIBO_CONE_ROWS };
static const double PI = 3.14159265358979323846;

typedef struct Sweep {
  TriboSolver* s;
  double *x, *u;  // (n) u is kept up to date in the explicit form only
  double omega;   // relaxation of the present sweep
  double change;  // largest of an impulse in the present sweep
} Sweep;

// ---- products of one cone; in motion form the velocity of the last product of W is kept up to date instead of u

static double* block_velocity(const TriboScaled* sc) {
  return sc->velocity + sc->nv;
}

// u of the rows of cone c
static void cone_velocity(const Sweep* w, int c, double* out) {
  const TriboScaled* sc = &w->s->scaled;
  const TriboScaledCone* k = &sc->cone[c];
  const TriboProblem* p = sc->problem;
  if (p->G_col != NULL) {
    memcpy(out, w->u + k->row, sizeof(double) * (size_t)k->dim);
    return;
  }
  for (int i = 0; i < k->dim; ++i) {
    out[i] = sc->q[k->row + i] + sc->R[k->row + i] * w->x[k->row + i];
  }
  for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
    int b = p->term_block[t];
    tribo_sol_add_velocity(k->dim, p->block_dim[b], sc->jac + sc->term_at[t], block_velocity(sc) + sc->var[b], out);
  }
}

// Adds dx to the impulses of cone c, and what that does to u or to the velocities of its blocks.
static void apply_impulse(Sweep* w, int c, const double* dx) {
  const TriboScaled* sc = &w->s->scaled;
  const TriboScaledCone* k = &sc->cone[c];
  const TriboProblem* p = sc->problem;
  for (int i = 0; i < k->dim; ++i) {
    w->x[k->row + i] += dx[i];
    w->change = fmax(w->change, fabs(dx[i]));
  }
  if (p->G_col != NULL) {
    for (int i = 0; i < k->dim; ++i) {
      int j = k->row + i;
      w->u[j] += sc->R[j] * dx[i];
      for (int e = sc->col[j]; e < sc->col[j + 1]; ++e) {
        w->u[sc->row[e]] += sc->val[e] * dx[i];
      }
    }
    return;
  }
  for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
    int b = p->term_block[t], n = p->block_dim[b];
    double* momentum = sc->velocity;  // scratch of a product
    memset(momentum, 0, sizeof(double) * (size_t)n);
    tribo_sol_add_momentum(k->dim, n, sc->jac + sc->term_at[t], dx, momentum);
    tribo_sol_add_velocity(n, n, p->minv + p->block_at[b], momentum, block_velocity(sc) + sc->var[b]);
  }
}

// ---- the cones' own blocks: D in local.C, D⁻¹ in local.B

// The diagonal block D of W that belongs to cone c.
static void delassus_block(const TriboScaled* sc, int c, double* D) {
  const TriboScaledCone* k = &sc->cone[c];
  const TriboProblem* p = sc->problem;
  memset(D, 0, sizeof(double) * S * S);
  for (int i = 0; i < k->dim; ++i) {
    D[S * i + i] = sc->R[k->row + i];
  }
  if (p->G_col != NULL) {
    for (int i = 0; i < k->dim; ++i) {
      for (int e = sc->col[k->row + i]; e < sc->col[k->row + i + 1]; ++e) {
        int r = sc->row[e] - k->row;
        if (r >= 0 && r < k->dim) {
          D[S * r + i] += sc->val[e];
        }
      }
    }
    return;
  }
  for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
    int b = p->term_block[t], n = p->block_dim[b];
    const double *J = sc->jac + sc->term_at[t], *minv = p->minv + p->block_at[b];
    for (int i = 0; i < k->dim; ++i) {
      for (int l = 0; l < n; ++l) {
        double y = 0;
        for (int j = 0; j < n; ++j) {
          y += minv[l * n + j] * J[i * n + j];
        }
        for (int j = 0; j < k->dim; ++j) {
          D[S * j + i] += J[j * n + l] * y;
        }
      }
    }
  }
}

// inverse of a symmetric matrix that may be singular, regularised by rounding; 0 for a matrix of zeros
static void invert_regularised(const double* D, int n, double* inverse) {
  double L[S * S], most = 0;
  memset(inverse, 0, sizeof(double) * S * S);
  for (int i = 0; i < n; ++i) {
    most = fmax(most, D[S * i + i]);
  }
  if (!(most > 0)) {
    return;
  }
  memcpy(L, D, sizeof L);
  for (int i = 0; i < n; ++i) {
    L[(S + 1) * i] += 1e-13 * most;
  }
  tribo_small_cholesky(n, L, S, 1e-13 * most);
  for (int c = 0; c < n; ++c) {
    double y[S] = {0};
    y[c] = 1;
    tribo_small_forward(n, L, S, y);
    tribo_small_backward(n, L, S, y);
    for (int i = 0; i < n; ++i) {
      inverse[S * i + c] = y[i];
    }
  }
}

// ---- local solvers: the new x of a contact from its old one and u there

// `fraction` of the step 1/mean diag D
static void local_ccp(const TriboScaledCone* k, const double* D, const double* z, double fraction, double* x) {
  double trace = 0;
  for (int i = 0; i < k->dim; ++i) {
    trace += D[S * i + i];
  }
  if (trace > 0) {
    for (int i = 0; i < k->dim; ++i) {
      x[i] -= fraction * k->dim / trace * z[i];
    }
  }
  tribo_sol_project_round(k->dim, k->mu, x, x);
}

static void local_ncp(const TriboScaledCone* k, const double* D, const double* z, double* x) {
  int m = k->dim - 1;
  double least = INFINITY;
  for (int i = 0; i < m; ++i) {
    least = D[S * i + i] > 0 ? fmin(least, D[S * i + i]) : least;
  }
  x[m] = D[S * m + m] > 0 ? fmax(0, x[m] - z[m] / D[S * m + m]) : 0;
  for (int i = 0; i < m; ++i) {
    x[i] -= z[i] / least;
  }
  double size = tribo_norm(x, m), radius = k->mu * x[m], shrink = size > radius ? radius / size : 1;
  for (int i = 0; i < m; ++i) {
    x[i] *= shrink;
  }
}

// Coulomb's contact on the curve where its cone meets u_N = 0
typedef struct Curve {
  const double* D;
  double mu, u[3], s;  // u⁰ and De Saxcé's term
  double e[2], b[2];
} Curve;

// x at an angle; 0 where the curve has gone to infinity
static int curve_point(const Curve* c, double angle, double* x) {
  double t[2] = {cos(angle), sin(angle)}, a = 1 + c->mu * (c->e[0] * t[0] + c->e[1] * t[1]);
  if (!(a > 1e-12)) {
    return 0;
  }
  x[2] = -c->u[2] / (c->D[S * 2 + 2] * a);
  x[0] = c->mu * x[2] * t[0];
  x[1] = c->mu * x[2] * t[1];
  return 1;
}

static double energy(const Curve* c, const double* x) {
  double sum = x[2] * c->s;
  for (int i = 0; i < 3; ++i) {
    sum += x[i] * c->u[i];
    for (int j = 0; j < 3; ++j) {
      sum += 0.5 * x[i] * c->D[S * i + j] * x[j];
    }
  }
  return sum;
}

// vector product of gradient and normal, whose zeros are the stationary points
static double stationarity(const Curve* c, double angle) {
  double t[2] = {cos(angle), sin(angle)}, a = c->D[S * 2 + 2] * (1 + c->mu * (c->e[0] * t[0] + c->e[1] * t[1])), f[2];
  for (int i = 0; i < 2; ++i) {
    f[i] = a * c->b[i];
    for (int j = 0; j < 2; ++j) {
      f[i] -= c->u[2] * c->mu * (c->D[S * i + j] - c->D[S * i + 2] * c->e[j]) * t[j];
    }
  }
  return f[0] * (t[1] + c->mu * c->e[1]) - f[1] * (t[0] + c->mu * c->e[0]);
}

// Real roots of a polynomial, between those of its derivative; returns how many.
static int real_roots(const double* p, int degree, double* roots) {
  while (degree > 0 && p[degree] == 0) {
    degree--;
  }
  if (degree == 0) {
    return 0;
  }
  double slope[4], ends[6], bound = 1;
  for (int i = 0; i < degree; ++i) {
    slope[i] = (i + 1) * p[i + 1];
    bound = fmax(bound, 1 + fabs(p[i] / p[degree]));
  }
  int inner = degree > 1 ? real_roots(slope, degree - 1, ends + 1) : 0, count = 0;
  ends[0] = -bound, ends[inner + 1] = bound;
  for (int k = 0; k <= inner; ++k) {
    double lo = ends[k], hi = ends[k + 1], f_lo = 0, f_hi = 0;
    for (int i = degree; i >= 0; --i) {
      f_lo = f_lo * lo + p[i];
      f_hi = f_hi * hi + p[i];
    }
    if ((f_lo > 0) == (f_hi > 0) && f_hi != 0) {
      continue;
    }
    for (int it = 0; it < 200; ++it) {
      double mid = 0.5 * (lo + hi), f = 0;
      if (mid <= lo || mid >= hi) {
        break;
      }
      for (int i = degree; i >= 0; --i) {
        f = f * mid + p[i];
      }
      *((f > 0) == (f_lo > 0) ? &lo : &hi) = mid;
    }
    roots[count++] = 0.5 * (lo + hi);
  }
  return count;
}

// the best of all stationary points
static void best_on_curve(const Curve* c, double* x) {
  // the trigonometric polynomial of degree two through five samples, then the quartic in tan θ/2
  enum { SAMPLES = 5 };
  double A[3] = {0}, B[3] = {0}, roots[4], best = INFINITY;
  for (int k = 0; k < SAMPLES; ++k) {
    double angle = 2 * PI * k / SAMPLES, f = stationarity(c, angle);
    for (int d = 0; d < 3; ++d) {
      A[d] += (d > 0 ? 2 : 1) * f * cos(d * angle) / SAMPLES;
      B[d] += 2 * f * sin(d * angle) / SAMPLES;
    }
  }
  double p[5] = {A[0] + A[1] + A[2], 2 * B[1] + 4 * B[2], 2 * A[0] - 6 * A[2], 2 * B[1] - 4 * B[2], A[0] - A[1] + A[2]};
  int count = real_roots(p, 4, roots);
  for (int k = 0; k <= count; ++k) {
    // θ = π is where tan θ/2 has no value
    double at[3];
    if (curve_point(c, k < count ? 2 * atan(roots[k]) : PI, at) && energy(c, at) < best) {
      best = energy(c, at);
      tribo_copy3(x, at);
    }
  }
}

// downhill from an angle until the slope changes its sign, then bisection
static void bisect_on_curve(const Curve* c, double angle, double* x) {
  double at[3], next, step = 0.1;
  for (int i = 0; i < 64 && !curve_point(c, angle, at); ++i) {
    angle += 0.1;
  }
  // the product of gradient and normal has the sign of the slope against θ, turned round
  double down = stationarity(c, angle) > 0 ? 1 : -1, hi = angle;
  for (int i = 0; i < 64; ++i, step *= 1.5) {
    next = hi + down * fmin(step, 0.5);
    if (!curve_point(c, next, at)) {
      break;
    }
    hi = next;
    if ((stationarity(c, hi) > 0) != (down > 0)) {
      break;
    }
    angle = hi;
  }
  for (int i = 0; i < 60; ++i) {
    double mid = 0.5 * (angle + hi);
    *((stationarity(c, mid) > 0) == (down > 0) ? &angle : &hi) = mid;
  }
  if (curve_point(c, 0.5 * (angle + hi), at)) {
    tribo_copy3(x, at);
  }
}

// The block exactly, for Coulomb's cones. Other round cones (torsion, rolling) repeat the projected steps.
static void local_exact(const TriboScaledCone* k, const TriboLocal* l, const double* u, int saxce, int quartic,
                        double* x) {
  const double* D = l->C;
  int m = k->dim - 1;
  double free[S], stick[S], slip = saxce ? k->mu * tribo_norm(u, m) : 0;
  for (int i = 0; i < k->dim; ++i) {
    free[i] = u[i];
    stick[i] = 0;
    for (int j = 0; j < k->dim; ++j) {
      free[i] -= D[S * i + j] * x[j];
    }
  }
  for (int i = 0; i < k->dim; ++i) {
    for (int j = 0; j < k->dim; ++j) {
      stick[i] -= l->B[S * i + j] * free[j];
    }
  }
  if (free[m] >= 0 || !(D[S * m + m] > 0)) {
    memset(x, 0, sizeof(double) * (size_t)k->dim);
  } else if (tribo_norm(stick, m) <= k->mu * stick[m]) {
    memcpy(x, stick, sizeof(double) * (size_t)k->dim);
  } else if (k->dim == 3) {
    Curve c = {.D = D, .mu = k->mu, .s = slip};
    tribo_copy3(c.u, free);
    for (int i = 0; i < 2; ++i) {
      c.e[i] = D[S * i + 2] / D[S * 2 + 2];
      c.b[i] = free[i] - c.e[i] * (free[2] + slip);
    }
    if (quartic) {
      best_on_curve(&c, x);
    } else {
      bisect_on_curve(&c, atan2(stick[1], stick[0]), x);
    }
  } else {
    for (int it = 0; it < 50; ++it) {
      double z[S];
      for (int i = 0; i < k->dim; ++i) {
        z[i] = free[i];
        for (int j = 0; j < k->dim; ++j) {
          z[i] += D[S * i + j] * x[j];
        }
      }
      z[m] += saxce ? k->mu * tribo_norm(z, m) : 0;
      // a step that no block is too stiff for
      local_ccp(k, D, z, 1.0 / k->dim, x);
    }
  }
}

// ---- sweeps

// Solves the problem of cone c alone and moves its impulses towards the answer by ω.
static void update_cone(Sweep* w, int c) {
  const TriboScaled* sc = &w->s->scaled;
  const TriboScaledCone* k = &sc->cone[c];
  const TriboLocal* l = &w->s->system.local[c];
  const TriboPgsSettings* set = &w->s->settings.pgs;
  double u[S], x[S], dx[S];
  cone_velocity(w, c, u);
  memcpy(x, w->x + k->row, sizeof(double) * (size_t)k->dim);
  if (k->round) {
    TriboLocalSolver rule = w->s->method->local;
    if (rule == TRIBO_LOCAL_QUARTIC || rule == TRIBO_LOCAL_BISECTION) {
      local_exact(k, l, u, set->de_saxce, rule == TRIBO_LOCAL_QUARTIC, x);
    } else {
      u[k->dim - 1] += set->de_saxce ? k->mu * tribo_norm(u, k->dim - 1) : 0;
      if (rule == TRIBO_LOCAL_CCP) {
        local_ccp(k, l->C, u, 1, x);
      } else {
        local_ncp(k, l->C, u, x);
      }
    }
  } else {
    for (int i = 0; i < k->dim; ++i) {
      for (int j = 0; j < k->dim; ++j) {
        x[i] -= l->B[S * i + j] * u[j];
      }
      x[i] = tribo_clamp(x[i], sc->lo[k->row + i], sc->hi[k->row + i]);
    }
  }
  for (int i = 0; i < k->dim; ++i) {
    dx[i] = w->omega * (x[i] - w->x[k->row + i]);
  }
  apply_impulse(w, c, dx);
}

// bilateral rows, rows with bounds, contacts
static void sweep(Sweep* w) {
  const TriboScaled* sc = &w->s->scaled;
  w->change = 0;
  for (int pass = 0; pass < 3; ++pass) {
    for (int c = 0; c < sc->ncone; ++c) {
      int bilateral = sc->problem->cones[c].kind == TRIBO_CONE_FREE;
      if (pass == (sc->cone[c].round ? 2 : bilateral ? 0 : 1)) {
        update_cone(w, c);
      }
    }
  }
}

// Computes u from x again, without the rounding errors of the updates. Returns the objective ½xᵀWx + xᵀq.
static double refresh_velocity(Sweep* w) {
  const TriboScaled* sc = &w->s->scaled;
  double objective = 0;
  tribo_sol_velocity(w->s, w->x, w->u);
  for (int i = 0; i < sc->n; ++i) {
    objective += 0.5 * w->x[i] * (w->u[i] + sc->q[i]);
  }
  return objective;
}

void tribo_sol_run_pgs(TriboSolver* s) {
  const TriboPgsSettings* set = &s->settings.pgs;
  int n = s->scaled.n;
  Sweep w = {.s = s, .x = tribo_sol_take(s), .u = tribo_sol_take(s), .omega = set->relaxation};
  tribo_sol_enter_stage(s, TRIBO_RUNG_PGS);
  for (int c = 0; c < s->scaled.ncone; ++c) {
    delassus_block(&s->scaled, c, s->system.local[c].C);
    invert_regularised(s->system.local[c].C, s->scaled.cone[c].dim, s->system.local[c].B);
  }
  memset(w.x, 0, sizeof(double) * (size_t)n);
  tribo_sol_project(&s->scaled, w.x, w.x);
  if (tribo_sol_warm_is_better(s)) {
    memcpy(w.x, s->warm_x, sizeof(double) * (size_t)n);
  }
  // without De Saxcé's term an exact block has a fixed point that need not be the nearest to the problem's solution
  s->keep_last = s->method->local >= TRIBO_LOCAL_QUARTIC && !set->de_saxce;
  double before = refresh_velocity(&w);
  while (!tribo_sol_stop(s)) {
    sweep(&w);
    s->iterations++;
    w.omega = fmax(set->relaxation_min, set->relaxation_decay * w.omega);
    // no impulse moves any more: a fixed point, whether or not it solves the problem
    int is_stationary = !(w.change > 1e-15 * tribo_max_abs(w.x, n));
    if (is_stationary || set->early_stop > 0 || s->iterations % set->check_every == 0 ||
        s->iterations >= set->max_iterations) {
      double objective = refresh_velocity(&w);
      tribo_sol_record(s, w.x, w.u);
      if (is_stationary || (set->early_stop > 0 && fabs(objective - before) <= set->early_stop * n)) {
        break;
      }
      before = objective;
    }
  }
}
