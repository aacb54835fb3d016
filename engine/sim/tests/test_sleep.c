// Sleep: stacks at rest drop out of the steps without moving by a bit, and whatever reaches them wakes them, all of
// them and nobody else. Energy never rises by it.
#include "scenes.h"

#include <string.h>

static const char* const head = "world: {sleep: 0.1, gravity: [0, 0, -9.81]}\nstatic: [{plane: [0, 0, 1]}]\n";
// Two stacks of three 1 m cubes, 4 m apart; a ball waits above the ground far away.
static const char* const stacks =
    "grid:\n"
    "  - {name: a, count: [1, 1, 3], spacing: [1, 1, 1], origin: [0, 0, 0.5], box: [1, 1, 1], mass: 2}\n"
    "  - {name: b, count: [1, 1, 3], spacing: [1, 1, 1], origin: [4, 0, 0.5], box: [1, 1, 1], mass: 2}\n"
    "bodies: [{name: ball, position: [0, -8, 0.5], sphere: 0.5, mass: 2}]\n";

typedef struct World {
  TriboModel* model;
  TriboData* data;
  TriboStepInfo info;
  double energy;  // the least so far
} World;

static World world_of(const char* before, const char* text) {
  char all[2048];
  snprintf(all, sizeof all, "%s%s", before, text);
  World w = {.model = model_of(all)};
  w.data = data_of(w.model);
  w.energy = INFINITY;
  return w;
}

static void end(World* w) {
  tribo_data_destroy(w->data);
  tribo_model_destroy(w->model);
}

// Steps whose energy may only fall, but for what the first step gives back in which a contact lasts.
static void step(World* w, int count) {
  for (int i = 0; i < count; ++i) {
    CHECK_OK(tribo_step(w->model, w->data, &w->info));
    const double energy = scene_value(w->model, w->data, "energy", NULL);
    CHECK_LE(energy, w->energy * (1 + 1e-7));
    w->energy = energy;
  }
}

static int asleep(const World* w, const char* name) {
  int id, is;
  CHECK_OK(tribo_model_body_id(w->model, name, &id));
  CHECK_OK(tribo_data_asleep(w->model, w->data, id, &is));
  assert_true(is == scene_value(w->model, w->data, "asleep", name));
  return is;
}

static int id_of(const World* w, const char* name) {
  int id;
  CHECK_OK(tribo_model_body_id(w->model, name, &id));
  return id;
}

static int sleepers(const World* w) {
  return (int)scene_value(w->model, w->data, "asleep", NULL);
}

static void check_stacks(const World* w, int a, int b) {
  const char* const names[] = {"a0", "a1", "a2", "b0", "b1", "b2"};
  for (int i = 0; i < 6; ++i) {
    assert_int_equal(asleep(w, names[i]), i < 3 ? a : b);
  }
}

static void a_stack_at_rest_costs_nothing_and_keeps_every_bit(void** state) {
  (void)state;
  World w = world_of(head, stacks);
  step(&w, 1);
  CHECK_LE(1, w.info.factorisations);
  step(&w, 98);
  assert_int_equal(sleepers(&w), 0);
  step(&w, 1);
  assert_int_equal(sleepers(&w), 7);
  TriboView q, v;
  CHECK_OK(tribo_data_view(w.model, w.data, TRIBO_FIELD_Q, &q));
  double* before = malloc((size_t)q.count * sizeof *before);
  memcpy(before, q.values, (size_t)q.count * sizeof *before);
  const TriboContactEvent* events;
  int count;
  step(&w, 500);
  assert_int_equal(w.info.asleep, 7);
  assert_int_equal(w.info.rows, 0);
  assert_int_equal(w.info.pairs, 0);
  assert_int_equal(w.info.factorisations, 0);
  CHECK_OK(tribo_data_events(w.model, w.data, &events, &count));
  assert_int_equal(count, 0);
  CHECK_OK(tribo_data_view(w.model, w.data, TRIBO_FIELD_Q, &q));
  CHECK_OK(tribo_data_view(w.model, w.data, TRIBO_FIELD_V, &v));
  assert_memory_equal(before, q.values, (size_t)q.count * sizeof *before);
  for (int i = 0; i < v.count; ++i) {
    assert_true(v.values[i] == 0);
  }
  free(before);
  end(&w);
}

static void by_default_nobody_sleeps(void** state) {
  (void)state;
  World w = world_of("static: [{plane: [0, 0, 1]}]\n", stacks);
  step(&w, 700);
  assert_int_equal(sleepers(&w), 0);
  end(&w);
}

static void a_hit_wakes_the_whole_stack_and_no_other(void** state) {
  (void)state;
  World w = world_of(head, stacks);
  const double position[3] = {0, -4, 2}, upright[4] = {0, 0, 0, 1}, velocity[3] = {0, 10, 0};
  step(&w, 150);
  check_stacks(&w, 1, 1);
  CHECK_OK(tribo_data_teleport(w.model, w.data, id_of(&w, "ball"), position, upright, velocity, NULL));
  w.energy = INFINITY;
  step(&w, 250);
  check_stacks(&w, 1, 1);  // still half a metre of air between
  for (int i = 0; i < 100 && asleep(&w, "a2"); ++i) {
    step(&w, 1);
  }
  check_stacks(&w, 0, 1);
  step(&w, 50);
  CHECK_LE(1.0, scene_value(w.model, w.data, "speed", "a1"));
  check_stacks(&w, 0, 1);
  // when all is over they sleep again
  step(&w, 4000);
  check_stacks(&w, 1, 1);
  end(&w);
}

static void forces_wake_unless_they_can_move_nothing(void** state) {
  (void)state;
  World w = world_of(head, stacks);
  const double none[3] = {0}, breath[3] = {0.1, 0, 0}, push[3] = {4, 0, 0};
  step(&w, 150);
  CHECK_OK(tribo_data_apply_wrench(w.model, w.data, id_of(&w, "a1"), breath, none));
  step(&w, 1);
  check_stacks(&w, 1, 1);
  CHECK_OK(tribo_data_apply_wrench(w.model, w.data, id_of(&w, "a1"), push, none));
  step(&w, 1);
  check_stacks(&w, 0, 1);
  // the first impulses after waking are those before: the stack still stands, from the memory of its contacts
  assert_int_equal(w.info.certified, 1);
  CHECK_LE(w.info.factorisations, 2);
  step(&w, 150);
  check_stacks(&w, 1, 1);
  CHECK_OK(tribo_data_apply_wrench(w.model, w.data, id_of(&w, "b2"), none, push));
  step(&w, 1);
  check_stacks(&w, 1, 0);
  end(&w);
}

static void a_force_of_the_scene_wakes_when_it_begins_and_ends(void** state) {
  (void)state;
  World w = world_of(head,
                     "bodies: [{name: box, position: [0, 0, 0.5], box: [1, 1, 1], mass: 2}]\n"
                     "forces: [{body: box, force: [3, 0, 0], start: 0.5, end: 1}]\n");
  step(&w, 500);
  assert_int_equal(asleep(&w, "box"), 1);
  step(&w, 1);
  assert_int_equal(asleep(&w, "box"), 0);
  step(&w, 499);  // held by friction it sleeps again under the force
  assert_int_equal(asleep(&w, "box"), 1);
  step(&w, 1);
  assert_int_equal(asleep(&w, "box"), 0);
  end(&w);
}

static void who_loses_his_support_falls(void** state) {
  (void)state;
  World w = world_of(head, stacks);
  step(&w, 150);
  CHECK_OK(tribo_data_remove_body(w.model, w.data, id_of(&w, "a0")));
  w.energy = INFINITY;
  check_stacks(&w, 0, 1);
  step(&w, 200);
  CHECK_NEAR(scene_value(w.model, w.data, "position.z", "a1"), 1.5 - 0.5 * 9.81 * 0.04, 2e-3);
  check_stacks(&w, 0, 1);
  end(&w);
}

static void the_user_wakes_by_hand(void** state) {
  (void)state;
  World w = world_of(head, stacks);
  step(&w, 150);
  CHECK_OK(tribo_data_wake(w.model, w.data, id_of(&w, "b1")));
  check_stacks(&w, 1, 0);
  step(&w, 99);
  check_stacks(&w, 1, 0);
  step(&w, 1);
  check_stacks(&w, 1, 1);
  TriboView q, v;
  CHECK_OK(tribo_data_view(w.model, w.data, TRIBO_FIELD_Q, &q));
  CHECK_OK(tribo_data_view(w.model, w.data, TRIBO_FIELD_V, &v));
  CHECK_OK(tribo_data_set_state(w.model, w.data, q.values, v.values));
  assert_int_equal(sleepers(&w), 0);
  int is;
  CHECK_FAILS(tribo_data_wake(w.model, w.data, 7), TRIBO_INVALID, "body = 7; accepted are 0 … 6");
  CHECK_FAILS(tribo_data_asleep(w.model, w.data, -1, &is), TRIBO_INVALID, "body = -1");
  end(&w);
}

// What hangs on joints moves by itself: it keeps awake who touches it.
static void joints_keep_awake(void** state) {
  (void)state;
  World w = world_of(
      head,
      "bodies:\n"
      "  - {name: base, position: [0, 0, 0.5], box: [1, 1, 1], mass: 2}\n"
      "  - {name: flap, position: [0, 0, 1.1], box: [1, 1, 0.2], mass: 1}\n"
      "  - {name: far, position: [4, 0, 0.5], box: [1, 1, 1], mass: 2}\n"
      "joints: [{name: hinge, kind: revolute, parent: world, child: flap, anchor: [2, 0, 1.1], axis: [0, 1, 0]}]\n");
  step(&w, 400);
  assert_int_equal(asleep(&w, "base"), 0);
  assert_int_equal(asleep(&w, "flap"), 0);
  assert_int_equal(asleep(&w, "far"), 1);
  end(&w);
}

// Saved while some sleep and others are about to, and with any number of threads: the same bits.
static void sleep_is_state(void** state) {
  (void)state;
  uint64_t hash = 0;
  for (int threads = 1; threads <= 3; ++threads) {
    char text[64];
    snprintf(text, sizeof text, "world: {sleep: 0.1, threads: %d}\nstatic: [{plane: [0, 0, 1]}]\n", threads);
    World w = world_of(text, stacks), other = world_of(text, stacks);
    const double position[3] = {0, -3, 1.5}, upright[4] = {0, 0, 0, 1}, velocity[3] = {0, 10, 0};
    TriboState* half;
    CHECK_OK(tribo_state_create(&half));
    step(&w, 150);
    CHECK_OK(tribo_data_teleport(w.model, w.data, id_of(&w, "ball"), position, upright, velocity, NULL));
    w.energy = INFINITY;
    step(&w, 60);
    check_stacks(&w, 1, 1);
    CHECK_OK(tribo_state_save(w.model, w.data, half));
    CHECK_OK(tribo_state_restore(other.model, other.data, half));
    check_stacks(&other, 1, 1);
    assert_true(tribo_data_hash(w.model, w.data) == tribo_data_hash(other.model, other.data));
    step(&w, 300);
    step(&other, 300);
    check_stacks(&other, 0, 1);
    assert_true(tribo_data_hash(w.model, w.data) == tribo_data_hash(other.model, other.data));
    hash = threads == 1 ? tribo_data_hash(w.model, w.data) : hash;
    assert_true(hash == tribo_data_hash(w.model, w.data));
    tribo_state_destroy(half);
    end(&w);
    end(&other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stack_at_rest_costs_nothing_and_keeps_every_bit),
      cmocka_unit_test(by_default_nobody_sleeps),
      cmocka_unit_test(a_hit_wakes_the_whole_stack_and_no_other),
      cmocka_unit_test(forces_wake_unless_they_can_move_nothing),
      cmocka_unit_test(a_force_of_the_scene_wakes_when_it_begins_and_ends),
      cmocka_unit_test(who_loses_his_support_falls),
      cmocka_unit_test(the_user_wakes_by_hand),
      cmocka_unit_test(joints_keep_awake),
      cmocka_unit_test(sleep_is_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
