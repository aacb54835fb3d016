// Closures that are joints: something drives, limits, brakes or measures their motion.
//
// Such a closure is not an opening in a tree that somebody has to measure: it becomes a joint of the tree, and what is
// opened instead is a body. Of body_b, tied to body_a by the closure, a piece is cut off, with the same centre of mass
// and as much of its mass and inertia as is left of it. The piece hangs on body_a by a joint of the closure's kind and
// name, and a weld holds it to the rest of body_b:
//
//     a ──closure── b          a ──joint── piece ══weld══ rest of b
//
// Two halves that move as one are the body they were cut from: same momentum, same energy, and the same discrete
// action, so the motion does not know which joint of a loop was the closure. And whatever a joint of a tree can do, a
// closure can: motors, limits, dry friction, dampers, springs, armature, actuators, controllers, sensors, states.
//
// A body that is cut k times keeps 1/(k + 1) of itself. Where body_b cannot be cut (the world, a link of a robot
// file, a body without mass), body_a is, and the axis turns round, if the kind of closure allows that.
#include <math.h>
#include <string.h>

#include "model_impl.h"
#include "pose.h"

typedef struct Cutter {
  const TriboScene* scene;
  const TriboModel* open;  // the mechanism with closures as mere ties
  const int* open_body;    // its bodies by those of the scene
  const TriboPose* poses;  // (bodies of the open model) at the start
  CutScene* out;
  int* npiece;  // (nbody of the scene) how often each is cut
} Cutter;

// ---- which closures

static int says(const char* text, const char* name) {
  return text != NULL && strcmp(text, name) == 0;
}

static int says_one(const char* const* texts, int count, const char* name) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    found = found || says(texts[i], name);
  }
  return found;
}

// Quantities that only joints have.
static int is_of_joint(const char* quantity) {
  return says(quantity, "q") || says(quantity, "v") || says(quantity, "effort");
}

static int records(const TriboRecordDef* record, const char* name) {
  const size_t n = strlen(name);
  int found = 0;
  for (int i = 0; i < record->nquantity; ++i) {
    const char* text = record->quantities[i];
    found = found || (strncmp(text, name, n) == 0 && strncmp(text + n, ": ", 2) == 0 && is_of_joint(text + n + 2));
  }
  return found;
}

// Whether the scene speaks of a joint of this name.
static int is_named(const TriboScene* s, const char* name) {
  int found = 0;
#define ANY(array, test)                            \
  for (int i = 0; i < s->n##array && !found; ++i) { \
    found = (test);                                 \
  }
  ANY(motor, says(s->motors[i].joint, name))
  ANY(actuator, says(s->actuators[i].joint, name))
  ANY(force, says(s->forces[i].joint, name))
  ANY(sensor, says(s->sensors[i].joint, name))
  ANY(joint_value, says(s->joint_values[i].name, name))
  ANY(tendon, says_one(s->tendons[i].joints, s->tendons[i].njoint, name))
  ANY(controller, s->controllers[i].robot == NULL && says_one(s->controllers[i].joints, s->controllers[i].njoint, name))
  ANY(closure, says(s->closures[i].joint_a, name) || says(s->closures[i].joint_b, name))
  ANY(expect, says(s->expects[i].of, name) && is_of_joint(s->expects[i].quantity))
  ANY(record, records(&s->records[i], name))
#undef ANY
  for (int i = 0; i < s->nstate && !found; ++i) {
    for (int k = 0; k < s->states[i].nvalue; ++k) {
      found = found || says(s->states[i].values[k].of, name);
    }
  }
  return found && tribo_names_find(&s->joint_names, name) < 0;
}

static int is_cut(const TriboScene* scene, int closure) {
  const TriboClosureDef* def = &scene->closures[closure];
  TriboJointKind kind;
  return tribo_closure_joint(def->kind, &kind) && (tribo_closure_has_drive(def) || is_named(scene, def->name));
}

// ---- the cut

static TriboPose start_pose(const Cutter* c, int body) {
  const int id = c->open_body[body];
  return tribo_pose_mul(&c->poses[id], &c->open->mechanism.body_offset[id]);
}

static int find_body(const Cutter* c, const char* name) {
  return name == NULL ? TRIBO_WORLD : tribo_names_find(&c->scene->body_names, name);
}

// Which body is cut, and which one carries the piece. Returns 0 where neither can be.
static int choose_bodies(const Cutter* c, const TriboClosureDef* def, CutClosure* cut) {
  const char* names[2] = {def->body_b, def->body_a};
  for (cut->is_turned = 0; cut->is_turned < 2; ++cut->is_turned) {
    const int body = find_body(c, names[cut->is_turned]), carrier = find_body(c, names[!cut->is_turned]);
    const int is_of_scene = body >= 0 && (carrier >= 0 || names[!cut->is_turned] == NULL);
    if (is_of_scene && c->open->mechanism.bodies[c->open_body[body]].mass > 0) {
      cut->body = body, cut->carrier = carrier;
      return !cut->is_turned || tribo_closure_turns_round(def->kind);
    }
  }
  return 0;
}

// From where the carrier is at the start to where it is at the zero configuration of its joints.
static TriboPose back_to_zero(const Cutter* c, int carrier) {
  if (carrier < 0) {
    return tribo_pose_identity();
  }
  const TriboBodyDef* def = &c->scene->bodys[carrier];
  const TriboPose zero = tribo_pose(def->position, def->quaternion), start = start_pose(c, carrier);
  const TriboPose identity = tribo_pose_identity(), back = tribo_pose_between(&start, &identity);
  return tribo_pose_mul(&zero, &back);
}

static void turn(const TriboPose* by, const double from[3], double sign, double out[3]) {
  tribo_mul33v(out, by->R, from);
  tribo_scale3(out, sign, out);
}

// The joint, along the axes of the carrier's zero configuration.
static TriboJointDef joint_of(const TriboClosureDef* def, const CutClosure* cut, const TriboPose* back, int child) {
  TriboJointDef joint = tribo_joint_default();
  const double sign = cut->is_turned ? -1 : 1;
  (void)tribo_closure_joint(def->kind, &joint.kind);
  joint.name = def->name;
  joint.parent = cut->carrier;
  joint.child = child;
  turn(back, def->anchor, 1, joint.anchor);
  tribo_add3(joint.anchor, joint.anchor, back->p);
  turn(back, def->axis, sign, joint.axis);
  turn(back, def->axis2, sign, joint.axis2);
  joint.armature = def->armature;
  joint.damping = def->damping;
  joint.friction = def->friction;
  joint.stiffness = def->stiffness;
  joint.rest = def->rest;
  joint.lower = def->lower;
  joint.upper = def->upper;
  joint.restitution = def->restitution;
  joint.effort = def->effort;
  joint.position = def->position;
  memcpy(joint.solref, def->limit_solref, sizeof joint.solref);
  memcpy(joint.solimp, def->limit_solimp, sizeof joint.solimp);
  return joint;
}

// Where the piece is when the coordinate is 0 and not what it is at the start.
static TriboPose zero_pose(const TriboJointDef* joint, const TriboPose* start) {
  TriboPose pose = *start;
  double axis[3];
  tribo_copy3(axis, joint->axis);
  tribo_normalize3(axis);
  if (joint->position != 0 && joint->kind == TRIBO_JOINT_PRISMATIC) {
    tribo_axpy3(pose.p, pose.p, -joint->position, axis);
  } else if (joint->position != 0) {
    TriboPose back = tribo_pose_identity(), there = *start;
    double by[3], quaternion[4];
    tribo_scale3(by, -joint->position, axis);
    tribo_quat_exp(quaternion, by);
    tribo_quat_to_mat(back.R, quaternion);
    tribo_sub3(there.p, there.p, joint->anchor);
    pose = tribo_pose_mul(&back, &there);
    tribo_add3(pose.p, pose.p, joint->anchor);
  }
  return pose;
}

// As much of a body's matter as each part of it gets.
static TriboStatus take_matter(const Cutter* c, int body, TriboBodyDef* out) {
  double mass, com[3], inertia[9];
  TriboModel* open = (TriboModel*)c->open;
  TRIBO_TRY(tribo_compile_mass(c->scene, open, body, &mass, com, inertia));
  const double fraction = 1.0 / (1 + c->npiece[body]);
  const double packed[6] = {inertia[0], inertia[4], inertia[8], inertia[1], inertia[2], inertia[5]};
  out->mass = fraction * mass;
  tribo_copy3(out->com, com);
  for (int i = 0; i < 6; ++i) {
    out->inertia[i] = fraction * packed[i];
  }
  memcpy(out->axes, (const double[4]){0, 0, 0, 1}, sizeof out->axes);
  out->gravity_compensation = c->scene->bodys[body].gravity_compensation;
  return TRIBO_OK;
}

TriboPose tribo_closure_frame(const TriboClosureDef* def) {
  TriboPose frame;
  double z[3], x[3], y[3];
  tribo_copy3(z, def->axis);
  tribo_normalize3(z);
  tribo_tangents(x, y, z);
  if (def->kind == TRIBO_CLOSURE_UNIVERSAL) {
    tribo_axpy3(x, def->axis2, -tribo_dot3(def->axis2, z), z);
    tribo_normalize3(x);
    tribo_cross3(y, z, x);
  }
  for (int i = 0; i < 3; ++i) {
    frame.R[3 * i] = x[i], frame.R[3 * i + 1] = y[i], frame.R[3 * i + 2] = z[i];
  }
  tribo_copy3(frame.p, def->anchor);
  return frame;
}

// One closure: piece and joint are appended, and the closure becomes the weld.
static TriboStatus cut_one(Cutter* c, CutClosure* cut) {
  CutScene* out = c->out;
  TriboScene* s = &out->scene;
  TriboClosureDef* def = &s->closures[cut->closure];
  const TriboBodyDef* whole = &c->scene->bodys[cut->body];
  const TriboPose back = back_to_zero(c, cut->carrier), start = start_pose(c, cut->body),
                  frame = tribo_closure_frame(def);
  const TriboPose carried = tribo_pose_mul(&back, &start);
  const TriboJointDef joint = joint_of(def, cut, &back, s->nbody);
  const TriboPose zero = zero_pose(&joint, &carried);
  TriboBodyDef piece = tribo_body_default();
  piece.name = tribo_pool_format(&out->pool, "%s:%s", whole->name, def->name);
  if (piece.name == NULL) {
    return tribo_no_memory("for the model");
  }
  tribo_copy3(piece.position, zero.p);
  tribo_quat_from_mat(piece.quaternion, zero.R);
  TRIBO_TRY(take_matter(c, cut->body, &piece));
  cut->kind = def->kind;
  cut->frame = tribo_pose_between(&start, &frame);
  cut->piece = s->nbody;
  cut->joint = s->njoint;
  cut->other = cut->is_turned ? find_body(c, def->body_b) : find_body(c, def->body_a);
  tribo_copy3(cut->anchor, def->anchor);
  if (cut->other >= 0) {
    const TriboPose other = start_pose(c, cut->other), seen = tribo_pose_between(&other, &frame);
    tribo_copy3(cut->anchor, seen.p);
  }
  if (tribo_names_find(&s->joint_names, def->name) >= 0) {
    return tribo_fail(TRIBO_INVALID,
                      "closure '%s': a joint is called so, too; a closure that is driven, limited, braked or measured "
                      "is a joint and needs a name of its own",
                      def->name);
  }
  s->body_where[s->nbody] = s->joint_where[s->njoint] = s->closure_where[cut->closure];
  s->bodys[s->nbody++] = piece;
  s->joints[s->njoint++] = joint;
  def->kind = TRIBO_CLOSURE_WELD;
  def->body_a = piece.name;
  def->body_b = whole->name;
  return TRIBO_OK;
}

// Bodies that meet in the joint do not collide.
static void exclude(const Cutter* c, const CutClosure* cut) {
  TriboScene* s = &c->out->scene;
  if (cut->carrier >= 0) {
    s->exclusion_where[s->nexclusion] = NULL;
    s->exclusions[s->nexclusion++] =
        (SceneExclusion){c->scene->bodys[cut->carrier].name, c->scene->bodys[cut->body].name};
  }
}

// Room for so many more items of an array of the scene.
static void* longer(TriboPool* pool, const void* from, int n, int more, size_t size) {
  void* array = tribo_pool_alloc(pool, (size_t)(n + more), size);
  if (array != NULL && n > 0) {
    memcpy(array, from, (size_t)n * size);
  }
  return array;
}

// Room for what is added, the bodies to cut, and then the cuts.
static TriboStatus cut_all(Cutter* c) {
  CutScene* out = c->out;
  const TriboScene* from = c->scene;
  TriboScene* s = &out->scene;
#define LONGER(array)                                                                                              \
  s->array##s = longer(&out->pool, from->array##s, from->n##array, out->ncut, sizeof *s->array##s);                \
  s->array##_where = longer(&out->pool, from->array##_where, from->n##array, out->ncut, sizeof *s->array##_where); \
  if (s->array##s == NULL || s->array##_where == NULL) {                                                           \
    return tribo_no_memory("for the model");                                                                       \
  }
  LONGER(body)
  LONGER(joint)
  LONGER(closure)
  LONGER(exclusion)
#undef LONGER
  for (int i = 0; i < out->ncut; ++i) {
    CutClosure* cut = &out->cuts[i];
    const TriboClosureDef* def = &from->closures[cut->closure];
    if (!choose_bodies(c, def, cut)) {
      return tribo_located(
          tribo_fail(TRIBO_UNSUPPORTED,
                     "closure '%s': to be driven, limited, braked or measured it needs a %s with mass that is no link "
                     "of a robot file, and at the other end such a body or the world",
                     def->name, tribo_closure_turns_round(def->kind) ? "body" : "body_b"),
          from->closure_where[cut->closure]);
    }
    c->npiece[cut->body]++;
  }
  for (int i = 0; i < out->ncut; ++i) {
    TRIBO_TRY(tribo_located(cut_one(c, &out->cuts[i]), from->closure_where[out->cuts[i].closure]));
    exclude(c, &out->cuts[i]);
    TriboBodyDef* rest = &s->bodys[out->cuts[i].body];
    TRIBO_TRY(take_matter(c, out->cuts[i].body, rest));
  }
  return TRIBO_OK;
}

// ---- the mechanism as it is before anything is cut

// The scene without closures between joints that are no joints yet.
static TriboStatus plain_scene(const TriboScene* scene, CutScene* out, TriboScene* plain) {
  *plain = *scene;
  plain->closures = tribo_pool_alloc(&out->pool, (size_t)scene->nclosure, sizeof *plain->closures);
  plain->closure_where = tribo_pool_alloc(&out->pool, (size_t)scene->nclosure, sizeof *plain->closure_where);
  if (plain->closures == NULL || plain->closure_where == NULL) {
    return tribo_no_memory("for the model");
  }
  plain->nclosure = 0;
  for (int i = 0; i < scene->nclosure; ++i) {
    const TriboClosureDef* def = &scene->closures[i];
    int waits = 0;
    for (int k = 0; k < out->ncut; ++k) {
      const char* name = scene->closures[out->cuts[k].closure].name;
      waits = waits || says(def->joint_a, name) || says(def->joint_b, name);
    }
    if (!waits) {
      plain->closure_where[plain->nclosure] = scene->closure_where[i];
      plain->closures[plain->nclosure++] = *def;
    }
  }
  return TRIBO_OK;
}

// Opens the scene, which has cuts, and makes them; `open` becomes its mechanism with closures as mere ties.
static TriboStatus cut_with(const TriboScene* scene, CutScene* out, TriboModel* open, int* open_body, int* npiece) {
  TriboScene plain;
  TRIBO_TRY(plain_scene(scene, out, &plain));
  TRIBO_TRY(tribo_compile_mechanism(&plain, open, open_body));
  TriboPose* poses = tribo_pool_alloc(&out->pool, (size_t)open->nbody, sizeof *poses);
  TriboTwist* twists = tribo_pool_alloc(&out->pool, (size_t)open->nbody, sizeof *twists);
  TriboDynData* scratch;
  if (poses == NULL || twists == NULL) {
    return tribo_no_memory("for the model");
  }
  TRIBO_TRY(tribo_dyn_data_create(open->mechanism.system, &scratch));
  const TriboStatus status =
      tribo_dyn_kinematics(open->mechanism.system, scratch, open->initial.q, open->initial.v, poses, twists);
  tribo_dyn_data_destroy(scratch);
  TRIBO_TRY(status);
  Cutter cutter = {scene, open, open_body, poses, out, npiece};
  return cut_all(&cutter);
}

TriboStatus tribo_compile_cut(const TriboScene* scene, CutScene* out) {
  *out = (CutScene){.scene = *scene};
  for (int i = 0; i < scene->nclosure; ++i) {
    out->ncut += is_cut(scene, i);
  }
  if (out->ncut == 0) {
    return TRIBO_OK;
  }
  out->cuts = tribo_pool_alloc(&out->pool, (size_t)out->ncut, sizeof *out->cuts);
  int* open_body = tribo_pool_alloc(&out->pool, (size_t)scene->nbody, sizeof *open_body);
  int* npiece = tribo_pool_alloc(&out->pool, (size_t)scene->nbody, sizeof *npiece);
  TriboModel* open = tribo_alloc(1, sizeof *open);
  if (out->cuts == NULL || open_body == NULL || npiece == NULL || open == NULL) {
    tribo_free(open);
    return tribo_no_memory("for the model");
  }
  for (int i = 0, n = 0; i < scene->nclosure; ++i) {
    if (is_cut(scene, i)) {
      out->cuts[n++].closure = i;
    }
  }
  const TriboStatus status = cut_with(scene, out, open, open_body, npiece);
  tribo_model_destroy(open);
  return status;
}

// ---- in the model

TriboStatus tribo_compile_cuts(const CutScene* cut, const int* scene_body, TriboModel* model) {
  model->mechanism.ncut = cut->ncut;
  model->mechanism.cuts = tribo_pool_alloc(&model->pool, (size_t)cut->ncut, sizeof *model->mechanism.cuts);
  if (model->mechanism.cuts == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < cut->ncut; ++i) {
    const CutClosure* from = &cut->cuts[i];
    TriboClosureInfo* info = &model->mechanism.closures[from->closure];
    ModelCut* to = &model->mechanism.cuts[i];
    *to = (ModelCut){.closure = from->closure,
                     .joint = tribo_names_find(&model->mechanism.joint_names, info->name),
                     .piece = scene_body[from->piece],
                     .rest = scene_body[from->body],
                     .is_turned = from->is_turned,
                     .frame = from->frame};
    // who looks at the closure sees what it was
    info->kind = tribo_dyn_closure_name(from->kind);
    info->joint = to->joint;
    *(from->is_turned ? &info->body_b : &info->body_a) = from->other < 0 ? TRIBO_WORLD : scene_body[from->other];
    *(from->is_turned ? &info->body_a : &info->body_b) = to->rest;
    tribo_copy3(from->is_turned ? info->anchor_a : info->anchor_b, from->frame.p);
    tribo_copy3(from->is_turned ? info->anchor_b : info->anchor_a, from->anchor);
  }
  return tribo_compile_fit(model, NULL, model->initial.v);
}

// Where a body's own frame is, and how it moves.
static void user_motion(const TriboModel* model, int body, const TriboPose* poses, const TriboTwist* twists,
                        TriboPose* pose, double motion[6]) {
  double arm[3], swing[3];
  *pose = tribo_pose_mul(&poses[body], &model->mechanism.body_offset[body]);
  tribo_sub3(arm, pose->p, poses[body].p);
  tribo_cross3(swing, twists[body].w, arm);
  tribo_add3(motion, twists[body].v, swing);
  tribo_copy3(motion + 3, twists[body].w);
}

typedef struct Fitter {
  TriboDynData* scratch;
  TriboPose* poses;
  TriboTwist* twists;
  double *q, *v, *unit;  // the state; one velocity alone
} Fitter;

// The displacement or velocity of the joint of a piece that takes it where the rest of its body is, or as fast.
static TriboStatus fit_one(const TriboModel* model, const ModelCut* cut, Fitter* f, int is_place, double out[3]) {
  const TriboJointInfo* joint = &model->mechanism.joints[cut->joint];
  TriboPose piece, rest;
  double miss[6], moves[6], columns[3][6], A[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, inverse[9], b[3] = {0};
  TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, f->scratch, f->q, f->v, f->poses, f->twists));
  user_motion(model, cut->rest, f->poses, f->twists, &rest, miss);
  user_motion(model, cut->piece, f->poses, f->twists, &piece, moves);
  if (is_place) {
    double E[9], quaternion[4];
    tribo_sub3(miss, rest.p, piece.p);
    tribo_mul33t(E, rest.R, piece.R);
    tribo_quat_from_mat(quaternion, E);
    const double s = tribo_norm3(quaternion), angle = 2 * atan2(s, fabs(quaternion[3]));
    tribo_scale3(miss + 3, copysign(s > 1e-12 ? angle / s : 2, quaternion[3]), quaternion);
  } else {
    for (int i = 0; i < 6; ++i) {
      miss[i] -= moves[i];
    }
  }
  // least squares of the joint's columns
  for (int k = 0; k < joint->nv; ++k) {
    f->unit[joint->v_at + k] = 1;
    TRIBO_TRY(tribo_dyn_kinematics(model->mechanism.system, f->scratch, f->q, f->unit, f->poses, f->twists));
    f->unit[joint->v_at + k] = 0;
    user_motion(model, cut->piece, f->poses, f->twists, &piece, columns[k]);
    b[k] = tribo_dot3(columns[k], miss) + tribo_dot3(columns[k] + 3, miss + 3);
    for (int l = 0; l <= k; ++l) {
      A[3 * k + l] = A[3 * l + k] = tribo_dot3(columns[k], columns[l]) + tribo_dot3(columns[k] + 3, columns[l] + 3);
    }
  }
  if (tribo_inv33(inverse, A) == 0) {
    return tribo_fail(TRIBO_NUMERIC, "closure '%s' is at a singular place", joint->name);
  }
  tribo_mul33v(out, inverse, b);
  return TRIBO_OK;
}

TriboStatus tribo_compile_fit(const TriboModel* model, double* q, double* v) {
  enum { PASSES = 30 };
  const int ncut = model->mechanism.ncut;
  if (ncut == 0) {
    return TRIBO_OK;
  }
  const size_t nv = (size_t)model->nv, nq = (size_t)model->nq;
  Fitter f = {.poses = tribo_alloc((size_t)model->nbody, sizeof *f.poses),
              .twists = tribo_alloc((size_t)model->nbody, sizeof *f.twists),
              .q = tribo_alloc(2 * nq, sizeof *f.q),
              .v = v,
              .unit = tribo_alloc(2 * nv, sizeof *f.unit)};
  TriboStatus status = f.poses == NULL || f.twists == NULL || f.q == NULL || f.unit == NULL
                           ? tribo_no_memory("for the model")
                           : tribo_dyn_data_create(model->mechanism.system, &f.scratch);
  if (status == TRIBO_OK) {
    double *step = f.unit + nv, *q_next = f.q + nq, most = INFINITY, by[3];
    memcpy(f.q, q != NULL ? q : model->initial.q, nq * sizeof *f.q);
    const int passes = q != NULL ? PASSES : 0;
    for (int pass = 0; status == TRIBO_OK && pass < passes && most > 1e-14; ++pass) {
      most = 0;
      memset(step, 0, nv * sizeof *step);
      for (int i = 0; status == TRIBO_OK && i < ncut; ++i) {
        const TriboJointInfo* joint = &model->mechanism.joints[model->mechanism.cuts[i].joint];
        status = fit_one(model, &model->mechanism.cuts[i], &f, 1, by);
        memcpy(step + joint->v_at, by, (size_t)joint->nv * sizeof *step);
        most = fmax(most, tribo_norm3(by));
      }
      status = status == TRIBO_OK ? tribo_dyn_integrate(model->mechanism.system, f.scratch, f.q, step, q_next) : status;
      for (int i = 0; status == TRIBO_OK && i < ncut; ++i) {
        const TriboJointInfo* joint = &model->mechanism.joints[model->mechanism.cuts[i].joint];
        memcpy(f.q + joint->q_at, q_next + joint->q_at, (size_t)joint->nq * sizeof *q);
        memcpy(q + joint->q_at, q_next + joint->q_at, (size_t)joint->nq * sizeof *q);
      }
    }
    for (int i = 0; status == TRIBO_OK && i < ncut; ++i) {
      const TriboJointInfo* joint = &model->mechanism.joints[model->mechanism.cuts[i].joint];
      status = fit_one(model, &model->mechanism.cuts[i], &f, 0, by);
      for (int k = 0; status == TRIBO_OK && k < joint->nv; ++k) {
        v[joint->v_at + k] += by[k];
      }
    }
  }
  tribo_dyn_data_destroy(f.scratch);
  tribo_free(f.poses);
  tribo_free(f.twists);
  tribo_free(f.q);
  tribo_free(f.unit);
  return status;
}
