// Compiling a scene into a model, and looking into it.
#include "model_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "pose.h"
#include "quantity.h"

// Forces and torques of the scene, with their bodies as ids.
static TriboStatus compile_forces(const TriboScene* scene, TriboModel* model) {
  model->loads.forces = tribo_pool_alloc(&model->pool, (size_t)scene->nforce, sizeof *model->loads.forces);
  if (model->loads.forces == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < scene->nforce; ++i) {
    ModelForce* force = &model->loads.forces[i];
    *force = (ModelForce){.def = scene->forces[i], .body = -1};
    force->def.body = force->def.joint = NULL;
    if (scene->forces[i].body != NULL) {
      TRIBO_TRY(tribo_located(tribo_model_body_id(model, scene->forces[i].body, &force->body), scene->force_where[i]));
      continue;
    }
    int joint;
    TRIBO_TRY(tribo_located(tribo_model_joint_id(model, scene->forces[i].joint, &joint), scene->force_where[i]));
    if (model->mechanism.joints[joint].nv != 1) {
      return tribo_located(
          tribo_fail(TRIBO_INVALID, "force on joint '%s': it has %d degrees of freedom; an effort needs one",
                     scene->forces[i].joint, model->mechanism.joints[joint].nv),
          scene->force_where[i]);
    }
    force->v_at = model->mechanism.joints[joint].v_at;
  }
  model->loads.nforce = scene->nforce;
  return TRIBO_OK;
}

// Motors of the scene, each on a joint of one degree of freedom.
static TriboStatus compile_motors(const TriboScene* scene, TriboModel* model) {
  // and at most one per joint for each controller
  const size_t most = (size_t)scene->nmotor + (size_t)scene->ncontroller * (size_t)model->njoint;
  model->actuation.motors = tribo_pool_alloc(&model->pool, most, sizeof *model->actuation.motors);
  model->actuation.motor_infos = tribo_pool_alloc(&model->pool, most, sizeof *model->actuation.motor_infos);
  if (model->actuation.motors == NULL || model->actuation.motor_infos == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < scene->nmotor; ++i) {
    const TriboMotorDef* def = &scene->motors[i];
    int id;
    TRIBO_TRY(tribo_located(tribo_model_joint_id(model, def->joint, &id), scene->motor_where[i]));
    const TriboJointInfo* joint = &model->mechanism.joints[id];
    if (joint->nv != 1) {
      return tribo_located(tribo_fail(TRIBO_INVALID, "motor of '%s': it has %d degrees of freedom; a motor needs one",
                                      def->joint, joint->nv),
                           scene->motor_where[i]);
    }
    model->actuation.motors[i] = (TriboMotor){.q = joint->q_at,
                                              .nq = joint->nq,
                                              .v = joint->v_at,
                                              .stiffness = def->stiffness,
                                              .damping = def->damping,
                                              .target = def->target,
                                              .velocity = def->velocity,
                                              .effort = isnan(def->effort) ? joint->effort : def->effort};
    model->actuation.motor_infos[i] = (TriboMotorInfo){.joint = id,
                                                       .stiffness = def->stiffness,
                                                       .damping = def->damping,
                                                       .target = def->target,
                                                       .velocity = def->velocity,
                                                       .effort = model->actuation.motors[i].effort};
  }
  model->actuation.nmotor = scene->nmotor;
  return TRIBO_OK;
}

// The bodies that a camera names must be there.
static TriboStatus keep_camera(TriboModel* model, TriboCameraDef* camera) {
  const char** texts[] = {&camera->name, &camera->body, &camera->aim};
  int unused;
  for (int i = 0; i < 3; ++i) {
    const char* text = *texts[i];
    *texts[i] = tribo_pool_strdup(&model->pool, text);
    if (text != NULL && *texts[i] == NULL) {
      return tribo_no_memory("for the model");
    }
    if (i > 0 && text != NULL) {
      TRIBO_TRY(tribo_model_body_id(model, text, &unused));
    }
  }
  return TRIBO_OK;
}

// Recorders and expectations, with every quantity parsed so that a wrong one is named now.
static TriboStatus compile_observers(const TriboScene* scene, TriboModel* model) {
  // cameras and recorders are kept as they are, expectations get their quantity resolved
  TriboPool* pool = &model->pool;
  model->scenery.cameras =
      tribo_pool_copy(pool, scene->cameras, (size_t)scene->ncamera, sizeof *model->scenery.cameras);
  model->output.records = tribo_pool_copy(pool, scene->records, (size_t)scene->nrecord, sizeof *model->output.records);
  model->output.expects = tribo_pool_alloc(pool, (size_t)scene->nexpect, sizeof *model->output.expects);
  if (model->scenery.cameras == NULL || model->output.records == NULL || model->output.expects == NULL) {
    return tribo_no_memory("for the model");
  }
  model->scenery.ncamera = scene->ncamera;
  for (int i = 0; i < scene->ncamera; ++i) {
    TRIBO_TRY(tribo_located(keep_camera(model, &model->scenery.cameras[i]), scene->camera_where[i]));
  }
  model->output.nrecord = scene->nrecord;
  for (int i = 0; i < scene->nrecord; ++i) {
    TriboRecordDef* record = &model->output.records[i];
    const char** names = tribo_pool_alloc(pool, (size_t)record->nquantity, sizeof *names);
    record->file = tribo_pool_strdup(pool, record->file);
    if (names != NULL) {
      for (int k = 0; k < record->nquantity; ++k) {
        names[k] = tribo_pool_strdup(pool, record->quantities[k]);
        TriboQuantity unused;
        TRIBO_TRY(tribo_located(tribo_quantity_parse(model, names[k], &unused), scene->record_where[i]));
      }
    }
    record->quantities = names;
    if (names == NULL || record->file == NULL) {
      return tribo_no_memory("for the model");
    }
  }
  for (int i = 0; i < scene->nexpect; ++i) {
    ModelExpect* expect = &model->output.expects[i];
    expect->def = scene->expects[i];
    expect->def.quantity = tribo_pool_strdup(pool, expect->def.quantity);
    expect->def.of = tribo_pool_strdup(pool, expect->def.of);
    TRIBO_TRY(
        tribo_located(tribo_quantity_find(model, scene->expects[i].quantity, scene->expects[i].of, &expect->quantity),
                      scene->expect_where[i]));
  }
  model->output.nexpect = scene->nexpect;
  return TRIBO_OK;
}

// A solver is made once for trial, so that wrong settings are refused here and not in the first step.
static TriboStatus compile_solver(const TriboScene* scene, TriboModel* model) {
  model->nsolver_value = scene->nsolver_value;
  model->solver_values =
      tribo_pool_copy(&model->pool, scene->solver_values, (size_t)scene->nsolver_value, sizeof *scene->solver_values);
  if (model->solver_values == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < model->nsolver_value; ++i) {
    model->solver_values[i].name = tribo_pool_strdup(&model->pool, scene->solver_values[i].name);
    if (model->solver_values[i].name == NULL) {
      return tribo_no_memory("for the model");
    }
  }
  TriboSolver* solver;
  TRIBO_TRY(tribo_model_solver(model, &solver));
  tribo_solver_destroy(solver);
  return TRIBO_OK;
}

TriboStatus tribo_model_solver(const TriboModel* model, TriboSolver** out) {
  TRIBO_TRY(tribo_solver_create(model->world.solver, out));
  TriboStatus status = tribo_solver_set(*out, "tol", model->world.tol);
  if (status == TRIBO_OK && strcmp(model->world.solver, "auto") == 0) {
    status = tribo_solver_set(*out, "accept", model->world.accept);
    status = status == TRIBO_OK ? tribo_solver_set(*out, "effort", model->world.effort) : status;
  }
  for (int i = 0; status == TRIBO_OK && i < model->nsolver_value; ++i) {
    status = tribo_solver_set(*out, model->solver_values[i].name, model->solver_values[i].value);
  }
  if (status != TRIBO_OK) {
    tribo_solver_destroy(*out);
    *out = NULL;
  }
  return status;
}

// What a saved state must agree with: names, sizes and masses.
static uint64_t fingerprint(const TriboModel* model) {
  uint64_t h = TRIBO_HASH_START;
  const int sizes[] = {model->nq, model->nv, model->nbody, model->geometry.ngeom, model->njoint, model->nclosure};
  h = tribo_hash(h, sizes, sizeof sizes);
  for (int i = 0; i < model->nbody; ++i) {
    h = tribo_hash(h, model->mechanism.bodies[i].name, strlen(model->mechanism.bodies[i].name));
    h = tribo_hash(h, &model->mechanism.bodies[i].mass, sizeof model->mechanism.bodies[i].mass);
  }
  return h;
}

TriboStatus tribo_compile_mechanism(const TriboScene* scene, TriboModel* model, int* scene_body) {
  model->world = scene->world;
  model->geometry.scene_hulls = tribo_pool_alloc(&model->pool, (size_t)scene->nshape, sizeof(TriboHull*));
  model->geometry.scene_sdfs = tribo_pool_alloc(&model->pool, (size_t)scene->nshape, sizeof(TriboSdf*));
  if (model->geometry.scene_hulls == NULL || model->geometry.scene_sdfs == NULL) {
    return tribo_no_memory("for the model");
  }
  TRIBO_TRY(tribo_compile_bodies(scene, model, scene_body));
  TRIBO_TRY(tribo_compile_joints(model));
  return tribo_compile_closures(scene, model);
}

static TriboStatus compile(const CutScene* cut, TriboModel* model, int* scene_body) {
  const TriboScene* scene = &cut->scene;
  TRIBO_TRY(tribo_compile_mechanism(scene, model, scene_body));
  TRIBO_TRY(tribo_compile_cuts(cut, scene_body, model));
  TRIBO_TRY(compile_solver(scene, model));
  TRIBO_TRY(tribo_compile_textures(scene, model));
  TRIBO_TRY(tribo_compile_shapes(scene, model, scene_body));
  TRIBO_TRY(tribo_compile_visuals(scene, model, scene_body));
  TRIBO_TRY(tribo_compile_actuators(scene, model, scene_body));
  TRIBO_TRY(tribo_compile_states(scene, model));
  TRIBO_TRY(tribo_compile_sensors(scene, model));
  TRIBO_TRY(compile_forces(scene, model));
  TRIBO_TRY(compile_motors(scene, model));
  TRIBO_TRY(tribo_compile_control(scene, model));
  TRIBO_TRY(compile_observers(scene, model));
  model->fingerprint = fingerprint(model);
  return TRIBO_OK;
}

TriboStatus tribo_model_create(const TriboScene* scene, TriboModel** out) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(out);
  *out = NULL;
  TriboModel* model = tribo_alloc(1, sizeof *model);
  CutScene cut;
  int* scene_body = NULL;
  TriboStatus status = tribo_compile_cut(scene, &cut);
  if (status == TRIBO_OK) {
    scene_body = tribo_alloc((size_t)cut.scene.nbody, sizeof *scene_body);
    status = model == NULL || scene_body == NULL ? tribo_no_memory("for the model") : compile(&cut, model, scene_body);
  }
  tribo_pool_clear(&cut.pool);
  tribo_free(scene_body);
  if (status != TRIBO_OK) {
    tribo_model_destroy(model);
    return status;
  }
  *out = model;
  return TRIBO_OK;
}

void tribo_model_destroy(TriboModel* model) {
  if (model == NULL) {
    return;
  }
  tribo_col_world_destroy(model->geometry.collision);
  tribo_dyn_system_destroy(model->mechanism.system);
  for (int i = 0; i < model->mechanism.ntree; ++i) {
    tribo_dyn_tree_destroy(model->mechanism.trees[i].tree);
  }
  for (int i = 0; i < model->geometry.nfield; ++i) {
    tribo_col_field_destroy(model->geometry.fields[i]);
  }
  tribo_free(model->geometry.fields);
  for (int i = 0; i < model->geometry.nhull; ++i) {
    tribo_col_hull_destroy(model->geometry.hulls[i]);
  }
  tribo_free(model->geometry.hulls);
  for (int i = 0; i < model->geometry.nsdf; ++i) {
    tribo_col_sdf_destroy(model->geometry.sdfs[i]);
  }
  tribo_free(model->geometry.sdfs);
  for (int i = 0; i < model->scenery.ntextured_mesh; ++i) {
    tribo_col_textured_mesh_destroy(model->scenery.textured_meshes[i]);
  }
  tribo_free(model->scenery.textured_meshes);
  tribo_free(model->scenery.textures);
  tribo_free(model->scenery.visuals);
  tribo_free(model->geometry.excluded);
  tribo_names_clear(&model->mechanism.body_names);
  tribo_names_clear(&model->mechanism.joint_names);
  tribo_pool_clear(&model->pool);
  tribo_free(model);
}

// ---- looking in
