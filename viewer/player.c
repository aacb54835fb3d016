// Physics in a thread of its own. The thread owns the data: it steps, keeps pace with the clock, obeys commands, and
// when a picture is wanted fills a draw list. Three lists go round so that nobody waits: one is being drawn, one is
// ready, one is being filled.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "internal.h"

struct TriboPlayer {
  const TriboModel* model;
  TriboData* data;
  pthread_t thread;
  pthread_mutex_t lock;  // guards everything below
  pthread_cond_t wake;   // a command has come
  int quit, reset, wanted;
  long long steps;  // single steps still to do
  TriboDrawOptions options;
  TriboPlayerStatus status;
  TriboDrawList *shown, *ready, *filling;
  int fresh;  // `ready` has not been shown yet
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Where the simulation stands against the clock: simulated time `time` was due at `wall`.
typedef struct Pace {
  double wall, time;
} Pace;

// Sleeps until a command comes or the time is over; called with the lock held.
static void sleep_until(TriboPlayer* player, double wall) {
  struct timespec t = {.tv_sec = (time_t)wall, .tv_nsec = (long)(1e9 * (wall - floor(wall)))};
  pthread_cond_timedwait(&player->wake, &player->lock, &t);
}

// Fills a list with the current state and hands it over. The lock is held before and after, not in between.
static void publish(TriboPlayer* player) {
  TriboDrawOptions options = player->options;
  player->wanted = 0;
  pthread_mutex_unlock(&player->lock);
  TriboStatus status = tribo_view_list_fill(player->filling, player->model, player->data, &options);
  pthread_mutex_lock(&player->lock);
  if (status != TRIBO_OK) {
    snprintf(player->status.failure, sizeof player->status.failure, "%s", tribo_view_error());
    return;
  }
  TriboDrawList* filled = player->filling;
  player->filling = player->ready;
  player->ready = filled;
  player->fresh = 1;
}

// One step; what cannot go on is paused and says why.
static void step(TriboPlayer* player) {
  TriboStepInfo info;
  pthread_mutex_unlock(&player->lock);
  TriboStatus status = tribo_step(player->model, player->data, &info);
  double time = tribo_data_time(player->data);
  pthread_mutex_lock(&player->lock);
  if (status != TRIBO_OK) {
    snprintf(player->status.failure, sizeof player->status.failure, "%s", tribo_last_error());
    player->status.paused = 1;
    player->steps = 0;
    return;
  }
  player->status.info = info;
  player->status.time = time;
  player->status.steps++;
}

static void restart(TriboPlayer* player) {
  tribo_data_reset(player->model, player->data);
  player->reset = 0;
  player->steps = 0;
  player->status.time = tribo_data_time(player->data);
  player->status.steps = 0;
  player->status.info = (TriboStepInfo){0};
  player->status.failure[0] = '\0';
}

static void* live(void* user) {
  TriboPlayer* player = user;
  Pace pace = {now(), tribo_data_time(player->data)};
  const double dt = tribo_model_world(player->model)->dt;
  double speed = 0;  // the pace was set for
  pthread_mutex_lock(&player->lock);
  while (!player->quit) {
    if (player->reset) {
      restart(player);
      speed = 0;
    }
    if (player->wanted) {
      publish(player);
    }
    const TriboPlayerStatus* s = &player->status;
    double t = now(), due = pace.wall + (s->time + dt - pace.time) / player->status.speed;
    if (s->paused || speed != s->speed || t - due > 0.1) {
      // a new pace starts here: after a pause, at another speed, or when the machine cannot follow
      pace = (Pace){t, s->time};
      speed = s->paused ? 0 : s->speed;
      due = t;
    }
    if (player->steps > 0) {
      step(player);
      player->steps -= player->steps > 0;
    } else if (s->paused) {
      sleep_until(player, t + 1);
    } else if (due > t) {
      sleep_until(player, due);
    } else {
      step(player);
    }
  }
  pthread_mutex_unlock(&player->lock);
  return NULL;
}

static TriboStatus start(TriboPlayer* player) {
  VIEW_TRY(tribo_view_list_create(player->model, &player->shown));
  VIEW_TRY(tribo_view_list_create(player->model, &player->ready));
  VIEW_TRY(tribo_view_list_create(player->model, &player->filling));
  VIEW_TRY(tribo_view_list_fill(player->shown, player->model, player->data, NULL));
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&player->lock, NULL);
  pthread_cond_init(&player->wake, &attributes);
  pthread_condattr_destroy(&attributes);
  if (pthread_create(&player->thread, NULL, live, player) != 0) {
    pthread_cond_destroy(&player->wake);
    pthread_mutex_destroy(&player->lock);
    return tribo_view_fail(TRIBO_NOMEM, "no thread for the simulation");
  }
  return TRIBO_OK;
}

static void free_player(TriboPlayer* player) {
  tribo_view_list_destroy(player->shown);
  tribo_view_list_destroy(player->ready);
  tribo_view_list_destroy(player->filling);
  free(player);
}

TriboStatus tribo_view_player_create(const TriboModel* model, TriboData* data, int paused, TriboPlayer** out) {
  TriboPlayer* player = calloc(1, sizeof *player);
  if (player == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a player");
  }
  *player = (TriboPlayer){.model = model, .data = data, .wanted = 1};
  player->status = (TriboPlayerStatus){.paused = paused, .speed = 1, .time = tribo_data_time(data)};
  TriboStatus status = start(player);
  if (status != TRIBO_OK) {
    free_player(player);
    return status;
  }
  *out = player;
  return TRIBO_OK;
}

void tribo_view_player_destroy(TriboPlayer* player) {
  if (player == NULL) {
    return;
  }
  pthread_mutex_lock(&player->lock);
  player->quit = 1;
  pthread_cond_signal(&player->wake);
  pthread_mutex_unlock(&player->lock);
  pthread_join(player->thread, NULL);
  pthread_cond_destroy(&player->wake);
  pthread_mutex_destroy(&player->lock);
  free_player(player);
}

void tribo_view_player_send(TriboPlayer* player, TriboPlayerCommand command, double value) {
  pthread_mutex_lock(&player->lock);
  switch (command) {
    case TRIBO_PLAYER_PAUSE: player->status.paused = value != 0; break;
    case TRIBO_PLAYER_STEP:
      player->status.paused = 1;
      player->steps += (long long)fmax(value, 0);
      break;
    case TRIBO_PLAYER_SPEED: player->status.speed = fmin(fmax(value, 1.0 / 16), 16); break;
    case TRIBO_PLAYER_RESET: player->reset = 1; break;
  }
  pthread_cond_signal(&player->wake);
  pthread_mutex_unlock(&player->lock);
}

TriboPlayerStatus tribo_view_player_status(TriboPlayer* player) {
  pthread_mutex_lock(&player->lock);
  TriboPlayerStatus status = player->status;
  status.busy = player->steps > 0 || player->reset;
  pthread_mutex_unlock(&player->lock);
  return status;
}

const TriboDrawList* tribo_view_player_list(TriboPlayer* player, const TriboDrawOptions* options) {
  pthread_mutex_lock(&player->lock);
  if (player->fresh) {
    TriboDrawList* fresh = player->ready;
    player->ready = player->shown;
    player->shown = fresh;
    player->fresh = 0;
  }
  player->options = *options;
  player->wanted = 1;
  pthread_cond_signal(&player->wake);
  pthread_mutex_unlock(&player->lock);
  return player->shown;
}
