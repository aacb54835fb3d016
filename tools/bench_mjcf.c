// A scene as an MJCF file for MuJoCo, number for number: free bodies among fixed shapes, and robots whose links touch
// the world and not each other. Bodies stand where they are at the start, and every joint is told the coordinate it has
// there (`ref`), so that limits mean the same. What is welded together MuJoCo makes one body, as Tribo does. No two
// meshes of a robot meet, so that of a contact only the ground's side differs.
//
// For the lab (`qvel` is told) every law is told as it is: which shapes may touch, pair by pair with the friction of
// the pair, and the velocities at the start, as a keyframe `start`. A restitution MuJoCo does not have: it becomes a
// spring.
#include "bench_scenes.h"

#include <math.h>
#include <string.h>

// ---- which scenes

static const char* geom_type(TriboShapeKind kind) {
  switch (kind) {
    case TRIBO_SHAPE_SPHERE: return "sphere";
    case TRIBO_SHAPE_BOX: return "box";
    case TRIBO_SHAPE_CAPSULE: return "capsule";
    case TRIBO_SHAPE_CYLINDER: return "cylinder";
    case TRIBO_SHAPE_ELLIPSOID: return "ellipsoid";
    case TRIBO_SHAPE_HALFSPACE: return "plane";
    case TRIBO_SHAPE_HULL: return "mesh";
    default: return NULL;
  }
}

static const char* joint_type(const TriboJointInfo* joint) {
  return strcmp(joint->kind, "revolute") == 0 || strcmp(joint->kind, "continuous") == 0 ? "hinge"
         : strcmp(joint->kind, "prismatic") == 0                                        ? "slide"
         : strcmp(joint->kind, "free") == 0                                             ? "free"
                                                                                        : NULL;
}

// Trees are known at rest, with joints that MuJoCo has and links that touch nothing that moves.
static int knows_trees(const TriboModel* model, const PeerRun* run) {
  const TriboModelSize n = tribo_model_size(model);
  for (int i = 0; i < n.njoint; ++i) {
    if (joint_type(tribo_model_joint(model, i)) == NULL) {
      return 0;
    }
  }
  for (int b = 0; b < n.nbody; ++b) {
    for (int k = 0; k < 3; ++k) {
      if (run->start[b].velocity[k] != 0 || run->start[b].omega[k] != 0) {
        return 0;
      }
    }
  }
  for (int i = 0; i < n.nshape; ++i) {
    for (int k = 0; k < i; ++k) {
      const int moving =
          tribo_model_shape(model, i)->body != TRIBO_WORLD && tribo_model_shape(model, k)->body != TRIBO_WORLD;
      if (moving && tribo_model_may_touch(model, i, k)) {
        return 0;
      }
    }
  }
  return 1;
}

int mjcf_knows(const TriboModel* model, const PeerRun* run) {
  const TriboModelSize n = tribo_model_size(model);
  const TriboWorldDef* world = tribo_model_world(model);
  if (n.nclosure > 0 || n.ntendon > 0 || n.nactuator > 0 || n.ncontroller > 0 || n.nmotor > 0 || n.nforce > 0 ||
      world->density > 0 || world->viscosity > 0) {
    return 0;
  }
  for (int i = 0; i < n.nshape; ++i) {
    if (geom_type(tribo_model_shape(model, i)->kind) == NULL) {
      return 0;
    }
  }
  return n.ntree == 0 || (run->begin == 0 && knows_trees(model, run));
}

// Whether shapes can touch, and by laws that MuJoCo has too.
static int touches(const TriboModel* model, int i, int k) {
  return tribo_model_may_touch(model, i, k) &&
         (tribo_model_shape(model, i)->body != TRIBO_WORLD || tribo_model_shape(model, k)->body != TRIBO_WORLD);
}

static int touches_any(const TriboModel* model, int i) {
  for (int k = 0; k < tribo_model_size(model).nshape; ++k) {
    if (touches(model, i, k)) {
      return 1;
    }
  }
  return 0;
}

static int knows_shape(const TriboModel* model, int i) {
  const TriboShapeInfo* s = tribo_model_shape(model, i);
  int still = 1;
  for (int k = 0; k < 3; ++k) {
    still &= s->surface[k] == 0 && s->spin[k] == 0;
  }
  return still && geom_type(s->kind) != NULL;
}

static int knows_pair(const TriboModel* model, int i, int k) {
  const TriboMaterialDef* m = tribo_model_pair(model, i, k);
  return m->friction2 == 0 && m->torsion == 0 && m->rolling == 0 && m->stiffness == 0 && m->damping == 0 &&
         m->solref[0] == 0;
}

// Stops of joints are left out: a model does not tell how they rebound.
int mjcf_knows_all(const TriboModel* model) {
  const TriboModelSize n = tribo_model_size(model);
  const TriboWorldDef* world = tribo_model_world(model);
  int known = n.nclosure == 0 && n.ntendon == 0 && n.nactuator == 0 && n.ncontroller == 0 && n.nmotor == 0 &&
              n.nforce == 0 && world->density == 0 && world->viscosity == 0 && n.nbody > 0;
  for (int i = 0; known && i < n.njoint; ++i) {
    const TriboJointInfo* joint = tribo_model_joint(model, i);
    known = joint_type(joint) != NULL && !isfinite(joint->lower) && !isfinite(joint->upper);
  }
  for (int i = 0; known && i < n.nbody; ++i) {
    known = tribo_model_body(model, i)->mass > 0;
  }
  for (int i = 0; known && i < n.nshape; ++i) {
    known = !touches_any(model, i) || knows_shape(model, i);
    for (int k = 0; known && k < i; ++k) {
      known = !touches(model, i, k) || knows_pair(model, i, k);
    }
  }
  return known;
}

// ---- the file

typedef struct Writer {
  FILE* file;
  const TriboModel* model;
  const PeerRun* run;
  int pairwise;     // contacts are told pair by pair
  int ground_only;  // no two moving shapes touch
} Writer;

static void put(const Writer* w, const char* key, const double* x, int n) {
  fprintf(w->file, " %s=\"", key);
  for (int i = 0; i < n; ++i) {
    fprintf(w->file, i > 0 ? " %.17g" : "%.17g", x[i]);
  }
  fputc('"', w->file);
}

// A quaternion x y z w in MuJoCo's order.
static void put_turn(const Writer* w, const double q[4]) {
  put(w, "quat", (const double[4]){q[3], q[0], q[1], q[2]}, 4);
}

// It has no coefficient of restitution: an under-damped spring with a half period of 20 steps and the damping of that
// rebound.
static void put_rebound(const Writer* w, double restitution) {
  const double stretch = acos(-1) / (20 * tribo_model_world(w->model)->dt), l = log(restitution);
  put(w, "solref", (const double[2]){-stretch * stretch, 2 * l / hypot(acos(-1), l) * stretch}, 2);
  fputs(" solimp=\"0.99 0.99 0.001\"", w->file);
}

// A shape as a geom.
static void write_geom(const Writer* w, int shape) {
  const TriboShapeInfo* s = tribo_model_shape(w->model, shape);
  const TriboMaterialDef* m = tribo_model_material(w->model, s->material);
  double size[3] = {50, 50, 1};
  if (s->kind == TRIBO_SHAPE_BOX) {
    size[0] = 0.5 * s->size[0], size[1] = 0.5 * s->size[1], size[2] = 0.5 * s->size[2];
  } else if (s->kind == TRIBO_SHAPE_ELLIPSOID) {
    memcpy(size, s->size, sizeof size);
  } else if (s->kind != TRIBO_SHAPE_HALFSPACE) {
    size[0] = s->size[0], size[1] = 0.5 * s->size[1];
  }
  fprintf(w->file, "<geom type=\"%s\"", geom_type(s->kind));
  if (s->kind == TRIBO_SHAPE_HULL) {
    fprintf(w->file, " mesh=\"hull%d\"", shape);
  } else {
    put(w, "size", size, 3);
  }
  put(w, "pos", s->position, 3);
  put_turn(w, s->quaternion);
  if (w->pairwise) {
    fprintf(w->file, " name=\"shape%d\" contype=\"0\" conaffinity=\"0\"/>\n", shape);
    return;
  }
  put(w, "friction", (const double[3]){m->friction, 0.005, 0.0001}, 3);
  if (w->ground_only) {
    const int fixed = s->body == TRIBO_WORLD;
    fprintf(w->file, " contype=\"%d\" conaffinity=\"%d\"", !fixed, fixed);
  }
  if (m->restitution > 0) {
    put_rebound(w, m->restitution);
  }
  fputs("/>\n", w->file);
}

static void write_geoms(const Writer* w, int body) {
  for (int i = 0; i < tribo_model_size(w->model).nshape; ++i) {
    if (tribo_model_shape(w->model, i)->body == body && (!w->pairwise || touches_any(w->model, i))) {
      write_geom(w, i);
    }
  }
}

static void write_joint(const Writer* w, const TriboJointInfo* joint) {
  const char* type = joint_type(joint);
  if (strcmp(type, "free") == 0) {
    fputs("<freejoint/>\n", w->file);
    return;
  }
  fprintf(w->file, "<joint type=\"%s\"", type);
  put(w, "pos", joint->anchor, 3);
  put(w, "axis", joint->axis, 3);
  if (joint->nq == 1) {
    put(w, "ref", &w->run->q[joint->q_at], 1);
  }
  if (isfinite(joint->lower) || isfinite(joint->upper)) {
    put(w, "range", (const double[2]){fmax(joint->lower, -1e10), fmin(joint->upper, 1e10)}, 2);
    fputs(" limited=\"true\"", w->file);
  }
  put(w, "armature", &joint->armature, 1);
  put(w, "damping", &joint->damping, 1);
  put(w, "frictionloss", &joint->friction, 1);
  put(w, "stiffness", &joint->stiffness, 1);
  put(w, "springref", &joint->rest, 1);
  fputs("/>\n", w->file);
}

// Where the frame of a body is: its sample tells the centre of mass.
static void origin_of(const Writer* w, int body, double out[3]) {
  const Sample* s = &w->run->start[body];
  const double turned[4] = {-s->quaternion[0], -s->quaternion[1], -s->quaternion[2], s->quaternion[3]};
  double arm[3];
  tribo_quat_rotate_back(arm, turned, tribo_model_body(w->model, body)->com);
  for (int k = 0; k < 3; ++k) {
    out[k] = s->position[k] - arm[k];
  }
}

// Place and orientation against the body before it.
static void write_place(const Writer* w, int body, int parent) {
  double p[3], q[4];
  origin_of(w, body, p);
  memcpy(q, w->run->start[body].quaternion, sizeof q);
  if (parent != TRIBO_WORLD) {
    const double *a = w->run->start[parent].quaternion, b[4] = {q[0], q[1], q[2], q[3]};
    double from[3];
    origin_of(w, parent, from);
    const double apart[3] = {p[0] - from[0], p[1] - from[1], p[2] - from[2]};
    tribo_quat_rotate_back(p, a, apart);
    q[0] = a[3] * b[0] - a[0] * b[3] - a[1] * b[2] + a[2] * b[1];
    q[1] = a[3] * b[1] - a[1] * b[3] - a[2] * b[0] + a[0] * b[2];
    q[2] = a[3] * b[2] - a[2] * b[3] - a[0] * b[1] + a[1] * b[0];
    q[3] = a[3] * b[3] + a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
  put(w, "pos", p, 3);
  put_turn(w, q);
}

static void write_inertia(const Writer* w, const TriboBodyInfo* body) {
  if (body->mass > 0) {
    const double* I = body->inertia;
    fputs("<inertial", w->file);
    put(w, "pos", body->com, 3);
    put(w, "mass", &body->mass, 1);
    put(w, I[0] + I[1] + I[2] > 0 ? "fullinertia" : "diaginertia", I, I[0] + I[1] + I[2] > 0 ? 6 : 3);
    fputs("/>\n", w->file);
  }
}

// Parents come before their children: the bodies that are still open are those from here up to the root.
static void write_bodies(const Writer* w) {
  const TriboModelSize n = tribo_model_size(w->model);
  int open = TRIBO_WORLD;
  for (int b = 0; b < n.nbody; ++b) {
    const TriboBodyInfo* body = tribo_model_body(w->model, b);
    for (; open != body->parent && open != TRIBO_WORLD; open = tribo_model_body(w->model, open)->parent) {
      fputs("</body>\n", w->file);
    }
    fputs("<body", w->file);
    write_place(w, b, body->parent);
    fputs(">\n", w->file);
    for (int i = 0; i < n.njoint; ++i) {
      if (tribo_model_joint(w->model, i)->body == b) {
        write_joint(w, tribo_model_joint(w->model, i));
      }
    }
    fputs(b < n.nfree ? "<freejoint/>\n" : "", w->file);
    write_inertia(w, body);
    write_geoms(w, b);
    open = b;
  }
  for (; open != TRIBO_WORLD; open = tribo_model_body(w->model, open)->parent) {
    fputs("</body>\n", w->file);
  }
}

// Which shapes may touch, and what holds between them.
static void write_pairs(const Writer* w) {
  fputs("<contact>\n", w->file);
  for (int i = 0; i < tribo_model_size(w->model).nshape; ++i) {
    for (int k = 0; k < i; ++k) {
      if (touches(w->model, i, k)) {
        const TriboMaterialDef* m = tribo_model_pair(w->model, i, k);
        fprintf(w->file, "<pair geom1=\"shape%d\" geom2=\"shape%d\" condim=\"%d\"", k, i, m->friction > 0 ? 3 : 1);
        put(w, "friction", (const double[5]){m->friction, m->friction, 0.005, 0.0001, 0.0001}, 5);
        if (m->restitution > 0) {
          put_rebound(w, m->restitution);
        }
        fputs("/>\n", w->file);
      }
    }
  }
  fputs("</contact>\n<keyframe><key name=\"start\"", w->file);
  put(w, "qvel", w->run->qvel, tribo_model_size(w->model).nv);
  fputs("/></keyframe>\n", w->file);
}

int mjcf_write(const TriboModel* model, const PeerRun* run, const char* path) {
  const TriboModelSize n = tribo_model_size(model);
  const int pairwise = run->qvel != NULL;
  const Writer w = {fopen(path, "w"), model, run, pairwise, n.ntree > 0 && !pairwise};
  if (w.file == NULL) {
    return 0;
  }
  // inertias that no solid has are in many robot files
  fprintf(w.file, "<mujoco><compiler angle=\"radian\" balanceinertia=\"%s\" fusestatic=\"true\"/>\n<option",
          pairwise ? "false" : "true");
  put(&w, "gravity", tribo_model_world(model)->gravity, 3);
  fputs("/>\n<size memory=\"400M\"/>\n<asset>\n", w.file);
  for (int i = 0; i < n.nshape; ++i) {
    const TriboShapeInfo* shape = tribo_model_shape(model, i);
    if (shape->kind == TRIBO_SHAPE_HULL) {
      fprintf(w.file, "<mesh name=\"hull%d\" inertia=\"convex\"", i);
      put(&w, "vertex", shape->points, 3 * shape->npoint);
      fputs("/>\n", w.file);
    }
  }
  fputs("</asset>\n<worldbody>\n", w.file);
  write_geoms(&w, TRIBO_WORLD);
  write_bodies(&w);
  fputs("</worldbody>\n", w.file);
  if (pairwise) {
    write_pairs(&w);
  }
  fputs("</mujoco>\n", w.file);
  const int bad = ferror(w.file);
  return fclose(w.file) == 0 && !bad;
}
