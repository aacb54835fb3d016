// The rows of a problem, piece by piece: room, cones, and the Jacobian terms of a pair of bodies.
#include "rows/rows.h"

#include "lanes.h"

// ---- room ----------------------------------------------------------------------------------------------------------

TriboStatus tribo_dyn_rows_reserve(Rows* r, size_t ncone, size_t nrow, size_t nterm, size_t njac) {
  TRIBO_TRY(TRIBO_RESERVE(&r->cones, ncone));
  TRIBO_TRY(TRIBO_RESERVE(&r->infos, ncone));
  TRIBO_TRY(TRIBO_RESERVE(&r->impact, ncone));
  TRIBO_TRY(TRIBO_RESERVE(&r->term_first, ncone + 1));
  TRIBO_TRY(TRIBO_RESERVE(&r->term_block, nterm));
  TRIBO_TRY(TRIBO_RESERVE(&r->term_at, nterm));
  TRIBO_TRY(TRIBO_RESERVE(&r->term_jac, njac));
  TRIBO_TRY(TRIBO_RESERVE(&r->g, nrow));
  TRIBO_TRY(TRIBO_RESERVE(&r->R, nrow));
  r->nrow = r->ncone = r->nterm = 0;
  r->njac = 0;
  r->term_first[0] = 0;
  return TRIBO_OK;
}

void tribo_dyn_rows_free(Rows* r) {
  void* const owned[] = {r->cones,   r->infos,    r->impact, r->term_first, r->term_block,
                         r->term_at, r->term_jac, r->g,      r->R};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; ++i) {
    tribo_free(owned[i]);
  }
}

int tribo_dyn_rows_begin(Rows* r, TriboConeKind kind, int dim, TriboRowKind row_kind, int index) {
  const int c = r->ncone++;
  r->cones[c] = (TriboCone){.kind = kind, .row = r->nrow, .dim = dim};
  r->infos[c] = (TriboRowInfo){.kind = row_kind, .index = index, .block_a = -1, .block_b = -1};
  r->impact[c] = 0;
  memset(r->R + r->nrow, 0, (size_t)dim * sizeof *r->R);
  r->nrow += dim;
  r->term_first[c + 1] = r->nterm;
  return c;
}

// Room for one more term of the last cone, as it is.
static double* new_term(const TriboSystem* system, Rows* r, int block) {
  const int c = r->ncone - 1, t = r->nterm++;
  const size_t count = (size_t)r->cones[c].dim * (size_t)system->info.block_dim[block];
  r->term_block[t] = block;
  r->term_at[t] = r->njac;
  r->term_first[c + 1] = r->nterm;
  *(r->infos[c].block_a < 0 ? &r->infos[c].block_a : &r->infos[c].block_b) = block;
  r->njac += count;
  return r->term_jac + r->term_at[t];
}

double* tribo_dyn_rows_term(const TriboSystem* system, Rows* r, int block) {
  double* jac = new_term(system, r, block);
  return memset(jac, 0, (size_t)(r->njac - r->term_at[r->nterm - 1]) * sizeof *jac);
}

void tribo_dyn_rows_repeat(const TriboSystem* system, Rows* r, const Rows* from, int c) {
  const int dim = from->cones[c].dim;
  tribo_dyn_rows_begin(r, from->cones[c].kind, dim, from->infos[c].kind, from->infos[c].index);
  memset(r->g + r->nrow - dim, 0, (size_t)dim * sizeof *r->g);
  for (int t = from->term_first[c]; t < from->term_first[c + 1]; ++t) {
    const size_t count = (size_t)(dim * system->info.block_dim[from->term_block[t]]);
    double* jac = tribo_dyn_rows_term(system, r, from->term_block[t]);
    memcpy(jac, from->term_jac + from->term_at[t], count * sizeof *jac);
  }
}

// out (dim) += J x; inlined where n is known, the loop has no end to test
static inline void add_product(const double* restrict jac, int dim, int n, const double* restrict x,
                               double* restrict out) {
  for (int i = 0; i < dim; ++i) {
    double sum = 0;
    for (int k = 0; k < n; ++k) {
      sum += jac[i * n + k] * x[k];
    }
    out[i] += sum;
  }
}

// the same for trees, four velocities at once
static inline void add_wide_product(const double* jac, int dim, int n, const double* x, double* out) {
  for (int i = 0; i < dim; ++i, jac += n) {
    TriboFour sums = {0};
    double sum = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
      sums += TRIBO_FOUR_CONST(jac + k) * TRIBO_FOUR_CONST(x + k);
    }
    for (; k < n; ++k) {
      sum += jac[k] * x[k];
    }
    out[i] += sum + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }
}

static inline void add_wide_transposed(const double* jac, int dim, int n, const double* x, double* out) {
  for (int i = 0; i < dim; ++i, jac += n) {
    int k = 0;
    for (; k + 4 <= n; k += 4) {
      TRIBO_FOUR(out + k) += x[i] * TRIBO_FOUR_CONST(jac + k);
    }
    for (; k < n; ++k) {
      out[k] += jac[k] * x[i];
    }
  }
}

// out (n) += Jᵀx
static inline void add_transposed(const double* restrict jac, int dim, int n, const double* restrict x,
                                  double* restrict out) {
  for (int i = 0; i < dim; ++i) {
    for (int k = 0; k < n; ++k) {
      out[k] += jac[i * n + k] * x[i];
    }
  }
}

// out (count) = rows i … i + count − 1 of cone c times x
static inline void apply_rows(const TriboSystem* system, const Rows* r, int c, int i, int count, const double* x,
                              double* out) {
  for (int k = 0; k < count; ++k) {
    out[k] = 0;
  }
  for (int t = r->term_first[c]; t < r->term_first[c + 1]; ++t) {
    const int block = r->term_block[t], n = system->info.block_dim[block];
    const double *jac = r->term_jac + r->term_at[t] + (size_t)i * (size_t)n, *part = x + system->info.block_v[block];
    if (n == 6 && count == 3) {
      add_product(jac, 3, 6, part, out);
    } else if (n == 6) {
      add_product(jac, count, 6, part, out);
    } else if (n > 6) {
      add_wide_product(jac, count, n, part, out);
    } else {
      add_product(jac, count, n, part, out);
    }
  }
}

TRIBO_LANES void tribo_dyn_rows_apply(const TriboSystem* system, const Rows* r, int c, const double* x, double* out) {
  if (r->cones[c].dim == 3) {
    apply_rows(system, r, c, 0, 3, x, out);
  } else {
    apply_rows(system, r, c, 0, r->cones[c].dim, x, out);
  }
}

double tribo_dyn_rows_speed(const TriboSystem* system, const Rows* r, int c, int i, const double* x) {
  double speed;
  apply_rows(system, r, c, i, 1, x, &speed);
  return speed;
}

TRIBO_LANES void tribo_dyn_rows_impulse(const TriboSystem* system, const Rows* r, int first, const double* lambda,
                                        double* impulse) {
  memset(impulse, 0, (size_t)system->info.nv * sizeof *impulse);
  for (int c = first; c < r->ncone; ++c) {
    const double* x = lambda + r->cones[c].row - r->cones[first].row;
    for (int t = r->term_first[c]; t < r->term_first[c + 1]; ++t) {
      const int n = system->info.block_dim[r->term_block[t]];
      const double* jac = r->term_jac + r->term_at[t];
      double* part = impulse + system->info.block_v[r->term_block[t]];
      if (n == 6 && r->cones[c].dim == 3) {
        add_transposed(jac, 3, 6, x, part);
      } else if (n == 6) {
        add_transposed(jac, r->cones[c].dim, 6, x, part);
      } else if (n > 6) {
        add_wide_transposed(jac, r->cones[c].dim, n, x, part);
      } else {
        add_transposed(jac, r->cones[c].dim, n, x, part);
      }
    }
  }
}

TriboProblem tribo_dyn_rows_problem(const TriboSystem* system, const Rows* r, const double* mass, const double* minv) {
  return (TriboProblem){
      .nrow = r->nrow,
      .ncone = r->ncone,
      .cones = r->cones,
      .g = r->g,
      .R = r->R,
      .nblock = system->info.nblock,
      .block_dim = system->block_dim,
      .block_at = system->block_at,
      .dof_parent = system->dof_parent,
      .mass = mass,
      .minv = minv,
      .term_first = r->term_first,
      .term_block = r->term_block,
      .term_at = r->term_at,
      .jac = r->term_jac,
  };
}

// ---- Jacobian terms ------------------------------------------------------------------------------------------------

// Free body: velocity at the point is ẋ + Rω × r, r = point − x, so the row is [d, Rᵀ(r × d)] or [0, Rᵀd].
static void add_free_side(const double* restrict R, const double x[3], double sign, const double point[3],
                          const RowAxis* restrict axes, int dim, double* restrict jac) {
  double arm[3];
  tribo_sub3(arm, point, x);
  for (int r = 0; r < dim; ++r, jac += 6) {
    double turn[3], local[3];
    if (axes[r].angular) {
      tribo_copy3(turn, axes[r].direction);
    } else {
      tribo_axpy3(jac, jac, sign, axes[r].direction);
      tribo_cross3(turn, arm, axes[r].direction);
    }
    tribo_mul33tv(local, R, turn);
    tribo_axpy3(jac + 3, jac + 3, sign, local);
  }
}

// The three rows of a contact with friction, in a fresh term.
static inline void set_free_contact(const double* restrict R, const double x[3], double sign, const double point[3],
                                    const double* restrict frame, double* restrict jac) {
  double lever[3];
  tribo_sub3(lever, point, x);
  for (int r = 0; r < 3; ++r, jac += 6, frame += 3) {
    double moment[3], own[3];
    tribo_cross3(moment, lever, frame);
    tribo_mul33tv(own, R, moment);
    tribo_scale3(jac, sign, frame);
    tribo_scale3(jac + 3, sign, own);
  }
}

// Link of a tree: each joint on the way to the root adds its column of jac, a twist u, ω at the world origin; the point
// then moves with u + ω × point.
static void add_link_side(const TreePart* part, const double* tree_jac, int link, double sign, const double point[3],
                          const RowAxis* axes, int dim, double* jac) {
  const int n = part->info->nv;
  for (; link >= 0; link = part->info->links[link].parent) {
    const TriboLinkInfo* at = part->info->links + link;
    for (int k = at->v_at; k < at->v_at + at->nv; ++k) {
      const double* turn = tree_jac + 6 * k + 3;
      double velocity[3];
      tribo_cross3(velocity, turn, point);
      tribo_add3(velocity, velocity, tree_jac + 6 * k);
      for (int r = 0; r < dim; ++r) {
        jac[r * n + k] += sign * tribo_dot3(axes[r].direction, axes[r].angular ? turn : velocity);
      }
    }
  }
}

// The same for the three rows of a contact with friction.
static inline void add_link_contact(const TreePart* part, const double* tree_jac, int link, double sign,
                                    const double point[3], const double* restrict frame, double* restrict jac) {
  const int n = part->info->nv;
  for (; link >= 0; link = part->info->links[link].parent) {
    const TriboLinkInfo* at = part->info->links + link;
    for (int k = at->v_at; k < at->v_at + at->nv; ++k) {
      double velocity[3];
      tribo_cross3(velocity, tree_jac + 6 * k + 3, point);
      tribo_add3(velocity, velocity, tree_jac + 6 * k);
      jac[k] += sign * tribo_dot3(frame, velocity);
      jac[n + k] += sign * tribo_dot3(frame + 3, velocity);
      jac[2 * n + k] += sign * tribo_dot3(frame + 6, velocity);
    }
  }
}

static void add_side(const TriboSystem* system, const Place* place, int body, double sign, const double point[3],
                     const RowAxis* axes, int dim, double* jac) {
  const int block = system->info.body_block[body];
  if (block < system->info.nfree) {
    add_free_side(place->poses[body].R, place->q + system->info.block_q[block], sign, point, axes, dim, jac);
  } else {
    const TreePart* part = system->trees + (block - system->info.nfree);
    const double* tree_jac = place->jac + 6 * system->info.block_v[block];
    add_link_side(part, tree_jac, body - part->body, sign, point, axes, dim, jac);
  }
}

int tribo_dyn_block_of_v(const TriboSystem* system, int v) {
  int block = system->info.nblock - 1;
  while (block > 0 && system->block_v[block] > v) {
    --block;
  }
  return block;
}

int tribo_dyn_are_welded(const TriboSystem* system, int body_a, int body_b) {
  const int block = tribo_dyn_block_of(system, body_a);
  if (block != tribo_dyn_block_of(system, body_b)) {
    return 0;
  }
  if (block < system->info.nfree) {
    return 1;
  }
  const TreePart* part = system->trees + (block - system->info.nfree);
  return part->info->links[body_a - part->body].carrier == part->info->links[body_b - part->body].carrier;
}

// One term per moving block, the lower block first; two links of one tree share theirs.
void tribo_dyn_rows_pair(const TriboSystem* system, const Place* place, Rows* rows, int body_a, int body_b,
                         const double point[3], const RowAxis* axes) {
  const int block[2] = {tribo_dyn_block_of(system, body_a), tribo_dyn_block_of(system, body_b)};
  const int body[2] = {body_a, body_b}, dim = rows->cones[rows->ncone - 1].dim;
  const int lower = block[0] < block[1] ? 0 : 1;
  double* jac = NULL;
  for (int k = 0; k < 2; ++k) {
    const int side = k == 0 ? lower : 1 - lower;
    if (block[side] < 0) {
      continue;
    }
    if (jac == NULL || block[0] != block[1]) {
      jac = tribo_dyn_rows_term(system, rows, block[side]);
    }
    add_side(system, place, body[side], side == 0 ? -1 : 1, point, axes, dim, jac);
  }
}

void tribo_dyn_rows_mean(const TriboSystem* system, const Place place[2], Rows* rows, int body_a, int body_b,
                         double point[2][3], RowAxis axes[2][6]) {
  const int block[2] = {tribo_dyn_block_of(system, body_a), tribo_dyn_block_of(system, body_b)};
  const int body[2] = {body_a, body_b}, dim = rows->cones[rows->ncone - 1].dim;
  const int lower = block[0] < block[1] ? 0 : 1;
  double *jac = NULL, frame[2][9];
  for (int end = 0; end < 2; ++end) {
    for (int i = 0; i < dim; ++i) {
      tribo_scale3(axes[end][i].direction, 0.5, axes[end][i].direction);
      tribo_copy3(frame[end] + 3 * (i % 3), axes[end][i].direction);
    }
  }
  for (int k = 0; k < 2; ++k) {
    const int side = k == 0 ? lower : 1 - lower;
    if (block[side] < 0) {
      continue;
    }
    if (jac == NULL || block[0] != block[1]) {
      jac = tribo_dyn_rows_term(system, rows, block[side]);
    }
    const double sign = side == 0 ? -1 : 1;
    const TreePart* part = block[side] < system->info.nfree ? NULL : system->trees + (block[side] - system->info.nfree);
    for (int end = 0; end < 2; ++end) {
      if (part != NULL && dim == 3) {
        const double* columns = place[end].jac + 6 * system->info.block_v[block[side]];
        add_link_contact(part, columns, body[side] - part->body, sign, point[end], frame[end], jac);
      } else {
        add_side(system, place + end, body[side], sign, point[end], axes[end], dim, jac);
      }
    }
  }
}

TRIBO_LANES void tribo_dyn_rows_contact(const TriboSystem* system, const Place* place, Rows* rows, int body_a,
                                        int body_b, const double point[3], const double frame[9]) {
  const int block[2] = {tribo_dyn_block_of(system, body_a), tribo_dyn_block_of(system, body_b)};
  const int lower = block[0] < block[1] ? 0 : 1, nfree = system->info.nfree;
  double* jac = NULL;
  for (int k = 0; k < 2; ++k) {
    const int side = k == 0 ? lower : 1 - lower, b = block[side], body = side == 0 ? body_a : body_b;
    const double sign = 2.0 * side - 1;
    if (b >= 0 && b < nfree) {
      set_free_contact(place->poses[body].R, place->q + system->info.block_q[b], sign, point, frame,
                       new_term(system, rows, b));
    } else if (b >= 0) {
      // two links of one tree share their term
      const TreePart* part = system->trees + (b - nfree);
      jac = jac == NULL || block[0] != block[1] ? tribo_dyn_rows_term(system, rows, b) : jac;
      add_link_contact(part, place->jac + 6 * system->info.block_v[b], body - part->body, sign, point, frame, jac);
    }
  }
}
