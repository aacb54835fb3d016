// How accurate a run was, from its poses and velocities alone: the same ruler for every engine.
//
// clang-format off
//   pen_*_mm        deepest overlap of boxes, balls and the ground, every 10 ms: over the run, its first tenth, its last fifth
//   creep_um_s      fastest mean drift along the ground over the second half
//   energy_gain     how far the energy rises above its first value, as a fraction of it
//   lost            bodies at the end below the ground or outside the bin of static boxes
//   speed_end       root mean square of the speeds at the end [m/s]
//   lift_mm         how far a lone body rises above where it began
//   accel_err_pct   acceleration along a slope from a third of the run on, against g_x − μ g_z
//   v_err_pct       end speed of a ball thrown sliding, against 5/7 of its first
//   apex_m          how high its lowest point comes after the first bounce
//   energy_err, momentum_err   without gravity: largest change of either, as a fraction
//   gap_max_um, energy_range_J, energy_drift_J   of closures, and what they do to the energy
// clang-format on
#include "bench_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A ball of radius half[0], or a box of half lengths; fixed where body < 0.
typedef struct Solid {
  int body, ball;
  double half[3], reach;
  double position[3], quaternion[4];  // in its body, or in the world
} Solid;

// The same, placed in the world; R by rows.
typedef struct Placed {
  double p[3], R[9];
} Placed;

struct Ruler {
  const TriboModel* model;
  int nbody, nsolid;
  Solid* solids;  // (nsolid)
  Placed* placed;
  int ground;                   // 1: the plane z = 0
  int overlaps;                 // 1: overlaps can be measured
  double bin[2];                // how far static boxes reach [m], 0: none
  double begin, end, next_pen;  // [s]
  Sample *first, *third, *half, *last;
  double third_time, half_time, last_time;
  double pen[3];  // over the run, its beginning, its end [m]
  double rise, energy_first, energy_min, energy_max, energy_last, momentum[3], momentum_err, gap;
  int bounce;  // 0 falling, 1 near the ground, 2 on the way to the apex, 3 done
  double apex;
  int count;
};

// A point of a body frame in the world.
static void point_of(const Ruler* r, int body, const Sample* state, const double local[3], double out[3]) {
  double R[9], arm[3], offset[3];
  const double* com = tribo_model_body(r->model, body)->com;
  for (int k = 0; k < 3; ++k) {
    offset[k] = local[k] - com[k];
  }
  tribo_quat_to_mat(R, state[body].quaternion);
  tribo_mul33v(arm, R, offset);
  for (int k = 0; k < 3; ++k) {
    out[k] = state[body].position[k] + arm[k];
  }
}

// ---- overlaps

static double ball_ball(const Solid* a, const Placed* pa, const Solid* b, const Placed* pb) {
  return a->half[0] + b->half[0] - hypot(hypot(pa->p[0] - pb->p[0], pa->p[1] - pb->p[1]), pa->p[2] - pb->p[2]);
}

static double ball_box(const Solid* ball, const Placed* pa, const Solid* box, const Placed* pb) {
  double outside = 0, inside = INFINITY;
  for (int i = 0; i < 3; ++i) {
    const double* R = pb->R;
    const double x = R[i] * (pa->p[0] - pb->p[0]) + R[3 + i] * (pa->p[1] - pb->p[1]) + R[6 + i] * (pa->p[2] - pb->p[2]);
    outside = hypot(outside, fmax(0, fabs(x) - box->half[i]));
    inside = fmin(inside, box->half[i] - fabs(x));
  }
  return ball->half[0] - (outside > 0 ? outside : -inside);
}

// The smallest overlap over the 15 axes that can separate two boxes, negative when one does.
static double box_box(const Solid* a, const Placed* pa, const Solid* b, const Placed* pb) {
  double best = INFINITY, d[3];
  for (int k = 0; k < 3; ++k) {
    d[k] = pb->p[k] - pa->p[k];
  }
  for (int axis = 0; axis < 15; ++axis) {
    double u[3];
    const double *A = pa->R, *B = pb->R;
    const int i = axis < 6 ? axis % 3 : (axis - 6) / 3, j = (axis - 6) % 3;
    if (axis < 6) {
      const double* R = axis < 3 ? A : B;
      u[0] = R[i], u[1] = R[3 + i], u[2] = R[6 + i];
    } else {
      u[0] = A[3 + i] * B[6 + j] - A[6 + i] * B[3 + j];
      u[1] = A[6 + i] * B[j] - A[i] * B[6 + j];
      u[2] = A[i] * B[3 + j] - A[3 + i] * B[j];
    }
    const double length = sqrt(tribo_dot3(u, u));
    if (length < 1e-3) {  // edges nearly parallel: no new axis
      continue;
    }
    double reach = -fabs(tribo_dot3(d, u));
    for (int k = 0; k < 3; ++k) {
      reach += a->half[k] * fabs(A[k] * u[0] + A[3 + k] * u[1] + A[6 + k] * u[2]);
      reach += b->half[k] * fabs(B[k] * u[0] + B[3 + k] * u[1] + B[6 + k] * u[2]);
    }
    best = fmin(best, reach / length);
  }
  return best;
}

static double overlap(const Solid* a, const Placed* pa, const Solid* b, const Placed* pb) {
  return a->ball && b->ball ? ball_ball(a, pa, b, pb)
         : a->ball          ? ball_box(a, pa, b, pb)
         : b->ball          ? ball_box(b, pb, a, pa)
                            : box_box(a, pa, b, pb);
}

// The deepest overlap of any two solids, or of one with the ground [m].
static double deepest(Ruler* r, const Sample* state) {
  double worst = 0;
  for (int i = 0; i < r->nsolid; ++i) {
    const Solid* s = &r->solids[i];
    double own[9], body[9];
    tribo_quat_to_mat(own, s->quaternion);
    memcpy(r->placed[i].p, s->position, sizeof s->position);
    memcpy(r->placed[i].R, own, sizeof own);
    if (s->body >= 0) {
      point_of(r, s->body, state, s->position, r->placed[i].p);
      tribo_quat_to_mat(body, state[s->body].quaternion);
      for (int k = 0; k < 9; ++k) {
        const double *row = body + k / 3 * 3, *column = own + k % 3;
        r->placed[i].R[k] = row[0] * column[0] + row[1] * column[3] + row[2] * column[6];
      }
      const double* z = r->placed[i].R + 6;
      const double low =
          s->ball ? s->half[0] : fabs(z[0]) * s->half[0] + fabs(z[1]) * s->half[1] + fabs(z[2]) * s->half[2];
      worst = r->ground ? fmax(worst, low - r->placed[i].p[2]) : worst;
    }
  }
  for (int i = 0; i < r->nsolid; ++i) {
    for (int k = i + 1; k < r->nsolid; ++k) {
      const Solid *a = &r->solids[i], *b = &r->solids[k];
      const Placed *pa = &r->placed[i], *pb = &r->placed[k];
      const double d[3] = {pa->p[0] - pb->p[0], pa->p[1] - pb->p[1], pa->p[2] - pb->p[2]};
      const double near = a->reach + b->reach;
      if (a->body != b->body && tribo_dot3(d, d) < near * near) {
        worst = fmax(worst, overlap(a, pa, b, pb));
      }
    }
  }
  return worst;
}

// ---- energy, momentum, closures

// Energy, and the angular momentum about the origin.
static double energy_of(const Ruler* r, const Sample* state, double angular[3]) {
  const double* g = tribo_model_world(r->model)->gravity;
  double e = 0;
  memset(angular, 0, 3 * sizeof *angular);
  for (int i = 0; i < r->nbody; ++i) {
    const TriboBodyInfo* b = tribo_model_body(r->model, i);
    const Sample* s = &state[i];
    const double* m = b->inertia;  // xx yy zz xy xz yz
    const double I[9] = {m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2]};
    double R[9], local[3], spin[3], L[3];
    tribo_quat_to_mat(R, s->quaternion);
    for (int k = 0; k < 3; ++k) {
      local[k] = R[k] * s->omega[0] + R[3 + k] * s->omega[1] + R[6 + k] * s->omega[2];
    }
    tribo_mul33v(spin, I, local);
    tribo_mul33v(L, R, spin);
    e += 0.5 * tribo_dot3(local, spin) +
         b->mass * (0.5 * tribo_dot3(s->velocity, s->velocity) - tribo_dot3(g, s->position));
    const double *p = s->position, *v = s->velocity;
    angular[0] += L[0] + b->mass * (p[1] * v[2] - p[2] * v[1]);
    angular[1] += L[1] + b->mass * (p[2] * v[0] - p[0] * v[2]);
    angular[2] += L[2] + b->mass * (p[0] * v[1] - p[1] * v[0]);
  }
  return e;
}

// How far the points that closures hold together are apart.
static double widest_gap(const Ruler* r, const Sample* state) {
  double worst = 0;
  for (int i = 0; i < tribo_model_size(r->model).nclosure; ++i) {
    const TriboClosureInfo* c = tribo_model_closure(r->model, i);
    double a[3], b[3];
    memcpy(a, c->anchor_a, sizeof a);
    memcpy(b, c->anchor_b, sizeof b);
    if (c->body_a >= 0) {
      point_of(r, c->body_a, state, c->anchor_a, a);
    }
    if (c->body_b >= 0) {
      point_of(r, c->body_b, state, c->anchor_b, b);
    }
    worst = fmax(worst, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
  }
  return worst;
}

// The height of the first bounce: down to 2 cm, up past 3 cm, then as high as it comes before it falls to 2 cm again.
static void follow_bounce(Ruler* r, double low) {
  if (r->bounce == 0 && low < 0.02) {
    r->bounce = 1;
  } else if (r->bounce == 1 && low > 0.03) {
    r->bounce = 2;
  } else if (r->bounce == 2 && low < 0.02) {
    r->bounce = 3;
  }
  r->apex = r->bounce == 2 ? fmax(r->apex, low) : r->apex;
}

// ---- the ruler

// The shapes whose overlaps can be measured; anything else, and none is.
static int add_shapes(Ruler* r) {
  const int nshape = tribo_model_size(r->model).nshape;
  r->solids = calloc((size_t)nshape + 1, sizeof *r->solids);
  r->placed = calloc((size_t)nshape + 1, sizeof *r->placed);
  r->overlaps = tribo_model_size(r->model).nclosure == 0 && tribo_model_size(r->model).ntree == 0;
  if (r->solids != NULL) {
    for (int i = 0; i < nshape; ++i) {
      const TriboShapeInfo* s = tribo_model_shape(r->model, i);
      if (s->kind == TRIBO_SHAPE_HALFSPACE) {
        const double level = fabs(s->position[2]) + fabs(s->quaternion[0]) + fabs(s->quaternion[1]);
        r->ground = 1;
        r->overlaps &= level == 0;
        continue;
      }
      r->overlaps &= s->kind == TRIBO_SHAPE_SPHERE || s->kind == TRIBO_SHAPE_BOX;
      Solid* solid = &r->solids[r->nsolid++];
      solid->body = s->body;
      solid->ball = s->kind == TRIBO_SHAPE_SPHERE;
      for (int k = 0; k < 3; ++k) {
        solid->half[k] = solid->ball ? s->size[0] : 0.5 * s->size[k];
      }
      solid->reach = solid->ball ? s->size[0] : sqrt(tribo_dot3(solid->half, solid->half));
      memcpy(solid->position, s->position, sizeof solid->position);
      memcpy(solid->quaternion, s->quaternion, sizeof solid->quaternion);
      if (s->body < 0) {
        for (int k = 0; k < 2; ++k) {
          r->bin[k] = fmax(r->bin[k], fabs(s->position[k]));
        }
      }
    }
  }
  return r->solids != NULL && r->placed != NULL;
}

Ruler* ruler_create(const TriboModel* model, double begin, double end) {
  Ruler* r = calloc(1, sizeof *r);
  if (r == NULL) {
    return NULL;
  }
  *r = (Ruler){.model = model, .nbody = tribo_model_size(model).nbody, .begin = begin, .end = end, .next_pen = begin};
  const size_t n = (size_t)r->nbody + 1;
  r->first = calloc(4 * n, sizeof *r->first);
  if (r->first == NULL || !add_shapes(r)) {
    ruler_free(r);
    return NULL;
  }
  r->third = r->first + n, r->half = r->third + n, r->last = r->half + n;
  return r;
}

void ruler_free(Ruler* r) {
  if (r != NULL) {
    free(r->first);
    free(r->solids);
    free(r->placed);
    free(r);
  }
}

static void measure_overlap(Ruler* r, double time, const Sample* bodies) {
  const double length = r->end - r->begin;
  if (!r->overlaps || r->count == 0 || time < r->next_pen - 1e-9) {
    return;
  }
  r->next_pen = time + 0.01;
  const double depth = deepest(r, bodies);
  r->pen[0] = fmax(r->pen[0], depth);
  if (time <= r->begin + 0.1 * length) {
    r->pen[1] = fmax(r->pen[1], depth);
  }
  if (time >= r->begin + 0.8 * length) {
    r->pen[2] = fmax(r->pen[2], depth);
  }
}

void ruler_add(Ruler* r, double time, const Sample* bodies) {
  const size_t bytes = (size_t)r->nbody * sizeof *bodies;
  const double length = r->end - r->begin;
  double angular[3];
  const double energy = energy_of(r, bodies, angular);
  if (r->count == 0) {
    memcpy(r->first, bodies, bytes);
    r->energy_first = r->energy_min = r->energy_max = energy;
    memcpy(r->momentum, angular, sizeof angular);
  }
  if (time <= r->begin + length / 3 + 1e-9) {
    memcpy(r->third, bodies, bytes);
    r->third_time = time;
  }
  if (time <= r->begin + length / 2 + 1e-9) {
    memcpy(r->half, bodies, bytes);
    r->half_time = time;
  }
  memcpy(r->last, bodies, bytes);
  r->last_time = time;
  measure_overlap(r, time, bodies);
  r->energy_last = energy;
  r->energy_min = fmin(r->energy_min, energy);
  r->energy_max = fmax(r->energy_max, energy);
  const double scale = sqrt(tribo_dot3(r->momentum, r->momentum));
  for (int k = 0; k < 3; ++k) {
    angular[k] -= r->momentum[k];
  }
  r->momentum_err = fmax(r->momentum_err, scale > 0 ? sqrt(tribo_dot3(angular, angular)) / scale : 0);
  r->gap = fmax(r->gap, widest_gap(r, bodies));
  for (int i = 0; i < r->nbody; ++i) {
    r->rise = fmax(r->rise, bodies[i].position[2] - r->first[i].position[2]);
  }
  if (r->nsolid == 1 && r->solids[0].ball) {
    follow_bounce(r, bodies[0].position[2] - r->solids[0].half[0]);
  }
  r->count++;
}

static double creep(const Ruler* r) {
  double worst = 0;
  for (int i = 0; i < r->nbody; ++i) {
    const double *a = r->half[i].position, *b = r->last[i].position;
    worst = fmax(worst, hypot(b[0] - a[0], b[1] - a[1]));
  }
  return worst / (r->last_time - r->half_time);
}

static int lost(const Ruler* r) {
  int count = 0;
  for (int i = 0; i < r->nbody; ++i) {
    const double* p = r->last[i].position;
    count += p[2] < -0.1 || fabs(p[0]) > r->bin[0] + 0.1 || fabs(p[1]) > r->bin[1] + 0.1;
  }
  return count;
}

static double rms_speed(const Ruler* r) {
  double sum = 0;
  for (int i = 0; i < r->nbody; ++i) {
    sum += tribo_dot3(r->last[i].velocity, r->last[i].velocity);
  }
  return sqrt(sum / r->nbody);
}

int ruler_words(const Ruler* r, Word words[MOST_WORDS]) {
  int n = 0;
  const double* g = tribo_model_world(r->model)->gravity;
  const TriboMaterialDef* material = tribo_model_material(r->model, 0);
  if (r->count < 2 || r->nbody == 0) {
    return 0;
  }
#define WORD(text, x)   \
  words[n++] = (Word) { \
    text, x             \
  }
  const int lone = r->nbody == 1 && r->nsolid == 1 && r->ground, ball = lone && r->solids[0].ball;
  const int bounces = ball && material->restitution > 0;
  if (r->overlaps && (r->ground || r->nsolid > 1) && !bounces) {
    WORD("pen_max_mm", 1e3 * r->pen[0]);
    WORD("pen_start_mm", 1e3 * r->pen[1]);
    WORD("pen_end_mm", 1e3 * r->pen[2]);
    WORD("creep_um_s", 1e6 * creep(r));
  }
  if (r->bin[0] > 0) {
    WORD("lost", lost(r));
    WORD("speed_end", rms_speed(r));
  }
  if (r->ground && r->nbody > 1 && r->energy_first != 0) {
    WORD("energy_gain", (r->energy_max - r->energy_first) / fabs(r->energy_first));
  }
  const double slope = g[0] + material->friction * g[2], thrown = r->first[0].velocity[0];
  if (lone && !ball && slope > 0) {
    const double speed = r->last[0].velocity[0] - r->third[0].velocity[0];
    WORD("accel_err_pct", 100 * (speed / (r->last_time - r->third_time) / slope - 1));
    WORD("lift_mm", 1e3 * r->rise);
  }
  if (ball && thrown != 0 && g[0] == 0) {
    WORD("v_err_pct", 100 * (r->last[0].velocity[0] / (thrown * 5 / 7) - 1));
  }
  if (bounces) {
    WORD("apex_m", r->apex);
  }
  if (tribo_dot3(g, g) == 0) {
    WORD("energy_err", fmax(r->energy_max - r->energy_first, r->energy_first - r->energy_min) / r->energy_first);
    WORD("momentum_err", r->momentum_err);
  }
  if (tribo_model_size(r->model).nclosure > 0) {
    WORD("gap_max_um", 1e6 * r->gap);
    WORD("energy_range_J", r->energy_max - r->energy_min);
    WORD("energy_drift_J", r->energy_last - r->energy_first);
  }
#undef WORD
  return n;
}

TriboStatus ruler_sample(const TriboModel* model, TriboData* data, Sample* bodies) {
  TriboView p, q, v, w;
  TriboStatus status = tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p);
  status = status == TRIBO_OK ? tribo_data_view(model, data, TRIBO_FIELD_QUATERNION, &q) : status;
  status = status == TRIBO_OK ? tribo_data_view(model, data, TRIBO_FIELD_VELOCITY, &v) : status;
  status = status == TRIBO_OK ? tribo_data_view(model, data, TRIBO_FIELD_OMEGA, &w) : status;
  for (int i = 0; status == TRIBO_OK && i < tribo_model_size(model).nbody; ++i) {
    Sample* s = &bodies[i];
    double R[9], arm[3];
    memcpy(s->quaternion, q.values + 4 * i, sizeof s->quaternion);
    memcpy(s->velocity, v.values + 3 * i, sizeof s->velocity);
    memcpy(s->omega, w.values + 3 * i, sizeof s->omega);
    tribo_quat_to_mat(R, s->quaternion);
    tribo_mul33v(arm, R, tribo_model_body(model, i)->com);
    for (int k = 0; k < 3; ++k) {
      s->position[k] = p.values[3 * i + k] + arm[k];
    }
  }
  return status;
}
