// What the suite's runs come to: profiles and tables, as text, CSV, JSON and one page of HTML.
//
// The profile of a solver s for a metric t (Dolan and Moré 2002): the fraction of problems for which its t is within τ
// times the least of all solvers, ρ_s(τ) = |{p : t_ps ≤ τ min t_p}| / |P|. Residuals below what a solve was asked for
// count as that, so that digits of rounding rank nobody; who has not come to 1e-4 does not count at all in times.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_suite.h"
#include "json.h"
#include "svg.h"

static const double ASKED = 1e-10;  // [m/s], the default of `tol`; J and N·s alike

static double dual_of(const SuiteRun* r) {
  return fmax(r->dual, ASKED);
}
static double comp_of(const SuiteRun* r) {
  return fmax(r->comp, ASKED);
}
static double raw_of(const SuiteRun* r) {
  return fmax(r->natmap_raw, ASKED);
}
static double nat_of(const SuiteRun* r) {
  return fmax(r->nat, ASKED);
}
static double coarse_time_of(const SuiteRun* r) {
  return r->time_to[0];
}
static double fine_time_of(const SuiteRun* r) {
  return r->time_to[SUITE_TOLERANCES - 1];
}
static double iterations_of(const SuiteRun* r) {
  return r->natmap_unit <= suite_tolerances[0] ? fmax(r->iterations, 1) : INFINITY;
}

const SuiteMetric suite_metrics[SUITE_METRICS] = {
    {"dual residual", "m/s", dual_of},      {"complementarity", "J", comp_of},   {"natural map, plain", "N s", raw_of},
    {"natural map, scaled", "m/s", nat_of}, {"time to 1e-8", "s", fine_time_of}, {"time to 1e-4", "s", coarse_time_of},
    {"iterations", "", iterations_of},
};
// Metrics that a solver leads by being right; the others are of its cost.
enum { EXACT_METRICS = 4, FINE_TIME = 4 };

static int is_counted(const SuiteSample* sample, int category, int start) {
  return (category < 0 || (int)sample->problem.category == category) && isfinite(sample->runs[start][0].natmap_unit);
}

double suite_profile(const Suite* s, int category, int start, int metric, int solver, double factor, int* count) {
  int within = 0;
  *count = 0;
  for (int i = 0; i < s->nsample; ++i) {
    const SuiteSample* sample = &s->samples[i];
    double best = INFINITY;
    if (!is_counted(sample, category, start)) {
      continue;
    }
    for (int k = 0; k < s->nsolver; ++k) {
      best = fmin(best, suite_metrics[metric].of(&sample->runs[start][k]));
    }
    const double own = suite_metrics[metric].of(&sample->runs[start][solver]);
    within += isfinite(own) && own <= factor * best;
    ++*count;
  }
  return *count > 0 ? (double)within / *count : 0;
}

static int solved(const Suite* s, int start, int solver, int tolerance, int* count) {
  int n = 0;
  *count = 0;
  for (int i = 0; i < s->nsample; ++i) {
    if (is_counted(&s->samples[i], -1, start)) {
      n += s->samples[i].runs[start][solver].natmap_unit <= suite_tolerances[tolerance];
      ++*count;
    }
  }
  return n;
}

int suite_first_leads(const Suite* s, char* says, size_t size) {
  for (int start = 0; start < SUITE_STARTS; ++start) {
    int count;
    const int n = solved(s, start, 0, SUITE_TOLERANCES - 1, &count);
    if (n < count) {
      snprintf(says, size, "%s solves %d of %d problems to %g", s->solvers[0], n, count,
               suite_tolerances[SUITE_TOLERANCES - 1]);
      return 0;
    }
    for (int category = -1; category < SUITE_CATEGORIES; ++category) {
      for (int metric = 0; metric <= FINE_TIME; ++metric) {
        const double own = suite_profile(s, category, start, metric, 0, 1, &count);
        for (int k = 1; k < s->nsolver; ++k) {
          const double other = suite_profile(s, category, start, metric, k, 1, &count);
          if (other > own) {
            snprintf(says, size, "%s is best on %.0f %% of %s (%s, %s start), %s on %.0f %%", s->solvers[k],
                     100 * other, category < 0 ? "all problems" : suite_category_names[category],
                     suite_metrics[metric].name, start == SUITE_COLD ? "cold" : "warm", s->solvers[0], 100 * own);
            return 0;
          }
        }
      }
    }
  }
  return 1;
}

// Geometric mean of what is above 0 and finite over the samples that count; NAN: none.
static double mean_of(const Suite* s, int start, int solver, double (*of)(const SuiteRun*)) {
  double sum = 0;
  int n = 0;
  for (int i = 0; i < s->nsample; ++i) {
    const double x = of(&s->samples[i].runs[start][solver]);
    if (is_counted(&s->samples[i], -1, start) && isfinite(x) && x > 0) {
      sum += log(x);
      n++;
    }
  }
  return n > 0 ? exp(sum / n) : NAN;
}

static double jump_of(const SuiteRun* r) {
  return isnan(r->jump) ? INFINITY : r->jump;
}

// ---- text

static int count_of(const Suite* s, int category) {
  int n = 0;
  for (int i = 0; i < s->nsample; ++i) {
    n += is_counted(&s->samples[i], category, SUITE_COLD);
  }
  return n;
}

// A mean; a dash where there is none.
static void print_mean(const char* format, double mean) {
  char text[32] = "-";
  if (!isnan(mean)) {
    snprintf(text, sizeof text, format, mean);
  }
  printf(" %12s", text);
}

void suite_print(const Suite* s) {
  printf("%d systems, %d problems:", s->nsystem, s->nsample);
  for (int c = 0; c < SUITE_CATEGORIES; ++c) {
    printf("%s %d of %s", c > 0 ? "," : "", count_of(s, c), suite_category_names[c]);
  }
  printf("\n\n");
  for (int start = 0; start < SUITE_STARTS; ++start) {
    int count;
    solved(s, start, 0, 0, &count);
    printf("%s start, %d problems\n%-14s %8s %8s %8s %12s %12s %12s   best on %% of problems, by",
           start == SUITE_COLD ? "cold" : "warm", count, "solver", "1e-4", "1e-6", "1e-8", "us to 1e-8", "iterations",
           "jump [N]");
    for (int m = 0; m <= FINE_TIME; ++m) {
      printf("%s %s", m > 0 ? "," : "", suite_metrics[m].name);
    }
    printf("\n");
    for (int k = 0; k < s->nsolver; ++k) {
      printf("%-14s", s->solvers[k]);
      for (int t = 0; t < SUITE_TOLERANCES; ++t) {
        printf(" %8d", solved(s, start, k, t, &count));
      }
      print_mean("%.1f", 1e6 * mean_of(s, start, k, fine_time_of));
      print_mean("%.1f", mean_of(s, start, k, iterations_of));
      print_mean("%.2g", start == SUITE_WARM ? mean_of(s, start, k, jump_of) : NAN);
      printf("  ");
      for (int m = 0; m <= FINE_TIME; ++m) {
        printf(" %5.1f", 100 * suite_profile(s, -1, start, m, k, 1, &count));
      }
      printf("\n");
    }
    printf("\n");
  }
}

// ---- CSV, JSON

int suite_write_csv(const Suite* s, const char* path) {
  FILE* f = fopen(path, "w");
  if (f == NULL) {
    return cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  fputs(
      "system,step,category,bodies,joints,limits,contacts,rows,d_j,d_c,d_jlc,joint_rows,joint_rank,condition,mass_"
      "ratio,solver,start,"
      "natmap_unit,dual,comp,natmap_raw,nat,objective,force_jump,iterations,time_s,time_to_1e-4_s,time_to_1e-6_s,time_"
      "to_1e-8_s\n",
      f);
  for (int i = 0; i < s->nsample; ++i) {
    const SuiteSample* sample = &s->samples[i];
    const SuiteProblem* p = &sample->problem;
    for (int start = 0; start < SUITE_STARTS; ++start) {
      for (int k = 0; k < s->nsolver && is_counted(sample, -1, start); ++k) {
        const SuiteRun* r = &sample->runs[start][k];
        fprintf(f, "%s,%lld,%s,%d,%d,%d,%d,%d,%.6g,%.6g,%.6g,%d,%d,%.6g,%.9g,%s,%s,", s->systems[sample->system].name,
                sample->step + start, suite_category_names[p->category], p->bodies, p->joints, p->limits, p->contacts,
                p->rows, p->dj, p->dc, p->djlc, p->joint_rows, p->joint_rank, p->condition, p->mass_ratio,
                s->solvers[k], start == SUITE_COLD ? "cold" : "warm");
        fprintf(f, "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d,%.9g,%.9g,%.9g,%.9g\n", r->natmap_unit, r->dual, r->comp,
                r->natmap_raw, r->nat, r->objective, r->jump, r->iterations, r->time, r->time_to[0], r->time_to[1],
                r->time_to[2]);
      }
    }
  }
  return cli_close(f, path);
}

static void write_solver(Json* json, const Suite* s, int start, int category, int solver) {
  int count;
  json_begin(json, NULL, '{');
  json_text(json, "solver", s->solvers[solver]);
  json_text(json, "start", start == SUITE_COLD ? "cold" : "warm");
  json_text(json, "category", category < 0 ? "all" : suite_category_names[category]);
  json_begin(json, "best_on", '{');
  for (int m = 0; m < SUITE_METRICS; ++m) {
    json_real(json, suite_metrics[m].name, suite_profile(s, category, start, m, solver, 1, &count));
  }
  json_end(json, '}');
  json_int(json, "problems", count);
  if (category < 0) {
    json_begin(json, "solved", '{');
    json_int(json, "1e-4", solved(s, start, solver, 0, &count));
    json_int(json, "1e-6", solved(s, start, solver, 1, &count));
    json_int(json, "1e-8", solved(s, start, solver, 2, &count));
    json_end(json, '}');
    json_real(json, "us_to_1e-8", 1e6 * mean_of(s, start, solver, fine_time_of));
    json_real(json, "iterations", mean_of(s, start, solver, iterations_of));
    json_real(json, "force_jump", mean_of(s, start, solver, jump_of));
  }
  json_end(json, '}');
}

int suite_write_json(const Suite* s, const char* path) {
  Json json;
  if (!json_open(&json, path)) {
    return EXIT_INPUT;
  }
  json_begin(&json, NULL, '{');
  json_int(&json, "systems", s->nsystem);
  json_int(&json, "problems", s->nsample);
  json_begin(&json, "categories", '{');
  for (int c = 0; c < SUITE_CATEGORIES; ++c) {
    json_int(&json, suite_category_names[c], count_of(s, c));
  }
  json_end(&json, '}');
  json_begin(&json, "results", '[');
  for (int start = 0; start < SUITE_STARTS; ++start) {
    for (int c = -1; c < SUITE_CATEGORIES; ++c) {
      for (int k = 0; k < s->nsolver && (c < 0 || count_of(s, c) > 0); ++k) {
        write_solver(&json, s, start, c, k);
      }
    }
  }
  json_end(&json, ']');
  json_end(&json, '}');
  return json_close(&json, path) ? EXIT_WELL : EXIT_INPUT;
}

// ---- HTML

// The profiles of all metrics, side by side.
static int print_profiles(FILE* f, const Suite* s, int category, int start) {
  enum { POINTS = 81 };
  double* memory = calloc((size_t)(SUITE_METRICS * s->nsolver * POINTS + POINTS), sizeof *memory);
  SvgCurve* curves = calloc((size_t)(SUITE_METRICS * s->nsolver), sizeof *curves);
  SvgPanel panels[SUITE_METRICS];
  if (memory == NULL || curves == NULL) {
    free(memory);
    free(curves);
    return 0;
  }
  for (int i = 0; i < POINTS; ++i) {
    memory[i] = pow(10, 4.0 * i / (POINTS - 1));
  }
  for (int m = 0; m < SUITE_METRICS; ++m) {
    for (int k = 0; k < s->nsolver; ++k) {
      double* y = memory + POINTS * (1 + m * s->nsolver + k);
      int count;
      for (int i = 0; i < POINTS; ++i) {
        y[i] = suite_profile(s, category, start, m, k, memory[i], &count);
      }
      curves[m * s->nsolver + k] = (SvgCurve){s->solvers[k], memory, y, POINTS};
    }
    panels[m] = (SvgPanel){.title = suite_metrics[m].name,
                           .x_label = "times the best",
                           .y_label = "fraction of problems",
                           .log_x = 1,
                           .curves = curves + m * s->nsolver,
                           .count = s->nsolver};
  }
  for (int m = 0; m < SUITE_METRICS; m += 4) {
    svg_print(f, panels + m, SUITE_METRICS - m < 4 ? SUITE_METRICS - m : 4);
  }
  free(memory);
  free(curves);
  return 1;
}

static void print_systems(FILE* f, const Suite* s) {
  fputs("<h2>Systems</h2>\n<div class=\"systems\">\n", f);
  for (int i = 0; i < s->nsystem; ++i) {
    fputs("<figure>", f);
    if (s->systems[i].picture != NULL) {
      fprintf(f, "<img alt=\"\" src=\"%s\">", s->systems[i].picture);
    }
    fputs("<figcaption><b>", f);
    svg_text(f, s->systems[i].name);
    fputs("</b> ", f);
    svg_text(f, s->systems[i].says);
    fputs("</figcaption></figure>\n", f);
  }
  fputs("</div>\n", f);
}

// What each solver solves, how fast, and where it leads.
static void print_table(FILE* f, const Suite* s, int start) {
  int count;
  solved(s, start, 0, 0, &count);
  fprintf(f,
          "<table><tr><th>solver</th><th>to 1e-4, of %d</th><th>1e-6</th><th>1e-8</th><th>µs to "
          "1e-8</th><th>iterations</th>%s",
          count, start == SUITE_WARM ? "<th>jump of forces [N]</th>" : "");
  for (int m = 0; m < SUITE_METRICS; ++m) {
    fprintf(f, "<th>best: %s</th>", suite_metrics[m].name);
  }
  fputs("</tr>\n", f);
  for (int k = 0; k < s->nsolver; ++k) {
    fprintf(f, "<tr><td>%s</td>", s->solvers[k]);
    for (int t = 0; t < SUITE_TOLERANCES; ++t) {
      fprintf(f, "<td>%d</td>", solved(s, start, k, t, &count));
    }
    fprintf(f, "<td>%.1f</td><td>%.1f</td>", 1e6 * mean_of(s, start, k, fine_time_of),
            mean_of(s, start, k, iterations_of));
    if (start == SUITE_WARM) {
      fprintf(f, "<td>%.2g</td>", mean_of(s, start, k, jump_of));
    }
    for (int m = 0; m < SUITE_METRICS; ++m) {
      fprintf(f, "<td>%.0f %%</td>", 100 * suite_profile(s, -1, start, m, k, 1, &count));
    }
    fputs("</tr>\n", f);
  }
  fputs("</table>\n", f);
}

int suite_write_html(const Suite* s, const char* path) {
  FILE* f = fopen(path, "w");
  int good = f != NULL;
  if (!good) {
    return cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  fprintf(f,
          "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Tribo: the suite of "
          "mechanisms</title>\n<style>"
          "body{font:15px/1.45 sans-serif;max-width:110em;margin:2em auto;padding:0 "
          "1em}table{border-collapse:collapse;margin:.5em 0}"
          "td,th{padding:.15em .8em;text-align:left;border-bottom:1px solid "
          "#ddd}td:nth-child(n+2){font-variant-numeric:tabular-nums}"
          ".systems{display:flex;flex-wrap:wrap;gap:1em}figure{width:320px;margin:0}figcaption{font-size:13px}img{"
          "width:320px}</style>\n"
          "<h1>The suite of mechanisms</h1>\n<p>%d problems of the steps of %d systems, each solved from nothing and, "
          "one step on, from "
          "the solver's own answer. Residuals are recomputed from raw data; those below %g count as that. A profile "
          "says for which "
          "fraction of the problems a solver is within so many times the best (Dolan and Moré 2002).</p>\n",
          s->nsample, s->nsystem, ASKED);
  print_systems(f, s);
  for (int start = 0; start < SUITE_STARTS && good; ++start) {
    fprintf(f, "<h2>%s start</h2>\n", start == SUITE_COLD ? "Cold" : "Warm");
    print_table(f, s, start);
    for (int c = -1; c < SUITE_CATEGORIES && good; ++c) {
      int count;
      suite_profile(s, c, start, 0, 0, 1, &count);
      if (count > 0) {
        fprintf(f, "<h3>%s: %d problems</h3>\n", c < 0 ? "all" : suite_category_names[c], count);
        good = print_profiles(f, s, c, start);
      }
    }
  }
  fputs("</html>\n", f);
  const int code = cli_close(f, path);
  return good ? code : EXIT_INTERNAL;
}
