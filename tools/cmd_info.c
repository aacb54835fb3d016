// `tribo info`: what a scene compiles to. `tribo solvers`, `tribo version`: what this build can do.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "describe.h"
#include "json.h"
#include "simulate.h"

static const Flag info_flags[] = {
    {"--json", "FILE", "for machines; - is standard output"},
    {"--strict", NULL, "exit 2 when the file was not taken in full"},
    {"--no-ground", NULL, "no ground under a robot file that has no world"},
    {0},
};

static const char* scheme_name(TriboScheme scheme) {
  static const char* const names[] = {"variational", "euler"};
  return names[scheme];
}

// Sizes, bodies, joints and shapes for people.
static void print_info(const Simulation* sim) {
  const TriboModel* model = sim->model;
  TriboModelSize n = tribo_model_size(model);
  printf("%s\n%d bodies (%d free, %d trees), %d joints, %d shapes, %d materials; nq %d, nv %d\n", sim->path, n.nbody,
         n.nfree, n.ntree, n.njoint, n.nshape, n.nmaterial, n.nq, n.nv);
  double total = 0;
  for (int i = 0; i < n.nbody; ++i) {
    total += tribo_model_body(model, i)->mass;
  }
  printf("mass %.9g kg, memory of the model %.1f kB\n", total, (double)n.memory / 1024);
  const TriboWorldDef* w = tribo_model_world(model);
  printf("gravity %g %g %g m/s², dt %g s, solver %s, scheme %s\n", w->gravity[0], w->gravity[1], w->gravity[2], w->dt,
         w->solver, scheme_name(w->scheme));
  enum { MOST = 40 };
  printf("\nbodies\n");
  for (int i = 0; i < n.nbody && i < MOST; ++i) {
    const TriboBodyInfo* b = tribo_model_body(model, i);
    printf("  %-24s mass %-12.6g inertia %.6g %.6g %.6g\n", b->name, b->mass, b->inertia[0], b->inertia[1],
           b->inertia[2]);
  }
  printf(n.nbody > MOST ? "  … and %d more (--json lists all)\n" : "", n.nbody - MOST);
  if (n.njoint > 0) {
    printf("\njoints\n");
  }
  for (int i = 0; i < n.njoint; ++i) {
    const TriboJointInfo* j = tribo_model_joint(model, i);
    printf("  %-24s %-12s limits %g … %g\n", j->name, j->kind, j->lower, j->upper);
  }
  if (n.nclosure > 0) {
    printf("\nclosures\n");
  }
  for (int i = 0; i < n.nclosure; ++i) {
    const TriboClosureInfo* c = tribo_model_closure(model, i);
    printf("  %-24s %-12s %d rows%s%s%s\n", c->name, c->kind, c->rows, c->joint >= 0 ? ", a joint" : "",
           c->redundant[0] ? ", redundant: " : "", c->redundant);
  }
  printf("\nshapes\n");
  for (int i = 0; i < n.nshape && i < MOST; ++i) {
    const TriboShapeInfo* s = tribo_model_shape(model, i);
    const char* material = tribo_model_material(model, s->material)->name;
    if (s->field == NULL) {
      printf("  %-24s %-10s %-12s %g %g %g\n", s->name, describe_shape(s->kind), material, s->size[0], s->size[1],
             s->size[2]);
      continue;
    }
    printf("  %-24s %-10s %-12s %d samples in %d cells, at most %d contacts a pair, ", s->name, s->field, material,
           s->samples, s->cells, s->contacts);
    printf(isfinite(s->margin) ? "margin %g m\n" : "the world's margin\n", s->margin);
  }
  printf(n.nshape > MOST ? "  … and %d more (--json lists all)\n" : "", n.nshape - MOST);
  for (int i = 0; i < n.nstate; ++i) {
    printf("%s%s%s", i > 0 ? ", " : "\nstates\n  ", tribo_model_state(model, i), i + 1 < n.nstate ? "" : "\n");
  }
}

// Bodies with mass, inertia and pose for machines.
static int write_bodies(Json* json, Simulation* sim) {
  TriboView position, quaternion, velocity, omega;
  if (tribo_data_view(sim->model, sim->data, TRIBO_FIELD_POSITION, &position) != TRIBO_OK ||
      tribo_data_view(sim->model, sim->data, TRIBO_FIELD_QUATERNION, &quaternion) != TRIBO_OK ||
      tribo_data_view(sim->model, sim->data, TRIBO_FIELD_VELOCITY, &velocity) != TRIBO_OK ||
      tribo_data_view(sim->model, sim->data, TRIBO_FIELD_OMEGA, &omega) != TRIBO_OK) {
    return EXIT_INTERNAL;
  }
  json_begin(json, "bodies", '[');
  for (int i = 0; i < tribo_model_size(sim->model).nbody; ++i) {
    const TriboBodyInfo* b = tribo_model_body(sim->model, i);
    double pose[7];
    memcpy(pose, position.values + 3 * i, 3 * sizeof(double));
    memcpy(pose + 3, quaternion.values + 4 * i, 4 * sizeof(double));
    json_begin(json, NULL, '{');
    json_text(json, "name", b->name);
    json_real(json, "mass", b->mass);
    json_reals(json, "com", b->com, 3);
    json_reals(json, "inertia", b->inertia, 6);
    json_reals(json, "pose", pose, 7);
    json_reals(json, "velocity", velocity.values + 3 * i, 3);
    json_reals(json, "omega", omega.values + 3 * i, 3);
    json_end(json, '}');
  }
  json_end(json, ']');
  return EXIT_WELL;
}

static void write_world(Json* json, const Simulation* sim) {
  const TriboWorldDef* world = tribo_model_world(sim->model);
  json_begin(json, "world", '{');
  json_reals(json, "gravity", world->gravity, 3);
  json_text(json, "solver", world->solver);
  json_text(json, "scheme", scheme_name(world->scheme));
  json_real(json, "dt", world->dt);
  json_real(json, "duration", world->duration);
  json_end(json, '}');
  json_begin(json, "materials", '[');
  for (int i = 0; i < tribo_model_size(sim->model).nmaterial; ++i) {
    const TriboMaterialDef* m = tribo_model_material(sim->model, i);
    json_begin(json, NULL, '{');
    json_text(json, "name", m->name);
    json_real(json, "friction", m->friction);
    json_real(json, "restitution", m->restitution);
    json_end(json, '}');
  }
  json_end(json, ']');
}

// Joints, closures, shapes and what else there is, for machines.
static void write_rest(Json* json, const Simulation* sim) {
  TriboModelSize n = tribo_model_size(sim->model);
  json_begin(json, "joints", '[');
  for (int i = 0; i < n.njoint; ++i) {
    const TriboJointInfo* j = tribo_model_joint(sim->model, i);
    const double limits[2] = {j->lower, j->upper};
    json_begin(json, NULL, '{');
    json_text(json, "name", j->name);
    json_text(json, "type", j->kind);
    json_reals(json, "limits", limits, 2);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_begin(json, "closures", '[');
  for (int i = 0; i < n.nclosure; ++i) {
    const TriboClosureInfo* c = tribo_model_closure(sim->model, i);
    json_begin(json, NULL, '{');
    json_text(json, "name", c->name);
    json_text(json, "kind", c->kind);
    json_int(json, "rows", c->rows);
    json_text(json, "redundant", c->redundant);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_begin(json, "shapes", '[');
  for (int i = 0; i < n.nshape; ++i) {
    const TriboShapeInfo* s = tribo_model_shape(sim->model, i);
    json_begin(json, NULL, '{');
    json_text(json, "name", s->name);
    json_text(json, "kind", describe_shape(s->kind));
    json_reals(json, "size", s->size, 3);
    json_text(json, "body", s->body == TRIBO_WORLD ? "world" : tribo_model_body(sim->model, s->body)->name);
    json_text(json, "material", tribo_model_material(sim->model, s->material)->name);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_begin(json, "states", '[');
  for (int i = 0; i < n.nstate; ++i) {
    json_text(json, NULL, tribo_model_state(sim->model, i));
  }
  json_end(json, ']');
  // limits are the only constraints a model has before it meets a contact
  int limits = 0;
  for (int i = 0; i < n.njoint; ++i) {
    const TriboJointInfo* j = tribo_model_joint(sim->model, i);
    limits += isfinite(j->lower) + isfinite(j->upper);
  }
  json_begin(json, "constraints", '{');
  json_int(json, "limits", limits);
  json_end(json, '}');
}

static int write_info(Simulation* sim, const char* path) {
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  TriboModelSize n = tribo_model_size(sim->model);
  double mass = 0;
  for (int i = 0; i < n.nbody; ++i) {
    mass += tribo_model_body(sim->model, i)->mass;
  }
  json_begin(&json, NULL, '{');
  json_text(&json, "scene", sim->path);
  json_int(&json, "nq", n.nq);
  json_int(&json, "nv", n.nv);
  json_real(&json, "mass", mass);
  json_int(&json, "memory", (long long)n.memory);
  write_world(&json, sim);
  int code = write_bodies(&json, sim);
  write_rest(&json, sim);
  json_end(&json, '}');
  return json_close(&json, path) ? code : EXIT_INPUT;
}

static int run_info(const Args* args) {
  Simulation sim;
  int code = simulation_open(args, args->positional[0], &sim);
  const char* json = cli_value(args, "--json");
  if (code == EXIT_WELL && json != NULL) {
    code = write_info(&sim, json);
  } else if (code == EXIT_WELL) {
    print_info(&sim);
  }
  simulation_close(&sim);
  return code;
}

const Command command_info = {"info", "SCENE [flags]", "what a scene compiles to", info_flags, 1, 1, run_info};

static const Flag no_flags[] = {{0}};

static int run_solvers(const Args* args) {
  (void)args;
  describe_page(stdout, "solvers");
  return EXIT_WELL;
}

const Command command_solvers = {"solvers", "", "the solvers and their settings", no_flags, 0, 0, run_solvers};

static int run_version(const Args* args) {
  (void)args;
  printf("Tribo %s\n%s\n", tribo_version(), tribo_version_libraries());
  return EXIT_WELL;
}

const Command command_version = {"version", "",         "versions of Tribo and the libraries it stands on", no_flags, 0,
                                 0,         run_version};
