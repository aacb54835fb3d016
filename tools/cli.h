// The command line of `tribo`: commands, their flags, and parsing by table so that --help, the manual page and the
// parser cannot differ.
#pragma once

#include <stdio.h>
#include <tribo/tribo.h>

enum { EXIT_WELL = 0, EXIT_FAILED = 1, EXIT_INPUT = 2, EXIT_INTERNAL = 3, EXIT_INTERRUPTED = 130 };

enum { MOST_FLAGS = 40, MOST_SETS = 32, MOST_VARIES = 4 };

typedef struct Flag {
  const char* name;  // "--duration"
  const char* arg;   // "S", NULL: a switch
  const char* doc;
} Flag;

typedef struct Args Args;
typedef struct Command {
  const char* name;
  const char* usage;    // "SCENE [flags]"
  const char* summary;  // one line
  const Flag* flags;    // ends with {0}
  int least, most;      // positional arguments
  int (*run)(const Args* args);
} Command;

struct Args {
  const Command* command;
  const char* value[MOST_FLAGS];  // by index in the command's flags; "" for a switch that is set
  const char** positional;
  int npositional;
  const char* sets[MOST_SETS];  // --set key=value, in order
  int nset;
  const char* varies[MOST_VARIES];  // --vary key=a..b:n, in order
  int nvary;
};

extern const Command command_run, command_check, command_lab, command_info, command_solve, command_dump, command_bench,
    command_control, command_convert, command_id, command_plan, command_plot, command_render, command_solvers,
    command_sweep, command_version, command_view;
const Command* const* cli_commands(int* count);

// Flags and positional arguments of a command line, by the command's table. An exit code, complained about already.
int cli_parse(Args* args, int argc, char** argv);
// The value of a flag, NULL when it was not given.
const char* cli_value(const Args* args, const char* flag);
// A number in [min, max]; exits through *code with a sentence otherwise. Returns 0 when it is wrong.
int cli_number(const Args* args, const char* flag, double min, double max, double* out);

// The i-th --set KEY=NUMBER. Returns 0 and complains when it is something else.
int cli_set(const Args* args, int i, char* key, size_t size, double* value);

// The solvers that --solvers names, by commas, or all there are. An exit code, complained about already.
enum { CLI_SOLVER_NAME = 64 };
int cli_solvers(const Args* args, char names[][CLI_SOLVER_NAME], int most, int* count);

void cli_usage(FILE* to, const Command* command);

// "tribo: error: …" on stderr, and the exit code that fits the status.
int cli_complain(TriboStatus status);
// Closes a file that was written. An exit code, complained about already when something could not be written.
int cli_close(FILE* file, const char* path);
int cli_wrong(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Applies --dt, --duration, --solver, --tol, --threads, --step-budget and --set to a scene.
TriboStatus cli_configure(const Args* args, TriboScene* scene, int* wrong);
#define CLI_SCENE_FLAGS                                                                                   \
  {"--duration", "S", "simulated seconds, instead of the scene's"},                                       \
      {"--dt", "S", "time step, instead of the scene's"},                                                 \
      {"--solver", "ID", "solver, instead of the scene's; `tribo solvers` lists them"},                   \
      {"--tol", "T", "largest residual of a certified step [m/s]"}, {"--threads", "N", "worker threads"}, \
      {"--step-budget", "S", "wall time one step may take"},                                              \
      {"--set", "KEY=VALUE", "any world setting, solver.KEY or material.NAME.KEY; may be repeated"},      \
      {"--strict", NULL, "exit 1 when a step was not certified, 2 when the file was not taken in full"},  \
      {"--no-ground", NULL, "no ground under a robot file that has no world"},                            \
      {"--state", "NAME", "begin in a state that the scene (or a keyframe of the file) names"},           \
      {"--json", "FILE", "results for machines; - is standard output"}, {                                 \
    "--quiet", NULL, "no text for people"                                                                 \
  }
