// The contact residual of Lee et al. 2025, beside our own (paper_003.h).
#include "paper_003.h"

#include <math.h>

double paper_003_residual(const TriboProblem* p, const double* lambda, const double* sigma) {
  double square = 0;
  int contacts = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* k = &p->cones[c];
    const int m = k->dim - 1, is_contact = k->kind == TRIBO_CONE_FRICTION;
    double x[6], slip = 0;
    for (int i = 0; i < k->dim; ++i) {
      const int r = k->row + i;
      x[i] = lambda[r] - sigma[r] + (p->R != NULL ? p->R[r] * lambda[r] : 0);
    }
    contacts += is_contact;
    if (is_contact) {
      x[m] = fmax(x[m], 0);
      for (int i = 0; i < m; ++i) {
        slip += k->mu[i] > 0 ? x[i] / k->mu[i] * x[i] / k->mu[i] : 0;
      }
      const double cut = sqrt(slip) > x[m] ? x[m] / sqrt(slip) : 1;
      for (int i = 0; i < m; ++i) {
        x[i] *= k->mu[i] > 0 ? cut : 0;
      }
    } else if (k->kind == TRIBO_CONE_NONNEG) {
      x[0] = fmax(x[0], 0);
    } else if (k->kind == TRIBO_CONE_BOX) {
      x[0] = fmin(fmax(x[0], k->lo), k->hi);
    }
    for (int i = 0; i < k->dim; ++i) {
      square += (lambda[k->row + i] - x[i]) * (lambda[k->row + i] - x[i]);
    }
  }
  return sqrt(square) / (contacts > 0 ? contacts : 1);
}
