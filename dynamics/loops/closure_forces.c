// What closures have carried in a step: by row, and on each body that they tie. Impulses of rows that depend on each
// other are the least that do the same (closure_factor.c).
#include "dyn_data.h"

// The last impulses by row of all closures, in `guess`, spread over rows that depend on each other.
static const double* spread_last(const TriboSystem* system, TriboDynData* data, const double* last) {
  const Rows *rows = &data->rows, *end = &data->projection;
  const int first = rows->ncone - system->nclosure;
  double* spread = data->guess;
  memset(spread, 0, system->closure_size.nrow * sizeof *spread);
  for (int c = 0; c < end->ncone; ++c) {
    const int at = rows->cones[first + end->infos[c].index].row - rows->cones[first].row;
    memcpy(spread + at, last + end->cones[c].row, (size_t)end->cones[c].dim * sizeof *last);
  }
  if (tribo_dyn_closures_are_ranked(system)) {
    tribo_dyn_closure_spread(system, &data->closure_factor, spread);
  }
  return spread;
}

void tribo_dyn_closure_impulses(const TriboSystem* system, TriboDynData* data, const double* last, double* out) {
  const Rows* rows = &data->rows;
  const int first = rows->ncone - system->nclosure;
  const double* spread = spread_last(system, data, last);
  memset(out, 0, 6 * (size_t)system->nclosure * sizeof *out);
  for (int i = 0, n = 0; i < system->nclosure; ++i) {
    for (int r = 0; r < rows->cones[first + i].dim; ++r, ++n) {
      out[6 * i + r] = data->carried[n] + spread[n];
    }
  }
}

// The centre of mass of a body, in the world.
static void centre_of(const TriboSystem* system, const TriboPose* poses, int body, double out[3]) {
  if (body < system->info.nfree) {
    tribo_mul33v(out, poses[body].R, system->bodies[body].com);
  } else {
    const TreePart* part = system->trees;
    while (body >= part->body + part->info->nlink) {
      part++;
    }
    tribo_mul33v(out, poses[body].R, part->info->links[body - part->body].com);
  }
  tribo_add3(out, out, poses[body].p);
}

// The impulses lambda of a closure on its two bodies, where these are.
static void push_bodies(const TriboSystem* system, const TriboPose* poses, const TriboClosure* closure,
                        const double* lambda, double* wrench) {
  RowAxis axes[6];
  double point[3], error[6], force[3] = {0}, torque[3] = {0};
  const int dim = tribo_dyn_closure_axes(closure, poses, axes, point, error);
  for (int r = 0; r < dim; ++r) {
    double* sum = axes[r].angular ? torque : force;
    tribo_axpy3(sum, sum, lambda[r], axes[r].direction);
  }
  for (int side = 0; side < 2; ++side) {
    const int body = side == 0 ? closure->body_a : closure->body_b;
    if (body == TRIBO_WORLD_BODY) {
      continue;
    }
    const double sign = side == 0 ? -1 : 1;
    double centre[3], arm[3], moment[3], *w = wrench + 6 * body;
    centre_of(system, poses, body, centre);
    tribo_sub3(arm, point, centre);
    tribo_cross3(moment, arm, force);
    tribo_add3(moment, moment, torque);
    tribo_axpy3(w, w, sign, force);
    tribo_axpy3(w + 3, w + 3, sign, moment);
  }
}

void tribo_dyn_closure_wrenches(const TriboSystem* system, TriboDynData* data, const double* last, double* wrench) {
  const Rows* rows = &data->rows;
  const int first = rows->ncone - system->nclosure;
  const double* spread = spread_last(system, data, last);
  for (int i = 0, n = 0; i < system->nclosure; n += rows->cones[first + i++].dim) {
    // (what ties joints acts in them, between a link and its parent)
    if (!tribo_dyn_ties_joints(system->closures + i)) {
      push_bodies(system, data->poses, system->closures + i, data->carried + n, wrench);
      push_bodies(system, data->next_poses, system->closures + i, spread + n, wrench);
    }
  }
}
