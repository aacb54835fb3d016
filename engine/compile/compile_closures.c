// From the scene's closures to those of the system: names become ids, world frames become frames in the bodies. Every
// closure is shut at the initial state, because its frames are taken from there.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_impl.h"
#include "pose.h"

static int ties_joints(TriboClosureKind kind) {
  return kind == TRIBO_CLOSURE_GEAR || kind == TRIBO_CLOSURE_MIMIC;
}

// A world frame as a body sees it.
static TriboPose seen_from(const TriboPose* poses, int body, const TriboPose* frame) {
  return body == TRIBO_WORLD ? *frame : tribo_pose_between(&poses[body], frame);
}

static TriboStatus find_body(const TriboModel* model, const char* name, int* id) {
  *id = TRIBO_WORLD;
  return name == NULL ? TRIBO_OK : tribo_model_body_id(model, name, id);
}

// A closure between two bodies as dynamics takes it, its frames from the poses at the start.
static TriboStatus tie_bodies(const TriboModel* model, const TriboClosureDef* def, const TriboPose* poses,
                              TriboClosure* out) {
  TRIBO_TRY(find_body(model, def->body_a, &out->body_a));
  TRIBO_TRY(find_body(model, def->body_b, &out->body_b));
  TriboPose frame = tribo_closure_frame(def);
  out->frame_a = seen_from(poses, out->body_a, &frame);
  if (def->kind == TRIBO_CLOSURE_DISTANCE) {
    double rod[3];
    tribo_sub3(rod, def->anchor2, def->anchor);
    out->length = isnan(def->length) ? tribo_norm3(rod) : def->length;
    if (!(out->length > 1e-9)) {
      return tribo_fail(TRIBO_INVALID, "the two ends of the rod are in one place; a ball closure does that");
    }
    if (fabs(out->length - tribo_norm3(rod)) > 1e-6 * out->length) {
      return tribo_fail(TRIBO_INVALID, "length = %g m, but its ends are %g m apart", out->length, tribo_norm3(rod));
    }
    tribo_copy3(frame.p, def->anchor2);
  }
  out->frame_b = seen_from(poses, out->body_b, &frame);
  return TRIBO_OK;
}

static TriboStatus find_joint(const TriboModel* model, const char* name, int* q, int* nq, int* v) {
  int id;
  TRIBO_TRY(tribo_model_joint_id(model, name, &id));
  const TriboJointInfo* joint = &model->mechanism.joints[id];
  if (joint->nv != 1) {
    return tribo_fail(TRIBO_UNSUPPORTED, "joint '%s' is %s; a gear needs joints with one degree of freedom", name,
                      joint->kind);
  }
  *q = joint->q_at;
  *nq = joint->nq;
  *v = joint->v_at;
  return TRIBO_OK;
}

// A continuous joint knows its angle up to full turns, so a gear knows q_b − ratio q_a up to sums of these: multiples
// of 2π where only b goes round, of 2π·ratio where only a does, of 2π/n where both do and n turns of a are whole turns
// of b.
static TriboStatus find_period(TriboClosure* c) {
  const double turn = 2 * 3.14159265358979323846;
  if (c->nq_a == 1 || c->nq_b == 1) {
    c->period = c->nq_b == 2 ? turn : c->nq_a == 2 ? turn * fabs(c->ratio) : 0;
    return TRIBO_OK;
  }
  int n = 1;
  while (n <= 60 && fabs(n * c->ratio - round(n * c->ratio)) > 1e-12 * n) {
    n++;
  }
  if (n > 60) {
    return tribo_fail(TRIBO_UNSUPPORTED,
                      "ratio = %g between two continuous joints; it must be a fraction of whole numbers up to 60",
                      c->ratio);
  }
  c->period = turn / n;
  return TRIBO_OK;
}

static double angle_of(const double* q, int nq) {
  return nq == 2 ? atan2(q[1], q[0]) : q[0];
}

// A mimic or gear closure: the coordinates of its two joints and the relation between them.
static TriboStatus tie_joints(TriboModel* model, const TriboClosureDef* def, TriboClosure* out) {
  TRIBO_TRY(find_joint(model, def->joint_a, &out->q_a, &out->nq_a, &out->v_a));
  TRIBO_TRY(find_joint(model, def->joint_b, &out->q_b, &out->nq_b, &out->v_b));
  out->body_a = out->body_b = TRIBO_WORLD;
  out->ratio = def->ratio;
  out->offset = def->offset;
  if (def->kind == TRIBO_CLOSURE_MIMIC) {
    tribo_copy3(out->curve, def->curve);
  }
  TRIBO_TRY(find_period(out));
  double *v = model->initial.v, *q_b = model->initial.q + out->q_b,
         a = angle_of(model->initial.q + out->q_a, out->nq_a);
  if (def->kind == TRIBO_CLOSURE_GEAR) {
    out->offset = angle_of(q_b, out->nq_b) - def->ratio * a;
  } else {
    // who follows starts where it belongs
    double slope;
    const double b = tribo_dyn_closure_follow(out, a, &slope);
    q_b[0] = out->nq_b == 2 ? cos(b) : b;
    if (out->nq_b == 2) {
      q_b[1] = sin(b);
    }
    v[out->v_b] = slope * v[out->v_a];
  }
  return TRIBO_OK;
}

// The closures of the scene, then the joints of robots that follow others.
typedef struct Ties {
  TriboClosureDef* defs;
  const char** where;
  int count;
} Ties;

// All ties: the closures of the scene, then the mimic joints of robots.
static TriboStatus gather(const TriboScene* scene, TriboModel* model, Ties* ties) {
  ties->count = scene->nclosure;
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    ties->count +=
        model->mechanism.trees[t].robot >= 0 ? tribo_dyn_tree_info(model->mechanism.trees[t].tree)->nmimic : 0;
  }
  ties->defs = tribo_pool_alloc(&model->pool, (size_t)ties->count, sizeof *ties->defs);
  ties->where = tribo_pool_alloc(&model->pool, (size_t)ties->count, sizeof *ties->where);
  if (ties->defs == NULL || ties->where == NULL) {
    return tribo_no_memory("for the model");
  }
  int at = 0;
  for (; at < scene->nclosure; ++at) {
    ties->defs[at] = scene->closures[at];
    ties->where[at] = scene->closure_where[at];
  }
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    const int robot = model->mechanism.trees[t].robot;
    const TriboTreeInfo* info = tribo_dyn_tree_info(model->mechanism.trees[t].tree);
    if (robot >= 0) {
      for (int i = 0; i < info->nmimic; ++i, ++at) {
        const TriboTreeMimic* mimic = &info->mimics[i];
        TriboClosureDef* def = &ties->defs[at];
        *def = tribo_closure_default();
        def->kind = TRIBO_CLOSURE_MIMIC;
        def->name = tribo_pool_format(&model->pool, "%s mimic", mimic->joint);
        def->joint_a = mimic->of;
        def->joint_b = mimic->joint;
        def->ratio = mimic->ratio;
        def->offset = mimic->offset;
        ties->where[at] = scene->robots[robot].urdf;
        if (def->name == NULL) {
          return tribo_no_memory("for the model");
        }
      }
    }
  }
  return TRIBO_OK;
}

// A point of the frame that dynamics moves, in the user's frame of the same body.
static void point_for_user(const TriboModel* model, int body, const double p[3], double out[3]) {
  tribo_copy3(out, p);
  if (body != TRIBO_WORLD) {
    TriboPose point = tribo_pose_identity();
    tribo_copy3(point.p, p);
    tribo_copy3(out, tribo_pose_between(&model->mechanism.body_offset[body], &point).p);
  }
}

// Joints first: those that follow others move bodies, and frames are taken after that.
static TriboStatus compile(const Ties* ties, TriboModel* model, TriboDynData* scratch, TriboClosure* closures,
                           TriboPose* poses, TriboTwist* twists) {
  for (int joints = 1; joints >= 0; --joints) {
    if (!joints) {
      TRIBO_TRY(
          tribo_dyn_kinematics(model->mechanism.system, scratch, model->initial.q, model->initial.v, poses, twists));
    }
    for (int i = 0; i < ties->count; ++i) {
      const TriboClosureDef* def = &ties->defs[i];
      if (ties_joints(def->kind) != joints) {
        continue;
      }
      closures[i].kind = def->kind;
      closures[i].soft = tribo_softness(def->solref, def->solimp);
      TriboStatus status = joints ? tie_joints(model, def, &closures[i]) : tie_bodies(model, def, poses, &closures[i]);
      if (status != TRIBO_OK) {
        tribo_fail_prefix("closure '%s': ", def->name);
        return tribo_located(status, ties->where[i]);
      }
    }
  }
  for (int i = 0; i < ties->count; ++i) {
    const TriboClosureDef* def = &ties->defs[i];
    TriboClosureInfo* info = &model->mechanism.closures[i];
    *info = (TriboClosureInfo){.name = tribo_pool_strdup(&model->pool, def->name),
                               .kind = tribo_dyn_closure_name(def->kind),
                               .joint = -1,
                               .body_a = closures[i].body_a,
                               .body_b = closures[i].body_b,
                               .rows = tribo_dyn_closure_dim(def->kind),
                               .nforce = tribo_dyn_closure_forces(def->kind)};
    if (info->name == NULL) {
      return tribo_no_memory("for the model");
    }
    point_for_user(model, info->body_a, closures[i].frame_a.p, info->anchor_a);
    point_for_user(model, info->body_b, closures[i].frame_b.p, info->anchor_b);
    // bodies that meet in a joint overlap by construction
    if (info->body_a != TRIBO_WORLD && info->body_b != TRIBO_WORLD && def->kind != TRIBO_CLOSURE_DISTANCE) {
      TRIBO_TRY(tribo_compile_exclude(model, info->body_a, info->body_b));
    }
  }
  return tribo_dyn_system_close(model->mechanism.system, closures, ties->count);
}

// Bodies are tied where they are, but joints that follow may be told two different things.
static TriboStatus check_shut(const Ties* ties, const TriboModel* model, TriboDynData* scratch, double* error) {
  TRIBO_TRY(tribo_dyn_closure_error(model->mechanism.system, scratch, model->initial.q, error));
  for (int i = 0; i < 6 * model->nclosure; ++i) {
    if (!(fabs(error[i]) <= 1e-9)) {
      const TriboStatus status =
          tribo_fail(TRIBO_INVALID, "closure '%s' is open by %g at the start: another one contradicts it",
                     model->mechanism.closures[i / 6].name, error[i]);
      return tribo_located(status, ties->where[i / 6]);
    }
  }
  return TRIBO_OK;
}

// Names the rows that depend on others.
static TriboStatus find_redundant(const Ties* ties, TriboModel* model, const TriboClosure* closures,
                                  unsigned* redundant, double* error) {
  TriboDynData* scratch;
  TRIBO_TRY(tribo_dyn_data_create(model->mechanism.system, &scratch));
  TriboStatus status = check_shut(ties, model, scratch, error);
  if (status == TRIBO_OK) {
    status = tribo_dyn_closure_redundant(model->mechanism.system, scratch, model->initial.q, redundant);
  }
  tribo_dyn_data_destroy(scratch);
  for (int i = 0; status == TRIBO_OK && i < model->nclosure; ++i) {
    TriboClosureInfo* info = &model->mechanism.closures[i];
    for (int r = 0; r < info->rows; ++r) {
      if (redundant[i] >> r & 1) {
        size_t used = strlen(info->redundant);
        snprintf(info->redundant + used, sizeof info->redundant - used, "%s%s", used > 0 ? ", " : "",
                 tribo_dyn_closure_row_name(closures[i].kind, r));
      }
    }
  }
  return status;
}

TriboStatus tribo_compile_closures(const TriboScene* scene, TriboModel* model) {
  Ties ties;
  TRIBO_TRY(gather(scene, model, &ties));
  if (ties.count == 0) {
    return TRIBO_OK;
  }
  model->nclosure = ties.count;
  model->mechanism.closures = tribo_pool_alloc(&model->pool, (size_t)ties.count, sizeof *model->mechanism.closures);
  TriboClosure* closures = tribo_alloc((size_t)ties.count, sizeof *closures);
  TriboPose* poses = tribo_alloc((size_t)model->nbody, sizeof *poses);
  TriboTwist* twists = tribo_alloc((size_t)model->nbody, sizeof *twists);
  unsigned* redundant = tribo_alloc((size_t)ties.count, sizeof *redundant);
  double* error = tribo_alloc(6 * (size_t)ties.count, sizeof *error);
  TriboDynData* scratch = NULL;
  TriboStatus status = model->mechanism.closures == NULL || closures == NULL || poses == NULL || twists == NULL ||
                               redundant == NULL || error == NULL
                           ? tribo_no_memory("for the model")
                           : tribo_dyn_data_create(model->mechanism.system, &scratch);
  if (status == TRIBO_OK) {
    status = compile(&ties, model, scratch, closures, poses, twists);
  }
  if (status == TRIBO_OK) {
    status = find_redundant(&ties, model, closures, redundant, error);
  }
  tribo_free(redundant);
  tribo_free(error);
  tribo_dyn_data_destroy(scratch);
  tribo_free(closures);
  tribo_free(poses);
  tribo_free(twists);
  return status;
}
