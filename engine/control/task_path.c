// Where a task wants something to be: keyframes joined by polynomials of degree five, which have the value, rate and
// bend of the frames at both ends; without rates that is the path of least jerk from rest to rest.
//
//     y(s) = Σ c_k s^k,  s = (t − t0)/T,  c0 = y0, c1 = T y0', c2 = T² y0''/2, c3 … c5 from y1, y1', y1''
#include "task.h"

#include <math.h>

#include "math3.h"

static void quintic(double T, const double a[3], const double b[3], double s, double out[3]) {
  const double c0 = a[0], c1 = T * a[1], c2 = 0.5 * T * T * a[2];
  const double y = b[0] - c0 - c1 - c2, v = T * b[1] - c1 - 2 * c2, w = T * T * b[2] - 2 * c2;
  const double c3 = 10 * y - 4 * v + 0.5 * w, c4 = -15 * y + 7 * v - w, c5 = 6 * y - 3 * v + 0.5 * w;
  out[0] = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))));
  out[1] = (c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / T;
  out[2] = (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / (T * T);
}

void tribo_task_path(const ModelTask* task, int column, double origin, double time, double out[3]) {
  const int n = task->nframe;
  out[0] = origin;
  out[1] = out[2] = 0;
  if (n == 0) {
    return;
  }
  int low = 0;
  while (low + 1 < n && task->times[low + 1] <= time) {
    low++;
  }
  double end[2][3];
  for (int i = 0; i < 2; ++i) {
    const double* row = task->frames + (low + i < n ? low + i : low) * TRIBO_TASK_COLUMNS;
    const double value = row[column];
    end[i][0] = isnan(value) ? origin : task->relative ? origin + value : value;
    end[i][1] = row[6 + column];
    end[i][2] = row[12 + column];
  }
  if (time < task->times[0] || low + 1 >= n) {
    out[0] = end[0][0];
    return;
  }
  const double T = task->times[low + 1] - task->times[low];
  quintic(T, end[0], end[1], (time - task->times[low]) / T, out);
}

double tribo_task_force(const ModelTask* task, double time) {
  if (task->nframe > 0) {
    double out[3];
    tribo_task_path(task, 0, 0, time, out);
    return fmax(0, out[0]);
  }
  const double s = task->ramp > 0 ? tribo_clamp((time - task->start) / task->ramp, 0, 1) : time >= task->start;
  return task->normal * s * s * s * (10 - 15 * s + 6 * s * s);
}
