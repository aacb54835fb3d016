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
} SvgPanel;

// The legend is that of the first panel. 0 when writing failed.
int svg_write(const char* path, const SvgPanel* panels, int count);
