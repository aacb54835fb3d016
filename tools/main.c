// `tribo`: one program, several commands. Their list, help, and the entry.
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "describe.h"

static int run_help(const Args* args);
static const Flag no_flags[] = {{0}};
static const Command command_help = {"help",
                                     "[COMMAND | scene | commands | quantities]",
                                     "help on a command, or a reference page in Markdown",
                                     no_flags,
                                     0,
                                     1,
                                     run_help};
static const Command* const commands[] = {
    &command_run,     &command_check, &command_lab,     &command_info,    &command_solve, &command_dump,
    &command_bench,   &command_sweep, &command_view,    &command_render,  &command_plot,  &command_id,
    &command_control, &command_plan,  &command_convert, &command_solvers, &command_help,  &command_version};
enum { COMMANDS = sizeof commands / sizeof *commands };

const Command* const* cli_commands(int* count) {
  *count = COMMANDS;
  return commands;
}

static void overview(FILE* to) {
  fputs("usage: tribo COMMAND …\nRigid multibody simulation with exact frictional contact.\n\ncommands:\n", to);
  for (int i = 0; i < COMMANDS; ++i) {
    fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
  }
  fputs("\n`tribo COMMAND --help` tells its flags.\n", to);
}

static const Command* find_command(const char* name) {
  for (int i = 0; i < COMMANDS; ++i) {
    if (strcmp(commands[i]->name, name) == 0) {
      return commands[i];
    }
  }
  return NULL;
}

static int run_help(const Args* args) {
  if (args->npositional == 0) {
    overview(stdout);
    return EXIT_WELL;
  }
  const char* topic = args->positional[0];
  if (describe_page(stdout, topic)) {
    return EXIT_WELL;
  }
  const Command* command = find_command(topic);
  if (command == NULL) {
    return cli_wrong("there is no command '%s'; `tribo help` lists them", topic);
  }
  cli_usage(stdout, command);
  return EXIT_WELL;
}

int main(int argc, char** argv) {
  // one BLAS thread, also before the library is told: its own threads would only stand in the way
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (argc < 2) {
    overview(stderr);
    return EXIT_INPUT;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    overview(stdout);
    return EXIT_WELL;
  }
  const Command* command = find_command(strcmp(argv[1], "--version") == 0 ? "version" : argv[1]);
  if (command == NULL) {
    return cli_wrong("there is no command '%s'; `tribo help` lists them", argv[1]);
  }
  for (int i = 2; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      cli_usage(stdout, command);
      return EXIT_WELL;
    }
  }
  Args args = {.command = command, .positional = calloc((size_t)argc, sizeof(char*))};
  if (args.positional == NULL) {
    return EXIT_INTERNAL;
  }
  int code = cli_parse(&args, argc - 2, argv + 2);
  code = code == EXIT_WELL ? command->run(&args) : code;
  free(args.positional);
  return code;
}
