// Mutation fuzz of scene and robot files: whatever is done to a scene, loading, compiling and stepping it ends with a
// status and a message, never with a crash, a leak or a hang. Run under the sanitizers by the suite.   fuzz_load COUNT
// FILE… All files are of one kind, which their ending tells.
#include <signal.h>

#include "scenes.h"

enum { MOST_TEXT = 1 << 16, WATCHDOG = 20, MOST_BODIES = 60, STEPS = 3 };

typedef struct Text {
  char bytes[MOST_TEXT + 1];
  size_t n;
} Text;

static Text seeds[64];
static int nseed;
static Text current;
static const char* ending = ".yaml";

// A seed that touches every section, shape and joint kind.
static const char* everything =
    "world: {gravity: [0, 0, -9.81], dt: 0.002, scheme: euler, solver: {id: admm, max_iterations: 50}, threads: 2}\n"
    "materials: {default: {friction: 0.5}, ice: {friction: 0.1, restitution: 0.5}, soft: {stiffness: 1e4, damping: "
    "10}}\n"
    "pairs: [{between: [ice, soft], friction: 0.2, torsion: 0.01, rolling: 0.01}]\n"
    "static: [{name: ground, plane: [0, 0, 1], material: ice}, {box: [1, 1, 1], position: [3, 0, 0], rpy: [0, 30 deg, "
    "0]}]\n"
    "bodies:\n"
    "  - {name: a, position: [0, 0, 1], sphere: 0.5, mass: 1, velocity: [1, 0, 0]}\n"
    "  - {name: b, position: [0, 0, 2.2], capsule: [0.2, 0.5], omega: [0, 1, 0], material: soft}\n"
    "  - {name: c, position: [1, 1, 1], cylinder: [0.2, 0.5]}\n"
    "  - {name: d, position: [2, 1, 1], shapes: [{cone: [0.2, 0.5]}, {ellipsoid: [0.1, 0.2, 0.3], position: [0.2, 0, "
    "0]}]}\n"
    "  - {name: e, position: [3, 1, 1], hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], mass: 2, com: [0.2, 0.2, "
    "0.2],"
    " inertia: [0.1, 0.1, 0.1, 0, 0, 0]}\n"
    "  - {name: f, position: [4, 1, 1], quaternion: [0, 0, 0, 1], box: [0.1, 0.2, 0.3], group: 1, mask: 3}\n"
    "grid: [{name: g, count: [2, 2, 1], spacing: [1, 1, 1], origin: [8, 0, 0.5], box: [0.5, 0.5, 0.5], mass: {min: 1, "
    "max: 2}}]\n"
    "wall: [{name: w, rows: 2, pitch: 1.1, layer: 1, origin: [-8, 0, 0.5], box: [1, 1, 1], size: {first: 1, factor: "
    "0.9}}]\n"
    "pile: [{name: p, number: 4, columns: 2, pitch: 0.5, layer: 0.5, origin: [0, 8, 0.5], jitter: 0.01, seed: 3,"
    " shapes: [{box: [0.2, 0.2, 0.2]}, {sphere: 0.1}]}]\n"
    "joints:\n"
    "  - {name: j1, kind: revolute, parent: world, child: c, anchor: [1, 1, 2], axis: [0, 1, 0], lower: -1, upper: 1}\n"
    "  - {name: j2, kind: spherical, parent: c, child: d, anchor: [1.5, 1, 1]}\n"
    "  - {name: j3, kind: prismatic, parent: d, child: e, anchor: [2, 1, 1], axis: [1, 0, 0], damping: 1, friction: "
    "1}\n"
    "exclude: [[a, b]]\n"
    "forces: [{body: a, force: [1, 0, 0], torque: [0, 0, 1], start: 0, end: 1, local: true}, {joint: j1, effort: 1}]\n"
    "record: [{file: /dev/null, every: 2, columns: [energy, 'a: position.z', 'j1: q']}]\n"
    "cameras: [{name: c, eye: [1, 2, 3], target: [0, 0, 0], fov: 0.7}]\n"
    "expect: [{quantity: speed, of: a, when: max, from: 0, to: 1, max: 100}, {quantity: energy, value: 0, abs: 1e9}]\n";

static void on_alarm(int signal_number) {
  (void)signal_number;
  static const char text[] = "fuzz: a scene took too long; it is in /tmp/tribo-fuzz-hang\n";
  FILE* file = fopen("/tmp/tribo-fuzz-hang", "w");
  fwrite(current.bytes, 1, current.n, file);
  fclose(file);
  ssize_t unused = write(2, text, sizeof text - 1);
  (void)unused;
  _exit(3);
}

// ---- mutations

static void splice(Text* t, size_t at, size_t remove, const char* insert, size_t n) {
  if (at + remove > t->n || t->n - remove + n > MOST_TEXT) {
    return;
  }
  memmove(t->bytes + at + n, t->bytes + at + remove, t->n - at - remove);
  memcpy(t->bytes + at, insert, n);
  t->n = t->n - remove + n;
}

static int is_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == 'e';
}

// Another value in the place of a number.
static void change_number(Text* t, KitRandom* r) {
  static const char* const values[] = {"0",          "-1",       "1e308", "-1e308", "nan",   "inf",  "-.inf",
                                       "1e-320",     "99999999", "0.001", "1e9",    "3",     "''",   "[]",
                                       "2147483648", "1e-9",     "true",  "x",      "-0",    "0x10", "1e",
                                       "1.5",        "1000",     "~",     "1e16",   "90 deg"};
  size_t at = (size_t)kit_int(r, (int)t->n), tries = 0;
  while (tries++ < t->n && !is_number(t->bytes[at])) {
    at = (at + 1) % t->n;
  }
  size_t end = at;
  while (end < t->n && is_number(t->bytes[end])) {
    end++;
  }
  const char* value = values[kit_int(r, (int)(sizeof values / sizeof *values))];
  splice(t, at, end - at, value, strlen(value));
}

static size_t line_end(const Text* t, size_t at) {
  const char* end = memchr(t->bytes + at, '\n', t->n - at);
  return end == NULL ? t->n : (size_t)(end - t->bytes) + 1;
}

static void change_line(Text* t, KitRandom* r) {
  size_t at = (size_t)kit_int(r, (int)t->n), end = line_end(t, at);
  if (kit_int(r, 2)) {
    splice(t, at, end - at, "", 0);
    return;
  }
  char copy[2048];
  size_t n = end - at < sizeof copy ? end - at : sizeof copy;
  memcpy(copy, t->bytes + at, n);
  splice(t, (size_t)kit_int(r, (int)t->n), 0, copy, n);
}

static void change_bytes(Text* t, KitRandom* r) {
  static const char* const fragments[] = {
      "{",  "}",      "[", "]",     ":",    "- ",           "\n",   "  ",       "\t", "&a ",         "*a", "!!str ",
      "'",  "\"",     "#", "---\n", "\xff", "\xc3\xa9",     "%",    "|",        "? ", "<<: ",        "<",  ">",
      "/>", "<body>", "=", "&lt;",  "&b;",  "<!DOCTYPE a>", "<!--", "<joint/>", "</", "class=\"x\" "};
  size_t at = (size_t)kit_int(r, (int)t->n);
  if (kit_int(r, 3) == 0) {
    t->bytes[at] = (char)kit_int(r, 256);
    return;
  }
  const char* fragment = fragments[kit_int(r, (int)(sizeof fragments / sizeof *fragments))];
  splice(t, at, (size_t)kit_int(r, 3), fragment, strlen(fragment));
}

static void cross(Text* t, KitRandom* r) {
  const Text* other = &seeds[kit_int(r, nseed)];
  size_t at = (size_t)kit_int(r, (int)other->n), n = line_end(other, at) - at;
  splice(t, (size_t)kit_int(r, (int)t->n), 0, other->bytes + at, n);
}

static void mutate(Text* t, KitRandom* r) {
  int changes = 1 + kit_int(r, 4);
  for (int i = 0; i < changes && t->n > 4; ++i) {
    switch (kit_int(r, 8)) {
      case 0:
      case 1:
      case 2:
      case 3: change_number(t, r); break;
      case 4: change_line(t, r); break;
      case 5: change_bytes(t, r); break;
      case 6: cross(t, r); break;
      default: t->n = kit_int(r, 10) == 0 ? (size_t)kit_int(r, (int)t->n) : t->n;
    }
  }
}

// ---- one case

static void step_a_little(const TriboModel* model, int* stepped) {
  TriboData* data = NULL;
  if (tribo_model_size(model).nbody > MOST_BODIES || tribo_data_create(model, &data) != TRIBO_OK) {
    return;
  }
  for (int i = 0; i < STEPS; ++i) {
    uint64_t before = tribo_data_hash(model, data);
    TriboStatus status = tribo_step(model, data, NULL);
    if (status != TRIBO_OK) {
      // a failed step says why and leaves the state
      assert_true(tribo_last_error()[0] != '\0' && before == tribo_data_hash(model, data));
      break;
    }
    TriboView q;
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
    for (int k = 0; k < q.count; ++k) {
      assert_true(isfinite(q.values[k]));
    }
    *stepped += i == 0;
  }
  tribo_data_destroy(data);
}

// Loads a damaged file and, as far as it goes, compiles and steps it.
static void run_case(const char* path, int* loaded, int* compiled, int* stepped) {
  FILE* file = fopen(path, "wb");
  assert_int_equal(fwrite(current.bytes, 1, current.n, file), current.n);
  fclose(file);
  TriboScene* scene = NULL;
  TriboModel* model = NULL;
  alarm(WATCHDOG);
  TriboStatus status = tribo_scene_load(path, NULL, &scene);
  assert_int_equal(status == TRIBO_OK, scene != NULL);
  if (status != TRIBO_OK) {
    // every complaint names the file
    if (strstr(tribo_last_error(), ending) == NULL && status != TRIBO_NOMEM) {
      print_error("no place in: %s\n", tribo_last_error());
      fail();
    }
  } else {
    (*loaded)++;
    CHECK_OK(tribo_scene_set(scene, "step_budget", 0.05));
    status = tribo_model_create(scene, &model);
    assert_int_equal(status == TRIBO_OK, model != NULL);
  }
  if (model != NULL) {
    (*compiled)++;
    step_a_little(model, stepped);
  }
  alarm(0);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
}

static int case_count;

static void fuzz(void** state) {
  (void)state;
  signal(SIGALRM, on_alarm);
  char path[64];
  snprintf(path, sizeof path, "/tmp/tribo-fuzz-XXXXXX%s", ending);
  close(mkstemps(path, (int)strlen(ending)));
  int loaded = 0, compiled = 0, stepped = 0;
  for (int i = 0; i < case_count; ++i) {
    KitRandom r = {(uint64_t)i * 7919 + 1};
    current = seeds[kit_int(&r, nseed)];
    mutate(&current, &r);
    run_case(path, &loaded, &compiled, &stepped);
  }
  unlink(path);
  print_message("%d mutated scenes: %d loaded, %d compiled, %d stepped\n", case_count, loaded, compiled, stepped);
  // a fuzz that refuses everything, or nothing, tests nothing; robots are read when the model is made
  assert_in_range(compiled, case_count / 20, case_count * 9 / 10);
  assert_true(stepped > case_count / 20);
}

int main(int argc, char** argv) {
  case_count = argc > 1 ? atoi(argv[1]) : 1000;
  ending = argc > 2 && strrchr(argv[2], '.') != NULL ? strrchr(argv[2], '.') : ending;
  if (strcmp(ending, ".yaml") == 0) {
    seeds[nseed].n = strlen(everything);
    memcpy(seeds[nseed++].bytes, everything, strlen(everything));
  }
  for (int i = 2; i < argc && nseed < 64; ++i) {
    FILE* file = fopen(argv[i], "rb");
    if (file == NULL) {
      return 2;
    }
    seeds[nseed].n = fread(seeds[nseed].bytes, 1, MOST_TEXT, file);
    nseed++;
    fclose(file);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(fuzz)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
