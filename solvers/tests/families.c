// Random contact problems (families.h).
#include "families.h"

#include <stdlib.h>

#include "kit.h"
#include "math3.h"

const char* const family_names[FAMILY_COUNT] = {"tower", "wall",  "pile",  "bolt", "robot",
                                                "wedge", "chain", "slide", "grasp"};

enum { MAX_BODY = 700, MAX_ROWSET = 6000 };

typedef struct RowSet {
  int a, b, dim, kind;
  double point[3], frame[9];  // rows are directions
  double mu[5], bias, lo, hi;
} RowSet;

typedef struct World {
  KitRandom* rng;
  int nbody, nset;
  double mass[MAX_BODY], inertia[MAX_BODY][3], x[MAX_BODY][3], v[MAX_BODY][6];
  RowSet set[MAX_ROWSET];
} World;

static World* world_new(KitRandom* rng) {
  World* w = calloc(1, sizeof *w);
  w->rng = rng;
  return w;
}

static double ten(KitRandom* r, double lo, double hi) {
  return pow(10, kit_uniform(r, lo, hi));
}
static int between(KitRandom* r, int lo, int hi) {
  return lo + kit_int(r, hi - lo);
}
static double pick(KitRandom* r, int n, const double* of) {
  return of[kit_int(r, n)];
}
#define PICK(r, ...) pick(r, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (double[]){__VA_ARGS__})
static int chance(KitRandom* r, double p) {
  return kit_uniform(r, 0, 1) < p;
}

static int body(World* w, double mass, double hx, double hy, double hz, double x, double y, double z, double speed) {
  int i = w->nbody++;
  w->mass[i] = mass;
  tribo_set3(w->inertia[i], mass / 3 * (hy * hy + hz * hz), mass / 3 * (hx * hx + hz * hz),
             mass / 3 * (hx * hx + hy * hy));
  tribo_set3(w->x[i], x, y, z);
  for (int d = 0; d < 6; ++d) {
    w->v[i][d] = speed * kit_normal(w->rng);
  }
  return i;
}

// normal from a to b, −1 is the ground
static void contact(World* w, int a, int b, double px, double py, double pz, double nx, double ny, double nz, double mu,
                    double bias) {
  RowSet* s = &w->set[w->nset++];
  *s = (RowSet){.a = a, .b = b, .dim = 3, .kind = TRIBO_CONE_FRICTION, .mu = {mu, mu}, .bias = bias};
  tribo_set3(s->point, px, py, pz);
  double n[3] = {nx, ny, nz}, any[3];
  tribo_normalize3(n);
  for (int i = 0; i < 3; ++i) {
    any[i] = kit_normal(w->rng);
  }
  tribo_cross3(s->frame, n, any);
  tribo_normalize3(s->frame);
  tribo_cross3(s->frame + 3, n, s->frame);
  tribo_copy3(s->frame + 6, n);
}

static RowSet* rows(World* w, int a, int b, int dim, int kind, int axis, double px, double py, double pz) {
  RowSet* s = &w->set[w->nset++];
  *s = (RowSet){.a = a, .b = b, .dim = dim, .kind = kind};
  tribo_set3(s->point, px, py, pz);
  for (int i = 0; i < dim; ++i) {
    s->frame[3 * i + (axis + i) % 3] = 1;
  }
  return s;
}

static double random_mu(KitRandom* r) {
  switch (kit_int(r, 5)) {
    case 0: return 0;
    case 1: return kit_uniform(r, 0.02, 0.2);
    case 2: return kit_uniform(r, 0.2, 0.8);
    case 3: return kit_uniform(r, 0.8, 2);
    default: return kit_uniform(r, 0.2, 1);
  }
}

// Takes the memory of a problem of these sizes.
void family_allocate(FamilyProblem* p, int nrow, int ncone, int nblock, int nterm, size_t nmass, size_t njac) {
  *p = (FamilyProblem){0};
  p->cones = calloc((size_t)ncone + 1, sizeof *p->cones);
  p->g = calloc((size_t)nrow + 1, sizeof(double));
  p->block_dim = calloc((size_t)nblock, sizeof(int));
  p->block_at = calloc((size_t)nblock, sizeof(size_t));
  p->mass = calloc(nmass, sizeof(double));
  p->minv = calloc(nmass, sizeof(double));
  p->term_first = calloc((size_t)ncone + 1, sizeof(int));
  p->term_block = calloc((size_t)nterm + 1, sizeof(int));
  p->term_at = calloc((size_t)nterm + 1, sizeof(size_t));
  p->jac = calloc(njac + 1, sizeof(double));
  p->problem = (TriboProblem){.nrow = nrow,
                              .ncone = ncone,
                              .cones = p->cones,
                              .g = p->g,
                              .nblock = nblock,
                              .block_dim = p->block_dim,
                              .block_at = p->block_at,
                              .mass = p->mass,
                              .minv = p->minv,
                              .term_first = p->term_first,
                              .term_block = p->term_block,
                              .term_at = p->term_at,
                              .jac = p->jac};
}

void family_free(FamilyProblem* p) {
  void* all[] = {p->cones,      p->g,          p->R,     p->mass,  p->minv,     p->jac,     p->block_dim,
                 p->term_first, p->term_block, p->G_col, p->G_row, p->block_at, p->term_at, p->G_val};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    free(all[i]);
  }
}

// rows of `s` on body i at the given side
static void jacobian(const World* w, const RowSet* s, int i, double sign, double* J) {
  double r[3];
  tribo_sub3(r, s->point, w->x[i]);
  for (int d = 0; d < s->dim; ++d) {
    // extended contacts: two tangents, spin about the normal, rolling about the tangents, normal
    int normal = s->kind == TRIBO_CONE_FRICTION && d == s->dim - 1;
    int angular = s->kind == TRIBO_CONE_FRICTION && d >= 2 && !normal;
    const double* n = s->frame + 3 * (normal || d == 2 ? 2 : d % 3);
    double turn[3];
    tribo_cross3(turn, r, n);
    for (int j = 0; j < 3; ++j) {
      J[6 * d + j] = angular ? 0 : sign * n[j];
      J[6 * d + 3 + j] = sign * (angular ? n[j] : turn[j]);
    }
  }
}

// The problem of a world: masses, rows of its contacts and joints, and g with biases that leave room for a solution.
static void build(World* w, double push, FamilyProblem* out) {
  const double h = 5e-3, gravity = 9.81;
  int nrow = 0;
  for (int i = 0; i < w->nset; ++i) {
    nrow += w->set[i].dim;
  }
  family_allocate(out, nrow, w->nset, w->nbody, 2 * w->nset, (size_t)w->nbody * 36, (size_t)nrow * 12);
  for (int i = 0; i < w->nbody; ++i) {
    out->block_dim[i] = 6;
    out->block_at[i] = 36 * (size_t)i;
    w->v[i][2] -= h * gravity;
    for (int d = 0; d < 6; ++d) {
      double m = d < 3 ? w->mass[i] : w->inertia[i][d - 3];
      out->mass[36 * i + 7 * d] = m;
      out->minv[36 * i + 7 * d] = 1 / m;
      w->v[i][d] += push > 0 ? h * push * kit_normal(w->rng) * w->mass[i] * gravity / m : 0;
    }
  }
  out->nv = 6 * w->nbody;
  int row = 0, term = 0;
  size_t at = 0;
  for (int c = 0; c < w->nset; ++c) {
    const RowSet* s = &w->set[c];
    out->cones[c] = (TriboCone){.kind = (TriboConeKind)s->kind, .row = row, .dim = s->dim, .lo = s->lo, .hi = s->hi};
    memcpy(out->cones[c].mu, s->mu, sizeof s->mu);
    int sides[2] = {s->a < s->b ? s->a : s->b, s->a < s->b ? s->b : s->a};
    for (int k = 0; k < 2; ++k) {
      if (sides[k] < 0) {
        continue;
      }
      out->term_block[term] = sides[k];
      out->term_at[term++] = at;
      jacobian(w, s, sides[k], sides[k] == s->b ? 1 : -1, out->jac + at);
      for (int d = 0; d < s->dim; ++d) {
        for (int j = 0; j < 6; ++j) {
          out->g[row + d] += out->jac[at++] * w->v[sides[k]][j];
        }
      }
    }
    out->term_first[c + 1] = term;
    out->g[row + s->dim - 1] += s->bias;
    row += s->dim;
  }
  free(w);
}

static void tower(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  int n = between(r, 2, 13), mode = kit_int(r, 3);
  double ratio = ten(r, 0, 6), mu = random_mu(r);
  for (int i = 0; i < n; ++i) {
    double f = (double)i / (n - 1), m = mode == 0 ? pow(ratio, f) : mode == 1 ? pow(ratio, 1 - f) : i % 2 ? ratio : 1;
    double speed = chance(r, 0.5) ? ten(r, -3, 0.3) : 0;
    body(w, m, .5, .5, .5, .05 * kit_normal(r), .05 * kit_normal(r), .5 + i, speed);
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) {
      double bias = chance(r, .3) ? fmax(0, 1e-3 * kit_normal(r)) : 0;
      contact(w, i - 1, i, w->x[i][0] + (k & 1 ? .45 : -.45), w->x[i][1] + (k & 2 ? .45 : -.45), w->x[i][2] - .5, 0, 0,
              1, mu, bias);
    }
  }
  build(w, PICK(r, 0, 0.3, 1.5), out);
}

// A wall of boxes, its columns a little apart.
static void wall(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  int nr = between(r, 2, 5), nc = between(r, 2, 6), id[5][6];
  double mu = random_mu(r);
  for (int i = 0; i < nr; ++i) {
    for (int j = 0; j < nc; ++j) {
      id[i][j] = body(w, ten(r, -1, 1), .5, .25, .25, j + .5 * (i % 2), 0, .25 + .5 * i, chance(r, .1) ? .5 : 0);
    }
  }
  for (int i = 0; i < nr; ++i) {
    for (int j = 0; j < nc; ++j) {
      int b = id[i][j];
      double x = w->x[b][0], z = w->x[b][2];
      if (i == 0) {
        for (int k = 0; k < 4; ++k) {
          contact(w, -1, b, x + (k & 1 ? .5 : -.5), k & 2 ? .25 : -.25, z - .25, 0, 0, 1, mu, 0);
        }
      }
      if (i > 0) {
        for (int m = j - 1; m <= j + 1; ++m) {
          if (m < 0 || m >= nc) {
            continue;
          }
          double x2 = w->x[id[i - 1][m]][0], lo = fmax(x, x2) - .5, hi = fmin(x, x2) + .5;
          for (int k = 0; hi - lo > .05 && k < 4; ++k) {
            contact(w, id[i - 1][m], b, k & 1 ? hi : lo, k & 2 ? .25 : -.25, z - .25, 0, 0, 1, mu, 0);
          }
        }
      }
      if (j > 0) {
        for (int k = 0; k < 4; ++k) {
          contact(w, id[i][j - 1], b, x - .5, k & 1 ? .25 : -.25, z + (k & 2 ? .25 : -.25), 1, 0, 0, mu, 0);
        }
      }
    }
  }
  build(w, PICK(r, 0, 0.3, 2), out);
}

static void neighbours(const World* w, int i, int count, int* nearest) {
  double taken = -1;
  for (int k = 0; k < count; ++k) {
    double best = INFINITY, d[3];
    for (int j = 0; j < w->nbody; ++j) {
      tribo_sub3(d, w->x[j], w->x[i]);
      double gap = tribo_norm3(d);
      if (j != i && gap > taken && gap < best) {
        best = gap;
        nearest[k] = j;
      }
    }
    taken = best;
  }
}

// n boxes at random places and orientations, in contact with their neighbours.
static void pile_of(KitRandom* r, int n, int jam, FamilyProblem* out) {
  World* w = world_new(r);
  double L = cbrt(1.2 * n), spread = kit_int(r, 3), mu0 = random_mu(r);
  int same = chance(r, .5);
  for (int i = 0; i < n; ++i) {
    double x[3] = {kit_uniform(r, 0, L), kit_uniform(r, 0, L), kit_uniform(r, 0, L)};
    body(w, ten(r, -spread, spread), kit_uniform(r, .2, .6), kit_uniform(r, .2, .6), kit_uniform(r, .2, .6), x[0], x[1],
         x[2], PICK(r, 0, .01, .5));
  }
#define MU (same ? mu0 : random_mu(r))
  for (int i = 0; i < n; ++i) {
    const double* x = w->x[i];
    int count = between(r, 1, 5), near[4];
    count = count < n - 1 ? count : n - 1;
    neighbours(w, i, count, near);
    for (int k = 0; k < count; ++k) {
      double d[3];
      tribo_sub3(d, x, w->x[near[k]]);
      double gap = tribo_norm3(d);
      if (near[k] > i && gap >= .9) {
        continue;
      }
      for (int c = (int)PICK(r, 1, 1, 3); c > 0; --c) {
        double p[3], m[3];
        for (int a = 0; a < 3; ++a) {
          p[a] = .5 * (x[a] + w->x[near[k]][a]) + .15 * kit_normal(r);
          m[a] = d[a] / (gap + 1e-9) + .2 * kit_normal(r);
        }
        contact(w, near[k], i, p[0], p[1], p[2], m[0], m[1], m[2], MU,
                chance(r, .3) ? fmax(0, .01 * kit_normal(r)) : 0);
      }
    }
    if (x[2] < .6) {
      contact(w, -1, i, x[0], x[1], x[2] - .5, 0, 0, 1, MU, 0);
    }
    if (jam) {
      for (int a = 0; a < 3; ++a) {
        double e[3] = {a == 0, a == 1, a == 2};
        if (x[a] < .5) {
          contact(w, -1, i, x[0] - .5 * e[0], x[1] - .5 * e[1], x[2] - .5 * e[2], e[0], e[1], e[2], MU, 0);
        }
        if (x[a] > L - .5) {
          contact(w, -1, i, x[0] + .5 * e[0], x[1] + .5 * e[1], x[2] + .5 * e[2], -e[0], -e[1], -e[2], MU, 0);
        }
      }
    }
  }
  if (w->nset == 0) {
    contact(w, -1, 0, w->x[0][0], w->x[0][1], w->x[0][2] - .5, 0, 0, 1, MU, 0);
  }
  build(w, PICK(r, 0, 1), out);
}

static void pile(KitRandom* r, FamilyProblem* out) {
  int n = between(r, 3, 25);
  pile_of(r, n, chance(r, .3), out);
}

void family_big_pile(int bodies, uint64_t seed, FamilyProblem* out) {
  // boxes on a jittered grid, four contacts to each neighbour below and beside
  KitRandom rng = {seed};
  World* w = world_new(&rng);
  int side = (int)ceil(cbrt(bodies));
  for (int i = 0; i < bodies; ++i) {
    int x = i % side, y = i / side % side, z = i / side / side;
    body(w, ten(&rng, -1, 1), .5, .5, .5, x + .02 * kit_normal(&rng), y + .02 * kit_normal(&rng), z + .5, .05);
  }
  for (int i = 0; i < bodies; ++i) {
    const double* x = w->x[i];
    for (int axis = 0; axis < 3; ++axis) {
      int step = axis == 0 ? 1 : axis == 1 ? side : side * side;
      int on_edge = axis == 0 ? i % side == 0 : axis == 1 ? i / side % side == 0 : i < side * side;
      if (on_edge && axis < 2) {
        continue;
      }
      if (axis < 2 && !chance(&rng, .5)) {
        continue;
      }
      double n[3] = {.05 * kit_normal(&rng), .05 * kit_normal(&rng), .05 * kit_normal(&rng)};
      n[axis] = 1;
      for (int k = 0; k < 3; ++k) {
        double p[3] = {x[0] + kit_uniform(&rng, -.5, .5), x[1] + kit_uniform(&rng, -.5, .5),
                       x[2] + kit_uniform(&rng, -.5, .5)};
        p[axis] = x[axis] - .5;
        contact(w, on_edge ? -1 : i - step, i, p[0], p[1], p[2], n[0], n[1], n[2], .5, 0);
      }
    }
  }
  build(w, .1, out);
}

void family_extended(uint64_t seed, int index, FamilyProblem* out) {
  // boxes in a heap: every contact has its own number of rows and its own coefficients
  KitRandom rng = {seed * 7919 + (uint64_t)index};
  kit_bits(&rng);
  World* w = world_new(&rng);
  int n = between(&rng, 1, 6);
  for (int i = 0; i < n; ++i) {
    body(w, ten(&rng, -1, 1), .4, .4, .4, .1 * kit_normal(&rng), .1 * kit_normal(&rng), .8 * i, PICK(&rng, 0, .1, 1));
  }
  for (int i = 0; i < n; ++i) {
    for (int k = between(&rng, 1, 5); k > 0; --k) {
      contact(w, i - 1, i, kit_uniform(&rng, -.4, .4), kit_uniform(&rng, -.4, .4), .8 * i - .4, .1 * kit_normal(&rng),
              .1 * kit_normal(&rng), 1, kit_uniform(&rng, .1, 1), 0);
      RowSet* s = &w->set[w->nset - 1];
      s->dim = between(&rng, 3, 7);
      s->mu[1] = chance(&rng, .5) ? s->mu[0] : kit_uniform(&rng, .1, 1);
      for (int d = 2; d < 5; ++d) {
        s->mu[d] = chance(&rng, .2) ? 0 : ten(&rng, -3, -1);
      }
    }
  }
  build(w, PICK(&rng, 0, .5, 2), out);
}

void family_tower_at_rest(uint64_t seed, double noise, FamilyProblem* out) {
  KitRandom rng = {seed};
  World* w = world_new(&rng);
  for (int i = 0; i < 5; ++i) {
    body(w, pow(10, i), .5, .5, .5, 0, 0, .5 + i, 0);
    for (int k = 0; k < 4; ++k) {
      contact(w, i - 1, i, k & 1 ? .5 : -.5, k & 2 ? .5 : -.5, i, 0, 0, 1, .5, 0);
      // the same tangents in every step
      double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
      tribo_copy3(w->set[w->nset - 1].frame, x);
      tribo_copy3(w->set[w->nset - 1].frame + 3, y);
    }
  }
  KitRandom force = {seed + 1000};
  w->rng = &force;
  build(w, noise, out);
}

static void bolt(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  double mu = kit_uniform(r, .02, 1);
  int n = between(r, 40, 140);
  int b = body(w, ten(r, -2, 1), .3, .3, .15, 0, 0, 0, ten(r, -2, 0));
  for (int i = 0; i < n; ++i) {
    double th = kit_uniform(r, 0, 8 * 3.141592653589793), up = chance(r, .5) ? 1 : -1;
    contact(w, -1, b, .25 * cos(th), .25 * sin(th), .05 * th / 6.283185307179586 - .1, -.5 * cos(th), -.5 * sin(th), up,
            mu, fmax(0, 1e-2 * kit_normal(r)));
  }
  build(w, PICK(r, 1, 10), out);
}

// Inverse of a symmetric positive definite matrix.
static void invert(int n, const double* A, double* inverse) {
  // Gauss and Jordan; A is well conditioned up to its diagonal scale
  double* t = malloc(sizeof(double) * (size_t)(n * n));
  memcpy(t, A, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n * n; ++i) {
    inverse[i] = i % (n + 1) == 0;
  }
  for (int k = 0; k < n; ++k) {
    double f = 1 / t[k * n + k];
    for (int j = 0; j < n; ++j) {
      t[k * n + j] *= f;
      inverse[k * n + j] *= f;
    }
    for (int i = 0; i < n; ++i) {
      double m = t[i * n + k];
      if (i != k) {
        for (int j = 0; j < n; ++j) {
          t[i * n + j] -= m * t[k * n + j];
          inverse[i * n + j] -= m * inverse[k * n + j];
        }
      }
    }
  }
  free(t);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      inverse[i * n + j] = inverse[j * n + i] = .5 * (inverse[i * n + j] + inverse[j * n + i]);
    }
  }
}

static void robot_mass(KitRandom* r, int nv, double* M) {
  double B[40][40], d[40], common = ten(r, -.5, .5);
  for (int i = 0; i < nv; ++i) {
    d[i] = sqrt(ten(r, -2, 2) * common);
    for (int j = 0; j < nv; ++j) {
      B[i][j] = kit_normal(r);
    }
  }
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) {
      double sum = 0;
      for (int k = 0; k < nv; ++k) {
        sum += B[i][k] * B[j][k];
      }
      M[i * nv + j] = d[i] * d[j] * (.7 * sum / nv + .3 * (i == j));
    }
  }
}

static void robot_contacts(KitRandom* r, FamilyProblem* out, int nv, int nc) {
  int legs = between(r, 1, 5), same = chance(r, .6);
  double mu0 = PICK(r, .3, .7, 1, 1.5);
  for (int c = 0; c < nc; ++c) {
    double mu = same ? mu0 : random_mu(r), *J = out->jac + (size_t)c * 3 * (size_t)nv;
    out->cones[c] = (TriboCone){.kind = TRIBO_CONE_FRICTION, .row = 3 * c, .dim = 3, .mu = {mu, mu}};
    int leg = kit_int(r, legs);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < nv; ++j) {
        // three of four contacts lie on the foot of the one before, shifted
        J[i * nv + j] = c % 4 ? J[i * nv + j - 3 * nv] + (j >= 3 && j < 6 ? .1 * kit_normal(r) : 0)
                        : j < 6 || (j - 6) % legs == leg ? kit_normal(r)
                                                         : 0;
      }
    }
  }
}

// A tree with one wide block of velocities, in contact with the ground by its ends.
static void robot(KitRandom* r, FamilyProblem* out) {
  int nv = between(r, 6, 40), nc = between(r, 1, 30), more = chance(r, .6), most = nc + (more ? nv : 0);
  family_allocate(out, 3 * nc + most, most, 1, most, (size_t)(nv * nv), (size_t)((3 * nc + most) * nv));
  out->nv = out->block_dim[0] = nv;
  robot_mass(r, nv, out->mass);
  invert(nv, out->mass, out->minv);
  robot_contacts(r, out, nv, nc);
  int row = 3 * nc, cone = nc;
  if (more) {
    for (int j = 6; j <= nv; ++j) {
      double* J = out->jac + row * nv;
      int kind = j < nv ? kit_int(r, 5) : nv > 12 && chance(r, .5) ? 5 : 6;
      double f = ten(r, -3, 0);
      TriboCone k = {.row = row, .dim = 1};
      if (kind == 0) {
        k.kind = TRIBO_CONE_BOX, k.lo = -f, k.hi = f;
        J[j] = 1;
      } else if (kind == 1) {
        k.kind = TRIBO_CONE_NONNEG;
        J[j] = chance(r, .5) ? 1 : -1;
      } else if (kind == 5) {
        k.kind = TRIBO_CONE_FREE;
        for (int i = 0; i < nv; ++i) {
          J[i] = chance(r, .4) ? kit_normal(r) : 0;
        }
      } else {
        continue;
      }
      out->cones[cone++] = k;
      row++;
    }
  }
  out->problem.nrow = row;
  out->problem.ncone = cone;
  double speed = ten(r, -2, .5), gap = PICK(r, 0, .01, .3), v[40];
  for (int j = 0; j < nv; ++j) {
    v[j] = speed * kit_normal(r);
  }
  for (int c = 0; c < cone; ++c) {
    out->term_first[c + 1] = c + 1;
    out->term_at[c] = (size_t)(out->cones[c].row * nv);
  }
  for (int i = 0; i < row; ++i) {
    for (int j = 0; j < nv; ++j) {
      out->g[i] += out->jac[i * nv + j] * v[j];
    }
    out->g[i] += i < 3 * nc && i % 3 == 2 ? gap * fmax(0, kit_normal(r)) : 0;
  }
}

static void wedge(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  double mu = kit_uniform(r, .1, 2), a = kit_uniform(r, .05, 1.2);
  int n = between(r, 1, 6);
  for (int i = 0; i < n; ++i) {
    body(w, ten(r, -2, 2), .4, .4, .4, 0, 0, .8 * i, PICK(r, 0, .05, 1));
  }
  for (int i = 0; i < n; ++i) {
    int sides = chance(r, .5) ? 2 : 3;
    for (int k = 0; k < sides; ++k) {
      double t = 6.283185307179586 * k / sides, c = cos(t), s = sin(t);
      for (int m = between(r, 1, 4); m > 0; --m) {
        contact(w, -1, i, .4 * c + .1 * kit_normal(r), .4 * s + .1 * kit_normal(r), .8 * i + .1 * kit_normal(r),
                -c * cos(a), -s * cos(a), sin(a), mu, 0);
      }
    }
    if (i > 0) {
      for (int k = 0; k < 3; ++k) {
        contact(w, i - 1, i, kit_uniform(r, -.4, .4), kit_uniform(r, -.4, .4), .8 * i - .4, 0, 0, 1, mu, 0);
      }
    }
  }
  build(w, PICK(r, 0, 2, 20), out);
}

// Bodies joined one to the next.
static void chain(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  int n = between(r, 2, 15);
  double mu = random_mu(r), heavy = ten(r, 0, 4);
  for (int i = 0; i < n; ++i) {
    body(w, i == n - 1 ? heavy : 1, .4, .1, .1, i, 0, .1, PICK(r, 0, .2));
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) {
      contact(w, -1, i, i + (k & 1 ? .4 : -.4), k & 2 ? .1 : -.1, 0, 0, 0, 1, mu, 0);
    }
  }
  for (int i = 0; i < n; ++i) {
    if (i > 0 || chance(r, .5)) {
      rows(w, i - 1, i, 3, TRIBO_CONE_FREE, 0, i - .5, 0, .1);
    }
    if (i > 0 && chance(r, .5)) {
      rows(w, i - 1, i, 1, TRIBO_CONE_NONNEG, 0, i - .5, .3, .1);
    }
    if (i > 0 && chance(r, .5)) {
      RowSet* s = rows(w, i - 1, i, 1, TRIBO_CONE_BOX, 0, i - .5, 0, .4);
      s->lo = -.01 * ten(r, -1, 2);
      s->hi = .01 * ten(r, -1, 2);
    }
  }
  build(w, PICK(r, 0, 1, 5), out);
}

static void slide(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  int n = between(r, 1, 8);
  for (int i = 0; i < n; ++i) {
    double mu = random_mu(r), line = ten(r, -3, .5), turn = ten(r, -3, .5);
    body(w, ten(r, -2, 2), .5, .5, .2, 2 * i, 0, .2, 1);
    for (int d = 0; d < 6; ++d) {
      w->v[i][d] *= d < 3 ? line : turn;
    }
    double nx = .3 * kit_normal(r), ny = .3 * kit_normal(r);
    for (int k = (int)PICK(r, 3, 4, 8, 16); k > 0; --k) {
      contact(w, -1, i, 2 * i + kit_uniform(r, -.5, .5), kit_uniform(r, -.5, .5), 0, nx, ny, 1, mu, 0);
    }
    if (i > 0) {
      contact(w, i - 1, i, 2 * i - 1, 0, .2, 1, .3 * kit_normal(r), 0, mu, 0);
    }
  }
  build(w, PICK(r, 0, 1), out);
}

static void grasp(KitRandom* r, FamilyProblem* out) {
  World* w = world_new(r);
  double mu = kit_uniform(r, .2, 1.5);
  int object = body(w, ten(r, -3, 3), .3, .3, .3, 0, 0, 1, 0), fingers = between(r, 2, 6), held[6] = {0};
  for (int f = 0; f < fingers; ++f) {
    double t = 6.283185307179586 * f / fingers, d[3] = {cos(t), sin(t), 0}, force = ten(r, -1, 3);
    int b = body(w, ten(r, -2, 1), .1, .1, .1, .4 * d[0], .4 * d[1], 1, 0);
    tribo_scale3(w->v[b], -5e-3 * force, d);
    for (int k = (int)PICK(r, 1, 4, 9); k > 0; --k) {
      double any[3] = {.05 * kit_normal(r), .05 * kit_normal(r), .05 * kit_normal(r)}, off[3];
      tribo_cross3(off, d, any);
      contact(w, b, object, .3 * d[0] + off[0], .3 * d[1] + off[1], 1 + off[2], -d[0], -d[1], 0, mu, 0);
    }
    held[f] = chance(r, .5) ? b : 0;
  }
  for (int k = 0, floor = chance(r, .4); floor && k < 4; ++k) {
    contact(w, -1, object, k & 1 ? .3 : -.3, k & 2 ? .3 : -.3, .7, 0, 0, 1, mu, 0);
  }
  for (int f = 0; f < fingers; ++f) {
    if (held[f] > 0) {
      rows(w, -1, held[f], 1, TRIBO_CONE_FREE, 2, w->x[held[f]][0], w->x[held[f]][1], 1);
    }
  }
  build(w, PICK(r, 0, 1), out);
}

void family_make(int family, uint64_t seed, int index, FamilyProblem* out) {
  static void (*const make[FAMILY_COUNT])(KitRandom*, FamilyProblem*) = {tower, wall,  pile,  bolt, robot,
                                                                         wedge, chain, slide, grasp};
  KitRandom rng = {seed * 1000003 + (uint64_t)family * 10007 + (uint64_t)index};
  kit_bits(&rng);
  make[family](&rng, out);
}

void family_perturb(FamilyProblem* p, double fraction, uint64_t seed) {
  KitRandom rng = {seed};
  const TriboProblem* q = &p->problem;
  double *d = calloc((size_t)q->nrow + 1, sizeof(double)), *v = malloc(sizeof(double) * (size_t)p->nv), size = 0,
         ng = 0;
  for (int b = 0, at = 0; b < q->nblock; ++b) {
    for (int j = 0; j < q->block_dim[b]; ++j) {
      v[at++] = kit_normal(&rng) * sqrt(q->minv[q->block_at[b] + (size_t)(j * (q->block_dim[b] + 1))]);
    }
  }
  for (int c = 0; c < q->ncone; ++c) {
    for (int t = q->term_first[c]; t < q->term_first[c + 1]; ++t) {
      int n = q->block_dim[q->term_block[t]];
      for (int i = 0; i < q->cones[c].dim; ++i) {
        for (int j = 0; j < n; ++j) {
          d[q->cones[c].row + i] += q->jac[q->term_at[t] + (size_t)(i * n + j)] * v[q->term_block[t] * n + j];
        }
      }
    }
  }
  for (int i = 0; i < q->nrow; ++i) {
    size += d[i] * d[i];
    ng += q->g[i] * q->g[i];
  }
  if (size > 0) {
    for (int i = 0; i < q->nrow; ++i) {
      p->g[i] += fraction * sqrt(ng / size) * d[i];
    }
  }
  free(d);
  free(v);
}

void family_scale_mass(FamilyProblem* p, double f) {
  for (int b = 0; b < p->problem.nblock; ++b) {
    int n = p->block_dim[b];
    for (int i = 0; i < n * n; ++i) {
      p->mass[p->block_at[b] + (size_t)i] *= f;
      p->minv[p->block_at[b] + (size_t)i] /= f;
    }
  }
  for (int c = 0; c < p->problem.ncone; ++c) {
    p->cones[c].lo *= f;
    p->cones[c].hi *= f;
  }
}

void family_explicit(const FamilyProblem* p, FamilyProblem* out) {
  const TriboProblem* q = &p->problem;
  int n = q->nrow, nnz = 0;
  *out = (FamilyProblem){0};
  double *unit = calloc((size_t)n + 1, sizeof(double)), *column = malloc(sizeof(double) * ((size_t)n + 1));
  double* zero = calloc((size_t)n + 1, sizeof(double));
  out->G_col = calloc((size_t)n + 1, sizeof(int));
  out->G_row = malloc(sizeof(int) * ((size_t)n * (size_t)n + 1));
  out->G_val = malloc(sizeof(double) * ((size_t)n * (size_t)n + 1));
  TriboProblem rigid = *q;
  rigid.R = NULL;
  rigid.g = zero;
  for (int j = 0; j < n; ++j) {
    TriboResiduals r;
    unit[j] = 1;
    CHECK_OK(tribo_problem_residuals(&rigid, unit, column, &r));
    unit[j] = 0;
    for (int i = 0; i < n; ++i) {
      if (column[i] != 0) {
        out->G_row[nnz] = i;
        out->G_val[nnz++] = column[i];
      }
    }
    out->G_col[j + 1] = nnz;
  }
  free(unit);
  free(column);
  free(zero);
  out->problem = (TriboProblem){.nrow = n, .ncone = q->ncone, .cones = q->cones, .g = q->g, .R = q->R};
  out->problem.G_col = out->G_col;
  out->problem.G_row = out->G_row;
  out->problem.G_val = out->G_val;
}
