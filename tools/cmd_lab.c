// `tribo lab`: the physics lab. Runs every scene of a folder and prints one table: what closed forms say, and what the
// engine does.
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json.h"
#include "lab_page.h"

static const Flag flags[] = {
    {"--html", "FILE", "the same as one page, with what the scenes say and plots"}, CLI_SCENE_FLAGS, {0}};

typedef struct Lab {
  const Args* args;
  Json* json;     // NULL: none
  LabPage* page;  // NULL: none
  int quiet;
  int scenes, facts, held;
  double simulated, wall;
} Lab;

// ---- which scenes

static int is_folder(const char* path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static int is_scene(const struct dirent* entry) {
  const char* dot = strrchr(entry->d_name, '.');
  return dot != NULL && strcmp(dot, ".yaml") == 0;
}

// The lab that comes with the program: beside the sources it was built from, or where it was installed.
static const char* own_lab(void) {
  static const char* const places[] = {"scenes/lab", TRIBO_SOURCE_SCENES "/lab", TRIBO_INSTALLED_SCENES "/lab"};
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    if (is_folder(places[i])) {
      return places[i];
    }
  }
  return NULL;
}

// ---- one scene

// The expectations of a scene beside what was measured.
static int print_facts(Lab* lab, const Simulation* sim, const char* name) {
  int code = EXIT_WELL;
  for (int i = 0; i < tribo_judge_count(sim->judge); ++i) {
    TriboVerdict v;
    if (tribo_judge_verdict(sim->judge, i, &v) != TRIBO_OK) {
      return EXIT_INTERNAL;
    }
    lab->facts++;
    lab->held += v.held;
    code = v.held ? code : EXIT_FAILED;
    if (!lab->quiet) {
      printf("%-18s %-50s %-26s %16.9g %9.1e  %s\n", i == 0 ? name : "", v.quantity, v.expected, v.measured, v.error,
             v.held ? "held" : "FAILED");
    }
    if (lab->json != NULL) {
      json_begin(lab->json, NULL, '{');
      json_text(lab->json, "scene", name);
      json_text(lab->json, "quantity", v.quantity);
      json_text(lab->json, "expected", v.expected);
      json_real(lab->json, "measured", v.measured);
      json_real(lab->json, "error", v.error);
      json_real(lab->json, "tolerance", v.tolerance);
      json_bool(lab->json, "held", v.held);
      json_end(lab->json, '}');
    }
  }
  return code;
}

// Runs one scene and keeps its facts for the page.
static int run_scene(Lab* lab, const char* path) {
  const char* base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
  Simulation sim;
  int code = simulation_open(lab->args, path, &sim);
  if (code == EXIT_WELL && tribo_judge_create(sim.model, &sim.judge) != TRIBO_OK) {
    code = EXIT_INTERNAL;
  }
  if (code == EXIT_WELL && lab->page != NULL && !lab_page_watch(lab->page, &sim)) {
    code = EXIT_INTERNAL;
  }
  code = code == EXIT_WELL ? simulation_run(&sim, !lab->quiet) : code;
  if (code == EXIT_WELL) {
    lab->scenes++;
    lab->simulated += sim.totals.time;
    lab->wall += sim.totals.wall;
    code = sim.totals.interrupted ? EXIT_INTERRUPTED : print_facts(lab, &sim, name);
    if (lab->page != NULL) {
      lab_page_scene(lab->page, &sim, name);
    }
    if (code == EXIT_WELL && cli_value(lab->args, "--strict") != NULL && sim.totals.certified < sim.totals.steps) {
      code = EXIT_FAILED;
    }
  }
  simulation_close(&sim);
  return code;
}

// A folder's scenes in the order of their names; the worst outcome counts.
static int run_folder(Lab* lab, const char* folder) {
  struct dirent** entries;
  int n = scandir(folder, &entries, is_scene, alphasort), worst = EXIT_WELL;
  if (n < 0) {
    return cli_wrong("%s: cannot be read as a folder", folder);
  }
  if (n == 0) {
    worst = cli_wrong("%s: holds no scene (*.yaml)", folder);
  }
  for (int i = 0; i < n; ++i) {
    char path[4096];
    int fits = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path;
    if (worst != EXIT_INTERRUPTED) {
      int code = fits ? run_scene(lab, path) : cli_wrong("%s: the path is too long", folder);
      worst = code > worst ? code : worst;
    }
    free(entries[i]);
  }
  free(entries);
  return worst;
}

// ---- the command

// All scenes of the lab, or those named.
static int run(const Args* args) {
  const char *path = cli_value(args, "--json"), *html = cli_value(args, "--html");
  Json json;
  Lab lab = {.args = args, .json = path != NULL ? &json : NULL};
  lab.quiet = cli_value(args, "--quiet") != NULL || (path != NULL && strcmp(path, "-") == 0);
  const char* own[] = {own_lab()};
  const char* const* places = args->npositional > 0 ? args->positional : own;
  int count = args->npositional > 0 ? args->npositional : 1, worst = EXIT_WELL;
  if (places[0] == NULL) {
    return cli_wrong("the lab's scenes are not where they were installed; name a folder");
  }
  for (int i = 0; i < count; ++i) {
    if (access(places[i], R_OK) != 0) {
      return cli_wrong("%s: neither a folder nor a scene that can be read", places[i]);
    }
  }
  if (path != NULL && !json_open(&json, path)) {
    return EXIT_INPUT;
  }
  if (html != NULL && (lab.page = lab_page_open()) == NULL) {
    return EXIT_INTERNAL;
  }
  if (path != NULL) {
    json_begin(&json, NULL, '[');
  }
  if (!lab.quiet) {
    printf("%-18s %-50s %-26s %16s %9s\n", "scene", "quantity", "expected", "measured", "error");
  }
  for (int i = 0; i < count && worst != EXIT_INTERRUPTED; ++i) {
    int code = is_folder(places[i]) ? run_folder(&lab, places[i]) : run_scene(&lab, places[i]);
    worst = code > worst ? code : worst;
  }
  char summary[160];
  snprintf(summary, sizeof summary, "%d of %d facts of %d scenes held; %.0f s simulated in %.1f s", lab.held, lab.facts,
           lab.scenes, lab.simulated, lab.wall);
  if (!lab.quiet) {
    puts(summary);
  }
  if (lab.page != NULL && !lab_page_close(lab.page, html, summary)) {
    worst = EXIT_INPUT;
  }
  if (path != NULL) {
    json_end(&json, ']');
    worst = json_close(&json, path) ? worst : EXIT_INPUT;
  }
  return worst;
}

const Command command_lab = {"lab",
                             "[FOLDER | SCENE]… [flags]",
                             "run the physics lab: closed forms against the engine, in one table",
                             flags,
                             0,
                             1 << 20,
                             run};
