// Problems with far more contacts than motions, as of round things that touch along rings and helices:
//
//     nut    a nut on a fixed bolt, M16 × 2, held by a stiff controller: 128 contacts, 6 velocities
//     dish   bowl, bowl, plate and pot, one in the other, 0.1 to 5 kg: 168 contacts, 24 velocities
//
// A flank of the thread is a plane in the section through the axis, 30° from the radial direction. So a point x of the
// nut's flank, moved by p + ω × x, has the gap clearance + n·(p + ω × x) with n the flank's normal, to first order.
#include "families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"
#include "math3.h"

static const double STEP = 1.0 / 240, PI = 3.14159265358979323846;

enum { MOST_CONTACTS = 168, MOST_BODIES = 4 };

typedef struct Contact {
  int below, above;  // bodies, −1: the fixed one
  double point[3], normal[3], gap;
} Contact;

typedef struct Stack {
  int bodies, contacts;
  double centre[MOST_BODIES][3], M[MOST_BODIES][6], v[MOST_BODIES][6];  // v: free velocity
  Contact contact[MOST_CONTACTS];
  double mu;
} Stack;

static double square(double x) {
  return x * x;
}

// rows t₁, t₂, n of a contact on one of its bodies
static void rows_of(const Stack* s, const Contact* c, int body, double sign, double* J) {
  double frame[3][3], r[3], turn[3];
  const double axis[3] = {fabs(c->normal[2]) < 0.9 ? 0 : 1, 0, fabs(c->normal[2]) < 0.9 ? 1 : 0};
  tribo_copy3(frame[2], c->normal);
  tribo_cross3(frame[0], axis, c->normal);
  tribo_normalize3(frame[0]);
  tribo_cross3(frame[1], c->normal, frame[0]);
  tribo_sub3(r, c->point, s->centre[body]);
  for (int i = 0; i < 3; ++i) {
    tribo_cross3(turn, r, frame[i]);
    for (int j = 0; j < 3; ++j) {
      J[6 * i + j] = sign * frame[i][j];
      J[6 * i + 3 + j] = sign * turn[j];
    }
  }
}

// The problem of a stack: masses, rows of its contacts, and g of its free velocity and gaps.
static void build(const Stack* s, FamilyProblem* out) {
  int term = 0;
  size_t at = 0;
  family_allocate(out, 3 * s->contacts, s->contacts, s->bodies, 2 * s->contacts, 36 * (size_t)s->bodies,
                  36 * (size_t)s->contacts);
  out->nv = 6 * s->bodies;
  for (int b = 0; b < s->bodies; ++b) {
    out->block_dim[b] = 6;
    out->block_at[b] = 36 * (size_t)b;
    for (int i = 0; i < 6; ++i) {
      out->mass[36 * b + 7 * i] = s->M[b][i];
      out->minv[36 * b + 7 * i] = 1 / s->M[b][i];
    }
  }
  for (int k = 0; k < s->contacts; ++k) {
    const Contact* c = &s->contact[k];
    const int sides[2] = {c->below, c->above};
    out->cones[k] = (TriboCone){.kind = TRIBO_CONE_FRICTION, .row = 3 * k, .dim = 3, .mu = {s->mu, s->mu}};
    for (int i = 0; i < 2; ++i) {
      if (sides[i] < 0) {
        continue;
      }
      out->term_block[term] = sides[i];
      out->term_at[term++] = at;
      rows_of(s, c, sides[i], i == 0 ? -1 : 1, out->jac + at);
      for (int j = 0; j < 18; ++j) {
        out->g[3 * k + j / 6] += out->jac[at + (size_t)j] * s->v[sides[i]][j % 6];
      }
      at += 18;
    }
    out->term_first[k + 1] = term;
    // open contacts may close in the step, overlap is pushed out by a fifth, at most 5 cm/s
    out->g[3 * k + 2] += c->gap > 0 ? c->gap / STEP : fmax(0.2 * c->gap / STEP, -0.05);
  }
}

void family_nut(uint64_t seed, FamilyProblem* out) {
  enum { SECTORS = 16, LAYERS = 4, CELLS = 4 * SECTORS * LAYERS, A_TURN = 48, TURNS = 7 };
  const double pitch = 2e-3, clearance = 1e-4, height = 13e-3, H = 0.5 * sqrt(3) * pitch;
  const double mass[6] = {0.03358, 0.03358, 0.03358, 2.275e-6, 2.275e-6, 3.604e-6};
  KitRandom r = {seed * 7919 + 1};
  Stack* s = calloc(1, sizeof *s);
  Contact cell[CELLS];
  double p[3] = {3e-5 * kit_normal(&r), 3e-5 * kit_normal(&r), kit_uniform(&r, 0, 3e-5) - 1.15e-4};
  double tilt[3] = {2e-3 * kit_normal(&r), 2e-3 * kit_normal(&r), 0};
  s->bodies = 1;
  s->mu = 0.3;
  // spring 1e4 N/m and 30 N m/rad, damper 200 N s/m and 0.6 N m s/rad, implicit
  for (int i = 0; i < 6; ++i) {
    const double speed = i < 3 ? 2e-2 * kit_normal(&r) : 0.5 * kit_normal(&r);
    const double force = i < 3 ? 20 * kit_normal(&r) : 0.3 * kit_normal(&r);
    s->M[0][i] = mass[i] + STEP * (i < 3 ? 200 + STEP * 1e4 : 0.6 + STEP * 30);
    s->v[0][i] = (mass[i] * speed + STEP * (force - (i == 2 ? 9.81 * mass[i] : 0))) / s->M[0][i];
  }
  for (int i = 0; i < CELLS; ++i) {
    cell[i] = (Contact){.below = -1, .gap = INFINITY};
  }
  // the crest of the nut on the bolt's flanks, then the bolt's crest on the nut's; of a cell the deepest point
  for (int i = 0; i < 4 * TURNS * A_TURN; ++i) {
    const int kind = i & 1, side = i & 2 ? 1 : -1, k = i / 4;
    const double radius = kind == 0 ? 8e-3 - 5.0 / 8 * H + clearance : 8e-3, angle = 2 * PI * k / A_TURN;
    const double lead = pitch / (2 * PI * radius), z = pitch * ((double)k / A_TURN - 0.5 * TURNS) + side * pitch / 4;
    if (fabs(z) > 0.5 * height) {
      continue;
    }
    const double radial[3] = {cos(angle), sin(angle), 0};
    Contact c = {.below = -1, .point = {radius * radial[0], radius * radial[1], z}};
    const double n[3] = {0.5, -side * lead * sqrt(0.75), side * sqrt(0.75)};
    tribo_set3(c.normal, n[0] * radial[0] - n[1] * radial[1], n[0] * radial[1] + n[1] * radial[0], n[2]);
    tribo_normalize3(c.normal);
    double moved[3];
    tribo_cross3(moved, tilt, c.point);
    tribo_add3(moved, moved, p);
    c.gap = clearance + tribo_dot3(c.normal, moved);
    const int layer = (int)fmin((z / height + 0.5) * LAYERS, LAYERS - 1), sector = k % A_TURN * SECTORS / A_TURN;
    Contact* of = &cell[(2 * kind + (side > 0)) * SECTORS * LAYERS + layer * SECTORS + sector];
    *of = c.gap < of->gap ? c : *of;
  }
  for (; s->contacts < 128; ++s->contacts) {
    int deepest = 0;
    for (int i = 1; i < CELLS; ++i) {
      deepest = cell[i].gap < cell[deepest].gap ? i : deepest;
    }
    if (cell[deepest].gap > 5e-5) {
      break;
    }
    s->contact[s->contacts] = cell[deepest];
    cell[deepest].gap = INFINITY;
  }
  build(s, out);
  free(s);
}

void family_dishes(uint64_t seed, FamilyProblem* out) {
  enum { RING = 24 };
  const double masses[MOST_BODIES] = {0.1, 0.1, 0.1, 5};
  KitRandom r = {seed * 7919 + 2};
  Stack* s = calloc(1, sizeof *s);
  s->bodies = MOST_BODIES;
  s->mu = 0.4;
  for (int b = 0; b < MOST_BODIES; ++b) {
    s->centre[b][2] = 0.03 * (b + 1);
    for (int i = 0; i < 6; ++i) {
      s->M[b][i] = masses[b] * (i < 3 ? 1 : square(0.07) * (i < 5 ? 0.4 : 0.6));
      const double force = i < 3 ? 2 * kit_normal(&r) : 0.05 * kit_normal(&r);
      const double speed = i < 2 ? 0.02 * kit_normal(&r) : i == 2 ? -9.81 * STEP : 0.1 * kit_normal(&r);
      s->v[b][i] = speed + STEP * force / s->M[b][i];
    }
  }
  // on its foot a dish touches what it stands on, and on its sloping side, but for the lowest, what it stands in
  for (int ring = 0; ring < 2 * MOST_BODIES - 1; ++ring) {
    const int b = (ring + 1) / 2, is_side = ring > 0 && ring % 2 == 0;
    const double radius = is_side ? 0.07 : 0.04, slope = is_side ? 0.7 : 0, turn = kit_uniform(&r, 0, 1);
    for (int k = 0; k < RING; ++k) {
      const double a = 2 * PI * (k + turn) / RING;
      Contact* c = &s->contact[s->contacts++];
      c->below = b - 1;
      c->above = b;
      tribo_set3(c->point, radius * cos(a), radius * sin(a), 0.03 * b + 0.02 * slope);
      tribo_set3(c->normal, -sin(slope) * cos(a), -sin(slope) * sin(a), cos(slope));
      c->gap = STEP * 1e-3 * fmax(0, kit_normal(&r));
    }
  }
  build(s, out);
  free(s);
}
