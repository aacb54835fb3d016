// What Tribo makes of a model file, as JSON lines for tools/tests/conform.py: first the model, then for every state
// read from stdin (q, v, ctrl, act) the terms of its equations of motion.   probe MODEL [DT STEPS] With DT and STEPS
// the state is carried on by so many steps of semi-implicit Euler instead, and q and v are printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

static void complain(TriboLogLevel level, const char* text, void* user) {
  (void)user;
  if (level == TRIBO_LOG_WARNING) {
    fprintf(stderr, "warning: %s\n", text);
  }
}

static void check(TriboStatus status) {
  if (status != TRIBO_OK) {
    fprintf(stderr, "error: %s\n", tribo_last_error());
    exit(2);
  }
}

static void numbers(const char* key, const double* x, int n) {
  printf("\"%s\": [", key);
  for (int i = 0; i < n; ++i) {
    printf("%s%.17g", i > 0 ? ", " : "", x[i]);
  }
  printf("]");
}

// infinities are not JSON
static double bounded(double x) {
  return x > 1e300 ? 1e300 : x < -1e300 ? -1e300 : x;
}

static void print_view(const TriboModel* model, TriboData* data, TriboField field, const char* key) {
  TriboView view;
  check(tribo_data_view(model, data, field, &view));
  printf(", ");
  numbers(key, view.values, view.count);
}

// The states that the file names, in full.
static void print_states(const TriboModel* model, TriboData* data) {
  printf("\"states\": [");
  for (int i = 0; i < tribo_model_size(model).nstate; ++i) {
    check(tribo_data_restore_snapshot(model, data, tribo_model_state(model, i)));
    printf("%s{\"name\": \"%s\"", i > 0 ? ", " : "", tribo_model_state(model, i));
    print_view(model, data, TRIBO_FIELD_Q, "q");
    print_view(model, data, TRIBO_FIELD_V, "v");
    print_view(model, data, TRIBO_FIELD_CTRL, "ctrl");
    print_view(model, data, TRIBO_FIELD_ACT, "act");
    printf("}");
  }
  printf("], ");
  tribo_data_reset(model, data);
}

// All numbers of a model that another reader of the file can be asked for.
static void print_model(const TriboModel* model, TriboData* data, const double* start) {
  const TriboModelSize s = tribo_model_size(model);
  printf("{\"nq\": %d, \"nv\": %d, \"nfree\": %d, \"nactuator\": %d, \"bodies\": [", s.nq, s.nv, s.nfree, s.nactuator);
  for (int i = 0; i < s.nbody; ++i) {
    const TriboBodyInfo* b = tribo_model_body(model, i);
    printf("%s{\"name\": \"%s\", \"mass\": %.17g, \"q\": %d, \"v\": %d, ", i > 0 ? ", " : "", b->name, b->mass, b->q_at,
           b->v_at);
    numbers("com", b->com, 3);
    printf(", ");
    numbers("inertia", b->inertia, 6);
    printf("}");
  }
  printf("], \"joints\": [");
  for (int i = 0; i < s.njoint; ++i) {
    const TriboJointInfo* j = tribo_model_joint(model, i);
    printf("%s{\"name\": \"%s\", \"kind\": \"%s\", \"q\": %d, \"v\": %d, \"lower\": %.17g, \"upper\": %.17g}",
           i > 0 ? ", " : "", j->name, j->kind, j->q_at, j->v_at, bounded(j->lower), bounded(j->upper));
  }
  printf("], \"shapes\": [");
  int nvisual;
  const TriboVisualInfo* visuals = tribo_model_visuals(model, &nvisual);
  for (int i = 0; i < s.nshape + nvisual; ++i) {
    const TriboShapeInfo* shape = i < s.nshape ? tribo_model_shape(model, i) : NULL;
    const TriboVisualInfo* v = shape == NULL ? &visuals[i - s.nshape] : NULL;
    printf("%s{\"name\": \"%s\", \"body\": %d, \"plane\": %d, ", i > 0 ? ", " : "", v ? v->name : shape->name,
           v ? v->body : shape->body, (v ? v->kind : shape->kind) == TRIBO_SHAPE_HALFSPACE);
    numbers("position", v ? v->position : shape->position, 3);
    printf(", ");
    numbers("quaternion", v ? v->quaternion : shape->quaternion, 4);
    printf("}");
  }
  printf("], \"tendons\": [");
  for (int i = 0; i < s.ntendon; ++i) {
    printf("%s\"%s\"", i > 0 ? ", " : "", tribo_model_tendon(model, i)->name);
  }
  printf("], \"actuators\": [");
  for (int i = 0; i < s.nactuator; ++i) {
    printf("%s\"%s\"", i > 0 ? ", " : "", tribo_model_actuator(model, i)->name);
  }
  printf("], \"sensors\": [");
  for (int i = 0; i < s.nsensor; ++i) {
    printf("%s\"%s\"", i > 0 ? ", " : "", tribo_model_sensor(model, i)->name);
  }
  printf("], ");
  print_states(model, data);
  numbers("start", start, s.nq);
  printf("}\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    fprintf(stderr, "usage: probe MODEL [DT STEPS]\n");
    return 2;
  }
  const TriboLog log = {complain, NULL};
  TriboScene* scene;
  TriboModel* model;
  TriboData* data;
  check(tribo_scene_load(argv[1], &log, &scene));
  const int steps = argc == 4 ? atoi(argv[3]) : 0;
  if (steps > 0) {
    TriboWorldDef world = *tribo_scene_world(scene);
    world.dt = atof(argv[2]);
    world.scheme = TRIBO_SCHEME_EULER;
    check(tribo_scene_set_world(scene, &world));
  }
  check(tribo_model_create(scene, &model));
  check(tribo_data_create(model, &data));
  TriboView start;
  check(tribo_data_view(model, data, TRIBO_FIELD_Q, &start));
  print_model(model, data, start.values);
  const TriboModelSize s = tribo_model_size(model);
  const size_t n = (size_t)(s.nq + s.nv + 2 * s.nactuator), nv = (size_t)s.nv;
  double* x = calloc(n + 1, sizeof *x);
  double* mass = calloc(nv * nv + 1, sizeof *mass);
  double* terms = calloc(3 * nv + 1, sizeof *terms);
  for (;;) {
    size_t got = 0;
    while (got < n && scanf("%lf", &x[got]) == 1) {
      ++got;
    }
    if (got < n || n == 0) {
      break;
    }
    check(tribo_data_set_state(model, data, x, x + s.nq));
    for (int i = 0; i < s.nactuator; ++i) {
      check(tribo_data_set_ctrl(model, data, i, x[s.nq + s.nv + i]));
      check(tribo_data_set_act(model, data, i, x[s.nq + s.nv + s.nactuator + i]));
    }
    for (int i = 0; i < steps; ++i) {
      check(tribo_step(model, data, NULL));
    }
    const TriboTerms out = {mass, terms, terms + nv, terms + 2 * nv};
    check(tribo_data_terms(model, data, &out));
    printf("{");
    numbers("mass", mass, s.nv * s.nv);
    printf(", ");
    numbers("bias", out.bias, s.nv);
    printf(", ");
    numbers("passive", out.passive, s.nv);
    printf(", ");
    numbers("actuation", out.actuation, s.nv);
    print_view(model, data, TRIBO_FIELD_Q, "q");
    print_view(model, data, TRIBO_FIELD_V, "v");
    print_view(model, data, TRIBO_FIELD_POSITION, "position");
    print_view(model, data, TRIBO_FIELD_QUATERNION, "quaternion");
    print_view(model, data, TRIBO_FIELD_TENDON, "tendon");
    print_view(model, data, TRIBO_FIELD_ACTUATION, "force");
    printf(", \"sensors\": [");
    for (int i = 0; i < s.nsensor; ++i) {
      double reading[4];
      check(tribo_data_sensor(model, data, i, reading));
      printf("%s[", i > 0 ? ", " : "");
      for (int k = 0; k < tribo_model_sensor(model, i)->n; ++k) {
        printf("%s%.17g", k > 0 ? ", " : "", reading[k]);
      }
      printf("]");
    }
    printf("]");
    printf("}\n");
  }
  free(x);
  free(mass);
  free(terms);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return 0;
}
