// How mechanisms are put together: joint axes and limits, loop closures, inertia ellipsoids.
#include "list.h"

// ---- inertia

// Eigenvectors of a symmetric matrix by Jacobi's rotations: A becomes diagonal, the columns of V are its axes.
static void diagonalize(double A[3][3], double V[3][3]) {
  memset(V, 0, 9 * sizeof(double));
  V[0][0] = V[1][1] = V[2][2] = 1;
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (fabs(A[p][q]) <= 1e-14 * (fabs(A[p][p]) + fabs(A[q][q]))) {
          continue;
        }
        // the angle that makes A[p][q] vanish
        double angle = 0.5 * atan2(2 * A[p][q], A[q][q] - A[p][p]), c = cos(angle), s = sin(angle);
        for (int k = 0; k < 3; ++k) {
          double x = A[k][p], y = A[k][q];
          A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
        }
        for (int k = 0; k < 3; ++k) {
          double x = A[p][k], y = A[q][k], u = V[k][p], v = V[k][q];
          A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
          V[k][p] = c * u - s * v, V[k][q] = s * u + c * v;
        }
      }
    }
  }
}

// A solid ellipsoid with half axes a, b, c and mass m has the moment m (b² + c²)/5 about the first: the one drawn has
// the body's mass and the body's moments.
TriboStatus tribo_view_list_inertia(TriboDrawList* list, const TriboModel* model, const Poses* poses) {
  for (int b = 0; b < tribo_model_size(model).nbody; ++b) {
    const TriboBodyInfo* body = tribo_model_body(model, b);
    const double* I = body->inertia;
    double A[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}, V[3][3], axes[9], q[4];
    if (!(body->mass > 0)) {
      continue;
    }
    diagonalize(A, V);
    const double sign = V[0][0] * (V[1][1] * V[2][2] - V[1][2] * V[2][1]) -
                        V[0][1] * (V[1][0] * V[2][2] - V[1][2] * V[2][0]) +
                        V[0][2] * (V[1][0] * V[2][1] - V[1][1] * V[2][0]);
    for (int i = 0; i < 3; ++i) {
      V[i][2] *= sign < 0 ? -1 : 1;
    }
    memcpy(axes, V, sizeof axes);
    tribo_quat_from_mat(q, axes);
    TriboDrawInstance ellipsoid = {
        .mesh = TRIBO_MESH_SPHERE, .overlay = 1, .of = -1, .color = {0.55f, 0.35f, 0.85f, 0.45f}};
    for (int i = 0; i < 3; ++i) {
      double rest = A[(i + 1) % 3][(i + 1) % 3] + A[(i + 2) % 3][(i + 2) % 3] - A[i][i];
      // a rod has no thickness; something must be seen of it
      ellipsoid.scale[i] = (float)sqrt(fmax(2.5 * rest / body->mass, 1e-8));
    }
    tribo_view_list_point(poses, b, body->com, ellipsoid.position);
    tribo_quat_mul(ellipsoid.quaternion, poses->quaternion + 4 * b, q);
    VIEW_TRY(tribo_view_list_add(list, &ellipsoid));
  }
  return TRIBO_OK;
}

// ---- joints

static const float axis_color[4] = {0.05f, 0.60f, 0.60f, 1}, limit_color[4] = {0.85f, 0.35f, 0.10f, 1},
                   pointer_color[4] = {0.05f, 0.60f, 0.60f, 1};

// A point at an angle on the circle of a joint, counted from where the link is now.
static void on_circle(const double centre[3], const double u[3], const double v[3], double angle, double radius,
                      double out[3]) {
  for (int i = 0; i < 3; ++i) {
    out[i] = centre[i] + radius * (cos(angle) * u[i] + sin(angle) * v[i]);
  }
}

// From the lower to the upper limit of an angle, and a pointer at the present one.
static TriboStatus add_arc(TriboDrawList* list, const TriboJointInfo* joint, const double at[3], const double axis[3],
                           double q, const Poses* poses, double size) {
  double u_local[3], u[3], v[3], a[3], b[3];
  const double radius = 0.05 * size, range = fmin(joint->upper - joint->lower, 6.283185307179586);
  const int segments = (int)ceil(range / 0.2) + 1;
  across3(joint->axis, u_local);
  tribo_view_list_direction(poses, joint->body, u_local, u);
  tribo_cross3(v, axis, u);
  for (int i = 0; i < segments; ++i) {
    on_circle(at, u, v, joint->lower - q + range * i / segments, radius, a);
    on_circle(at, u, v, joint->lower - q + range * (i + 1) / segments, radius, b);
    VIEW_TRY(tribo_view_list_bar(list, a, b, 0.004 * size, limit_color));
  }
  on_circle(at, u, v, 0, 1.3 * radius, b);
  return tribo_view_list_bar(list, at, b, 0.004 * size, pointer_color);
}

// The travel of a slider: from its lower to its upper limit.
static TriboStatus add_travel(TriboDrawList* list, const TriboJointInfo* joint, const double at[3],
                              const double axis[3], double q, double size) {
  double a[3], b[3];
  for (int i = 0; i < 3; ++i) {
    a[i] = at[i] + (joint->lower - q) * axis[i];
    b[i] = at[i] + (joint->upper - q) * axis[i];
  }
  return tribo_view_list_bar(list, a, b, 0.004 * size, limit_color);
}

TriboStatus tribo_view_list_joints(TriboDrawList* list, const TriboModel* model, const double* q, const Poses* poses,
                                   double size) {
  for (int j = 0; j < tribo_model_size(model).njoint; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    double at[3], axis[3], from[3], arrow[3];
    tribo_view_list_point(poses, joint->body, joint->anchor, at);
    if (joint->nv > 3) {
      continue;  // a free base is tied to nothing
    }
    VIEW_TRY(tribo_view_list_ball(list, at, 0.007 * size, axis_color, -1));
    if (joint->nv != 1) {
      continue;
    }
    tribo_view_list_direction(poses, joint->body, joint->axis, axis);
    for (int i = 0; i < 3; ++i) {
      arrow[i] = 0.12 * size * axis[i];
      from[i] = at[i] - 0.5 * arrow[i];
    }
    VIEW_TRY(tribo_view_list_arrow(list, from, arrow, 0.003 * size, axis_color, -1));
    if (isfinite(joint->lower) && isfinite(joint->upper)) {
      const double now = q[joint->q_at];
      VIEW_TRY(strcmp(joint->kind, "prismatic") == 0 ? add_travel(list, joint, at, axis, now, size)
                                                     : add_arc(list, joint, at, axis, now, poses, size));
    }
  }
  return TRIBO_OK;
}

// What a joint is driven with: as it is told, or what the scene's motors, controllers and actuators did.
static double effort_of(const TriboModel* model, TriboData* data, const TriboJointInfo* joint, const double* efforts) {
  TriboQuantity effort;
  double value = 0;
  if (joint->nv != 1 || efforts != NULL) {
    return joint->nv == 1 ? efforts[joint->v_at] : 0;
  }
  const int known = tribo_quantity_find(model, "effort", joint->name, &effort) == TRIBO_OK &&
                    tribo_quantity_value(model, data, effort, &value) == TRIBO_OK;
  return known ? value : 0;
}

// An arrow along the axis: a force of a slider, a torque that turns about it like a screw. The largest is as long as a
// fifth of the picture.
TriboStatus tribo_view_list_efforts(TriboDrawList* list, const TriboModel* model, TriboData* data,
                                    const double* efforts, const Poses* poses, double size) {
  static const float color[4] = {0.10f, 0.35f, 0.85f, 1};
  const int n = tribo_model_size(model).njoint;
  double largest = 0;
  for (int j = 0; j < n; ++j) {
    largest = fmax(largest, fabs(effort_of(model, data, tribo_model_joint(model, j), efforts)));
  }
  if (!(largest > 0)) {
    return TRIBO_OK;
  }
  for (int j = 0; j < n; ++j) {
    const TriboJointInfo* joint = tribo_model_joint(model, j);
    const double length = 0.2 * size * effort_of(model, data, joint, efforts) / largest;
    double at[3], arrow[3];
    tribo_view_list_point(poses, joint->body, joint->anchor, at);
    tribo_view_list_direction(poses, joint->body, joint->axis, arrow);
    for (int i = 0; i < 3; ++i) {
      arrow[i] *= length;
    }
    VIEW_TRY(tribo_view_list_arrow(list, at, arrow, 0.004 * size, color, -1));
  }
  return TRIBO_OK;
}

// ---- closures

TriboStatus tribo_view_list_closures(TriboDrawList* list, const TriboModel* model, const Poses* poses, double size) {
  static const float color[4] = {0.75f, 0.15f, 0.75f, 1};
  for (int c = 0; c < tribo_model_size(model).nclosure; ++c) {
    const TriboClosureInfo* closure = tribo_model_closure(model, c);
    const int bodies[2] = {closure->body_a, closure->body_b};
    double ends[2][3], centre[3];
    if (bodies[0] == TRIBO_WORLD && bodies[1] == TRIBO_WORLD) {
      continue;  // joints are tied, there is no place for it
    }
    for (int k = 0; k < 2; ++k) {
      tribo_view_list_point(poses, bodies[k], k == 0 ? closure->anchor_a : closure->anchor_b, ends[k]);
      VIEW_TRY(tribo_view_list_ball(list, ends[k], 0.008 * size, color, -1));
      if (bodies[k] != TRIBO_WORLD) {
        tribo_view_body_centre(&list->facts, bodies[k], centre);
        VIEW_TRY(tribo_view_list_bar(list, centre, ends[k], 0.003 * size, color));
      }
    }
    VIEW_TRY(tribo_view_list_bar(list, ends[0], ends[1], 0.006 * size, color));
  }
  return TRIBO_OK;
}
