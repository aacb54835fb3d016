// A scene opened, a ground put under a robot that has none, steps with a progress bar, and their totals.
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "interrupt.h"
#include "paths.h"
#include "stopwatch.h"

typedef struct Warnings {
  int count;
} Warnings;

static void print_log(TriboLogLevel level, const char* text, void* user) {
  ((Warnings*)user)->count += level == TRIBO_LOG_WARNING;
  fprintf(stderr, "tribo: %s%s\n", level == TRIBO_LOG_WARNING ? "warning: " : "", text);
}

// The lowest point of a shape whose pose is given.
static double lowest_of(const TriboShapeInfo* s, const double p[3], const double R[9]) {
  const double *z = R + 6, *a = s->size, across = sqrt(fmax(0, 1 - z[2] * z[2]));
  switch (s->kind) {
    case TRIBO_SHAPE_SPHERE: return p[2] - a[0];
    case TRIBO_SHAPE_BOX: return p[2] - 0.5 * (fabs(z[0]) * a[0] + fabs(z[1]) * a[1] + fabs(z[2]) * a[2]);
    case TRIBO_SHAPE_CAPSULE: return p[2] - 0.5 * fabs(z[2]) * a[1] - a[0];
    case TRIBO_SHAPE_CYLINDER:
    case TRIBO_SHAPE_CONE: return p[2] - 0.5 * fabs(z[2]) * a[1] - across * a[0];
    case TRIBO_SHAPE_ELLIPSOID: return p[2] - sqrt(pow(z[0] * a[0], 2) + pow(z[1] * a[1], 2) + pow(z[2] * a[2], 2));
    case TRIBO_SHAPE_HULL: {
      double low = INFINITY;
      for (int i = 0; i < s->npoint; ++i) {
        const double* x = s->points + 3 * i;
        low = fmin(low, p[2] + z[0] * x[0] + z[1] * x[1] + z[2] * x[2]);
      }
      return low;
    }
    default: return INFINITY;
  }
}

// How low the shapes of a model reach at its start; INFINITY without any.
static TriboStatus lowest_point(const TriboScene* scene, double* low) {
  TriboModel* model = NULL;
  TriboData* data = NULL;
  TriboView position = {0}, quaternion = {0};
  *low = INFINITY;
  TriboStatus status = tribo_model_create(scene, &model);
  status = status == TRIBO_OK ? tribo_data_create(model, &data) : status;
  status = status == TRIBO_OK ? tribo_data_view(model, data, TRIBO_FIELD_POSITION, &position) : status;
  status = status == TRIBO_OK ? tribo_data_view(model, data, TRIBO_FIELD_QUATERNION, &quaternion) : status;
  for (int i = 0; status == TRIBO_OK && i < tribo_model_size(model).nshape; ++i) {
    const TriboShapeInfo* s = tribo_model_shape(model, i);
    double body[9], own[9], p[3], R[9];
    tribo_quat_to_mat(body, quaternion.values + 4 * s->body);
    tribo_quat_to_mat(own, s->quaternion);
    for (int r = 0; r < 3; ++r) {
      p[r] = position.values[3 * s->body + r];
      for (int c = 0; c < 3; ++c) {
        p[r] += body[3 * r + c] * s->position[c];
        R[3 * r + c] = body[3 * r] * own[c] + body[3 * r + 1] * own[3 + c] + body[3 * r + 2] * own[6 + c];
      }
    }
    *low = fmin(*low, lowest_of(s, p, R));
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  return status;
}

// A URDF file is a robot without a world: it gets a ground to stand on, just under it.
static TriboStatus add_ground(TriboScene* scene) {
  double low;
  TriboStatus status = lowest_point(scene, &low);
  if (status != TRIBO_OK || low == INFINITY) {
    return status;
  }
  TriboShapeDef ground = tribo_shape_default();
  ground.name = "ground";
  ground.kind = TRIBO_SHAPE_HALFSPACE;
  ground.position[2] = low;
  return tribo_scene_add_shape(scene, TRIBO_WORLD, &ground, NULL);
}

TriboStatus simulation_scene(const Args* args, const char* path, TriboScene** scene, int* wrong) {
  Warnings warnings = {0};
  TriboLog log = {print_log, &warnings};
  *wrong = 0;
  TriboStatus status = tribo_scene_load(path, &log, scene);
  if (status == TRIBO_OK && warnings.count > 0 && cli_value(args, "--strict") != NULL) {
    *wrong = 1;
    cli_wrong("%s: %d warning%s, and --strict takes none", path, warnings.count, warnings.count == 1 ? "" : "s");
    return TRIBO_INVALID;
  }
  if (status == TRIBO_OK && path_ends_in(path, ".urdf") && cli_value(args, "--no-ground") == NULL) {
    status = add_ground(*scene);
  }
  return status;
}

int simulation_open(const Args* args, const char* path, Simulation* sim) {
  *sim = (Simulation){.path = path};
  int wrong = 0;
  TriboStatus status = simulation_scene(args, path, &sim->scene, &wrong);
  if (status == TRIBO_OK && !wrong) {
    status = cli_configure(args, sim->scene, &wrong);
  }
  if (wrong) {
    return EXIT_INPUT;
  }
  status = status == TRIBO_OK ? tribo_model_create(sim->scene, &sim->model) : status;
  status = status == TRIBO_OK ? tribo_data_create(sim->model, &sim->data) : status;
  if (status != TRIBO_OK) {
    return cli_complain(status);
  }
  const TriboWorldDef* world = tribo_model_world(sim->model);
  sim->steps = llround(world->duration / world->dt);
  return EXIT_WELL;
}

int simulation_load(Simulation* sim, const char* path) {
  TriboState* state;
  if (path == NULL) {
    return EXIT_WELL;
  }
  TriboStatus status = tribo_state_create(&state);
  if (status == TRIBO_OK) {
    status = tribo_state_read(path, state);
    status = status == TRIBO_OK ? tribo_state_restore(sim->model, sim->data, state) : status;
    tribo_state_destroy(state);
  }
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

static int open_recorder(Simulation* sim, const TriboRecordDef* def) {
  TriboRecorder** more = realloc(sim->recorders, (size_t)(sim->nrecorder + 1) * sizeof *more);
  if (more == NULL) {
    return EXIT_INTERNAL;
  }
  sim->recorders = more;
  TriboStatus status = tribo_recorder_open(sim->model, def, &sim->recorders[sim->nrecorder]);
  if (status != TRIBO_OK) {
    return cli_complain(status);
  }
  sim->nrecorder++;
  return EXIT_WELL;
}

int simulation_record(Simulation* sim, const char* extra) {
  int n = tribo_model_size(sim->model).nrecord;
  for (int i = 0; i < n; ++i) {
    int code = open_recorder(sim, tribo_model_record(sim->model, i));
    if (code != EXIT_WELL) {
      return code;
    }
  }
  if (record_is_hdf5(extra)) {
    sim->hdf5 = record_hdf5_open(sim->model, extra);
    return sim->hdf5 != NULL ? EXIT_WELL : EXIT_INPUT;
  }
  TriboRecordDef def = {.file = extra, .every = 1};
  return extra != NULL ? open_recorder(sim, &def) : EXIT_WELL;
}

// ---- totals

static void worst_of(double* worst, double x) {
  *worst = x > *worst || isnan(x) ? x : *worst;
}

static const double SHORTEST = 1e-7, TIME_RATIO = 1.02;  // of the classes of times [s]

static void add_cost(StepCosts* costs, const TriboStepInfo* info, double took) {
  const double class = log(fmax(took, SHORTEST) / SHORTEST) / log(TIME_RATIO);
  costs->times[(int)fmin(class, TIME_CLASSES - 1)]++;
  costs->factorisations[info->factorisations < FACTORISATION_CLASSES ? info->factorisations
                                                                     : FACTORISATION_CLASSES - 1]++;
  costs->sum += took;
  costs->longest = fmax(costs->longest, took);
  costs->effort += info->effort;
  costs->effort_max = fmax(costs->effort_max, info->effort);
  costs->most = info->factorisations > costs->most ? info->factorisations : costs->most;
}

// The class that 99 of 100 are not above.
static int class_of_99(const long long* classes, int n) {
  long long all = 0, seen = 0;
  int i = 0;
  for (int k = 0; k < n; ++k) {
    all += classes[k];
  }
  for (; i + 1 < n && (seen += classes[i]) < all - all / 100; ++i) {
  }
  return i;
}

double costs_p99_time(const StepCosts* costs) {
  return fmin(SHORTEST * pow(TIME_RATIO, class_of_99(costs->times, TIME_CLASSES) + 0.5), costs->longest);
}

int costs_p99_factorisations(const StepCosts* costs) {
  return class_of_99(costs->factorisations, FACTORISATION_CLASSES);
}

// Takes the numbers of a step into the totals.
static void add(Totals* t, const TriboStepInfo* info, double took) {
  t->steps++;
  t->substepped += info->substeps > 1;
  t->relaxed += info->relaxation > 0;
  t->most_relaxation = fmax(t->most_relaxation, info->relaxation);
  t->redetected += info->redetections > 0;
  t->certified += info->certified;
  t->wall += info->time;
  add_cost(&t->costs, info, took);
  for (int i = 0; i < TRIBO_STAGE_COUNT; ++i) {
    t->stage[i] += info->stage[i];
  }
  t->contacts += info->contacts;
  t->contacts_max = info->contacts > t->contacts_max ? info->contacts : t->contacts_max;
  t->iterations += info->iterations;
  t->iterations_max = info->iterations > t->iterations_max ? info->iterations : t->iterations_max;
  t->factorisations += info->factorisations;
  for (int i = 0; i < TRIBO_RUNG_COUNT; ++i) {
    t->rungs[i] += info->rungs >> i & 1;
  }
  const int is_law = info->reason < TRIBO_REASON_ENERGY || info->reason == TRIBO_REASON_CONTRADICTION;
  // (else `worst` is a body)
  if (is_law && (info->residual.nat > t->residual.nat || (t->worst[0] == '\0' && info->worst[0] != '\0'))) {
    t->worst_step = t->steps;
    memcpy(t->worst, info->worst, sizeof t->worst);
  }
  t->levels[info->level]++;
  t->uncertified[info->reason]++;
  t->energy_error += info->balance;
  t->push_out_work += info->push_out_work;
  t->gain = fmax(t->gain, info->balance);
  if (fabs(info->balance_relative) > fabs(t->balance)) {
    t->balance = info->balance_relative;
  }
  worst_of(&t->momentum_error, info->momentum_error);
  if (!is_law && t->unbalanced_step == 0) {
    t->unbalanced_step = t->steps;
    memcpy(t->unbalanced, info->worst, sizeof t->unbalanced);
  }
  worst_of(&t->residual.prim, info->residual.prim);
  worst_of(&t->residual.dual, info->residual.dual);
  worst_of(&t->residual.comp, info->residual.comp);
  worst_of(&t->residual.nat, info->residual.nat);
  worst_of(&t->residual.natmap_unit, info->residual.natmap_unit);
  worst_of(&t->penetration, info->penetration);
  t->growths += info->growths;
}

// ---- progress

typedef struct Progress {
  int on;
  double begin, last;
} Progress;

static void draw(Progress* p, const Simulation* sim) {
  double t = read_clock(CLOCK_MONOTONIC);
  if (!p->on || t - p->last < 0.1) {
    return;
  }
  p->last = t;
  enum { WIDTH = 30 };
  const Totals* totals = &sim->totals;
  double fraction = (double)totals->steps / (double)sim->steps, simulated = tribo_data_time(sim->data);
  int full = (int)(fraction * WIDTH);
  fprintf(stderr, "\r[%.*s%*s] %6.2f s  %6.1f× real time  worst %.1e m/s ", full, "##############################",
          WIDTH - full, "", simulated, simulated / (t - p->begin), totals->residual.nat);
  fflush(stderr);
}

static void finish(const Progress* p) {
  if (p->on && p->last > 0) {
    fputs("\r\033[K", stderr);
  }
}

// ---- the loop

static TriboStatus observe(Simulation* sim) {
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < sim->nrecorder && status == TRIBO_OK; ++i) {
    status = tribo_recorder_observe(sim->recorders[i], sim->data);
  }
  if (status == TRIBO_OK && sim->hdf5 != NULL && !record_hdf5_observe(sim->hdf5, sim->data)) {
    sim->broken = 1;
    return TRIBO_IO;
  }
  if (status == TRIBO_OK && sim->seen != NULL) {
    status = sim->seen(sim, sim->user);
  }
  return status == TRIBO_OK && sim->judge != NULL ? tribo_judge_observe(sim->judge, sim->data) : status;
}

int simulation_run(Simulation* sim, int progress) {
  memset(&sim->totals, 0, sizeof sim->totals);
  interrupt_watch();
  Progress bar = {.on = progress && isatty(STDERR_FILENO), .begin = read_clock(CLOCK_MONOTONIC)};
  TriboStatus status = observe(sim);
  unsigned long long heap0[TRIBO_HEAP_OWNERS], heap1[TRIBO_HEAP_OWNERS];
  for (long long i = 0; i < sim->steps && status == TRIBO_OK && !interrupt_seen(); ++i) {
    TriboStepInfo info;
    heap_read(heap0);
    const Clock begin = start_clock();
    status = tribo_step(sim->model, sim->data, &info);
    const double took = stop_clock(begin);
    heap_read(heap1);
    for (int k = 0; k < TRIBO_HEAP_OWNERS; ++k) {
      sim->totals.heap[k] += heap1[k] - heap0[k];
    }
    if (status == TRIBO_OK) {
      add(&sim->totals, &info, took);
      status = observe(sim);
      draw(&bar, sim);
    }
  }
  finish(&bar);
  interrupt_unwatch();
  sim->totals.time = tribo_data_time(sim->data);
  sim->totals.interrupted = interrupt_seen();
  return status == TRIBO_OK ? EXIT_WELL : sim->broken ? EXIT_INPUT : cli_complain(status);
}

void simulation_close(Simulation* sim) {
  record_hdf5_close(sim->hdf5);
  for (int i = 0; i < sim->nrecorder; ++i) {
    TriboStatus status = tribo_recorder_close(sim->recorders[i]);
    if (status != TRIBO_OK) {
      cli_complain(status);
    }
  }
  free(sim->recorders);
  tribo_judge_destroy(sim->judge);
  tribo_data_destroy(sim->data);
  tribo_model_destroy(sim->model);
  tribo_scene_destroy(sim->scene);
}
