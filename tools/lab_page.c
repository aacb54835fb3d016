// The page, from its style to the plot of each quantity.
#include "lab_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

enum { PLOTS = 3, POINTS = 600, NAME = 160 };

struct LabPage {
  FILE* body;  // in memory, until the summary is known
  char* text;
  size_t size;
  // of the scene that runs
  TriboRecorder* columns;
  char names[PLOTS][NAME];
  int nplot;
  double values[1 + PLOTS][POINTS + 2];
  int count;
  long long every, seen;
};

LabPage* lab_page_open(void) {
  LabPage* page = calloc(1, sizeof *page);
  if (page != NULL && (page->body = open_memstream(&page->text, &page->size)) == NULL) {
    free(page);
    return NULL;
  }
  return page;
}

// ---- while a scene runs

static TriboStatus seen(Simulation* sim, void* user) {
  LabPage* page = user;
  double row[1 + PLOTS];
  if (page->seen++ % page->every != 0 || page->count >= POINTS + 2) {
    return TRIBO_OK;
  }
  TriboStatus status = tribo_recorder_row(page->columns, sim->data, row);
  for (int i = 0; i <= page->nplot; ++i) {
    page->values[i][page->count] = row[i];
  }
  page->count++;
  return status;
}

// What a fact is about, "ball: velocity.x", from "ball: velocity.x (change), at 0.15 s"; steps themselves are no plot.
static void add_plot(LabPage* page, const char* fact) {
  char name[NAME];
  size_t n = strcspn(fact, ",");
  snprintf(name, sizeof name, "%.*s", (int)n, fact);
  char* change = strstr(name, " (change)");
  if (change != NULL) {
    *change = '\0';
  }
  int known = strcmp(name, "certified") == 0 || page->nplot == PLOTS;
  for (int i = 0; i < page->nplot; ++i) {
    known |= strcmp(page->names[i], name) == 0;
  }
  if (!known) {
    memcpy(page->names[page->nplot++], name, sizeof name);
  }
}

int lab_page_watch(LabPage* page, Simulation* sim) {
  page->nplot = page->count = 0;
  page->seen = 0;
  page->every = sim->steps / POINTS + 1;
  for (int i = 0; i < tribo_judge_count(sim->judge); ++i) {
    TriboVerdict v;
    if (tribo_judge_verdict(sim->judge, i, &v) == TRIBO_OK) {
      add_plot(page, v.quantity);
    }
  }
  const char* quantities[PLOTS];
  for (int i = 0; i < page->nplot; ++i) {
    quantities[i] = page->names[i];
  }
  // (without any fact to plot, the time alone)
  static const char* const time[] = {"time"};
  TriboRecordDef def = {.every = 1, .quantities = quantities, .nquantity = page->nplot};
  if (page->nplot == 0) {
    def.quantities = time;
    def.nquantity = 1;
  }
  if (tribo_recorder_open(sim->model, &def, &page->columns) != TRIBO_OK) {
    return 0;
  }
  sim->seen = seen;
  sim->user = page;
  return 1;
}

// ---- after it

// The comment a scene opens with: what must happen, and why.
static void print_comment(FILE* f, const char* path) {
  FILE* scene = fopen(path, "r");
  char* line = NULL;
  size_t size = 0;
  fputs("<p>", f);
  while (scene != NULL && getline(&line, &size, scene) > 0 && line[0] == '#') {
    svg_text(f, line + 1 + (line[1] == ' '));
  }
  fputs("</p>\n", f);
  free(line);
  if (scene != NULL) {
    fclose(scene);
  }
}

static void print_facts(FILE* f, const Simulation* sim) {
  fputs("<table><tr><th>quantity</th><th>expected</th><th>measured</th><th>error</th><th></th></tr>\n", f);
  for (int i = 0; i < tribo_judge_count(sim->judge); ++i) {
    TriboVerdict v;
    if (tribo_judge_verdict(sim->judge, i, &v) != TRIBO_OK) {
      continue;
    }
    fprintf(f, "<tr class=\"%s\"><td>", v.held ? "held" : "failed");
    svg_text(f, v.quantity);
    fputs("</td><td>", f);
    svg_text(f, v.expected);
    fprintf(f, "</td><td>%.10g</td><td>%.1e</td><td>%s</td></tr>\n", v.measured, v.error, v.held ? "held" : "FAILED");
  }
  fputs("</table>\n", f);
}

void lab_page_scene(LabPage* page, const Simulation* sim, const char* name) {
  FILE* f = page->body;
  fprintf(f, "<h2>%s</h2>\n", name);
  print_comment(f, sim->path);
  print_facts(f, sim);
  SvgCurve curves[PLOTS];
  SvgPanel panels[PLOTS];
  for (int i = 0; i < page->nplot; ++i) {
    curves[i] = (SvgCurve){page->names[i], page->values[0], page->values[1 + i], page->count};
    panels[i] =
        (SvgPanel){.title = page->names[i], .x_label = "time [s]", .y_label = " ", .curves = &curves[i], .count = 1};
  }
  if (page->nplot > 0) {
    svg_print(f, panels, page->nplot);
  }
  if (tribo_recorder_close(page->columns) != TRIBO_OK) {
    fputs("<p>the plot is cut short</p>\n", f);
  }
  page->columns = NULL;
}

int lab_page_close(LabPage* page, const char* path, const char* summary) {
  int good = fclose(page->body) == 0;
  FILE* f = good ? fopen(path, "w") : NULL;
  if (f != NULL) {
    fputs(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Tribo: the physics lab</title>\n<style>"
        "body{font:15px/1.45 sans-serif;max-width:80em;margin:2em auto;padding:0 1em}"
        "table{border-collapse:collapse;margin:.5em 0}td,th{padding:.15em .8em;text-align:left;border-bottom:1px solid "
        "#ddd}td:nth-child(n+3){font-variant-numeric:tabular-nums}.failed{background:#fdd}</style>\n"
        "<h1>The physics lab</h1>\n<p>",
        f);
    svg_text(f, summary);
    fputs("</p>\n", f);
    good = fwrite(page->text, 1, page->size, f) == page->size;
    fputs("</html>\n", f);
    good = !ferror(f) && good;
    good = fclose(f) == 0 && good;
  }
  if (f == NULL || !good) {
    cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  free(page->text);
  if (page->columns != NULL && tribo_recorder_close(page->columns) != TRIBO_OK) {
    good = 0;
  }
  free(page);
  return f != NULL && good;
}
