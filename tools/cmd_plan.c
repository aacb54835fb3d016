// `tribo plan`: motions through contact, found from naive guesses.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "interrupt.h"
#include "json.h"
#include "plan/scene_plan.h"

static const Flag flags[] = {
    {"--task", "N", "one of the problem's tasks, from 0; the default one when not given"},
    {"--tasks", NULL, "all of the problem's tasks, a line for each"},
    {"--stages", "N", "stages, instead of the problem's"},
    {"--step", "S", "time between stages, instead of the problem's"},
    {"--noise", "S", "standard deviation of what is added to the guess"},
    {"--seed", "N", "of the noise"},
    {"--rules", "NAME", "house (the default) or paper: Algorithm 1 with its Table I"},
    {"--set", "KEY=VALUE", "any setting of a plan (docs/planning.md); may be repeated"},
    {"--max-time", "S", "wall time after which the best plan so far is given"},
    {"--out", "FILE", "the plan as CSV: t, and the unknowns of each stage"},
    {"--history", "FILE", "cost, violation, radius of each iteration as CSV; `tribo plot` draws them"},
    {"--check", "SCENE", "play the plan in this scene, its efforts alone and with feedback on the driven joints"},
    {"--goal", "STATE", "of a scene: the state where its plan is to end"},
    {"--from", "STATE", "of a scene: where the plan begins, instead of where the scene does"},
    {"--motors", "A,B", "of a scene: the joints that are driven"},
    {"--contacts", "A,B", "of a scene: the bodies that may touch half-spaces"},
    {"--facets", "N", "of a scene: directions of friction, 2 (the default) or 4"},
    {"--weights", "Q,V,TAU",
     "of a scene: of the goal's positions and velocities, and of efforts, 100,10,1e-3 when not given"},
    {"--feedback", "K,D", "stiffness and damping of that feedback, 100,20 when not given"},
    {"--json", "FILE", "results for machines; - is standard output"},
    {"--quiet", NULL, "no text for people"},
    {0},
};

typedef struct Plan {
  PlanProblem* problem;
  const char* task;
  double* guess;
  TriboPlanResult result;
  TriboPlanResidual judged;
  PlanError error;
  int is_success;
} Plan;

// ---- setting up

static int list_problems(const char* name) {
  fprintf(stderr, "tribo: error: there is no problem '%s'; there are\n", name);
  for (int i = 0; i < plan_kind_count(); ++i) {
    fprintf(stderr, "  %-10s %s\n", plan_kind(i)->name, plan_kind(i)->summary);
  }
  return EXIT_INPUT;
}

// --rules, --set and --max-time
static int configure(const Args* args, TriboPlan* plan) {
  const char* rules = cli_value(args, "--rules");
  double most;
  if (rules != NULL && strcmp(rules, "house") != 0 && strcmp(rules, "paper") != 0) {
    return cli_wrong("--rules %s: there are 'house' and 'paper'", rules);
  }
  TriboStatus status =
      tribo_plan_use_rules(plan, rules != NULL && strcmp(rules, "paper") == 0 ? TRIBO_PLAN_PAPER : TRIBO_PLAN_HOUSE);
  for (int i = 0; status == TRIBO_OK && i < args->nset; ++i) {
    char key[128];
    double value;
    if (!cli_set(args, i, key, sizeof key, &value)) {
      return EXIT_INPUT;
    }
    status = tribo_plan_set(plan, key, value);
  }
  if (status == TRIBO_OK && cli_value(args, "--max-time") != NULL) {
    if (!cli_number(args, "--max-time", 1e-6, 1e6, &most)) {
      return EXIT_INPUT;
    }
    status = tribo_plan_set(plan, "max_time", most);
  }
  return status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
}

// a number that a flag gives, `init` when it is not there
static int number(const Args* args, const char* flag, double min, double max, double init, double* out) {
  *out = init;
  return cli_value(args, flag) == NULL || cli_number(args, flag, min, max, out);
}

// uniform numbers by xorshift, then Box and Muller
static double normal(unsigned long long* state) {
  double u[2];
  for (int i = 0; i < 2; ++i) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    u[i] = ((double)(*state >> 11) + 1) / 9007199254740993.0;
  }
  return sqrt(-2 * log(u[0])) * cos(2 * M_PI * u[1]);
}

static int guess(const Args* args, Plan* plan) {
  double size, seed;
  if (!number(args, "--noise", 0, 1e6, 0, &size) || !number(args, "--seed", 0, 1e9, 1, &seed)) {
    return EXIT_INPUT;
  }
  unsigned long long state = 88172645463325252ULL * (2 * (unsigned long long)seed + 1);
  plan_problem_guess(plan->problem, plan->guess);
  for (int i = 0; i < tribo_plan_unknowns(plan->problem->plan); ++i) {
    plan->guess[i] += size * normal(&state);
  }
  return EXIT_WELL;
}

// ---- solving

static int progress(const TriboPlanIteration* now, void* user) {
  if (user != NULL && now->iteration % 10 == 0) {
    if (now->iteration == 0) {
      fputs("iteration         cost    violation     radius       step    penalty\n", user);
    }
    fprintf(user, "%9d %12.6g %12.2e %10.2e %10.2e %10.0e\n", now->iteration, now->cost, now->violation, now->radius,
            now->step, now->penalty);
  }
  return interrupt_seen();
}

// Solves the problem as it is set up, and judges the answer.
static int solve(const Args* args, Plan* plan, FILE* text) {
  PlanProblem* p = plan->problem;
  const int code = guess(args, plan);
  if (code != EXIT_WELL) {
    return code;
  }
  interrupt_watch();
  TriboStatus status = tribo_plan_solve(p->plan, plan->guess, progress, text, &plan->result);
  interrupt_unwatch();
  status = status == TRIBO_OK ? tribo_plan_residual(p->plan, plan->result.z, &plan->judged) : status;
  if (status != TRIBO_OK) {
    return cli_complain(status);
  }
  plan->is_success = plan_problem_success(p, plan->result.z, plan->judged.violation, &plan->error);
  return EXIT_WELL;
}

// ---- telling

static void print_solve(const TriboPlanResult* r, const TriboPlanResidual* judged, FILE* to) {
  fprintf(to, "\n%-14s %s\n", "outcome", tribo_plan_outcome_name(r->outcome));
  fprintf(to, "%-14s %.8g\n", "cost", r->cost);
  fprintf(to, "%-14s %.2e", "violation", judged->violation);
  fprintf(to, *judged->row != '\0' ? ", worst: %s at stage %d\n" : "\n", judged->row, judged->stage);
  fprintf(to, "%-14s %.2e: what the model still promises within a radius of 1e-3\n", "stationarity", r->stationarity);
  fprintf(to, "%-14s smallest radius %.2e, last step %.2e, cost is %s\n", "conditions", r->least_radius, r->step,
          judged->is_convex ? "convex" : "NOT CONVEX");
  fprintf(to, "%-14s %d steps, %d taken, %d corrected; penalties grew %d times to %g\n", "work", r->iterations,
          r->accepted, r->corrections, r->growths, r->penalty);
  fprintf(to, "%-14s %d convex problems, %d Newton steps, %d inexact\n", "", r->qps, r->qp_iterations, r->qp_failures);
  fprintf(to, "%-14s %.3f s of processor time\n", "time", r->time);
}

static void print_goal(const Plan* plan, FILE* to) {
  fprintf(to, "%-14s position %.3g m, angle %.3g rad, velocity %.3g m/s, turning %.3g rad/s: %s\n", "goal",
          plan->error.position, plan->error.angle, plan->error.velocity, plan->error.turning,
          plan->is_success ? "reached" : "missed");
}

static void write_solve(Json* json, const TriboPlanResult* r, const TriboPlanResidual* judged) {
  json_text(json, "outcome", tribo_plan_outcome_name(r->outcome));
  json_real(json, "cost", r->cost);
  json_real(json, "violation", judged->violation);
  json_text(json, "worst_row", judged->row);
  json_int(json, "worst_stage", judged->stage);
  json_real(json, "stationarity", r->stationarity);
  json_int(json, "iterations", r->iterations);
  json_int(json, "convex_problems", r->qps);
  json_int(json, "newton_steps", r->qp_iterations);
  json_int(json, "inexact", r->qp_failures);
  json_real(json, "penalty", r->penalty);
  json_real(json, "least_radius", r->least_radius);
  json_real(json, "time", r->time);
}

static void write_result(Json* json, const Plan* plan) {
  json_text(json, "problem", plan->problem->kind->name);
  json_text(json, "task", plan->task);
  write_solve(json, &plan->result, &plan->judged);
  json_bool(json, "reached", plan->is_success);
  json_real(json, "position_error", plan->error.position);
  json_real(json, "angle_error", plan->error.angle);
  json_real(json, "velocity_error", plan->error.velocity);
  json_real(json, "turning_error", plan->error.turning);
}

static FILE* open_output(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  return file;
}

// t and the unknowns, a line for each stage
static int write_plan(const Plan* plan, const char* path) {
  const PlanKind* kind = plan->problem->kind;
  FILE* file = open_output(path);
  if (file == NULL) {
    return EXIT_INPUT;
  }
  fputs("t,", file);
  for (const char* c = kind->unknowns; *c != '\0'; ++c) {
    fputc(*c == ' ' ? ',' : *c, file);
  }
  for (int k = 0; k < plan->problem->stages; ++k) {
    fprintf(file, "\n%.9g", k * plan->problem->h);
    for (int j = 0; j < kind->nz; ++j) {
      fprintf(file, ",%.17g", plan->result.z[k * kind->nz + j]);
    }
  }
  fputc('\n', file);
  return cli_close(file, path);
}

static int write_history(const TriboPlanResult* result, const char* path) {
  FILE* file = open_output(path);
  if (file == NULL) {
    return EXIT_INPUT;
  }
  fputs("iteration,cost,merit,violation,radius,step,ratio,penalty,accepted\n", file);
  for (int i = 0; i < result->iterations; ++i) {
    const TriboPlanIteration* h = &result->history[i];
    fprintf(file, "%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%d\n", h->iteration, h->cost, h->merit, h->violation,
            h->radius, h->step, h->ratio, h->penalty, h->was_accepted);
  }
  return cli_close(file, path);
}

// ---- the exact engine

static void tell_check(const PlanCheck* c, const char* how, FILE* text, Json* json) {
  if (text != NULL) {
    fprintf(
        text,
        "%-14s off by %.2g m, rad and %.2g m/s, rad/s at most, %.2g and %.2g at the end; %ld of %ld steps certified\n",
        how, c->position, c->velocity, c->last_position, c->last_velocity, c->certified, c->steps);
  }
  if (json != NULL) {
    json_begin(json, how, '{');
    json_real(json, "position_off", c->position);
    json_real(json, "velocity_off", c->velocity);
    json_real(json, "position_off_end", c->last_position);
    json_real(json, "velocity_off_end", c->last_velocity);
    json_int(json, "steps", c->steps);
    json_int(json, "certified_steps", c->certified);
    json_end(json, '}');
  }
}

// Plays a motion twice and tells how far the simulated ones are off.
static int check(const Args* args, const PlanMotion* motion, const char* scene, FILE* text, Json* json) {
  const char* gains = cli_value(args, "--feedback");
  double stiffness = 100, damping = 20;
  char rest;
  if (gains != NULL && (sscanf(gains, "%lf,%lf%c", &stiffness, &damping, &rest) != 2 || !(stiffness >= 0) ||
                        !(damping >= 0) || !isfinite(stiffness + damping))) {
    return cli_wrong("--feedback %s: two numbers ≥ 0 are wanted, as 100,20", gains);
  }
  for (int pass = 0; pass < 2; ++pass) {
    PlanCheck found;
    const TriboStatus status = plan_check(motion, scene, pass * stiffness, pass * damping, NULL, &found);
    if (status != TRIBO_OK) {
      return found.trouble[0] != '\0' ? cli_wrong("%s: %s", scene, found.trouble) : cli_complain(status);
    }
    tell_check(&found, pass ? "feedback" : "open loop", text, json);
  }
  return EXIT_WELL;
}

static int check_problem(const Args* args, const Plan* plan, FILE* text, Json* json) {
  if (plan->problem->kind->joints[0].name == NULL) {
    return cli_wrong("--check: %s is quasi-static or without masses, no scene plays it", plan->problem->kind->name);
  }
  const PlanMotion motion = plan_problem_motion(plan->problem, plan->result.z);
  return check(args, &motion, cli_value(args, "--check"), text, json);
}

// ---- one task, or all of them

static int solved_code(const TriboPlanResult* result) {
  if (result->outcome == TRIBO_PLAN_USER) {
    return EXIT_INTERRUPTED;
  }
  return result->outcome == TRIBO_PLAN_SOLVED ? EXIT_WELL : EXIT_FAILED;
}

static int run_one(const Args* args, Plan* plan, FILE* text, Json* json) {
  const char *out = cli_value(args, "--out"), *history = cli_value(args, "--history");
  int code = solve(args, plan, text);
  if (code != EXIT_WELL) {
    return code;
  }
  if (text != NULL) {
    print_solve(&plan->result, &plan->judged, text);
    print_goal(plan, text);
  }
  if (json != NULL) {
    write_result(json, plan);
  }
  code = cli_value(args, "--check") != NULL ? check_problem(args, plan, text, json) : EXIT_WELL;
  code = code == EXIT_WELL && out != NULL ? write_plan(plan, out) : code;
  code = code == EXIT_WELL && history != NULL ? write_history(&plan->result, history) : code;
  return code == EXIT_WELL ? solved_code(&plan->result) : code;
}

// A line for each task; the first that is not solved gives the exit code.
static int run_tasks(const Args* args, Plan* plan, FILE* text, Json* json) {
  PlanProblem* p = plan->problem;
  int worst = EXIT_WELL, count = 0, reached = 0;
  if (json != NULL) {
    json_begin(json, "tasks", '[');
  }
  for (char name[64]; p->kind->task(count, p->start, p->goal, name) && worst != EXIT_INTERRUPTED; ++count) {
    plan->task = name;
    const int code = solve(args, plan, NULL);
    if (code != EXIT_WELL) {
      return code;
    }
    if (text != NULL) {
      fprintf(text, "%-26s %-11s %-8s cost %11.6g  violation %8.1e  %4d steps  %7.3f s\n", name,
              tribo_plan_outcome_name(plan->result.outcome), plan->is_success ? "reached" : "missed", plan->result.cost,
              plan->judged.violation, plan->result.iterations, plan->result.time);
    }
    if (json != NULL) {
      json_begin(json, NULL, '{');
      write_result(json, plan);
      json_end(json, '}');
    }
    reached += plan->is_success;
    worst = worst == EXIT_WELL || solved_code(&plan->result) == EXIT_INTERRUPTED ? solved_code(&plan->result) : worst;
  }
  if (text != NULL) {
    fprintf(text, "%d of %d tasks end at their goal\n", reached, count);
  }
  if (json != NULL) {
    json_end(json, ']');
  }
  return worst;
}

// Sets the problem up by the flags and runs what they ask for.
static int work(const Args* args, Plan* plan) {
  const char *name = args->positional[0], *path = cli_value(args, "--json");
  const PlanKind* kind = plan_kind_find(name);
  const int all = cli_value(args, "--tasks") != NULL;
  double stages, step, task;
  char task_name[64] = "default";
  if (kind == NULL) {
    return list_problems(name);
  }
  if (!number(args, "--stages", 2, 100000, kind->stages, &stages) ||
      !number(args, "--step", 1e-6, 1e3, kind->h, &step) || !number(args, "--task", 0, 1000, -1, &task)) {
    return EXIT_INPUT;
  }
  const TriboStatus status = plan_problem_create(kind, (int)stages, step, &plan->problem);
  if (status != TRIBO_OK) {
    return cli_complain(status);
  }
  PlanProblem* p = plan->problem;
  if ((all || task >= 0) &&
      (kind->task == NULL || (task >= 0 && !kind->task((int)task, p->start, p->goal, task_name)))) {
    return cli_wrong("%s has no %s", name, all ? "list of tasks" : "such task");
  }
  plan->task = task_name;
  plan->guess = calloc((size_t)tribo_plan_unknowns(p->plan), sizeof(double));
  int code = plan->guess != NULL ? configure(args, p->plan) : EXIT_INTERNAL;
  if (code != EXIT_WELL) {
    return code;
  }
  FILE* text = cli_value(args, "--quiet") == NULL && (path == NULL || strcmp(path, "-") != 0) ? stdout : NULL;
  Json json;
  if (path != NULL) {
    if (!json_open(&json, path)) {
      return EXIT_INPUT;
    }
    json_begin(&json, NULL, '{');
  }
  code = all ? run_tasks(args, plan, text, path != NULL ? &json : NULL)
             : run_one(args, plan, text, path != NULL ? &json : NULL);
  if (path != NULL) {
    json_end(&json, '}');
    code = json_close(&json, path) ? code : EXIT_INPUT;
  }
  return code;
}

// ---- scenes

// what the flags say about a scene's plan
static int read_def(const Args* args, ScenePlanDef* def) {
  const char* weights = cli_value(args, "--weights");
  double stages, facets;
  char rest;
  *def = (ScenePlanDef){.start = cli_value(args, "--from"),
                        .goal = cli_value(args, "--goal"),
                        .motors = cli_value(args, "--motors"),
                        .contacts = cli_value(args, "--contacts")};
  if (def->goal == NULL) {
    return cli_wrong("the plan of a scene needs --goal STATE");
  }
  if (!number(args, "--stages", 2, 100000, 50, &stages) || !number(args, "--step", 1e-6, 1e3, 0.02, &def->h) ||
      !number(args, "--facets", 2, 4, 2, &facets)) {
    return EXIT_INPUT;
  }
  def->stages = (int)stages, def->facets = facets > 2 ? 4 : 2;
  def->position = 100, def->velocity = 10, def->effort = 1e-3;
  if (weights != NULL && (sscanf(weights, "%lf,%lf,%lf%c", &def->position, &def->velocity, &def->effort, &rest) != 3 ||
                          !(def->position >= 0 && def->velocity >= 0 && def->effort >= 0) ||
                          !isfinite(def->position + def->velocity + def->effort))) {
    return cli_wrong("--weights %s: three numbers ≥ 0 are wanted, as 100,10,1e-3", weights);
  }
  return EXIT_WELL;
}

// Solves the plan of a scene, plays it there, and tells.
static int solve_scene(const Args* args, ScenePlan* scene, FILE* text, Json* json) {
  const char *path = args->positional[0], *out = cli_value(args, "--out"), *history = cli_value(args, "--history");
  TriboPlan* plan = scene_plan_of(scene);
  TriboPlanResult r;
  TriboPlanResidual judged;
  double* z0 = calloc((size_t)tribo_plan_unknowns(plan), sizeof *z0);
  double position, velocity;
  int code = z0 != NULL ? configure(args, plan) : EXIT_INTERNAL;
  if (code == EXIT_WELL) {
    scene_plan_guess(scene, z0);
    interrupt_watch();
    TriboStatus status = tribo_plan_solve(plan, z0, progress, text, &r);
    interrupt_unwatch();
    status = status == TRIBO_OK ? tribo_plan_residual(plan, r.z, &judged) : status;
    code = status == TRIBO_OK ? EXIT_WELL : cli_complain(status);
  }
  free(z0);
  if (code != EXIT_WELL) {
    return code;
  }
  const PlanMotion motion = scene_plan_motion(scene, r.z);
  scene_plan_error(scene, r.z + (motion.stages - 1) * motion.nz, &position, &velocity);
  if (text != NULL) {
    print_solve(&r, &judged, text);
    fprintf(text, "%-14s off by %.3g m, rad and %.3g m/s, rad/s\n", "goal", position, velocity);
  }
  if (json != NULL) {
    json_text(json, "scene", path);
    write_solve(json, &r, &judged);
    json_real(json, "position_error", position);
    json_real(json, "velocity_error", velocity);
  }
  code = cli_value(args, "--check") != NULL ? check(args, &motion, cli_value(args, "--check"), text, json) : EXIT_WELL;
  code = code == EXIT_WELL && out != NULL ? scene_plan_write(scene, r.z, out) : code;
  code = code == EXIT_WELL && history != NULL ? write_history(&r, history) : code;
  return code == EXIT_WELL ? solved_code(&r) : code;
}

// `tribo plan SCENE`
static int run_scene(const Args* args) {
  const char* path = cli_value(args, "--json");
  ScenePlanDef def;
  TriboScene* scene = NULL;
  TriboModel* model = NULL;
  ScenePlan* plan = NULL;
  char error[256] = "";
  Json json;
  int code = read_def(args, &def);
  if (code != EXIT_WELL) {
    return code;
  }
  TriboStatus status = tribo_scene_load(args->positional[0], NULL, &scene);
  status = status == TRIBO_OK ? tribo_model_create(scene, &model) : status;
  status = status == TRIBO_OK ? scene_plan_create(model, &def, &plan, error) : status;
  if (status != TRIBO_OK) {
    code = error[0] != '\0' ? cli_wrong("%s: %s", args->positional[0], error) : cli_complain(status);
  } else if (path != NULL && !json_open(&json, path)) {
    code = EXIT_INPUT;
  } else {
    FILE* text = cli_value(args, "--quiet") == NULL && (path == NULL || strcmp(path, "-") != 0) ? stdout : NULL;
    if (path != NULL) {
      json_begin(&json, NULL, '{');
    }
    code = solve_scene(args, plan, text, path != NULL ? &json : NULL);
    if (path != NULL) {
      json_end(&json, '}');
      code = json_close(&json, path) ? code : EXIT_INPUT;
    }
  }
  scene_plan_destroy(plan);
  tribo_model_destroy(model);
  tribo_scene_destroy(scene);
  return code;
}

static int run_plan(const Args* args) {
  if (strchr(args->positional[0], '.') != NULL) {
    return run_scene(args);
  }
  Plan plan = {0};
  const int code = work(args, &plan);
  free(plan.guess);
  plan_problem_destroy(plan.problem);
  return code;
}

const Command command_plan = {
    "plan", "PROBLEM | SCENE [flags]", "a motion through contact, found from a naive guess", flags, 1, 1, run_plan};
