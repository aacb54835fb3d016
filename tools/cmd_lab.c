// `tribo lab`: the physics lab. Runs every scene of a folder and prints one table: what closed forms say, and what the
// engine does; with --peers, how far MuJoCo is from the same facts.
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_scenes.h"
#include "json.h"
#include "lab_page.h"
#include "lab_peer.h"
#include "own_scenes.h"

static const Flag flags[] = {
    {"--html", "FILE", "the same as one page, with what the scenes say and plots"},
    {"--peers", NULL,
     "errors of MuJoCo beside ours, by semi-implicit Euler and by its rk4, on scenes that it can be given number for "
     "number; - where it has no such quantity"},
    CLI_SCENE_FLAGS,
    {0}};

typedef struct Lab {
  const Args* args;
  Json* json;     // NULL: none
  LabPage* page;  // NULL: none
  int quiet, peers;
  int scenes, facts, held, given;
  double simulated, wall;
} Lab;

// ---- one scene

// An error of a peer; "-" where there is none to tell.
static void print_error(double error) {
  char text[24] = "-";
  if (!isnan(error)) {
    snprintf(text, sizeof text, "%.1e", error);
  }
  printf(" %9s", text);
}

static void print_fact(const char* name, const TriboVerdict* v, const LabPeer* peer, int i) {
  printf("%-18s %-50s %-26s %16.9g %9.1e ", name, v->quantity, v->expected, v->measured, v->error);
  for (int k = 0; k < (peer != NULL ? LAB_PEERS : 0); ++k) {
    print_error(peer->facts[k][i].error);
  }
  puts(v->held ? " held" : " FAILED");
}

static void write_fact(Json* json, const char* name, const TriboVerdict* v, const LabPeer* peer, int i) {
  json_begin(json, NULL, '{');
  json_text(json, "scene", name);
  json_text(json, "quantity", v->quantity);
  json_text(json, "expected", v->expected);
  json_real(json, "measured", v->measured);
  json_real(json, "error", v->error);
  json_real(json, "tolerance", v->tolerance);
  json_bool(json, "held", v->held);
  for (int k = 0; k < (peer != NULL ? LAB_PEERS : 0); ++k) {
    char key[40];
    json_real(json, lab_peer_names[k], peer->facts[k][i].measured);
    snprintf(key, sizeof key, "%s_error", lab_peer_names[k]);
    json_real(json, key, peer->facts[k][i].error);
  }
  json_end(json, '}');
}

// The expectations of a scene beside what was measured. peer NULL: none.
static int print_facts(Lab* lab, const Simulation* sim, const char* name, const LabPeer* peer) {
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
      print_fact(i == 0 ? name : "", &v, peer, i);
    }
    if (lab->json != NULL) {
      write_fact(lab->json, name, &v, peer, i);
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
  LabPeer peer = {0};
  int code = simulation_open(lab->args, path, &sim);
  if (code == EXIT_WELL && tribo_judge_create(sim.model, &sim.judge) != TRIBO_OK) {
    code = EXIT_INTERNAL;
  }
  if (code == EXIT_WELL && lab->page != NULL && !lab_page_watch(lab->page, &sim)) {
    code = EXIT_INTERNAL;
  }
  code = code == EXIT_WELL && lab->peers ? lab_peer_run(&sim, &peer) : code;
  code = code == EXIT_WELL ? simulation_run(&sim, !lab->quiet) : code;
  if (code == EXIT_WELL) {
    lab->scenes++;
    lab->given += peer.given;
    lab->simulated += sim.totals.time;
    lab->wall += sim.totals.wall;
    code = sim.totals.interrupted ? EXIT_INTERRUPTED : print_facts(lab, &sim, name, lab->peers ? &peer : NULL);
    if (lab->page != NULL) {
      lab_page_scene(lab->page, &sim, name);
    }
    if (code == EXIT_WELL && cli_value(lab->args, "--strict") != NULL && sim.totals.certified < sim.totals.steps) {
      code = EXIT_FAILED;
    }
  }
  lab_peer_free(&peer);
  simulation_close(&sim);
  return code;
}

// A folder's scenes in the order of their names; the worst outcome counts.
static int run_folder(Lab* lab, const char* folder) {
  struct dirent** entries;
  int n = scandir(folder, &entries, is_scene_entry, alphasort), worst = EXIT_WELL;
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
  lab.peers = cli_value(args, "--peers") != NULL;
  lab.quiet = cli_value(args, "--quiet") != NULL || (path != NULL && strcmp(path, "-") == 0);
  const char* own[] = {own_scenes("lab")};
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
  char program[4096];
  if (lab.peers && !peer_find(program, sizeof program)) {
    return EXIT_INPUT;
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
    printf("%-18s %-50s %-26s %16s %9s", "scene", "quantity", "expected", "measured", "error");
    puts(lab.peers ? "     mujoco       rk4" : "");
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
    if (lab.peers) {
      printf("MuJoCo could be given %d of %d scenes number for number; it has no restitution, which becomes a spring\n",
             lab.given, lab.scenes);
    }
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
