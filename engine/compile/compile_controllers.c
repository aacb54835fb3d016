// From the scene's controllers to those of the model: patterns become joints, laws of PD become motors, and the slopes
// of trajectories are found.
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model_impl.h"

// ---- joints

// Does another joint lead this one?
static int follows(const TriboScene* scene, const TriboModel* model, const char* name) {
  for (int i = 0; i < scene->nclosure; ++i) {
    const TriboClosureDef* def = &scene->closures[i];
    const int ties = def->kind == TRIBO_CLOSURE_GEAR || def->kind == TRIBO_CLOSURE_MIMIC;
    if (ties && strcmp(def->joint_b, name) == 0) {
      return 1;
    }
  }
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    const TriboTreeInfo* info = tribo_dyn_tree_info(model->mechanism.trees[t].tree);
    for (int i = 0; i < info->nmimic; ++i) {
      if (strcmp(name, info->mimics[i].joint) == 0) {
        return 1;
      }
    }
  }
  return 0;
}

// The joint's name as the controller knows it; NULL: it is not a joint of its robot.
static const char* own_name(const TriboControllerDef* def, const char* name) {
  const size_t n = def->robot != NULL ? strlen(def->robot) : 0;
  if (n == 0) {
    return name;
  }
  return strncmp(name, def->robot, n) == 0 && name[n] == '/' ? name + n + 1 : NULL;
}

// Which joints it drives: those of its patterns, each of which must mean one at least, or all.
static TriboStatus choose_joints(const TriboScene* scene, TriboModel* model, const TriboControllerDef* def,
                                 ModelController* c) {
  c->joint = tribo_pool_alloc(&model->pool, (size_t)model->njoint, sizeof *c->joint);
  if (c->joint == NULL) {
    return tribo_no_memory("for the model");
  }
  if (def->robot != NULL && tribo_names_find(&scene->robot_names, def->robot) < 0) {
    return tribo_not_found(&scene->robot_names, "robot", def->robot);
  }
  for (int j = 0; j < model->njoint; ++j) {
    const TriboJointInfo* joint = &model->mechanism.joints[j];
    const char* name = own_name(def, joint->name);
    int chosen = def->njoint == 0 && name != NULL && joint->nv == 1 && !follows(scene, model, joint->name);
    if (name != NULL) {
      for (int i = 0; i < def->njoint; ++i) {
        chosen = chosen || fnmatch(def->joints[i], name, 0) == 0;
      }
    }
    if (chosen && joint->nv != 1) {
      return tribo_fail(TRIBO_INVALID, "%s: joint '%s' has %d degrees of freedom; a controller needs one", def->name,
                        joint->name, joint->nv);
    }
    if (chosen) {
      c->joint[c->njoint++] = j;
    }
  }
  for (int i = 0; i < def->njoint; ++i) {
    int any = 0;
    for (int k = 0; k < c->njoint; ++k) {
      any = any || fnmatch(def->joints[i], own_name(def, model->mechanism.joints[c->joint[k]].name), 0) == 0;
    }
    if (!any) {
      return tribo_fail(TRIBO_NOT_FOUND, "%s: there is no joint '%s'%s%s", def->name, def->joints[i],
                        def->robot != NULL ? " of robot " : "", def->robot != NULL ? def->robot : "");
    }
  }
  return c->njoint > 0 ? TRIBO_OK : tribo_fail(TRIBO_INVALID, "%s: there is no joint to drive", def->name);
}

// ---- trajectories

// What a frame does not say is as in the one before, and at the start in the first one; then the slopes.
static void fill_column(ModelController* c, int column, double start) {
  double before = start;
  for (int i = 0; i < c->nframe; ++i) {
    double* value = &c->frames[(size_t)i * (size_t)c->ncolumn + (size_t)column];
    *value = isnan(*value) ? before : *value;
    before = *value;
  }
#define Y(i) c->frames[(size_t)(i) * (size_t)c->ncolumn + (size_t)column]
  for (int i = 1; i + 1 < c->nframe; ++i) {
    const double h0 = c->times[i] - c->times[i - 1], h1 = c->times[i + 1] - c->times[i];
    const double d0 = (Y(i) - Y(i - 1)) / h0, d1 = (Y(i + 1) - Y(i)) / h1;
    if (d0 * d1 > 0) {
      const double w0 = h0 + 2 * h1, w1 = 2 * h0 + h1;
      c->slopes[(size_t)i * (size_t)c->ncolumn + (size_t)column] = (w0 + w1) / (w0 / d0 + w1 / d1);
    }
  }
#undef Y
}

static TriboStatus match_columns(const TriboModel* model, const TriboControllerDef* def, ModelController* c) {
  for (int k = 0; k < def->ncolumn; ++k) {
    int found = -1;
    for (int i = 0; i < c->njoint; ++i) {
      found = strcmp(own_name(def, model->mechanism.joints[c->joint[i]].name), def->columns[k]) == 0 ? i : found;
    }
    if (found < 0) {
      return tribo_fail(TRIBO_NOT_FOUND, "%s: its trajectory moves '%s', which it does not drive", def->name,
                        def->columns[k]);
    }
    if (c->column[found] >= 0) {
      return tribo_fail(TRIBO_INVALID, "%s: its trajectory has '%s' twice", def->name, def->columns[k]);
    }
    c->column[found] = k;
    fill_column(c, k, c->start[found]);
  }
  return TRIBO_OK;
}

// ---- laws

// Computed torque needs every coordinate of the trees it drives.
static TriboStatus check_whole(const TriboModel* model, const TriboControllerDef* def, const ModelController* c) {
  for (int i = 0; i < c->njoint; ++i) {
    const int block = model->mechanism.bodies[model->mechanism.joints[c->joint[i]].body].block;
    for (int j = 0; j < model->njoint; ++j) {
      int own = model->mechanism.bodies[model->mechanism.joints[j].body].block != block;
      for (int k = 0; k < c->njoint; ++k) {
        own = own || c->joint[k] == j;
      }
      if (!own) {
        return tribo_fail(TRIBO_INVALID, "%s: computed torques need all joints of a tree, but not '%s' (%s)", def->name,
                          model->mechanism.joints[j].name, model->mechanism.joints[j].kind);
      }
    }
  }
  return TRIBO_OK;
}

static void add_motors(TriboModel* model, ModelController* c) {
  c->motor = model->actuation.nmotor;
  for (int i = 0; i < c->njoint; ++i) {
    const TriboJointInfo* joint = &model->mechanism.joints[c->joint[i]];
    model->actuation.motors[model->actuation.nmotor] = (TriboMotor){.q = joint->q_at,
                                                                    .nq = joint->nq,
                                                                    .v = joint->v_at,
                                                                    .stiffness = c->stiffness,
                                                                    .damping = c->damping,
                                                                    .target = c->start[i],
                                                                    .effort = c->effort[i]};
    model->actuation.motor_infos[model->actuation.nmotor++] = (TriboMotorInfo){.joint = c->joint[i],
                                                                               .stiffness = c->stiffness,
                                                                               .damping = c->damping,
                                                                               .target = c->start[i],
                                                                               .effort = c->effort[i]};
  }
}

// A controller with its joints, gains and trajectory.
static TriboStatus compile_controller(const TriboScene* scene, TriboModel* model, const TriboControllerDef* def,
                                      ModelController* c) {
  TriboPool* pool = &model->pool;
  const size_t numbers = (size_t)def->nframe * (size_t)def->ncolumn;
  *c = (ModelController){.name = tribo_pool_strdup(pool, def->name),
                         .law = def->law,
                         .interpolation = def->interpolation,
                         .stiffness = def->stiffness,
                         .damping = def->damping,
                         .nframe = def->nframe,
                         .ncolumn = def->ncolumn};
  TRIBO_TRY(choose_joints(scene, model, def, c));
  c->effort = tribo_pool_alloc(pool, (size_t)c->njoint, sizeof *c->effort);
  c->start = tribo_pool_alloc(pool, (size_t)c->njoint, sizeof *c->start);
  c->column = tribo_pool_alloc(pool, (size_t)c->njoint, sizeof *c->column);
  c->times = tribo_pool_copy(pool, def->times, (size_t)def->nframe, sizeof *def->times);
  c->frames = tribo_pool_copy(pool, def->frames, numbers, sizeof *def->frames);
  c->slopes = tribo_pool_alloc(pool, numbers, sizeof *c->slopes);
  if (c->name == NULL || c->effort == NULL || c->start == NULL || c->column == NULL || c->times == NULL ||
      c->frames == NULL || c->slopes == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < c->njoint; ++i) {
    const TriboJointInfo* joint = &model->mechanism.joints[c->joint[i]];
    const double* q = model->initial.q + joint->q_at;
    c->effort[i] = isnan(def->effort) ? joint->effort : def->effort;
    c->start[i] = def->law == TRIBO_LAW_EFFORT ? 0 : joint->nq == 1 ? q[0] : atan2(q[1], q[0]);
    c->column[i] = -1;
  }
  TRIBO_TRY(match_columns(model, def, c));
  TRIBO_TRY(tribo_compile_tasks(model, def, c));
  if (def->law == TRIBO_LAW_PD) {
    add_motors(model, c);
  }
  if (def->law == TRIBO_LAW_COMPUTED) {
    model->actuation.computes = 1;
    return check_whole(model, def, c);
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_control(const TriboScene* scene, TriboModel* model) {
  model->actuation.controllers =
      tribo_pool_alloc(&model->pool, (size_t)scene->ncontroller, sizeof *model->actuation.controllers);
  if (model->actuation.controllers == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < scene->ncontroller; ++i) {
    TRIBO_TRY(tribo_located(compile_controller(scene, model, &scene->controllers[i], &model->actuation.controllers[i]),
                            scene->controller_where[i]));
    model->actuation.ncontroller++;
  }
  return TRIBO_OK;
}
