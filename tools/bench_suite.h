// `tribo bench suite`: its parts. Solvers on contact problems of the steps of mechanisms, cold and warm, in the
// categories and by the metrics of Tsounis, Grandia, Baecher 2025 (§VII); performance profiles as Dolan and Moré have
// them.
#pragma once

#include "cli.h"

// ---- suite_problem.c: what a problem is like

// §VII-C: by contacts, joints, and how many rows there are for what can move.
typedef enum SuiteCategory {
  SUITE_INDEPENDENT_JOINTS,  // no contact; all rows of joints say something of their own
  SUITE_REDUNDANT_JOINTS,    // no contact; some do not
  SUITE_DENSE_JOINTS,        // and there are as many as velocities, or more
  SUITE_SINGLE_CONTACT,
  SUITE_SPARSE_CONTACTS,    // at most two for each body
  SUITE_DENSE_CONTACTS,     // more
  SUITE_DENSE_CONSTRAINTS,  // contacts and joints, with more rows than velocities
  SUITE_CATEGORIES
} SuiteCategory;
extern const char* const suite_category_names[SUITE_CATEGORIES];

typedef struct SuiteProblem {
  int bodies, joints, limits, contacts, rows;  // joints: cones of bilateral rows
  int joint_rows, joint_rank;                  // rank of the joints' rows in the metric of the mass
  double dj, dc, djlc;                         // rows of joints, three for each contact, all rows: over 6 bodies
  double condition;                            // of G on the rows that are independent, as a pivoted QR estimates it
  double mass_ratio;                           // of bodies that move
  SuiteCategory category;
} SuiteProblem;

SuiteCategory suite_category(const SuiteProblem* p);  // of the counts
// 0: no memory.
int suite_describe(const TriboProblem* problem, int bodies, double mass_ratio, SuiteProblem* out);

// ---- cmd_bench_suite.c, suite_report.c

enum { SUITE_MOST_SOLVERS = 24, SUITE_TOLERANCES = 3, SUITE_STARTS = 2, SUITE_NAME = CLI_SOLVER_NAME };
extern const double suite_tolerances[SUITE_TOLERANCES];  // of natmap_unit
enum { SUITE_COLD, SUITE_WARM };

// One solve, judged from raw data.
typedef struct SuiteRun {
  double dual, comp, natmap_raw, nat, natmap_unit, objective;
  double jump;                       // largest change of a force since the step before [N, N m]; NAN: rows came or went
  double time;                       // [s]
  double time_to[SUITE_TOLERANCES];  // INFINITY: not reached
  int iterations;
} SuiteRun;

typedef struct SuiteSample {
  int system;
  long long step;
  SuiteProblem problem;  // of the cold start; the warm one is the next step's
  SuiteRun runs[SUITE_STARTS][SUITE_MOST_SOLVERS];
} SuiteSample;

typedef struct SuiteSystem {
  char name[SUITE_NAME], says[400];
  int bodies, joints;
  char* picture;  // a data: address for HTML, or NULL
} SuiteSystem;

typedef struct Suite {
  char solvers[SUITE_MOST_SOLVERS][SUITE_NAME];
  int nsolver;
  SuiteSystem* systems;
  int nsystem;
  SuiteSample* samples;
  int nsample;
} Suite;

// The metrics by which solvers are ranked. What is better than was asked for counts as that.
enum { SUITE_METRICS = 7 };
typedef struct SuiteMetric {
  const char *name, *unit;
  double (*of)(const SuiteRun* run);
} SuiteMetric;
extern const SuiteMetric suite_metrics[SUITE_METRICS];

// Fraction of the samples of a category (−1: all) for which a solver is within `factor` of the best; count: how many.
double suite_profile(const Suite* s, int category, int start, int metric, int solver, double factor, int* count);
// Whether the first solver leads every profile at factor 1 and has solved all to the last tolerance; else *says why.
int suite_first_leads(const Suite* s, char* says, size_t size);
void suite_print(const Suite* s);
// 0 or an exit code, complained about already.
int suite_write_csv(const Suite* s, const char* path);
int suite_write_json(const Suite* s, const char* path);
int suite_write_html(const Suite* s, const char* path);

int bench_suite(const Args* args);
