// The simulation in its own thread, without a window: commands, pictures, and the same bits as without it.
#include <unistd.h>

#include "worlds.h"

static World falling_box(void) {
  World world = world_begin();
  world_ground(&world);
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 0.4, 0.4, 0.4);
  world_body(&world, &box, 0, 0, 0.6, (const double[4]){0.1, 0.2, 0, sqrt(0.95)});
  world_end(&world, NULL);
  return world;
}

// Waits for something to become true; a minute is far more than it takes anywhere.
#define WAIT_FOR(condition)                   \
  do {                                        \
    int patience_ = 60000;                    \
    while (!(condition) && --patience_ > 0) { \
      usleep(1000);                           \
    }                                         \
    assert_true(patience_ > 0);               \
  } while (0)

static void stepping_gives_the_bits_of_a_plain_run(void** state) {
  (void)state;
  World world = falling_box();
  for (int i = 0; i < 300; ++i) {
    CHECK_OK(tribo_step(world.model, world.data, NULL));
  }
  uint64_t plain = tribo_data_hash(world.model, world.data);
  tribo_data_reset(world.model, world.data);
  TriboPlayer* player;
  TriboDrawOptions options = {.overlays = 1u << TRIBO_OVERLAY_CONTACTS};
  VIEW_OK(tribo_view_player_create(world.model, world.data, 1, &player));
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 300);
  // pictures are taken all the while
  WAIT_FOR((tribo_view_player_list(player, &options), !tribo_view_player_status(player).busy));
  TriboPlayerStatus status = tribo_view_player_status(player);
  tribo_view_player_destroy(player);
  assert_int_equal(status.steps, 300);
  assert_true(status.paused && status.failure[0] == '\0');
  CHECK_NEAR(status.time, 0.3, 1e-12);
  assert_true(tribo_data_hash(world.model, world.data) == plain);
  world_destroy(&world);
}

static void it_runs_pauses_and_starts_again(void** state) {
  (void)state;
  World world = falling_box();
  TriboPlayer* player;
  VIEW_OK(tribo_view_player_create(world.model, world.data, 0, &player));
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
  tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 1e9);
  CHECK_NEAR(tribo_view_player_status(player).speed, 16, 0);
  tribo_view_player_send(player, TRIBO_PLAYER_SPEED, 0);
  CHECK_NEAR(tribo_view_player_status(player).speed, 1.0 / 16, 0);
  tribo_view_player_destroy(player);
  world_destroy(&world);
}

static void pictures_follow_the_state(void** state) {
  (void)state;
  World world = falling_box();
  TriboPlayer* player;
  TriboDrawOptions options = {0};
  VIEW_OK(tribo_view_player_create(world.model, world.data, 1, &player));
  tribo_view_player_send(player, TRIBO_PLAYER_STEP, 50);
  // 50 ms of free fall
  const double z = 0.6 - 0.5 * 9.81 * 0.05 * 0.05;
  int n;
  WAIT_FOR(fabs(tribo_view_list_instances(tribo_view_player_list(player, &options), &n)[1].position[2] - z) < 1e-9);
  assert_int_equal(n, 2);
  options.overlays = 1u << TRIBO_OVERLAY_FRAMES;
  WAIT_FOR((tribo_view_list_instances(tribo_view_player_list(player, &options), &n), n == 5));
  tribo_view_player_destroy(player);
  world_destroy(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stepping_gives_the_bits_of_a_plain_run),
      cmocka_unit_test(it_runs_pauses_and_starts_again),
      cmocka_unit_test(pictures_follow_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
