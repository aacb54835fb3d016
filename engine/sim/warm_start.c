// Warm starts: what each constraint carried in the last step, found again by what it is (pair and feature, joint).
//
// The rows of a step come in a fixed order, so the memory is a sorted list and matching is one merge. Impulses scale
// with the step; tangential parts are turned from the old tangent frame into the new one.
#include "data_impl.h"

#include <string.h>

#include "math3.h"
#include "solvers.h"

static WarmKey key_of(const TriboData* data, int cone) {
  const TriboRowInfo* row = &data->result.rows[cone];
  if (row->kind == TRIBO_ROW_CONTACT) {
    const TriboContact* c = &data->contacts.list[row->index];
    return (WarmKey){.kind = row->kind, .a = c->geom_a, .b = c->geom_b, .feature = c->feature};
  }
  return (WarmKey){.kind = row->kind, .a = row->index};
}

static int compare(const WarmKey* x, const WarmKey* y) {
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  if (x->b != y->b) return x->b < y->b ? -1 : 1;
  if (x->feature != y->feature) return x->feature < y->feature ? -1 : 1;
  return 0;
}

// A pair of components along the old tangents, along the new ones.
static void turn_pair(const double from[9], const double to[9], const double in[2], double out[2]) {
  double world[3];
  tribo_scale3(world, in[0], from);
  tribo_axpy3(world, world, in[1], from + 3);
  out[0] = tribo_dot3(world, to);
  out[1] = tribo_dot3(world, to + 3);
}

// Rows of a contact: t1 t2 [torsion [rolling1 rolling2]] n.
static void turn(const WarmEntry* e, const double frame[9], const double* in, double* out) {
  if (e->key.kind == TRIBO_ROW_CONTACT && e->dim >= 3) {
    turn_pair(e->frame, frame, in, out);
  }
  if (e->key.kind == TRIBO_ROW_CONTACT && e->dim == 6) {
    turn_pair(e->frame, frame, in + 3, out + 3);
  }
}

void tribo_warm_match(TriboData* data, const StepStart* start) {
  const TriboProblem* p = &data->result.problem;
  Islands* is = &data->solve.islands;
  if (p->ncone == 0) {
    return;
  }
  double scale = start->warm_dt > 0 ? start->h / start->warm_dt : 0;
  // cones in whole-problem order against the sorted memory; answers go to the place the cone has in its island
  memset(is->end, 0, (size_t)is->count * sizeof *is->end);
  for (int c = 0, m = 0; c < p->ncone; ++c) {
    IslandEnd* end = &is->end[is->island_of_cone[c]];
    int at = is->first_cone[is->island_of_cone[c]] + end->cone;
    double* lambda = is->warm_lambda + is->first_row[is->island_of_cone[c]] + end->row;
    double* sigma = is->warm_sigma + (lambda - is->warm_lambda);
    int dim = p->cones[c].dim;
    end->cone++;
    end->row += dim;
    const WarmKey key = key_of(data, c);
    int order = 1;
    while (m < start->nwarm && (order = compare(&start->warm[m].key, &key)) < 0) {
      m++;
    }
    int found = m < start->nwarm && order == 0 && start->warm[m].dim == dim;
    is->known[at] = (unsigned char)found;
    if (!found) {
      memset(lambda, 0, (size_t)dim * sizeof *lambda);
      memset(sigma, 0, (size_t)dim * sizeof *sigma);
      continue;
    }
    const WarmEntry* e = &start->warm[m];
    for (int k = 0; k < dim; ++k) {
      lambda[k] = e->lambda[k];
      sigma[k] = e->sigma[k];
    }
    // where the frame has stayed, so do all bits
    const double* frame = data->result.rows[c].frame;
    if (!tribo_equal(e->frame, frame, 9)) {
      turn(e, frame, e->lambda, lambda);
      turn(e, frame, e->sigma, sigma);
    }
    for (int k = 0; k < dim; ++k) {
      lambda[k] *= scale;
    }
  }
}

// The next entry from i on that sleepers hold.
static int next_held(const TriboModel* model, const TriboData* data, const StepStart* start, int i) {
  while (i < start->nwarm && !tribo_sleep_is_frozen(model, data, &start->warm[i])) {
    i++;
  }
  return i;
}

// An entry that waits for its bodies to wake, in the measure of this step.
static WarmEntry waiting(const StepStart* start, int i) {
  WarmEntry e = start->warm[i];
  for (int k = 0; k < e.dim; ++k) {
    e.lambda[k] *= start->h / start->warm_dt;
  }
  return e;
}

TriboStatus tribo_warm_renew(const TriboModel* model, TriboData* data, const StepStart* start) {
  const TriboProblem* p = &data->result.problem;
  const int held = data->sleep.nasleep_in_step > 0 ? start->nwarm : 0;
  int n = 0, m = next_held(model, data, start, start->nwarm - held);
  TRIBO_TRY(TRIBO_RESERVE(&data->next.warm, p->ncone + held));
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* cone = &p->cones[c];
    const WarmKey key = key_of(data, c);
    for (; m < start->nwarm && compare(&start->warm[m].key, &key) < 0; m = next_held(model, data, start, m + 1)) {
      data->next.warm[n++] = waiting(start, m);
    }
    WarmEntry* e = &data->next.warm[n++];
    e->key = key;
    e->dim = cone->dim;
    e->place = key.kind == TRIBO_ROW_CONTACT ? data->contacts.list[data->result.rows[c].index].place : 0;
    memcpy(e->frame, data->result.rows[c].frame, sizeof e->frame);
    for (int k = 0; k < 6; ++k) {
      e->lambda[k] = k < cone->dim ? data->result.lambda[cone->row + k] : 0;
      e->sigma[k] = k < cone->dim ? data->result.sigma[cone->row + k] : 0;
    }
  }
  for (; m < start->nwarm; m = next_held(model, data, start, m + 1)) {
    data->next.warm[n++] = waiting(start, m);
  }
  data->next.nwarm = n;
  return TRIBO_OK;
}

TriboStatus tribo_warm_between(const TriboModel* model, TriboData* data, const StepStart* start) {
  TriboResiduals unused;
  TRIBO_TRY(TRIBO_RESERVE(&data->result.residual_work, tribo_problem_workspace(&data->result.problem)));
  TRIBO_TRY(tribo_problem_residuals_in(&data->result.problem, data->result.lambda, data->result.sigma,
                                       data->result.residual_work, &unused));
  return tribo_warm_renew(model, data, start);
}
