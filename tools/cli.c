// The command line of every command: complaints, usage, flags by table, and the settings that flags give a scene.
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- messages

int cli_wrong(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("tribo: error: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return EXIT_INPUT;
}

int cli_complain(TriboStatus status) {
  cli_wrong("%s", tribo_last_error());
  return status == TRIBO_INTERNAL || status == TRIBO_NOMEM || status == TRIBO_NUMERIC ? EXIT_INTERNAL : EXIT_INPUT;
}

int cli_close(FILE* file, const char* path) {
  const int bad = ferror(file);
  return fclose(file) == 0 && !bad ? EXIT_WELL : cli_wrong("%s: writing failed", path);
}

void cli_usage(FILE* to, const Command* command) {
  fprintf(to, "usage: tribo %s %s\n%s\n", command->name, command->usage, command->summary);
  if (command->flags[0].name != NULL) {
    fputs("\nflags:\n", to);
  }
  for (const Flag* f = command->flags; f->name != NULL; ++f) {
    char left[48];
    snprintf(left, sizeof left, "%s%s%s", f->name, f->arg != NULL ? " " : "", f->arg != NULL ? f->arg : "");
    fprintf(to, "  %-24s %s\n", left, f->doc);
  }
}

// ---- parsing

const char* cli_value(const Args* args, const char* flag) {
  for (int i = 0; args->command->flags[i].name != NULL; ++i) {
    if (strcmp(args->command->flags[i].name, flag) == 0) {
      return args->value[i];
    }
  }
  return NULL;
}

static int parse_number(const char* text, double* out) {
  char* end;
  *out = strtod(text, &end);
  return end != text && *end == '\0' && !isnan(*out);
}

int cli_number(const Args* args, const char* flag, double min, double max, double* out) {
  const char* text = cli_value(args, flag);
  if (text == NULL) {
    return 1;
  }
  if (!parse_number(text, out) || *out < min || *out > max) {
    cli_wrong("%s %s: accepted is a number in [%g, %g]", flag, text, min, max);
    return 0;
  }
  return 1;
}

int cli_set(const Args* args, int i, char* key, size_t size, double* value) {
  const char* equals = strchr(args->sets[i], '=');
  if (equals == NULL || equals - args->sets[i] >= (long)size || !parse_number(equals + 1, value)) {
    cli_wrong("--set %s: accepted is KEY=NUMBER", args->sets[i]);
    return 0;
  }
  snprintf(key, size, "%.*s", (int)(equals - args->sets[i]), args->sets[i]);
  return 1;
}

// One flag at argv[*i]; a value may follow it or stand behind '='.
static int parse_flag(Args* args, char** argv, int argc, int* i) {
  const char* word = argv[*i];
  const char* equals = strchr(word, '=');
  size_t n = equals != NULL ? (size_t)(equals - word) : strlen(word);
  for (int f = 0; args->command->flags[f].name != NULL; ++f) {
    const Flag* flag = &args->command->flags[f];
    if (strlen(flag->name) != n || strncmp(flag->name, word, n) != 0) {
      continue;
    }
    const char* value = "";
    if (flag->arg == NULL && equals != NULL) {
      return cli_wrong("%s takes no value", flag->name);
    }
    if (flag->arg != NULL) {
      value = equals != NULL ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
      if (value == NULL) {
        return cli_wrong("%s needs a value: %s %s", flag->name, flag->name, flag->arg);
      }
    }
    if (strcmp(flag->name, "--set") == 0) {
      if (args->nset == MOST_SETS) {
        return cli_wrong("--set: more than %d of them", MOST_SETS);
      }
      args->sets[args->nset++] = value;
    }
    if (strcmp(flag->name, "--vary") == 0) {
      if (args->nvary == MOST_VARIES) {
        return cli_wrong("--vary: more than %d of them", MOST_VARIES);
      }
      args->varies[args->nvary++] = value;
    }
    args->value[f] = value;
    return EXIT_WELL;
  }
  return cli_wrong("unknown flag '%s'; `tribo %s --help` lists them", word, args->command->name);
}

int cli_parse(Args* args, int argc, char** argv) {
  int nflag = 0;
  while (args->command->flags[nflag].name != NULL) {
    nflag++;
  }
  if (nflag > MOST_FLAGS) {
    cli_wrong("%s has %d flags, and there is room for %d", args->command->name, nflag, MOST_FLAGS);
    return EXIT_INTERNAL;
  }
  for (int i = 0; i < argc; ++i) {
    if (argv[i][0] == '-' && argv[i][1] == '-') {
      int code = parse_flag(args, argv, argc, &i);
      if (code != EXIT_WELL) {
        return code;
      }
    } else {
      args->positional[args->npositional++] = argv[i];
    }
  }
  if (args->npositional < args->command->least || args->npositional > args->command->most) {
    cli_usage(stderr, args->command);
    return cli_wrong("%s: %d argument%s given", args->command->name, args->npositional,
                     args->npositional == 1 ? "" : "s");
  }
  return EXIT_WELL;
}

static TriboStatus configure_world(const Args* args, TriboScene* scene, int* wrong) {
  TriboWorldDef world = *tribo_scene_world(scene);
  double threads = world.threads;
  *wrong = !cli_number(args, "--dt", 1e-12, 1, &world.dt) || !cli_number(args, "--tol", 1e-300, 1, &world.tol) ||
           !cli_number(args, "--duration", 1e-12, 1e9, &world.duration) ||
           !cli_number(args, "--step-budget", 0, 1e9, &world.step_budget) ||
           !cli_number(args, "--threads", 1, 256, &threads);
  world.threads = (int)threads;
  const char* solver = cli_value(args, "--solver");
  if (solver != NULL) {
    snprintf(world.solver, sizeof world.solver, "%s", solver);
  }
  return *wrong ? TRIBO_INVALID : tribo_scene_set_world(scene, &world);
}

TriboStatus cli_configure(const Args* args, TriboScene* scene, int* wrong) {
  TriboStatus status = configure_world(args, scene, wrong);
  for (int i = 0; i < args->nset && status == TRIBO_OK; ++i) {
    char key[80];
    double value;
    if (!cli_set(args, i, key, sizeof key, &value)) {
      *wrong = 1;
      return TRIBO_INVALID;
    }
    status = tribo_scene_set(scene, key, value);
  }
  const char* state = cli_value(args, "--state");
  return status == TRIBO_OK && state != NULL ? tribo_scene_start_at(scene, state) : status;
}

int cli_solvers(const Args* args, char names[][CLI_SOLVER_NAME], int most, int* count) {
  const char* list = cli_value(args, "--solvers");
  *count = 0;
  if (list == NULL) {
    for (; *count < tribo_solver_count() && *count < most; ++*count) {
      snprintf(names[*count], CLI_SOLVER_NAME, "%s", tribo_solver_info(*count)->id);
    }
  }
  while (list != NULL && *list != '\0') {
    const size_t n = strcspn(list, ",");
    if (*count == most) {
      return cli_wrong("--solvers: more than %d of them", most);
    }
    snprintf(names[*count], CLI_SOLVER_NAME, "%.*s", (int)n, list);
    if (tribo_solver_find(names[(*count)++]) == NULL) {
      return cli_wrong("--solvers: there is no solver '%.*s'; `tribo solvers` lists them", (int)n, list);
    }
    list += n + (list[n] == ',');
  }
  return *count > 0 ? EXIT_WELL : cli_wrong("--solvers: none given");
}
