// The simulation in its own thread, without a window: orders, pictures, and the same bits as without it.
#include <stdlib.h>

#include "worlds.h"

static char path[] = "/tmp/tribo-player-XXXXXX.yaml";

static const char falling_box[] =
    "static: [{plane: [0, 0, 1]}]\n"
    "bodies: [{name: box, position: [0, 0, 0.6], rpy: [0.2, 0.4, 0], box: [0.4, 0.4, 0.4]}]\n";

static const char free_ball[] = "world: {gravity: [0, 0, 0]}\nbodies: [{name: ball, sphere: 0.1, mass: 2}]\n";

static TriboPlayer* play(const char* text, int paused) {
  TriboPlayer* player;
  const TriboPlayerDef def = {.scene = world_load, .user = path, .watch = path, .paused = paused};
  world_write(text, path);
  VIEW_OK(tribo_view_player_create(&def, &player));
  return player;
}

static const TriboDrawFacts* wait_facts(TriboPlayer* player) {
  const TriboDrawOptions options = {0};
  return tribo_view_list_facts(tribo_view_player_wait(player, &options));
}

// What a run without any viewer ends with.
static uint64_t plain_hash(const char* text, int steps) {
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  world_write(text, path);
  CHECK_OK(tribo_scene_load(path, NULL, &scene));
  CHECK_OK(tribo_model_create(scene, &model));
  CHECK_OK(tribo_data_create(model, &data));
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  uint64_t hash = tribo_data_hash(model, data);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return hash;
}

static void stepping_gives_the_bits_of_a_plain_run(void** state) {
  (void)state;
  const uint64_t plain = plain_hash(falling_box, 300);
  TriboPlayer* player = play(falling_box, 1);
  TriboDrawOptions options = {.overlays = (1u << TRIBO_OVERLAY_COUNT) - 1};
  tribo_view_player_send(player, TRIBO_PLAYER_HISTORY, 1);
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 300);
  // pictures are taken all the while
  WAIT_FOR((tribo_view_player_list(player, &options), !tribo_view_player_status(player).busy));
  TriboPlayerStatus status = tribo_view_player_status(player);
  assert_int_equal(status.steps, 300);
  assert_true(status.paused && status.failure[0] == '\0' && status.notice[0] == '\0');
  CHECK_NEAR(status.time, 0.3, 1e-12);
  assert_true(wait_facts(player)->hash == plain);
  TriboCharts charts;
  tribo_view_player_charts(player, &charts);
  assert_true(charts.nstep == TRIBO_CHART_STEPS && charts.ncurve == 2 && charts.niteration > 0);
  assert_string_equal(charts.name[0], "energy");
  tribo_view_player_destroy(player);
}

static void it_runs_pauses_and_starts_again(void** state) {
  (void)state;
  TriboPlayer* player = play(falling_box, 0);
  WAIT_FOR(tribo_view_player_status(player).steps > 20);
  // a step at the end: when it is done, whatever ran before is done too
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1);
  WAIT_FOR(!tribo_view_player_status(player).busy);
  long long at = tribo_view_player_status(player).steps;
  usleep(30000);
  assert_int_equal(tribo_view_player_status(player).steps, at);
  tribo_view_player_send(player, TRIBO_PLAYER_RESET, 0);
  WAIT_FOR(!tribo_view_player_status(player).busy);
  TriboPlayerStatus status = tribo_view_player_status(player);
  assert_true(status.steps == 0 && status.time == 0 && status.paused);
  tribo_view_player_send(player, TRIBO_PLAYER_PAUSE, 0);
  WAIT_FOR(tribo_view_player_status(player).steps > 20);
  tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 16);
  CHECK_NEAR(tribo_view_player_status(player).speed, 16, 0);
  tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 1e9);
  assert_true(isinf(tribo_view_player_status(player).speed));
  tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 0);
  CHECK_NEAR(tribo_view_player_status(player).speed, 1.0 / 16, 0);
  tribo_view_player_destroy(player);
}

static void pictures_follow_the_state(void** state) {
  (void)state;
  TriboPlayer* player = play(falling_box, 1);
  TriboDrawOptions options = {0};
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 50);
  // 50 ms of free fall
  const double z = 0.6 - 0.5 * 9.81 * 0.05 * 0.05;
  int n;
  WAIT_FOR(fabs(tribo_view_list_instances(tribo_view_player_list(player, &options), &n)[1].position[2] - z) < 1e-9);
  assert_int_equal(n, 2);
  options.overlays = 1u << TRIBO_OVERLAY_FRAMES;
  tribo_view_list_instances(tribo_view_player_wait(player, &options), &n);
  assert_int_equal(n, 5);
  tribo_view_player_destroy(player);
}

static void steps_are_undone_bit_by_bit(void** state) {
  (void)state;
  const uint64_t at250 = plain_hash(falling_box, 250);
  TriboPlayer* player = play(falling_box, 1);
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 250);
  const int contacts = wait_facts(player)->ncontact;
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 50);
  tribo_view_player_send(player, TRIBO_PLAYER_BACK, 50);
  const TriboDrawFacts* facts = wait_facts(player);
  assert_true(facts->hash == at250);
  assert_int_equal(tribo_view_player_status(player).steps, 250);
  // the contacts of that moment are back too
  assert_int_equal(facts->ncontact, contacts);
  // forwards again, it is the same future
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 50);
  assert_true(wait_facts(player)->hash == plain_hash(falling_box, 300));
  // further back than is kept: to the first, and it says so
  tribo_view_player_send(player, TRIBO_PLAYER_BACK, 1000);
  CHECK_NEAR(wait_facts(player)->time, 0, 0);
  assert_int_equal(tribo_view_player_status(player).steps, 0);
  assert_non_null(strstr(tribo_view_player_status(player).notice, "are kept"));
  tribo_view_player_destroy(player);
}

static void a_changed_file_is_reloaded(void** state) {
  (void)state;
  TriboPlayer* player = play(falling_box, 0);
  WAIT_FOR(tribo_view_player_status(player).steps > 5);
  // what is wrong is told by line, and the scene lives on
  world_write("bodies: [{name: box, sphere: 0.4}]\nstatics: 3\n", path);
  WAIT_FOR(tribo_view_player_status(player).wrong);
  TriboPlayerStatus status = tribo_view_player_status(player);
  assert_non_null(strstr(status.notice, ".yaml:2:1: unknown key 'statics'"));
  assert_true(status.failure[0] == '\0');
  WAIT_FOR(tribo_view_player_status(player).steps > status.steps + 5);
  // and the next good one is shown, from its start; the old picture may still be looked at
  const TriboDrawFacts* before = wait_facts(player);
  const TriboModel* old = before->model;
  world_write("bodies: [{name: one, sphere: 0.4}, {name: two, position: [2, 0, 0], sphere: 0.4}]\n", path);
  WAIT_FOR(strstr(tribo_view_player_status(player).notice, "reloaded") != NULL);
  assert_int_equal(tribo_model_size(old).nbody, 1);
  assert_string_equal(tribo_model_body(old, 0)->name, "box");
  assert_false(tribo_view_player_status(player).wrong);
  assert_int_equal(tribo_model_size(wait_facts(player)->model).nbody, 2);
  tribo_view_player_destroy(player);
}

static TriboBodyForces forces_on(TriboPlayer* player, const char* name) {
  TriboBodyForces forces;
  int body;
  const TriboDrawFacts* facts = wait_facts(player);
  CHECK_OK(tribo_model_body_id(facts->model, name, &body));
  assert_true(tribo_view_body_forces(facts, body, &forces));
  return forces;
}

// All that acts on a body is told, part by part: a box that rests, a ball that flies and is turned, a weight that hangs
// at a hinge.
static void forces_add_up(void** state) {
  (void)state;
  TriboPlayer* player = play(
      "static: [{plane: [0, 0, 1]}]\n"
      "bodies:\n  - {name: box, position: [0, 0, 0.2], box: [0.4, 0.4, 0.4], mass: 2}\n"
      "  - {name: ball, position: [3, 0, 5], omega: [0, 0, 9], sphere: 0.1, mass: 3}\n"
      "  - {name: weight, position: [6, 0, 2], com: [0, 0, -1], box: [0.1, 0.1, 0.1], mass: 5}\n"
      "joints: [{name: hinge, kind: revolute, parent: world, child: weight, anchor: [6, 0, 2], axis: [0, 1, 0]}]\n"
      "forces: [{body: ball, torque: [0, 0.7, 0]}]\n",
      1);
  TriboBodyForces f;
  assert_false(tribo_view_body_forces(wait_facts(player), 0, &f));
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 20);
  f = forces_on(player, "box");
  CHECK_NEAR(f.gravity[2], -2 * 9.81, 1e-12);
  CHECK_NEAR(f.contacts[2], 2 * 9.81, 1e-6);
  for (int i = 0; i < 6; ++i) {
    CHECK_NEAR(f.net[i], 0, 1e-6);
    CHECK_NEAR(f.others[i], 0, 1e-6);
  }
  f = forces_on(player, "ball");
  const double spins[3] = {0, 0.7, 0};
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(f.net[i], f.gravity[i], 1e-9);
    CHECK_NEAR(f.others[3 + i], spins[i], 2e-5);  // turning is right to the square of the step
    CHECK_NEAR(f.contacts[i], 0, 0);
  }
  f = forces_on(player, "weight");
  CHECK_NEAR(f.others[2], 5 * 9.81, 1e-9);
  CHECK_NEAR(f.net[2], 0, 1e-9);
  // a step back shows the forces of the step that led there
  tribo_view_player_send(player, TRIBO_PLAYER_BACK, 3);
  f = forces_on(player, "weight");
  CHECK_NEAR(f.others[2], 5 * 9.81, 1e-9);
  // at the start there was none
  tribo_view_player_send(player, TRIBO_PLAYER_RESET, 0);
  assert_false(tribo_view_body_forces(wait_facts(player), 0, &f));
  tribo_view_player_destroy(player);
}

// A motion of eleven rows: the ball stands at x = row, and touches something from the fifth on.
static TriboStatus show_row(void* user, const TriboModel* model, TriboData* data, long long row, TriboReplay* out) {
  static const TriboContactView contact = {.body_a = TRIBO_WORLD, .shape_a = -1, .force = {0, 0, 7}};
  const double q[7] = {(double)row, 0, 0, 0, 0, 0, 1}, v[6] = {0};
  assert_string_equal(user, path);
  assert_true(row >= 0 && row <= 10);
  out->last = 10;
  out->contacts = &contact;
  out->ncontact = row >= 5;
  if (row == 7) {
    snprintf(out->text, sizeof out->text, "the seventh row is torn");
    return TRIBO_INVALID;
  }
  CHECK_OK(tribo_data_set_state(model, data, q, v));
  CHECK_OK(tribo_data_set_time(model, data, 0.001 * (double)row));
  return TRIBO_OK;
}

static void motions_are_gone_through(void** state) {
  (void)state;
  TriboPlayer* player;
  const TriboPlayerDef def = {.scene = world_load, .replay = show_row, .user = path, .paused = 1};
  world_write(free_ball, path);
  VIEW_OK(tribo_view_player_create(&def, &player));
  const struct {
    TriboPlayerCommand command;
    double value;
    int row;
  } moves[] = {{TRIBO_PLAYER_STEP, 2, 2}, {TRIBO_PLAYER_BACK, 1, 1},   {TRIBO_PLAYER_SEEK, 6, 6},
               {TRIBO_PLAYER_BACK, 9, 0}, {TRIBO_PLAYER_SEEK, 99, 10}, {TRIBO_PLAYER_STEP, 3, 10},
               {TRIBO_PLAYER_RESET, 0, 0}};
  for (size_t i = 0; i < sizeof moves / sizeof *moves; ++i) {
    tribo_view_player_send(player, moves[i].command, moves[i].value);
    const TriboDrawFacts* facts = wait_facts(player);
    const TriboPlayerStatus status = tribo_view_player_status(player);
    CHECK_NEAR(facts->position[0], moves[i].row, 0);
    assert_int_equal(facts->ncontact, moves[i].row >= 5);
    assert_true(status.steps == moves[i].row && status.rows == 11 && status.failure[0] == '\0');
    CHECK_NEAR(status.time, 0.001 * moves[i].row, 1e-12);
  }
  // what changes a simulation is refused; a row that cannot be shown stops it there and says why
  tribo_view_player_order(player, &(TriboOrder){.command = TRIBO_PLAYER_DROP, .index = TRIBO_SHAPE_BOX, .value = 1});
  wait_facts(player);
  assert_string_equal(tribo_view_player_status(player).notice, "a recorded motion is only looked at");
  tribo_view_player_send(player, TRIBO_PLAYER_SPEED, INFINITY);
  tribo_view_player_send(player, TRIBO_PLAYER_PAUSE, 0);
  WAIT_FOR(tribo_view_player_status(player).paused);
  assert_string_equal(tribo_view_player_status(player).failure, "the seventh row is torn");
  CHECK_NEAR(wait_facts(player)->position[0], 6, 0);
  // played from behind it, it ends at its end
  tribo_view_player_send(player, TRIBO_PLAYER_SEEK, 8);
  wait_facts(player);
  tribo_view_player_send(player, TRIBO_PLAYER_PAUSE, 0);
  WAIT_FOR(tribo_view_player_status(player).paused);
  assert_int_equal(tribo_view_player_status(player).steps, 10);
  tribo_view_player_destroy(player);
  // a simulation has no rows
  player = play(free_ball, 1);
  tribo_view_player_send(player, TRIBO_PLAYER_SEEK, 3);
  wait_facts(player);
  assert_true(tribo_view_player_status(player).wrong && tribo_view_player_status(player).rows == 0);
  tribo_view_player_destroy(player);
}

// The energy, what is recorded and what sensors read are plotted.
static void sensors_and_recorders_are_plotted(void** state) {
  (void)state;
  TriboPlayer* player = play(
      "bodies: [{name: ball, sphere: 0.1, position: [0, 0, 5]}]\n"
      "record: [{file: out.csv, columns: [\"ball: speed\"]}]\n"
      "sensors: [{name: clock, kind: clock}, {name: gps, kind: position, body: ball}]\n",
      1);
  TriboCharts charts;
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 100);
  wait_facts(player);
  tribo_view_player_charts(player, &charts);
  const char* names[] = {"energy",         "ball: speed",    "clock: reading", "gps: reading.x",
                         "gps: reading.y", "gps: reading.z", "energy_error"};
  assert_int_equal(charts.ncurve, 7);
  for (int i = 0; i < 7; ++i) {
    assert_string_equal(charts.name[i], names[i]);
  }
  const int last = (charts.curve_at + TRIBO_CHART_STEPS - 1) % TRIBO_CHART_STEPS;
  const float t = charts.curve[2][last];
  assert_true(t > 0.08f && t <= 0.1f);
  CHECK_NEAR(charts.curve[5][last], 5 - 9.81 / 2 * t * t, 1e-3);
  CHECK_NEAR(charts.curve[1][last], 9.81 * t, 1e-3);
  tribo_view_player_destroy(player);
}

static void order(TriboPlayer* player, TriboOrder what) {
  tribo_view_player_order(player, &what);
}

static void solver_tolerance_and_step_change_on_the_way(void** state) {
  (void)state;
  TriboPlayer* player = play(falling_box, 1);
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 200);
  double place[3];
  memcpy(place, wait_facts(player)->position, sizeof place);
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SOLVER, .text = "admm"});
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SET, .text = "dt", .value = 5e-4});
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SET, .text = "tol", .value = 1e-6});
  const TriboDrawFacts* facts = wait_facts(player);
  const TriboWorldDef* world = tribo_model_world(facts->model);
  assert_string_equal(world->solver, "admm");
  CHECK_NEAR(world->dt, 5e-4, 0);
  CHECK_NEAR(world->tol, 1e-6, 0);
  // where it was, when it was
  CHECK_NEAR(facts->time, 0.2, 1e-12);
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(facts->position[i], place[i], 0);
  }
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 2);
  CHECK_NEAR(wait_facts(player)->time, 0.201, 1e-12);
  // what is refused changes nothing
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SOLVER, .text = "magic"});
  CHECK_NEAR(wait_facts(player)->time, 0.201, 1e-12);
  assert_true(tribo_view_player_status(player).wrong);
  assert_non_null(strstr(tribo_view_player_status(player).notice, "magic"));
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SET, .text = "dt", .value = -1});
  assert_string_equal(tribo_model_world(wait_facts(player)->model)->solver, "admm");
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1);
  CHECK_NEAR(wait_facts(player)->time, 0.2015, 1e-12);
  tribo_view_player_destroy(player);
}

static void bodies_are_dropped_pushed_and_pulled(void** state) {
  (void)state;
  TriboPlayer* player = play(free_ball, 1);
  // a push of 3 m/s through the centre: just that, and no spin
  order(player, (TriboOrder){.command = TRIBO_PLAYER_PUSH, .index = 0, .vector = {3, 0, 0}});
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 100);
  const TriboDrawFacts* facts = wait_facts(player);
  CHECK_NEAR(facts->velocity[0], 3, 1e-9);
  CHECK_NEAR(facts->omega[2], 0, 1e-12);
  // a push at the side turns it too: ω = r × mΔv / I
  order(player, (TriboOrder){.command = TRIBO_PLAYER_RESET});
  order(player, (TriboOrder){.command = TRIBO_PLAYER_PUSH, .point = {0, 0.1, 0}, .vector = {1, 0, 0}});
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1);
  facts = wait_facts(player);
  CHECK_NEAR(facts->omega[2], -0.1 * 2 * 1 / (0.4 * 2 * 0.01), 1e-6);
  // pulled by a spring it comes to where it is wanted, by the point it was taken at
  order(player, (TriboOrder){.command = TRIBO_PLAYER_RESET});
  order(player, (TriboOrder){.command = TRIBO_PLAYER_GRAB, .point = {0, 0, 0.1}, .vector = {1, 0, 0.1}});
  order(player, (TriboOrder){.command = TRIBO_PLAYER_PULL, .vector = {0.5, 2, 0.1}});
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 5000);
  facts = wait_facts(player);
  const double *q = facts->quaternion, *p = facts->position;
  const double up[3] = {2 * (q[0] * q[2] + q[3] * q[1]), 2 * (q[1] * q[2] - q[3] * q[0]),
                        1 - 2 * (q[0] * q[0] + q[1] * q[1])};
  CHECK_NEAR(p[0] + 0.1 * up[0], 0.5, 0.02);
  CHECK_NEAR(p[1] + 0.1 * up[1], 2, 0.02);
  CHECK_NEAR(p[2] + 0.1 * up[2], 0.1, 0.02);
  // a box more: the ball stays where it is, and time too
  double place[3];
  memcpy(place, p, sizeof place);
  order(player, (TriboOrder){.command = TRIBO_PLAYER_RELEASE});
  order(player, (TriboOrder){.command = TRIBO_PLAYER_DROP, .index = TRIBO_SHAPE_BOX, .point = {7, 8, 9}, .value = 0.5});
  order(player,
        (TriboOrder){.command = TRIBO_PLAYER_DROP, .index = TRIBO_SHAPE_SPHERE, .point = {-7, 8, 9}, .value = 0.5});
  facts = wait_facts(player);
  assert_int_equal(tribo_model_size(facts->model).nbody, 3);
  CHECK_NEAR(facts->time, 5, 1e-9);
  int ball, box;
  CHECK_OK(tribo_model_body_id(facts->model, "ball", &ball));
  CHECK_OK(tribo_model_body_id(facts->model, "dropped0", &box));
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(facts->position[3 * ball + i], place[i], 0);
    CHECK_NEAR(facts->position[3 * box + i], 7 + i, 0);
  }
  CHECK_NEAR(tribo_model_body(facts->model, box)->mass, 1000 * 0.125, 1e-9);
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 5);
  assert_true(wait_facts(player)->time > 5 && tribo_view_player_status(player).failure[0] == '\0');
  tribo_view_player_destroy(player);
}

static void motors_go_where_they_are_sent(void** state) {
  (void)state;
  TriboPlayer* player = play(
      "world: {gravity: [0, 0, 0]}\nbodies: [{name: arm, position: [1, 0, 0], box: [1, 0.1, 0.1], mass: 1}]\n"
      "joints: [{name: hinge, kind: revolute, parent: world, child: arm, axis: [0, 0, 1]}]\n"
      "motors: [{joint: hinge, stiffness: 100, damping: 30, target: 0}]\n"
      "record: [{file: x.csv, columns: ['hinge: q', 'energy']}]\n",
      1);
  TriboCharts charts;
  order(player, (TriboOrder){.command = TRIBO_PLAYER_MOTOR, .index = 0, .value = 0.5});
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 5000);
  wait_facts(player);
  tribo_view_player_charts(player, &charts);
  assert_true(charts.nmotor == 1 && charts.ncurve == 4 && charts.ncurve_point == TRIBO_CHART_STEPS);
  CHECK_NEAR(charts.motor[0], 0.5, 1e-7);
  assert_string_equal(charts.name[1], "hinge: q");
  CHECK_NEAR(charts.curve[1][(charts.curve_at + TRIBO_CHART_STEPS - 1) % TRIBO_CHART_STEPS], 0.5, 1e-4);
  order(player, (TriboOrder){.command = TRIBO_PLAYER_MOTOR, .index = 1, .value = 0.5});
  wait_facts(player);
  assert_non_null(strstr(tribo_view_player_status(player).notice, "motor = 1"));
  tribo_view_player_destroy(player);
}

static void actuators_are_controlled(void** state) {
  (void)state;
  TriboPlayer* player = play(
      "world: {gravity: [0, 0, 0]}\nbodies: [{name: cart, box: [1, 1, 1], mass: 2}]\n"
      "joints: [{name: rail, kind: prismatic, parent: world, child: cart, axis: [1, 0, 0]}]\n"
      "actuators: [{name: push, joint: rail, gain: [3, 0, 0], ctrl_min: -2, ctrl_max: 2}]\n",
      1);
  TriboCharts charts;
  order(player, (TriboOrder){.command = TRIBO_PLAYER_CONTROL, .index = 0, .value = 1.5});
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1000);
  // 3 · 1.5 N push 2 kg for a second; a change of the solver on the way does not let go of it
  CHECK_NEAR(wait_facts(player)->velocity[0], 3 * 1.5 / 2, 1e-9);
  tribo_view_player_charts(player, &charts);
  assert_int_equal(charts.nactuator, 1);
  CHECK_NEAR(charts.control[0], 1.5, 1e-7);
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SOLVER, .text = "admm"});
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 1000);
  CHECK_NEAR(wait_facts(player)->velocity[0], 2 * 3 * 1.5 / 2, 1e-9);
  order(player, (TriboOrder){.command = TRIBO_PLAYER_CONTROL, .index = 1});
  wait_facts(player);
  assert_true(tribo_view_player_status(player).wrong);
  tribo_view_player_destroy(player);
}

static void states_are_saved_and_started_from(void** state) {
  (void)state;
  TriboPlayer* player = play(falling_box, 1);
  TriboOrder save = {.command = TRIBO_PLAYER_SAVE};
  snprintf(save.text, sizeof save.text, "%s.state", path);
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 120);
  wait_facts(player);
  tribo_view_player_order(player, &save);
  const uint64_t hash = wait_facts(player)->hash;
  assert_non_null(strstr(tribo_view_player_status(player).notice, ".state"));
  order(player, (TriboOrder){.command = TRIBO_PLAYER_SAVE, .text = "/nowhere/x.state"});
  wait_facts(player);
  assert_non_null(strstr(tribo_view_player_status(player).notice, "/nowhere/x.state"));
  tribo_view_player_destroy(player);
  const TriboPlayerDef def = {.scene = world_load, .user = path, .state = save.text, .paused = 1};
  VIEW_OK(tribo_view_player_create(&def, &player));
  assert_true(wait_facts(player)->hash == hash);
  CHECK_NEAR(tribo_view_player_status(player).time, 0.12, 1e-12);
  tribo_view_player_destroy(player);
  unlink(save.text);
  // what does not start says why
  VIEW_FAILS(tribo_view_player_create(&def, &player), TRIBO_IO, ".state");
  world_write("bodies: 3\n", path);
  VIEW_FAILS(tribo_view_player_create(&def, &player), TRIBO_INVALID, ".yaml:1");
}

static int begin(void** state) {
  (void)state;
  close(mkstemps(path, 5));
  return 0;
}

static int end(void** state) {
  (void)state;
  unlink(path);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stepping_gives_the_bits_of_a_plain_run),
      cmocka_unit_test(it_runs_pauses_and_starts_again),
      cmocka_unit_test(pictures_follow_the_state),
      cmocka_unit_test(steps_are_undone_bit_by_bit),
      cmocka_unit_test(a_changed_file_is_reloaded),
      cmocka_unit_test(forces_add_up),
      cmocka_unit_test(motions_are_gone_through),
      cmocka_unit_test(sensors_and_recorders_are_plotted),
      cmocka_unit_test(solver_tolerance_and_step_change_on_the_way),
      cmocka_unit_test(bodies_are_dropped_pushed_and_pulled),
      cmocka_unit_test(motors_go_where_they_are_sent),
      cmocka_unit_test(actuators_are_controlled),
      cmocka_unit_test(states_are_saved_and_started_from),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
