// The simulation behind the player: compiling, states to step back through, changes between two steps.
#include "sim.h"

#include <stdio.h>

#include "list.h"

// ---- life

static void release_model(void* user) {
  SharedModel* shared = user;
  if (shared != NULL && atomic_fetch_sub(&shared->users, 1) == 1) {
    tribo_model_destroy(shared->model);
    tribo_view_textures_release(shared->textures);
    free(shared);
  }
}

static TriboStatus create_shared(TriboModel* model, SharedModel** out) {
  static atomic_llong serials = 1LL << 40;  // far from those of lists without a player
  SharedModel* shared = calloc(1, sizeof *shared);
  if (shared == NULL) {
    tribo_model_destroy(model);
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a model");
  }
  shared->model = model;
  shared->serial = ++serials;
  atomic_init(&shared->users, 1);
  *out = shared;
  return TRIBO_OK;
}

TriboStatus tribo_view_sim_list(const Sim* sim, TriboDrawList** out) {
  VIEW_TRY(tribo_view_list_make(sim->model, sim->shared->textures, out));
  if (sim->shared->textures == NULL) {
    sim->shared->textures = (*out)->textures;
    atomic_fetch_add(&sim->shared->textures->users, 1);
  }
  atomic_fetch_add(&sim->shared->users, 1);
  (*out)->keep = sim->shared;
  (*out)->release = release_model;
  (*out)->serial = sim->shared->serial;
  return TRIBO_OK;
}

int tribo_view_sim_fits(const Sim* sim, const TriboDrawList* list) {
  return list->serial == sim->shared->serial;
}

// Everything but the scene.
static void drop_model(Sim* sim) {
  tribo_view_trails_destroy(sim->trails);
  tribo_data_destroy(sim->data);
  release_model(sim->shared);
  free(sim->targets);
  free(sim->momenta);
  free(sim->net);
  sim->trails = NULL, sim->data = NULL, sim->shared = NULL, sim->model = NULL;
  sim->targets = sim->momenta = sim->net = NULL;
  sim->net_known = 0;
  sim->first = sim->count = 0;
  sim->mouse_spring.body = -1;
}

void tribo_view_sim_close(Sim* sim) {
  drop_model(sim);
  for (int i = 0; i < SIM_RING; ++i) {
    tribo_state_destroy(sim->ring[i]);
    sim->ring[i] = NULL;
  }
  tribo_scene_destroy(sim->scene);
  sim->scene = NULL;
}

// What only a simulation can do.
static TriboStatus refuse_replay(const Sim* sim) {
  return sim->replay == NULL ? TRIBO_OK : tribo_view_fail(TRIBO_STATE, "a recorded motion is only looked at");
}

// ---- states

TriboStatus tribo_view_sim_seek(Sim* sim, long long row) {
  row = row > sim->shown.last ? sim->shown.last : row < 0 ? 0 : row;
  const TriboStatus status = sim->replay(sim->user, sim->model, sim->data, row, &sim->shown);
  if (status != TRIBO_OK) {
    return tribo_view_fail(status, "%s", sim->shown.text);
  }
  sim->row = row;
  return tribo_view_trails_add(sim->trails, sim->model, sim->data);
}

// The current state becomes the last one of the ring; a recorded motion has all of them.
static TriboStatus remember(Sim* sim) {
  if (sim->replay != NULL) {
    return TRIBO_OK;
  }
  TriboState** slot = &sim->ring[(sim->first + sim->count) % SIM_RING];
  if (sim->count == SIM_RING) {
    sim->first = (sim->first + 1) % SIM_RING;
  } else {
    sim->count++;
  }
  if (*slot == NULL) {
    VIEW_TRY_ENGINE(tribo_state_create(slot));
  }
  VIEW_TRY_ENGINE(tribo_state_save(sim->model, sim->data, *slot));
  return tribo_view_trails_add(sim->trails, sim->model, sim->data);
}

// A step, and the forces that made it.
static TriboStatus step(Sim* sim, TriboStepInfo* info) {
  const double dt = tribo_model_world(sim->model)->dt;
  VIEW_TRY(tribo_view_momenta(sim->model, sim->data, sim->momenta));
  VIEW_TRY_ENGINE(tribo_step(sim->model, sim->data, info));
  VIEW_TRY(tribo_view_momenta(sim->model, sim->data, sim->net));
  for (int i = 0; i < 6 * tribo_model_size(sim->model).nbody; ++i) {
    sim->net[i] = (sim->net[i] - sim->momenta[i]) / dt;
  }
  sim->net_known = 1;
  return TRIBO_OK;
}

static const TriboState* remembered(const Sim* sim, int i) {
  return sim->ring[(sim->first + i) % SIM_RING];
}

TriboStatus tribo_view_sim_reset(Sim* sim) {
  tribo_data_reset(sim->model, sim->data);
  for (int i = 0; i < tribo_model_size(sim->model).nmotor; ++i) {
    sim->targets[i] = tribo_model_motor(sim->model, i)->target;
  }
  sim->net_known = 0;
  sim->first = sim->count = 0;
  return sim->replay != NULL ? tribo_view_sim_seek(sim, 0) : remember(sim);
}

TriboStatus tribo_view_sim_load(Sim* sim, const char* path) {
  TriboState* state;
  VIEW_TRY_ENGINE(tribo_state_create(&state));
  TriboStatus status = tribo_state_read(path, state);
  status = status == TRIBO_OK ? tribo_state_restore(sim->model, sim->data, state) : status;
  tribo_state_destroy(state);
  VIEW_TRY_ENGINE(status);
  sim->net_known = 0;
  sim->first = sim->count = 0;
  return remember(sim);
}

TriboStatus tribo_view_sim_save(const Sim* sim, const char* path) {
  VIEW_TRY(refuse_replay(sim));
  VIEW_TRY_ENGINE(tribo_state_write(remembered(sim, sim->count - 1), path));
  return TRIBO_OK;
}

TriboStatus tribo_view_sim_back(Sim* sim, int* moved) {
  if (sim->replay != NULL) {
    *moved = sim->row > 0;
    return *moved ? tribo_view_sim_seek(sim, sim->row - 1) : TRIBO_OK;
  }
  *moved = sim->count > 1;
  if (!*moved) {
    return TRIBO_OK;
  }
  sim->count--;
  sim->net_known = 0;
  const TriboState* there = remembered(sim, sim->count - 1);
  VIEW_TRY_ENGINE(tribo_state_restore(sim->model, sim->data, there));
  if (sim->count > 1) {
    // a state has no contacts: they come from the step that led to it, which gives the same bits unless somebody pulled
    const uint64_t hash = tribo_data_hash(sim->model, sim->data);
    VIEW_TRY_ENGINE(tribo_state_restore(sim->model, sim->data, remembered(sim, sim->count - 2)));
    if (step(sim, NULL) != TRIBO_OK || tribo_data_hash(sim->model, sim->data) != hash) {
      sim->net_known = 0;
      VIEW_TRY_ENGINE(tribo_state_restore(sim->model, sim->data, there));
    }
  }
  return tribo_view_trails_add(sim->trails, sim->model, sim->data);
}

// ---- compiling

// One more that is plotted, "ball: speed" or "energy"; what the model does not know is left out.
static void add_quantity(Sim* sim, const char* text) {
  const char* colon = strstr(text, ": ");
  char of[TRIBO_CHART_NAME] = "";
  const int n = sim->nquantity;
  snprintf(of, sizeof of, "%.*s", colon != NULL ? (int)(colon - text) : 0, text);
  if (n < TRIBO_CHART_CURVES && tribo_quantity_find(sim->model, colon != NULL ? colon + 2 : text,
                                                    colon != NULL ? of : NULL, &sim->quantities[n]) == TRIBO_OK) {
    snprintf(sim->quantity_names[sim->nquantity++], TRIBO_CHART_NAME, "%s", text);
  }
}

// The quantities that are plotted: the energy, those the scene records, what its sensors read, and at last
// what of the energy nothing explains.
static void choose_quantities(Sim* sim) {
  sim->nquantity = 0;
  add_quantity(sim, "energy");
  for (int r = 0; r < tribo_model_size(sim->model).nrecord; ++r) {
    const TriboRecordDef* record = tribo_model_record(sim->model, r);
    for (int i = 0; i < record->nquantity; ++i) {
      add_quantity(sim, record->quantities[i]);
    }
  }
  for (int s = 0; s < tribo_model_size(sim->model).nsensor; ++s) {
    const TriboSensorInfo* sensor = tribo_model_sensor(sim->model, s);
    for (int i = 0; i < sensor->n; ++i) {
      char text[2 * TRIBO_CHART_NAME];
      snprintf(text, sizeof text, "%s: reading%s", sensor->name, (const char*[]){".x", ".y", ".z", ".w"}[i % 4]);
      text[strlen(text) - (sensor->n == 1 ? 2 : 0)] = '\0';
      add_quantity(sim, text);
    }
  }
  add_quantity(sim, "energy_error");
}

// Model and data of the scene into `fresh`, whose ring is borrowed from nobody.
static TriboStatus compile(TriboScene* scene, Sim* fresh) {
  TriboModel* model;
  VIEW_TRY_ENGINE(tribo_model_create(scene, &model));
  VIEW_TRY(create_shared(model, &fresh->shared));
  fresh->model = model;
  VIEW_TRY_ENGINE(tribo_data_create(model, &fresh->data));
  fresh->targets = calloc((size_t)tribo_model_size(model).nmotor + 1, sizeof(double));
  fresh->momenta = calloc(6 * (size_t)tribo_model_size(model).nbody + 1, sizeof(double));
  fresh->net = calloc(6 * (size_t)tribo_model_size(model).nbody + 1, sizeof(double));
  if (fresh->targets == NULL || fresh->momenta == NULL || fresh->net == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for motors and forces");
  }
  return tribo_view_trails_create(model, &fresh->trails);
}

// Puts model and data of `fresh` in the place of the old ones; ring and scene stay.
static void adopt(Sim* sim, const Sim* fresh) {
  drop_model(sim);
  sim->shared = fresh->shared, sim->model = fresh->model, sim->data = fresh->data;
  sim->trails = fresh->trails, sim->targets = fresh->targets;
  sim->momenta = fresh->momenta, sim->net = fresh->net;
  choose_quantities(sim);
}

TriboStatus tribo_view_sim_open(Sim* sim, TriboScene* scene) {
  Sim fresh = {.mouse_spring.body = -1};
  TriboStatus status = compile(scene, &fresh);
  if (status != TRIBO_OK) {
    drop_model(&fresh);
    tribo_scene_destroy(scene);
    return status;
  }
  adopt(sim, &fresh);
  tribo_scene_destroy(sim->scene);
  sim->scene = scene;
  sim->dropped = 0;
  return tribo_view_sim_reset(sim);
}

// Coordinates of everything both models have, by name; what is new stays where it starts.
static TriboStatus carry_state(const Sim* from, const Sim* to) {
  TriboView q, v, q_to, v_to;
  const TriboModelSize n = tribo_model_size(to->model), n_from = tribo_model_size(from->model);
  VIEW_TRY_ENGINE(tribo_data_view(from->model, from->data, TRIBO_FIELD_Q, &q));
  VIEW_TRY_ENGINE(tribo_data_view(from->model, from->data, TRIBO_FIELD_V, &v));
  VIEW_TRY_ENGINE(tribo_data_view(to->model, to->data, TRIBO_FIELD_Q, &q_to));
  VIEW_TRY_ENGINE(tribo_data_view(to->model, to->data, TRIBO_FIELD_V, &v_to));
  double* copy = malloc((size_t)(n.nq + n.nv + 1) * sizeof *copy);
  if (copy == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a state");
  }
  double *q_copy = copy, *v_copy = copy + n.nq;
  memcpy(q_copy, q_to.values, (size_t)n.nq * sizeof *copy);
  memcpy(v_copy, v_to.values, (size_t)n.nv * sizeof *copy);
  for (int i = 0, old; i < n.nfree; ++i) {
    const TriboBodyInfo* body = tribo_model_body(to->model, i);
    if (tribo_model_body_id(from->model, body->name, &old) == TRIBO_OK && old < n_from.nfree) {
      memcpy(q_copy + body->q_at, q.values + tribo_model_body(from->model, old)->q_at, 7 * sizeof *copy);
      memcpy(v_copy + body->v_at, v.values + tribo_model_body(from->model, old)->v_at, 6 * sizeof *copy);
    }
  }
  for (int i = 0, old; i < n.njoint; ++i) {
    const TriboJointInfo* joint = tribo_model_joint(to->model, i);
    if (tribo_model_joint_id(from->model, joint->name, &old) == TRIBO_OK) {
      const TriboJointInfo* was = tribo_model_joint(from->model, old);
      memcpy(q_copy + joint->q_at, q.values + was->q_at, (size_t)joint->nq * sizeof *copy);
      memcpy(v_copy + joint->v_at, v.values + was->v_at, (size_t)joint->nv * sizeof *copy);
    }
  }
  TriboStatus status = tribo_data_set_state(to->model, to->data, q_copy, v_copy);
  free(copy);
  VIEW_TRY_ENGINE(status);
  VIEW_TRY_ENGINE(tribo_data_set_time(to->model, to->data, tribo_data_time(from->data)));
  for (int i = 0; i < n.nmotor; ++i) {
    to->targets[i] = from->targets[i];
    VIEW_TRY_ENGINE(
        tribo_data_set_motor(to->model, to->data, i, to->targets[i], tribo_model_motor(to->model, i)->velocity));
  }
  TriboView control;
  VIEW_TRY_ENGINE(tribo_data_view(from->model, from->data, TRIBO_FIELD_CTRL, &control));
  for (int i = 0; i < n.nactuator && i < control.count; ++i) {
    VIEW_TRY_ENGINE(tribo_data_set_ctrl(to->model, to->data, i, control.values[i]));
  }
  return TRIBO_OK;
}

// The scene has changed: compiles it and continues from where the simulation stands. On failure all is as it was.
static TriboStatus recompile(Sim* sim) {
  VIEW_TRY(refuse_replay(sim));
  Sim fresh = {.mouse_spring.body = -1};
  TriboStatus status = compile(sim->scene, &fresh);
  status = status == TRIBO_OK ? carry_state(sim, &fresh) : status;
  if (status != TRIBO_OK) {
    drop_model(&fresh);
    return status;
  }
  adopt(sim, &fresh);
  return remember(sim);
}

// With these world settings, or with those from before if it does not work.
static TriboStatus recompile_with(Sim* sim, const TriboWorldDef* world) {
  const TriboWorldDef before = *tribo_scene_world(sim->scene);
  VIEW_TRY_ENGINE(tribo_scene_set_world(sim->scene, world));
  TriboStatus status = recompile(sim);
  if (status != TRIBO_OK) {
    VIEW_TRY_ENGINE(tribo_scene_set_world(sim->scene, &before));
  }
  return status;
}

TriboStatus tribo_view_sim_set_solver(Sim* sim, const char* id) {
  TriboWorldDef world = *tribo_scene_world(sim->scene);
  snprintf(world.solver, sizeof world.solver, "%s", id);
  return recompile_with(sim, &world);
}

TriboStatus tribo_view_sim_set(Sim* sim, const char* key, double value) {
  TriboWorldDef world = *tribo_scene_world(sim->scene);
  int n;
  const TriboSetting* settings = tribo_world_settings(&n);
  for (int i = 0; i < n; ++i) {
    if (strcmp(settings[i].name, key) == 0 && settings[i].type == TRIBO_SETTING_REAL) {
      *(double*)((char*)&world + settings[i].offset) = value;
      return recompile_with(sim, &world);
    }
  }
  return tribo_view_fail(TRIBO_NOT_FOUND, "there is no world setting '%s' that is a number", key);
}

TriboStatus tribo_view_sim_drop(Sim* sim, TriboShapeKind kind, const double at[3], double size) {
  TriboBodyDef body = tribo_body_default();
  TriboShapeDef shape = tribo_shape_default();
  const double hue = fmod(0.1 + 0.37 * sim->dropped, 1);
  char name[32];
  int id;
  snprintf(name, sizeof name, "dropped%d", sim->dropped++);
  body.name = name;
  memcpy(body.position, at, sizeof body.position);
  shape.kind = kind;
  // a sphere is given by its radius
  for (int i = 0; i < 3; ++i) {
    shape.size[i] = kind == TRIBO_SHAPE_SPHERE ? size / 2 : size;
    shape.color[i] = 0.35 + 0.5 * fabs(fmod(hue + i / 3.0, 1) - 0.5);
  }
  VIEW_TRY(refuse_replay(sim));
  VIEW_TRY_ENGINE(tribo_scene_add_body(sim->scene, &body, &id));
  VIEW_TRY_ENGINE(tribo_scene_add_shape(sim->scene, id, &shape, NULL));
  return recompile(sim);
}

// ---- between steps

TriboStatus tribo_view_sim_motor(Sim* sim, int motor, double target) {
  VIEW_TRY(refuse_replay(sim));
  const TriboMotorInfo* info = tribo_model_motor(sim->model, motor);
  VIEW_TRY_ENGINE(tribo_data_set_motor(sim->model, sim->data, motor, target, info != NULL ? info->velocity : 0));
  sim->targets[motor] = target;
  return TRIBO_OK;
}

TriboStatus tribo_view_sim_control(Sim* sim, int actuator, double control) {
  VIEW_TRY(refuse_replay(sim));
  VIEW_TRY_ENGINE(tribo_data_set_ctrl(sim->model, sim->data, actuator, control));
  return TRIBO_OK;
}

// Of a body, or of all the links that hang together with it.
static double mass_of(const Sim* sim, int body) {
  const int block = tribo_model_body(sim->model, body)->block;
  double mass = 0;
  for (int i = 0; i < tribo_model_size(sim->model).nbody; ++i) {
    mass += tribo_model_body(sim->model, i)->block == block ? tribo_model_body(sim->model, i)->mass : 0;
  }
  return mass;
}

// Where a body's frame and centre are, and how they move.
typedef struct Motion {
  const double *position, *quaternion, *velocity, *omega;
  double centre[3];
} Motion;

static TriboStatus motion_of(const Sim* sim, int body, Motion* out) {
  TriboView x, q, v, w;
  VIEW_TRY_ENGINE(tribo_data_view(sim->model, sim->data, TRIBO_FIELD_POSITION, &x));
  VIEW_TRY_ENGINE(tribo_data_view(sim->model, sim->data, TRIBO_FIELD_QUATERNION, &q));
  VIEW_TRY_ENGINE(tribo_data_view(sim->model, sim->data, TRIBO_FIELD_VELOCITY, &v));
  VIEW_TRY_ENGINE(tribo_data_view(sim->model, sim->data, TRIBO_FIELD_OMEGA, &w));
  *out = (Motion){x.values + 3 * body, q.values + 4 * body, v.values + 3 * body, w.values + 3 * body, {0}};
  tribo_quat_rotate(out->centre, out->quaternion, tribo_model_body(sim->model, body)->com);
  for (int i = 0; i < 3; ++i) {
    out->centre[i] += out->position[i];
  }
  return TRIBO_OK;
}

// A force at a point, as the engine wants it: with its torque about the centre of mass.
static TriboStatus apply_at(const Sim* sim, int body, const Motion* motion, const double point[3],
                            const double force[3]) {
  double arm[3], torque[3];
  for (int i = 0; i < 3; ++i) {
    arm[i] = point[i] - motion->centre[i];
  }
  tribo_cross3(torque, arm, force);
  VIEW_TRY_ENGINE(tribo_data_apply_wrench(sim->model, sim->data, body, force, torque));
  return TRIBO_OK;
}

TriboStatus tribo_view_sim_push(Sim* sim, int body, const double point[3], const double speed[3]) {
  Motion motion;
  VIEW_TRY(refuse_replay(sim));
  if (body < 0 || body >= tribo_model_size(sim->model).nbody) {
    return tribo_view_fail(TRIBO_INVALID, "there is no body %d to push", body);
  }
  VIEW_TRY(motion_of(sim, body, &motion));
  const double rate = mass_of(sim, body) / tribo_model_world(sim->model)->dt;
  const double force[3] = {rate * speed[0], rate * speed[1], rate * speed[2]};
  return apply_at(sim, body, &motion, point, force);
}

void tribo_view_sim_grab(Sim* sim, int body, const double point[3], const double target[3]) {
  Motion motion;
  sim->mouse_spring.body = -1;
  if (body >= 0 && body < tribo_model_size(sim->model).nbody && motion_of(sim, body, &motion) == TRIBO_OK) {
    double from[3];
    for (int i = 0; i < 3; ++i) {
      from[i] = point[i] - motion.position[i];
    }
    tribo_quat_rotate_back(sim->mouse_spring.local, motion.quaternion, from);
    sim->mouse_spring.body = body;
    tribo_view_sim_pull(sim, target);
  }
}

void tribo_view_sim_pull(Sim* sim, const double target[3]) {
  memcpy(sim->mouse_spring.target, target, sizeof sim->mouse_spring.target);
}

// A damped spring from the point that is held to the target, in units of the mass: ω = 10 rad/s, 70 % of critical
// damping, at most twenty times the weight.
static TriboStatus pull(const Sim* sim) {
  const double omega = 10, mass = mass_of(sim, sim->mouse_spring.body), most = 20 * 9.81 * mass;
  Motion m;
  VIEW_TRY(motion_of(sim, sim->mouse_spring.body, &m));
  double arm[3], spin[3], point[3], force[3];
  tribo_quat_rotate(point, m.quaternion, sim->mouse_spring.local);
  for (int i = 0; i < 3; ++i) {
    point[i] += m.position[i];
    arm[i] = point[i] - m.centre[i];
  }
  tribo_cross3(spin, m.omega, arm);
  for (int i = 0; i < 3; ++i) {
    force[i] =
        mass * (omega * omega * (sim->mouse_spring.target[i] - point[i]) - 1.4 * omega * (m.velocity[i] + spin[i]));
  }
  const double size = tribo_norm3(force);
  if (size > most) {
    for (int i = 0; i < 3; ++i) {
      force[i] *= most / size;
    }
  }
  return apply_at(sim, sim->mouse_spring.body, &m, point, force);
}

TriboStatus tribo_view_sim_step(Sim* sim, TriboStepInfo* info) {
  if (sim->replay != NULL) {
    VIEW_TRY(tribo_view_sim_seek(sim, sim->row + 1));
    *info = (TriboStepInfo){.certified = 1, .contacts = sim->shown.ncontact};
    return TRIBO_OK;
  }
  if (sim->mouse_spring.body >= 0) {
    VIEW_TRY(pull(sim));
  }
  VIEW_TRY(step(sim, info));
  return remember(sim);
}
