// Curves as SVG: panels side by side, linear or logarithmic axes, a legend below.
#pragma once

#include <stdio.h>

typedef struct SvgCurve {
  const char* name;
  const double *x, *y;
  int count;
} SvgCurve;

typedef struct SvgPanel {
  const char *title, *x_label, *y_label;
  int log_x, log_y;
  const SvgCurve* curves;
  int count;
  int wide;  // 1: twice the width
} SvgPanel;

// The legend is that of the first panel. 0 when writing failed.
int svg_write(const char* path, const SvgPanel* panels, int count);
// The same as a part of a page. A single curve that the title names needs no legend.
void svg_print(FILE* f, const SvgPanel* panels, int count);
// A text with the characters that mean something to XML replaced.
void svg_text(FILE* f, const char* words);
