// Plans of scenes. The derivation is in scene_plan.h. Derivatives come from differences (tribo/plan.h).
#include "scene_plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"

enum { MOST_V = 24, MOST_POINTS = 16, MOST_FACETS = 4 };

// A point of a body, with a ball around it, that may touch a half-space.
typedef struct Candidate {
  int body, facets;
  double at[3], radius;      // in the body frame [m]
  double normal[3], offset;  // the half-space's: outside where normal·x > offset
  double tangent[MOST_FACETS][3];
  double friction;
} Candidate;

// Mechanics at one state.
typedef struct Mechanics {
  double mass[MOST_V * MOST_V], bias[MOST_V];
  double point[MOST_POINTS][3], jac[MOST_POINTS][3][MOST_V];  // J: velocity of the point by v
} Mechanics;

struct ScenePlan {
  const TriboModel* model;
  TriboData* data;
  TriboPlan* plan;
  ScenePlanDef def;
  int n, nz, nmotor, npoint;  // velocities, unknowns of a stage, driven joints, candidates
  int motor[MOST_V];          // v index
  double most[MOST_V];        // effort limits
  const TriboJointInfo* joint[MOST_V];
  PlanJoint names[MOST_V + 1];
  Candidate points[MOST_POINTS];
  double start[2 * MOST_V], goal[2 * MOST_V];  // q, v
  PlanRowList* list;                           // as of a PlanProblem: first, middle and last stage
};

static int lambda_at(const ScenePlan* p, int c) {
  int at = 2 * p->n + p->nmotor;
  for (int i = 0; i < c; ++i) {
    at += 2 + p->points[i].facets;
  }
  return at;
}

// ---- mechanics at a state, by the public interface ----

static void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}
static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// x turned by a quaternion x y z w
static void turn(const double q[4], const double x[3], double out[3]) {
  double t[3], u[3];
  cross(q, x, t);
  for (int i = 0; i < 3; ++i) {
    t[i] = 2 * (t[i]);
  }
  cross(q, t, u);
  for (int i = 0; i < 3; ++i) {
    out[i] = x[i] + q[3] * t[i] + u[i];
  }
}

// whether joint j moves the body
static int carries(const ScenePlan* p, int j, int body) {
  for (int b = body; b != TRIBO_WORLD;) {
    if (p->joint[j]->body == b) {
      return 1;
    }
    b = tribo_model_body(p->model, b)->parent;
  }
  return 0;
}

// Candidate points and their Jacobians: a joint moves a point by its axis, or turns it about its anchor.
static TriboStatus read_points(const ScenePlan* p, Mechanics* m) {
  static const double identity[4] = {0, 0, 0, 1};
  double anchor[MOST_V][3], axis[MOST_V][3];
  TriboStatus status = TRIBO_OK;
  for (int j = 0; status == TRIBO_OK && j < p->n; ++j) {
    TriboFrame frame;
    status = tribo_data_frame(p->model, p->data, p->joint[j]->body, p->joint[j]->anchor, identity, &frame);
    if (status == TRIBO_OK) {
      memcpy(anchor[j], frame.position, sizeof anchor[j]);
      turn(frame.quaternion, p->joint[j]->axis, axis[j]);
    }
  }
  for (int c = 0; status == TRIBO_OK && c < p->npoint; ++c) {
    const Candidate* point = &p->points[c];
    TriboFrame frame;
    status = tribo_data_frame(p->model, p->data, point->body, point->at, identity, &frame);
    for (int i = 0; status == TRIBO_OK && i < 3; ++i) {
      m->point[c][i] = frame.position[i] - point->radius * point->normal[i];
    }
    for (int j = 0; status == TRIBO_OK && j < p->n; ++j) {
      double arm[3], column[3] = {0};
      for (int i = 0; i < 3; ++i) {
        arm[i] = m->point[c][i] - anchor[j][i];
      }
      if (carries(p, j, point->body)) {
        if (strcmp(p->joint[j]->kind, "prismatic") == 0) {
          memcpy(column, axis[j], sizeof column);
        } else {
          cross(axis[j], arm, column);
        }
      }
      for (int i = 0; i < 3; ++i) {
        m->jac[c][i][p->joint[j]->v_at] = column[i];
      }
    }
  }
  return status;
}

// M, b − passive forces, points and Jacobians at q, v
static TriboStatus read_mechanics(const ScenePlan* p, const double* q, const double* v, Mechanics* m) {
  double passive[MOST_V] = {0};
  TriboStatus status = tribo_data_set_state(p->model, p->data, q, v);
  const TriboTerms terms = {m->mass, m->bias, passive, NULL};
  status = status == TRIBO_OK ? tribo_data_terms(p->model, p->data, &terms) : status;
  for (int i = 0; status == TRIBO_OK && i < p->n; ++i) {
    m->bias[i] -= passive[i];
  }
  return status == TRIBO_OK ? read_points(p, m) : status;
}

// ---- rows ----

static void all_columns(PlanRows* r, int from, int count) {
  for (int j = 0; j < count; ++j) {
    plan_by(r, from + j, 0);
  }
}

// q⁺ = q + h v⁺ and M (v⁺ − v) = h (τ − b + Jᵀ f)
static void motion_rows(const ScenePlan* p, const double* z, const double* next, const Mechanics* m, PlanRows* r) {
  const int n = p->n, lambda = lambda_at(p, 0);
  const double h = p->def.h;
  for (int i = 0; i < n; ++i) {
    plan_eq(r, "motion", next[i] - z[i] - h * next[n + i]);
    plan_by(r, i, 0), plan_by(r, p->nz + i, 0), plan_by(r, p->nz + n + i, 0);
  }
  for (int i = 0; i < n; ++i) {
    double sum = h * m->bias[i];
    for (int j = 0; j < n; ++j) {
      sum += m->mass[i * n + j] * (next[n + j] - z[n + j]);
    }
    for (int j = 0; j < p->nmotor; ++j) {
      sum -= p->motor[j] == i ? h * z[2 * n + j] : 0;
    }
    for (int c = 0, at = lambda; c < p->npoint; at += 2 + p->points[c].facets, ++c) {
      for (int k = 0; k < 3; ++k) {
        double force = z[at] * p->points[c].normal[k];
        for (int d = 0; d < p->points[c].facets; ++d) {
          force += z[at + 1 + d] * p->points[c].tangent[d][k];
        }
        sum -= h * m->jac[c][k][i] * force;
      }
    }
    plan_eq(r, "balance", sum);
    all_columns(r, 0, p->nz);
    all_columns(r, p->nz + n, n);
  }
}

// A row's columns, all of them: q⁺ or v⁺ and the forces of the point. Rows of differences need no more than the
// pattern.
static void columns_of_contact(const ScenePlan* p, PlanRows* r, int at, int facets, int from_next, int with_q) {
  if (with_q) {
    all_columns(r, 0, p->n);
  }
  all_columns(r, at, 2 + facets);
  if (from_next >= 0) {
    all_columns(r, p->nz + from_next, p->n);
  }
}

// Complementarity of one candidate; gap of the next stage, slip by the next velocity.
static void contact_rows(const ScenePlan* p, int c, const double* z, const double* next, const Mechanics* m, double gap,
                         PlanRows* r) {
  static const char* const normal[3] = {"normal force", "gap", "contact"};
  static const char* const tangential[3] = {"friction force", "slip", "friction against slip"};
  static const char* const cone[3] = {"slip speed", "friction below its limit", "friction at its limit where it slips"};
  const Candidate* point = &p->points[c];
  const int at = lambda_at(p, c), gamma = at + 1 + point->facets;
  double rest = point->friction * z[at];
  for (int row = 0; row < 3; ++row) {
    plan_ge(r, normal[row], (TriboPlanKind)row, row == 0 ? z[at] : row == 1 ? gap : -z[at] * gap);
    columns_of_contact(p, r, at, 0, row == 0 ? -1 : 0, 0);
  }
  for (int d = 0; d < point->facets; ++d) {
    double slip = z[gamma];
    for (int k = 0; k < 3; ++k) {
      for (int j = 0; j < p->n; ++j) {
        slip += point->tangent[d][k] * m->jac[c][k][j] * next[p->n + j];
      }
    }
    for (int row = 0; row < 3; ++row) {
      const double value[3] = {z[at + 1 + d], slip, -z[at + 1 + d] * slip};
      plan_ge(r, tangential[row], (TriboPlanKind)row, value[row]);
      columns_of_contact(p, r, at, point->facets, row == 0 ? -1 : p->n, row > 0);
    }
    rest -= z[at + 1 + d];
  }
  for (int row = 0; row < 3; ++row) {
    const double value[3] = {z[gamma], rest, -z[gamma] * rest};
    plan_ge(r, cone[row], (TriboPlanKind)row, value[row]);
    columns_of_contact(p, r, at, point->facets, -1, 0);
  }
}

static void limit_rows(const ScenePlan* p, const double* z, PlanRows* r) {
  for (int i = 0; i < p->n; ++i) {
    for (int side = 0; side < 2; ++side) {
      const double limit = side ? p->joint[i]->upper : p->joint[i]->lower;
      if (isfinite(limit)) {
        plan_ge(r, "joint limit", TRIBO_PLAN_BOUND, side ? limit - z[i] : z[i] - limit);
        plan_by(r, i, 0);
      }
    }
  }
  for (int j = 0; j < p->nmotor; ++j) {
    for (int side = -1; side <= 1 && isfinite(p->most[j]); side += 2) {
      plan_ge(r, "effort limit", TRIBO_PLAN_BOUND, p->most[j] + side * z[2 * p->n + j]);
      plan_by(r, 2 * p->n + j, 0);
    }
  }
}

static TriboStatus write_stage(const ScenePlan* p, int k, const double* z, const double* next, PlanRows* r) {
  static Mechanics zero;
  Mechanics now = zero, after = zero;
  TriboStatus status = TRIBO_OK;
  if (!r->is_pattern && next != NULL) {
    status = read_mechanics(p, next, next + p->n, &after);
    status = status == TRIBO_OK ? read_mechanics(p, z, z + p->n, &now) : status;
  }
  const int nstart = k == 0 ? 2 * p->n : 0;
  for (int i = 0; i < nstart; ++i) {
    plan_eq(r, "start", z[i] - p->start[i]);
    plan_by(r, i, 0);
  }
  limit_rows(p, z, r);
  if (status != TRIBO_OK || next == NULL) {
    return status;
  }
  motion_rows(p, z, next, &now, r);
  for (int c = 0; c < p->npoint; ++c) {
    contact_rows(p, c, z, next, &now, dot(after.point[c], p->points[c].normal) - p->points[c].offset, r);
  }
  return TRIBO_OK;
}

// ---- callbacks ----

static PlanRowList* lists_of(const ScenePlan* p, int k) {
  return p->list + 2 * (k == 0 ? 0 : k + 1 < p->def.stages ? 1 : 2);
}

static TriboStatus values(void* user, int k, const double* z, const double* next, double* eq, double* in) {
  const ScenePlan* p = user;
  PlanRows r = {.eq = lists_of(p, k), .eq_value = eq, .in_value = in};
  r.in = r.eq + 1;
  r.eq->count = r.eq->written = r.in->count = r.in->written = 0;
  return write_stage(p, k, z, next, &r);
}

static TriboStatus cost(void* user, int k, const double* z, double* f, double* grad, double* hess) {
  const ScenePlan* p = user;
  const int is_last = k + 1 == p->def.stages;
  *f = 0;
  for (int j = 0; j < 2 * p->n + p->nmotor; ++j) {
    const int is_state = j < 2 * p->n;
    const double weight = is_state ? is_last ? j < p->n ? p->def.position : p->def.velocity : 0 : p->def.effort;
    const double e = z[j] - (is_state ? p->goal[j] : 0);
    *f += weight * e * e;
    if (grad != NULL) {
      grad[j] = 2 * weight * e;
      hess[j * (p->nz + 1)] = 2 * weight;
    }
  }
  return TRIBO_OK;
}

// ---- reading the scene ----

static TriboStatus refuse(char error[256], const char* text, const char* name) {
  snprintf(error, 256, text, name);
  return TRIBO_UNSUPPORTED;
}

static TriboStatus read_joints(ScenePlan* p, char error[256]) {
  const TriboModelSize size = tribo_model_size(p->model);
  if (size.nv > MOST_V || size.nfree > 0 || size.nq != size.nv || size.nclosure > 0) {
    return refuse(
        error, "a plan of a scene is for trees of up to 24 revolute and prismatic joints, without free bodies%s", "");
  }
  p->n = size.nv;
  for (int i = 0; i < size.njoint; ++i) {
    const TriboJointInfo* j = tribo_model_joint(p->model, i);
    if (j->nv == 0) {
      continue;
    }
    if (strcmp(j->kind, "prismatic") != 0 && strcmp(j->kind, "revolute") != 0) {
      return refuse(error, "joint %s: a plan of a scene takes revolute and prismatic joints", j->name);
    }
    p->joint[j->v_at] = j;
    p->names[j->v_at] = (PlanJoint){j->name, j->v_at, p->n + j->v_at, -1};
  }
  return TRIBO_OK;
}

// The next name of a list separated by commas; 0 at its end.
static int next_name(const char** list, char name[128]) {
  if (*list == NULL || **list == '\0') {
    return 0;
  }
  const size_t length = strcspn(*list, ",");
  snprintf(name, 128, "%.*s", (int)length, *list);
  *list += length + ((*list)[length] == ',');
  return 1;
}

static TriboStatus read_motors(ScenePlan* p, char error[256]) {
  char name[128];
  for (const char* list = p->def.motors; next_name(&list, name);) {
    int id;
    if (tribo_model_joint_id(p->model, name, &id) != TRIBO_OK) {
      return refuse(error, "there is no joint '%s' to drive", name);
    }
    const TriboJointInfo* j = tribo_model_joint(p->model, id);
    p->motor[p->nmotor] = j->v_at;
    p->most[p->nmotor] = j->effort;
    p->names[j->v_at].effort = 2 * p->n + p->nmotor;
    p->nmotor++;
  }
  return TRIBO_OK;
}

// A point of a shape, at `local` in its frame, against a half-space.
static void add_candidate(ScenePlan* p, const TriboShapeInfo* shape, const double local[3], double radius,
                          const TriboShapeInfo* plane, double friction) {
  static const double up[3] = {0, 0, 1}, along[2][3] = {{1, 0, 0}, {0, 1, 0}};
  if (p->npoint == MOST_POINTS) {
    return;
  }
  Candidate* c = &p->points[p->npoint++];
  double first[3], second[3], size;
  *c = (Candidate){.body = shape->body, .facets = p->def.facets, .radius = radius, .friction = friction};
  turn(shape->quaternion, local, c->at);
  turn(plane->quaternion, up, c->normal);
  c->offset = dot(plane->position, c->normal);
  const double* axis = along[fabs(c->normal[0]) > 0.9];
  for (int i = 0; i < 3; ++i) {
    c->at[i] += shape->position[i];
    first[i] = axis[i] - dot(axis, c->normal) * c->normal[i];
  }
  size = sqrt(dot(first, first));
  for (int i = 0; i < 3; ++i) {
    first[i] /= size;
  }
  cross(c->normal, first, second);
  for (int i = 0; i < 3; ++i) {
    c->tangent[0][i] = first[i], c->tangent[1][i] = -first[i];
    c->tangent[2][i] = second[i], c->tangent[3][i] = -second[i];
  }
}

// The points of one shape that can touch a plane first.
static int add_shape(ScenePlan* p, const TriboShapeInfo* s, const TriboShapeInfo* plane, double friction) {
  if (s->kind == TRIBO_SHAPE_SPHERE) {
    const double centre[3] = {0, 0, 0};
    add_candidate(p, s, centre, s->size[0], plane, friction);
  } else if (s->kind == TRIBO_SHAPE_CAPSULE) {
    for (int end = -1; end <= 1; end += 2) {
      const double at[3] = {0, 0, 0.5 * end * s->size[1]};
      add_candidate(p, s, at, s->size[0], plane, friction);
    }
  } else if (s->kind == TRIBO_SHAPE_BOX) {
    for (int corner = 0; corner < 8; ++corner) {
      const double at[3] = {(corner & 1 ? 0.5 : -0.5) * s->size[0], (corner & 2 ? 0.5 : -0.5) * s->size[1],
                            (corner & 4 ? 0.5 : -0.5) * s->size[2]};
      add_candidate(p, s, at, 0, plane, friction);
    }
  } else {
    return 0;
  }
  return 1;
}

// The candidates of the bodies that may touch.
static TriboStatus read_contacts(ScenePlan* p, char error[256]) {
  const int nshape = tribo_model_size(p->model).nshape;
  char name[128];
  for (const char* list = p->def.contacts; next_name(&list, name);) {
    int body, before = p->npoint;
    if (tribo_model_body_id(p->model, name, &body) != TRIBO_OK) {
      return refuse(error, "there is no body '%s' that could touch", name);
    }
    for (int a = 0; a < nshape; ++a) {
      for (int b = 0; b < nshape; ++b) {
        const TriboShapeInfo *shape = tribo_model_shape(p->model, a), *plane = tribo_model_shape(p->model, b);
        if (shape->body != body || plane->kind != TRIBO_SHAPE_HALFSPACE || !tribo_model_may_touch(p->model, a, b)) {
          continue;
        }
        if (!add_shape(p, shape, plane, tribo_model_pair(p->model, a, b)->friction)) {
          return refuse(error, "body '%s': candidates are spheres, capsules and boxes against half-spaces", name);
        }
      }
    }
    if (p->npoint == before) {
      return refuse(error, "body '%s' has no shape that may touch a half-space", name);
    }
    if (p->npoint == MOST_POINTS) {
      return refuse(error, "body '%s': more than 15 candidate points", name);
    }
  }
  return TRIBO_OK;
}

static TriboStatus read_state(ScenePlan* p, const char* name, double* out, char error[256]) {
  TriboView q, v;
  if (name != NULL && tribo_data_restore_snapshot(p->model, p->data, name) != TRIBO_OK) {
    return refuse(error, "there is no state '%s'", name);
  }
  TriboStatus status = tribo_data_view(p->model, p->data, TRIBO_FIELD_Q, &q);
  status = status == TRIBO_OK ? tribo_data_view(p->model, p->data, TRIBO_FIELD_V, &v) : status;
  if (status == TRIBO_OK) {
    memcpy(out, q.values, (size_t)p->n * sizeof *out);
    memcpy(out + p->n, v.values, (size_t)p->n * sizeof *out);
  }
  return status;
}

// ---- life ----

static TriboStatus make_plan(ScenePlan* p) {
  TriboPlanStage* stages = calloc((size_t)p->def.stages, sizeof *stages);
  p->list = calloc(6, sizeof *p->list);
  if (stages == NULL || p->list == NULL) {
    free(stages);
    return TRIBO_NOMEM;
  }
  static const double zero[4 * PLAN_WIDEST];
  const int which[3] = {0, 1, p->def.stages - 1};
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < 3; ++i) {
    PlanRows r = {.eq = p->list + 2 * i, .in = p->list + 2 * i + 1, .is_pattern = 1};
    status = status == TRIBO_OK ? write_stage(p, which[i], zero, i < 2 ? zero : NULL, &r) : status;
  }
  for (int k = 0; k < p->def.stages; ++k) {
    const PlanRowList *eq = lists_of(p, k), *in = eq + 1;
    stages[k] = (TriboPlanStage){p->nz,    2 * p->n, eq->count, in->count, eq->start, eq->col, in->start, in->col,
                                 in->kind, eq->name, in->name,  values,    NULL,      cost,    p};
  }
  status = status == TRIBO_OK ? tribo_plan_create(stages, p->def.stages, &p->plan) : status;
  free(stages);
  return status;
}

TriboStatus scene_plan_create(const TriboModel* model, const ScenePlanDef* def, ScenePlan** out, char error[256]) {
  *out = NULL;
  error[0] = '\0';
  ScenePlan* p = calloc(1, sizeof *p);
  if (p == NULL) {
    return TRIBO_NOMEM;
  }
  p->model = model, p->def = *def;
  TriboStatus status = tribo_data_create(model, &p->data);
  status = status == TRIBO_OK ? read_joints(p, error) : status;
  status = status == TRIBO_OK ? read_motors(p, error) : status;
  status = status == TRIBO_OK ? read_contacts(p, error) : status;
  status = status == TRIBO_OK ? read_state(p, def->start, p->start, error) : status;
  status = status == TRIBO_OK ? read_state(p, def->goal, p->goal, error) : status;
  p->nz = lambda_at(p, p->npoint);
  if (status == TRIBO_OK && p->nz > 2 * PLAN_WIDEST) {
    status = refuse(error, "more than 64 unknowns a stage: fewer joints or candidates are needed%s", "");
  }
  const int rows = 7 * p->n + 2 * p->nmotor + p->npoint * (6 + 3 * def->facets);
  if (status == TRIBO_OK && (rows > PLAN_ROWS || rows * (p->nz + 2 * p->n) > PLAN_ENTRIES)) {
    status =
        refuse(error, "more rows a stage than a plan of a scene takes: fewer joints or candidates are needed%s", "");
  }
  status = status == TRIBO_OK ? make_plan(p) : status;
  if (status != TRIBO_OK) {
    scene_plan_destroy(p);
    return status;
  }
  *out = p;
  return TRIBO_OK;
}

void scene_plan_destroy(ScenePlan* p) {
  if (p != NULL) {
    tribo_plan_destroy(p->plan);
    tribo_data_destroy(p->data);
    free(p->list);
    free(p);
  }
}

TriboPlan* scene_plan_of(ScenePlan* p) {
  return p->plan;
}

PlanMotion scene_plan_motion(const ScenePlan* p, const double* z) {
  return (PlanMotion){p->def.stages, p->nz, p->def.h, z, p->names};
}

void scene_plan_guess(const ScenePlan* p, double* z) {
  memset(z, 0, (size_t)(p->def.stages * p->nz) * sizeof *z);
  for (int k = 0; k < p->def.stages; ++k) {
    memcpy(z + k * p->nz, p->start, (size_t)p->n * sizeof *z);
  }
}

void scene_plan_error(const ScenePlan* p, const double* last, double* position, double* velocity) {
  *position = *velocity = 0;
  for (int i = 0; i < p->n; ++i) {
    *position = fmax(*position, fabs(last[i] - p->goal[i]));
    *velocity = fmax(*velocity, fabs(last[p->n + i] - p->goal[p->n + i]));
  }
}

int scene_plan_write(const ScenePlan* p, const double* z, const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    return cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  fputs("t", file);
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < p->n; ++i) {
      fprintf(file, ",%c.%s", part ? 'v' : 'q', p->joint[i]->name);
    }
  }
  for (int j = 0; j < p->nmotor; ++j) {
    fprintf(file, ",tau.%s", p->joint[p->motor[j]]->name);
  }
  for (int c = 0; c < p->npoint; ++c) {
    fprintf(file, ",lambda.%s.%d", tribo_model_body(p->model, p->points[c].body)->name, c);
  }
  for (int k = 0; k < p->def.stages; ++k) {
    fprintf(file, "\n%.9g", k * p->def.h);
    for (int j = 0; j < 2 * p->n + p->nmotor; ++j) {
      fprintf(file, ",%.17g", z[k * p->nz + j]);
    }
    for (int c = 0; c < p->npoint; ++c) {
      fprintf(file, ",%.17g", z[k * p->nz + lambda_at(p, c)]);
    }
  }
  fputc('\n', file);
  return cli_close(file, path);
}
