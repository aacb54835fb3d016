// The pages: scene keys, commands, quantities, solvers.
#include "describe.h"
#include "plan/plan_problem.h"

#include <string.h>

#include "cli.h"

const char* describe_shape(TriboShapeKind kind) {
  static const char* const names[] = {"sphere",    "box",  "capsule", "cylinder",   "cone",
                                      "ellipsoid", "hull", "field",   "half-space", "height field"};
  return (int)kind >= 0 && kind < TRIBO_SHAPE_COUNT ? names[kind] : "?";
}

// A table cell: '|' would end it.
static void cell(FILE* to, const char* text) {
  fputs("| ", to);
  for (; *text != '\0'; ++text) {
    fputs(*text == '|' ? "\\" : "", to);
    fputc(*text, to);
  }
  fputc(' ', to);
}

static void scene_page(FILE* to) {
  fputs(
      "# Scene files\n\n"
      "A scene is one YAML file. It is read strictly: an unknown key, a wrong type or a value outside its range is an\n"
      "error with file, line and column. Numbers are in SI units; an angle may be written in degrees (`30 deg`).\n"
      "Aliases, anchors and tags are refused, and so are files above 16 MiB.\n",
      to);
  TriboFormatRow row;
  const char* last = "";
  for (int i = 0; tribo_scene_format(i, &row); ++i) {
    if (strcmp(row.section, last) != 0) {
      fprintf(to, "\n## %s\n\n%s\n\n| key | what | accepted | default | meaning |\n|---|---|---|---|---|\n",
              row.section, row.section_doc);
      last = row.section;
    }
    char key[64];
    snprintf(key, sizeof key, "`%s`", row.key);
    cell(to, key);
    cell(to, row.type);
    cell(to, row.range);
    cell(to, row.init);
    cell(to, row.doc);
    fputs("|\n", to);
  }
}

static void commands_page(FILE* to) {
  fputs(
      "# Commands\n\nExit codes: 0 well; 1 an expectation failed, or with `--strict` a step was not certified or a "
      "problem\n"
      "not solved; 2 wrong input or usage, unwritable file, no viewer or OpenGL; 3 internal; 130 interrupted by "
      "Ctrl-C, with the recorders "
      "flushed.\n",
      to);
  int n;
  const Command* const* commands = cli_commands(&n);
  for (int i = 0; i < n; ++i) {
    fprintf(to, "\n## tribo %s\n\n```\n", commands[i]->name);
    cli_usage(to, commands[i]);
    fputs("```\n", to);
  }
}

static void quantities_page(FILE* to) {
  fputs(
      "# Quantities\n\nNumbers of a simulation by name, for `expect:` and for the columns of `record:` (there as\n"
      "`body: quantity`, `joint: quantity` or the bare name for the world's).\n\n"
      "| of | quantity | unit | meaning |\n|---|---|---|---|\n",
      to);
  int n;
  const TriboQuantityInfo* list = tribo_quantity_list(&n);
  for (int i = 0; i < n; ++i) {
    fprintf(to, "| %s | `%s` | %s | %s |\n", list[i].of, list[i].name, list[i].unit, list[i].doc);
  }
}

// the last two columns of a table of settings
static void print_range(FILE* to, const TriboSetting* x) {
  fprintf(to, "%c%g, %g]%s%s | %s |\n", x->open_min ? '(' : '[', x->min, x->max, x->unit[0] ? " " : "", x->unit,
          x->doc);
}

static void solvers_page(FILE* to) {
  fputs("# Solvers\n\nChosen by `solver:` in a scene or by `--solver`; settings by `--set solver.KEY=VALUE`.\n", to);
  for (int i = 0; i < tribo_solver_count(); ++i) {
    const TriboSolverInfo* s = tribo_solver_info(i);
    fprintf(to, "\n## %s\n\n%s\n\n*%s*\n\n| setting | default | accepted | meaning |\n|---|---|---|---|\n", s->id,
            s->summary, s->reference);
    for (int k = 0; k < s->nsetting; ++k) {
      const TriboSetting* x = &s->settings[k];
      fprintf(to, "| `%s` | %g | ", x->name, x->init);
      print_range(to, x);
    }
  }
}

// the settings of a plan, with the value that either set of rules gives them
static void plan_settings_page(FILE* to) {
  PlanProblem* p;
  int count;
  const TriboSetting* x = tribo_plan_settings(&count);
  fputs(
      "# Settings of a plan\n\nBy `--set KEY=VALUE`, or `tribo_plan_set`; [planning.md](planning.md) tells what they "
      "do.\n\n",
      to);
  fputs("| setting | house | paper | accepted | meaning |\n|---|---|---|---|---|\n", to);
  if (plan_problem_create(&plan_transport, 2, 0, &p) != TRIBO_OK ||
      tribo_plan_use_rules(p->plan, TRIBO_PLAN_PAPER) != TRIBO_OK) {
    plan_problem_destroy(p);
    return;
  }
  for (int i = 0; i < count; ++i, ++x) {
    double paper = x->init;
    if (tribo_plan_get(p->plan, x->name, &paper) == TRIBO_OK) {
      fprintf(to, "| `%s` | %g | %g | ", x->name, x->init, paper);
      print_range(to, x);
    }
  }
  plan_problem_destroy(p);
}

static void qpcc_settings_page(FILE* to) {
  int count;
  const TriboSetting* x = tribo_qpcc_settings(&count);
  fputs(
      "# Settings of a QPCC\n\nOf `TriboQpccSettings`, and by `--set KEY=VALUE` for `tribo solve FILE.qpcc`; "
      "[task-control.md](task-control.md) tells what they do.\n\n",
      to);
  fputs("| setting | default | accepted | meaning |\n|---|---|---|---|\n", to);
  for (int i = 0; i < count; ++i, ++x) {
    fprintf(to, "| `%s` | %g | ", x->name, x->init);
    print_range(to, x);
  }
}

int describe_page(FILE* to, const char* topic) {
  static const struct {
    const char* name;
    void (*print)(FILE* to);
  } pages[] = {{"scene", scene_page},     {"commands", commands_page},           {"quantities", quantities_page},
               {"solvers", solvers_page}, {"plan-settings", plan_settings_page}, {"qpcc-settings", qpcc_settings_page}};
  for (size_t i = 0; i < sizeof pages / sizeof *pages; ++i) {
    if (strcmp(pages[i].name, topic) == 0) {
      pages[i].print(to);
      return 1;
    }
  }
  return 0;
}
