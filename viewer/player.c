// Physics in a thread of its own. The thread owns the simulation: it steps, keeps pace with the clock, carries out
// orders, checks whether the scene's file has changed, and when a picture is wanted fills a draw list. Three lists go
// round so that nobody waits: one is being drawn, one is ready, one is being filled.
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "sim.h"

enum { ORDERS = 256 };
static const double FILE_POLL = 0.25;        // between checks of the scene's file [s]
static const double CURVE_PITCH = 1.0 / 60;  // between points of curves [s]

// Residuals of the step in progress, solve by solve; the longest is kept. Only one worker thread's are taken.
typedef struct History {
  pthread_mutex_t lock;
  pthread_t owner;
  int owned, on;
  int n, last, nbest;
  float run[TRIBO_CHART_ITERATIONS], best[TRIBO_CHART_ITERATIONS];
} History;

struct TriboPlayer {
  TriboPlayerDef def;
  char* watch;  // NULL: no file
  struct stat seen;
  pthread_t thread;
  Sim sim;  // the thread's own, like the history
  History history;
  double curve_due;      // when the curves get their next point [s]
  pthread_mutex_t lock;  // guards everything below
  pthread_cond_t wake;   // there is something to do
  pthread_cond_t done;   // something was done
  int quit, wanted, publishing, working;
  TriboOrder orders[ORDERS];
  int first_order, norder;
  long long steps;  // single steps still to do
  TriboDrawOptions options;
  TriboPlayerStatus status;
  TriboCharts charts;
  TriboDrawList *shown, *ready, *filling;
  int fresh;  // `ready` has not been shown yet
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- residuals, iteration by iteration

static void end_run(History* h) {
  if (h->n > h->nbest) {
    memcpy(h->best, h->run, (size_t)h->n * sizeof *h->run);
    h->nbest = h->n;
  }
  h->n = 0;
}

static void note_iteration(int iteration, TriboRung rung, double nat, double natmap_unit, void* user) {
  (void)rung, (void)natmap_unit;
  History* h = user;
  pthread_mutex_lock(&h->lock);
  if (!h->owned) {
    h->owner = pthread_self();
    h->owned = 1;
  }
  if (pthread_equal(h->owner, pthread_self())) {
    if (iteration < h->last) {
      end_run(h);
    }
    h->last = iteration;
    if (h->n < TRIBO_CHART_ITERATIONS) {
      h->run[h->n++] = (float)log10(fmax(nat, 1e-300));
    }
  }
  pthread_mutex_unlock(&h->lock);
}

// ---- charts

static void chart_curves(TriboPlayer* player) {
  Sim* sim = &player->sim;
  TriboCharts* c = &player->charts;
  c->ncurve = sim->nquantity;
  for (int i = 0; i < sim->nquantity; ++i) {
    double value;
    if (tribo_quantity_value(sim->model, sim->data, sim->quantities[i], &value) == TRIBO_OK) {
      c->curve[i][c->curve_at] = (float)value;
    }
    memcpy(c->name[i], sim->quantity_names[i], sizeof c->name[i]);
  }
  c->curve_at = (c->curve_at + 1) % TRIBO_CHART_STEPS;
  c->ncurve_point += c->ncurve_point < TRIBO_CHART_STEPS;
}

static void chart_step(TriboPlayer* player, const TriboStepInfo* info) {
  TriboCharts* c = &player->charts;
  for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
    c->stage[i][c->step_at] = (float)(1e3 * info->stage[i]);
  }
  c->iterations[c->step_at] = (float)info->iterations;
  c->residual[c->step_at] = (float)log10(fmax(info->residual.nat, 1e-20));
  c->step_at = (c->step_at + 1) % TRIBO_CHART_STEPS;
  c->nstep += c->nstep < TRIBO_CHART_STEPS;
  c->niteration = player->history.nbest;
  memcpy(c->iteration, player->history.best, sizeof c->iteration);
  if (player->status.time >= player->curve_due) {
    chart_curves(player);
    player->curve_due = player->status.time + CURVE_PITCH * (1 - 1e-9);
  }
}

// ---- what the thread does; the lock is held before and after, not while physics works

// Fills a list with the current state and hands it over.
static void publish(TriboPlayer* player) {
  TriboDrawOptions options = player->options;
  player->wanted = 0;
  player->publishing = 1;
  pthread_mutex_unlock(&player->lock);
  const Sim* sim = &player->sim;
  TriboStatus status = TRIBO_OK;
  if (!tribo_view_sim_fits(sim, player->filling)) {
    // the model is another one since
    TriboDrawList* list = NULL;
    status = tribo_view_sim_list(sim, &list);
    if (status == TRIBO_OK) {
      tribo_view_list_destroy(player->filling);
      player->filling = list;
    }
  }
  options.trails = sim->trails;
  options.contacts = sim->replay != NULL ? sim->shown.contacts : NULL;
  options.ncontact = sim->shown.ncontact;
  options.efforts = sim->replay != NULL ? sim->shown.efforts : NULL;
  options.net = sim->net_known ? sim->net : NULL;
  status = status == TRIBO_OK ? tribo_view_list_fill(player->filling, sim->model, sim->data, &options) : status;
  pthread_mutex_lock(&player->lock);
  player->publishing = 0;
  if (status != TRIBO_OK) {
    snprintf(player->status.failure, sizeof player->status.failure, "%s", tribo_view_error());
  } else {
    TriboDrawList* filled = player->filling;
    player->filling = player->ready;
    player->ready = filled;
    player->fresh = 1;
  }
  pthread_cond_broadcast(&player->done);
}

// Of a recorded motion: which row is shown. After the last one it stands still.
static void note_row(TriboPlayer* player) {
  const Sim* sim = &player->sim;
  if (sim->replay != NULL) {
    player->status.steps = player->status.kept = (int)sim->row;
    player->status.rows = sim->shown.last + 1;
    player->status.paused |= sim->row == sim->shown.last;
    player->steps = sim->row == sim->shown.last ? 0 : player->steps;
  }
}

// One step; a simulation that cannot continue is paused and says why.
static void step(TriboPlayer* player) {
  TriboStepInfo info;
  History* h = &player->history;
  pthread_mutex_unlock(&player->lock);
  h->owned = h->n = h->last = h->nbest = 0;
  TriboStatus status = tribo_view_sim_step(&player->sim, &info);
  end_run(h);
  double time = tribo_data_time(player->sim.data);
  pthread_mutex_lock(&player->lock);
  if (status != TRIBO_OK) {
    snprintf(player->status.failure, sizeof player->status.failure, "%s", tribo_view_error());
    player->status.paused = 1;
    player->steps = 0;
  } else {
    player->status.info = info;
    player->status.time = time;
    player->status.steps++;
    player->status.kept = player->sim.count - 1;
    note_row(player);
    chart_step(player, &info);
  }
  pthread_cond_broadcast(&player->done);
}

// The simulation stands at its start again.
static void restart_status(TriboPlayer* player) {
  player->steps = 0;
  player->status.steps = 0;
  player->status.info = (TriboStepInfo){.certified = 1};
  player->status.failure[0] = '\0';
  player->charts = (TriboCharts){0};
}

static void note_motors(TriboPlayer* player) {
  const int n = tribo_model_size(player->sim.model).nmotor;
  player->charts.nmotor = n < TRIBO_CHART_MOTORS ? n : TRIBO_CHART_MOTORS;
  for (int i = 0; i < player->charts.nmotor; ++i) {
    player->charts.motor[i] = (float)player->sim.targets[i];
  }
  TriboView control;
  if (tribo_data_view(player->sim.model, player->sim.data, TRIBO_FIELD_CTRL, &control) == TRIBO_OK) {
    player->charts.nactuator = control.count < TRIBO_CHART_MOTORS ? control.count : TRIBO_CHART_MOTORS;
    for (int i = 0; i < player->charts.nactuator; ++i) {
      player->charts.control[i] = (float)control.values[i];
    }
  }
}

static void set_notice(TriboPlayer* player, int wrong, const char* text) {
  snprintf(player->status.notice, sizeof player->status.notice, "%s", text);
  player->status.wrong = wrong;
}

static TriboStatus reload(TriboPlayer* player) {
  TriboScene* scene;
  VIEW_TRY_ENGINE(player->def.scene(player->def.user, &scene));
  return tribo_view_sim_open(&player->sim, scene);
}

static TriboStatus go_back(TriboPlayer* player, double steps, int* undone) {
  int moved = 1;
  for (*undone = 0; *undone < steps && moved; *undone += moved) {
    VIEW_TRY(tribo_view_sim_back(&player->sim, &moved));
  }
  return TRIBO_OK;
}

// Applies one order with the lock open, and notes what became of it.
static void apply_order(TriboPlayer* player, const TriboOrder* order) {
  Sim* sim = &player->sim;
  TriboStatus status = TRIBO_OK;
  char text[512] = "";
  int undone = 0;
  pthread_mutex_unlock(&player->lock);
  switch (order->command) {
    case TRIBO_PLAYER_BACK: status = go_back(player, order->value, &undone); break;
    case TRIBO_PLAYER_SEEK:
      status = sim->replay != NULL ? tribo_view_sim_seek(sim, llround(order->value))
                                   : tribo_view_fail(TRIBO_STATE, "only a recorded motion can be gone through");
      break;
    case TRIBO_PLAYER_RESET: status = tribo_view_sim_reset(sim); break;
    case TRIBO_PLAYER_RELOAD: status = reload(player); break;
    case TRIBO_PLAYER_SOLVER: status = tribo_view_sim_set_solver(sim, order->text); break;
    case TRIBO_PLAYER_SET: status = tribo_view_sim_set(sim, order->text, order->value); break;
    case TRIBO_PLAYER_MOTOR: status = tribo_view_sim_motor(sim, order->index, order->value); break;
    case TRIBO_PLAYER_CONTROL: status = tribo_view_sim_control(sim, order->index, order->value); break;
    case TRIBO_PLAYER_DROP:
      status = tribo_view_sim_drop(sim, (TriboShapeKind)order->index, order->point, order->value);
      break;
    case TRIBO_PLAYER_PUSH: status = tribo_view_sim_push(sim, order->index, order->point, order->vector); break;
    case TRIBO_PLAYER_GRAB: tribo_view_sim_grab(sim, order->index, order->point, order->vector); break;
    case TRIBO_PLAYER_PULL: tribo_view_sim_pull(sim, order->vector); break;
    case TRIBO_PLAYER_RELEASE: tribo_view_sim_grab(sim, -1, order->point, order->vector); break;
    case TRIBO_PLAYER_SAVE:
      status = tribo_view_sim_save(sim, order->text);
      snprintf(text, sizeof text, "saved %s; `--load` starts from it", order->text);
      break;
    case TRIBO_PLAYER_HISTORY: player->history.on = order->value != 0; break;
    default: break;
  }
  // a new model has new solvers
  if (status == TRIBO_OK && tribo_data_set_history(sim->model, sim->data, player->history.on ? note_iteration : NULL,
                                                   &player->history) != TRIBO_OK) {
    status = tribo_view_fail(TRIBO_INTERNAL, "%s", tribo_last_error());
  }
  pthread_mutex_lock(&player->lock);
  if (status != TRIBO_OK) {
    set_notice(player, 1, tribo_view_error());
  } else if (order->command == TRIBO_PLAYER_RELOAD || order->command == TRIBO_PLAYER_RESET) {
    restart_status(player);
    player->curve_due = 0;
    set_notice(player, 0, order->command == TRIBO_PLAYER_RELOAD ? "the scene was reloaded" : "");
  } else if (order->command == TRIBO_PLAYER_BACK && undone < order->value) {
    snprintf(text, sizeof text, "only the last %d steps are kept", SIM_RING - 1);
    set_notice(player, 0, text);
  } else if (text[0] != '\0') {
    set_notice(player, 0, text);
  }
  note_motors(player);
  player->status.steps -= undone;
  player->status.time = tribo_data_time(sim->data);
  player->status.kept = sim->count - 1;
  note_row(player);
  player->curve_due = fmin(player->curve_due, player->status.time + CURVE_PITCH);
}

// Is the file another one than the last time? A file that is just being replaced is looked at later.
static int file_changed(TriboPlayer* player) {
  struct stat file;
  if (player->watch == NULL || stat(player->watch, &file) != 0) {
    return 0;
  }
  const struct stat* seen = &player->seen;
  int changed = file.st_mtim.tv_sec != seen->st_mtim.tv_sec || file.st_mtim.tv_nsec != seen->st_mtim.tv_nsec ||
                file.st_size != seen->st_size || file.st_ino != seen->st_ino;
  player->seen = file;
  return changed;
}

// Sleeps until an order comes or the time is over.
static void sleep_until(TriboPlayer* player, double wall) {
  struct timespec t = {.tv_sec = (time_t)wall, .tv_nsec = (long)(1e9 * (wall - floor(wall)))};
  pthread_cond_timedwait(&player->wake, &player->lock, &t);
}

// Where the simulation stands against the clock: simulated time `time` was due at `wall`; and how fast it was of late.
typedef struct Pace {
  double wall, time, speed;
  double from_wall, from_time;
} Pace;

static void measure(TriboPlayer* player, Pace* pace, double t) {
  if (t - pace->from_wall > 0.5) {
    player->status.rate = fmax(player->status.time - pace->from_time, 0) / (t - pace->from_wall);
    pace->from_wall = t, pace->from_time = player->status.time;
  }
}

// A step if one is due, or a rest until then.
static void keep_pace(TriboPlayer* player, Pace* pace) {
  const TriboPlayerStatus* s = &player->status;
  const double dt = tribo_model_world(player->sim.model)->dt, t = now();
  double due = pace->wall + (s->time + dt - pace->time) / s->speed;
  measure(player, pace, t);
  if (s->paused || pace->speed != s->speed || t - due > 0.1 || s->time < pace->time) {
    // a new pace starts here: after a pause or a jump, at another speed, or when the machine cannot follow
    pace->wall = due = t;
    pace->time = s->time;
    pace->speed = s->paused ? 0 : s->speed;
  }
  if (player->steps > 0) {
    step(player);
    player->steps -= player->steps > 0;
  } else if (s->paused) {
    sleep_until(player, t + FILE_POLL);
  } else if (due > t) {
    sleep_until(player, fmin(due, t + FILE_POLL));
  } else {
    step(player);
  }
}

// The thread: orders first, then pictures that are wanted, then steps in time with the clock.
static void* run_thread(void* user) {
  TriboPlayer* player = user;
  Pace pace = {.wall = now(), .time = tribo_data_time(player->sim.data), .from_wall = now()};
  double next_poll = now() + FILE_POLL;
  pthread_mutex_lock(&player->lock);
  while (!player->quit) {
    if (now() >= next_poll) {
      next_poll = now() + FILE_POLL;
      if (file_changed(player)) {
        apply_order(player, &(TriboOrder){.command = TRIBO_PLAYER_RELOAD});
        player->wanted = 1;
      }
    }
    if (player->norder > 0) {
      TriboOrder order = player->orders[player->first_order];
      player->first_order = (player->first_order + 1) % ORDERS;
      player->norder--;
      player->working = 1;
      if (order.command == TRIBO_PLAYER_STEP) {
        player->steps += (long long)fmax(order.value, 0);
      } else {
        apply_order(player, &order);
      }
      player->working = 0;
      pthread_cond_broadcast(&player->done);
      continue;
    }
    if (player->wanted) {
      publish(player);
    }
    keep_pace(player, &pace);
  }
  pthread_mutex_unlock(&player->lock);
  return NULL;
}

// ---- life

static TriboStatus open_scene(TriboPlayer* player) {
  Sim* sim = &player->sim;
  VIEW_TRY(reload(player));
  if (player->def.state != NULL) {
    VIEW_TRY(tribo_view_sim_load(sim, player->def.state));
  }
  VIEW_TRY(tribo_view_sim_list(sim, &player->shown));
  VIEW_TRY(tribo_view_sim_list(sim, &player->ready));
  VIEW_TRY(tribo_view_sim_list(sim, &player->filling));
  player->status.time = tribo_data_time(sim->data);
  note_row(player);
  note_motors(player);
  return tribo_view_list_fill(player->shown, sim->model, sim->data, NULL);
}

static TriboStatus start(TriboPlayer* player) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&player->lock, NULL);
  pthread_mutex_init(&player->history.lock, NULL);
  pthread_cond_init(&player->wake, &attributes);
  pthread_cond_init(&player->done, &attributes);
  pthread_condattr_destroy(&attributes);
  return pthread_create(&player->thread, NULL, run_thread, player) == 0
             ? TRIBO_OK
             : tribo_view_fail(TRIBO_NOMEM, "no thread for the simulation");
}

static void free_player(TriboPlayer* player) {
  tribo_view_list_destroy(player->shown);
  tribo_view_list_destroy(player->ready);
  tribo_view_list_destroy(player->filling);
  tribo_view_sim_close(&player->sim);
  free(player->watch);
  free(player);
}

TriboStatus tribo_view_player_create(const TriboPlayerDef* def, TriboPlayer** out) {
  TriboPlayer* player = calloc(1, sizeof *player);
  if (player == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a player");
  }
  player->def = *def;
  player->wanted = 1;
  player->sim.mouse_spring.body = -1;
  player->sim.replay = def->replay;
  player->sim.user = def->user;
  player->status = (TriboPlayerStatus){.paused = def->paused, .speed = 1, .info.certified = 1};
  player->watch = def->watch != NULL ? strdup(def->watch) : NULL;
  file_changed(player);
  TriboStatus status = open_scene(player);
  status = status == TRIBO_OK ? start(player) : status;
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
  pthread_cond_destroy(&player->done);
  pthread_mutex_destroy(&player->lock);
  pthread_mutex_destroy(&player->history.lock);
  free_player(player);
}

// ---- from other threads

void tribo_view_player_order(TriboPlayer* player, const TriboOrder* order) {
  pthread_mutex_lock(&player->lock);
  TriboPlayerStatus* status = &player->status;
  TriboOrder* last = player->norder > 0 ? &player->orders[(player->first_order + player->norder - 1) % ORDERS] : NULL;
  if (order->command == TRIBO_PLAYER_PAUSE) {
    status->paused = order->value != 0;
  } else if (order->command == TRIBO_PLAYER_SPEED) {
    status->speed = order->value > 16 ? INFINITY : fmax(order->value, 1.0 / 16);
  } else if (last != NULL && last->command == order->command &&
             (order->command == TRIBO_PLAYER_PULL || order->command == TRIBO_PLAYER_MOTOR ||
              order->command == TRIBO_PLAYER_CONTROL || order->command == TRIBO_PLAYER_SEEK) &&
             last->index == order->index) {
    *last = *order;  // a mouse moves faster than a step
  } else if (player->norder < ORDERS) {
    status->paused |= order->command == TRIBO_PLAYER_STEP || order->command == TRIBO_PLAYER_BACK;
    player->orders[(player->first_order + player->norder++) % ORDERS] = *order;
  } else {
    set_notice(player, 1, "the simulation is too slow for so many orders: the last one was dropped");
  }
  pthread_cond_signal(&player->wake);
  pthread_mutex_unlock(&player->lock);
}

void tribo_view_player_send(TriboPlayer* player, TriboPlayerCommand command, double value) {
  tribo_view_player_order(player, &(TriboOrder){.command = command, .value = value});
}

static int is_busy(const TriboPlayer* player) {
  return player->steps > 0 || player->norder > 0 || player->working;
}

TriboPlayerStatus tribo_view_player_status(TriboPlayer* player) {
  pthread_mutex_lock(&player->lock);
  TriboPlayerStatus status = player->status;
  status.busy = is_busy(player);
  pthread_mutex_unlock(&player->lock);
  return status;
}

void tribo_view_player_charts(TriboPlayer* player, TriboCharts* out) {
  pthread_mutex_lock(&player->lock);
  *out = player->charts;
  pthread_mutex_unlock(&player->lock);
}

static const TriboDrawList* newest(TriboPlayer* player) {
  if (player->fresh) {
    TriboDrawList* fresh = player->ready;
    player->ready = player->shown;
    player->shown = fresh;
    player->fresh = 0;
  }
  return player->shown;
}

const TriboDrawList* tribo_view_player_list(TriboPlayer* player, const TriboDrawOptions* options) {
  pthread_mutex_lock(&player->lock);
  const TriboDrawList* list = newest(player);
  player->options = *options;
  player->wanted = 1;
  pthread_cond_signal(&player->wake);
  pthread_mutex_unlock(&player->lock);
  return list;
}

const TriboDrawList* tribo_view_player_wait(TriboPlayer* player, const TriboDrawOptions* options) {
  pthread_mutex_lock(&player->lock);
  while (is_busy(player)) {
    pthread_cond_wait(&player->done, &player->lock);
  }
  player->options = *options;
  player->wanted = 1;
  pthread_cond_signal(&player->wake);
  while (player->wanted || player->publishing) {
    pthread_cond_wait(&player->done, &player->lock);
  }
  const TriboDrawList* list = newest(player);
  pthread_mutex_unlock(&player->lock);
  return list;
}
