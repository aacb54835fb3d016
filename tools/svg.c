// Ticks, axes, curves and legends as elements of SVG.
#include "svg.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 420, HEIGHT = 300, LEFT = 64, TOP = 30, BOTTOM = 44, RIGHT = 16, LINE = 16, COLOURS = 10 };

static const char* const colours[COLOURS] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd",
                                             "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"};

typedef struct Axis {
  int log;
  double lo, hi;
  double from, to;  // on the paper
} Axis;

static double place(const Axis* a, double v) {
  v = a->log ? log10(v) : v;
  return a->from + (v - a->lo) / (a->hi - a->lo) * (a->to - a->from);
}

// does the axis have a place for it?
static int shown(const Axis* a, double v) {
  return isfinite(v) && (!a->log || v > 0);
}

static void widen(Axis* a, const double* v, int count) {
  for (int i = 0; i < count; ++i) {
    if (shown(a, v[i])) {
      double x = a->log ? log10(v[i]) : v[i];
      a->lo = fmin(a->lo, x);
      a->hi = fmax(a->hi, x);
    }
  }
}

static void settle(Axis* a) {
  if (!(a->lo <= a->hi)) {
    a->lo = 0, a->hi = 1;
  }
  if (a->log) {
    a->lo = floor(a->lo), a->hi = ceil(a->hi);
  }
  // what does not change is drawn in the middle; so is what changes by rounding only
  double least = fmax(1e-12 * fmax(fabs(a->lo), fabs(a->hi)), 1e-15);
  if (!a->log && !(a->hi - a->lo > least)) {
    double middle = 0.5 * (a->lo + a->hi), half = middle != 0 ? 0.5 * fabs(middle) : 1;
    a->lo = middle - half, a->hi = middle + half;
  }
  a->hi = a->hi > a->lo ? a->hi : a->lo + 1;
}

void svg_text(FILE* f, const char* words) {
  for (const char* c = words; *c != '\0'; ++c) {
    fputs(*c == '&' ? "&amp;" : *c == '<' ? "&lt;" : "", f);
    if (*c != '&' && *c != '<') {
      fputc(*c, f);
    }
  }
}

static void text(FILE* f, double x, double y, const char* anchor, const char* format, const char* value) {
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  char words[160];
  snprintf(words, sizeof words, format, value);
  svg_text(f, words);
  fputs("</text>\n", f);
}

// 1, 2 or 5 times a power of ten, not below x.
static double round_step(double x) {
  double power = pow(10, floor(log10(x))), fraction = x / power;
  return power * (fraction <= 1 ? 1 : fraction <= 2 ? 2 : fraction <= 5 ? 5 : 10);
}

static void ticks(FILE* f, const Axis* x, const Axis* y) {
  for (int side = 0; side < 2; ++side) {
    const Axis* a = side ? y : x;
    double step = a->log ? ceil((a->hi - a->lo) / 6) : round_step((a->hi - a->lo) / 5);
    double first = a->log ? a->lo : step * ceil(a->lo / step);
    int count = (int)((a->hi - first) / step + 1e-9);
    for (int i = 0; i <= count; ++i) {
      char label[32];
      double v = first + i * step;
      v = fabs(v) < 1e-9 * step ? 0 : v;
      double at = place(a, a->log ? pow(10, v) : v);
      snprintf(label, sizeof label, a->log ? "1e%.0f" : "%.4g", v);
      fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", side ? x->from : at,
              side ? at : y->from, side ? x->to : at, side ? at : y->to);
      if (side) {
        text(f, x->from - 6, at + 4, "end", "%s", label);
      } else {
        text(f, at, y->from + 16, "middle", "%s", label);
      }
    }
  }
}

static double width_of(const SvgPanel* p) {
  return p->wide ? 2 * WIDTH : WIDTH;
}

// One panel: frame, grid, ticks and curves.
static void panel(FILE* f, const SvgPanel* p, double shift) {
  const double width = width_of(p);
  Axis x = {p->log_x, INFINITY, -INFINITY, shift + LEFT, shift + width - RIGHT};
  Axis y = {p->log_y, INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP};
  for (int c = 0; c < p->count; ++c) {
    widen(&x, p->curves[c].x, p->curves[c].count);
    widen(&y, p->curves[c].y, p->curves[c].count);
  }
  settle(&x);
  settle(&y);
  ticks(f, &x, &y);
  text(f, shift + width / 2, TOP - 10, "middle", "%s", p->title);
  text(f, shift + width / 2, HEIGHT - 8, "middle", "%s", p->x_label);
  fprintf(f, "<g transform=\"translate(%.1f,%d) rotate(-90)\">", shift + 14, HEIGHT / 2);
  text(f, 0, 0, "middle", "%s", p->y_label);
  fputs("</g>\n", f);
  for (int c = 0; c < p->count; ++c) {
    fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s points=\"", colours[c % COLOURS],
            c >= COLOURS ? " stroke-dasharray=\"5 3\"" : "");
    for (int i = 0; i < p->curves[c].count; ++i) {
      if (shown(&x, p->curves[c].x[i]) && shown(&y, p->curves[c].y[i])) {
        fprintf(f, "%.2f,%.2f ", place(&x, p->curves[c].x[i]), place(&y, p->curves[c].y[i]));
      }
    }
    fputs("\"/>\n", f);
  }
}

void svg_print(FILE* f, const SvgPanel* panels, int count) {
  int legend = count > 0 ? panels[0].count : 0;
  legend = legend == 1 && strcmp(panels[0].curves[0].name, panels[0].title) == 0 ? 0 : legend;
  double width = 0;
  for (int i = 0; i < count; ++i) {
    width += width_of(&panels[i]);
  }
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" font-family=\"sans-serif\" "
          "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          width, HEIGHT + (legend > 0 ? LINE * (legend + 1) : 0));
  double shift = 0;
  for (int i = 0; i < count; ++i) {
    panel(f, &panels[i], shift);
    shift += width_of(&panels[i]);
  }
  for (int c = 0; c < legend; ++c) {
    int y = HEIGHT + LINE * (c + 1);
    fprintf(f, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", LEFT, y - 4,
            LEFT + 24, y - 4, colours[c % COLOURS], c >= COLOURS ? " stroke-dasharray=\"5 3\"" : "");
    text(f, LEFT + 30, y, "start", "%s", panels[0].curves[c].name);
  }
  fputs("</svg>\n", f);
}

int svg_write(const char* path, const SvgPanel* panels, int count) {
  FILE* f = fopen(path, "w");
  if (f == NULL) {
    return 0;
  }
  svg_print(f, panels, count);
  int bad = ferror(f);
  return fclose(f) == 0 && !bad;
}
