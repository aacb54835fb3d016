// The motion cut into its subsystems (Lee et al. 2025, section VI), each with a factor along the branches of its tree.
//
// A cone i acts on the velocities w_j of the free bodies and trees j by J_ij. For each of them SubADMM wants
//
//     u_ij = J_ij w_j,     H_j w_j = Σ_i J_ijᵀ f_i s_ij,     H_j = M_j + Σ_i f_i² J_ijᵀ J_ij                       (34)
//
// With H = LᵀL, L lower triangular, and v = L w this is a product with one matrix, and no system is solved:
//
//     v_j = Σ_i K_ijᵀ s_ij,     f_i u_ij = K_ij v_j,     K_ij = f_i J_ij L_j⁻¹ (1)
//
// Where velocity k of a tree has nothing to do with velocity i unless one is on the other's way to the root, M, L, and
// the rows of K are 0 there: the factorisation from the leaves to the root fills nothing in (Featherstone 2008, section
// 6.5), and K has numbers on one branch alone. That JᵀJ has this pattern too is what (31) is for: a constraint between
// two branches of one tree, as a robot that touches itself, is cut into one part for each branch, which the solver
// takes for two subsystems. With common ancestors both parts have rows for them; J itself has them in the first part.
//
// Velocities come in chains, runs without a branch, padded to fours: a free body has two cells of four, a quadruped two
// and one for each leg. A branch is a list of cells, from the root, and so are the rows of L, J and K.
#include "subsystems.h"

#include <string.h>

#include "memory.h"

void tribo_sol_subsystems_free(TriboSubsystems* s) {
  void* all[] = {s->parent,     s->place,          s->depth,      s->chain,     s->chain_parent,
                 s->chain_path, s->chain_tip,      s->paths,      s->mark,      s->tips,
                 s->part,       s->first_part,     s->first_cell, s->part_cone, s->block,
                 s->J,          s->first_of_block, s->of_block,   s->K,         s->L,
                 s->row_at,     s->inverse,        s->order,      s->owner,     s->first_owned};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    tribo_free(all[i]);
  }
}

// ---- chains

// Does M have numbers off the branches? Then the tree is no help.
static int is_full(int n, const double* M, const int* parent) {
  for (int k = 0; k < n; ++k) {
    int way = 0, all = 0;
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      way += M[k * n + i] != 0;
    }
    for (int i = 0; i < k; ++i) {
      all += M[k * n + i] != 0;
    }
    if (way != all) {
      return 1;
    }
  }
  return 0;
}

// The parents of a block's velocities, counted from `at`; a full block is one chain.
static void find_parents(TriboSubsystems* s, int b, int at) {
  const TriboProblem* p = s->sc->problem;
  const int n = p->block_dim[b], *tree = p->dof_parent != NULL ? p->dof_parent[b] : NULL;
  if (tree != NULL && (s->split != TRIBO_SPLIT_BODY || is_full(n, p->mass + p->block_at[b], tree))) {
    tree = NULL;
  }
  for (int k = 0; k < n; ++k) {
    const int parent = tree != NULL ? tree[k] : k - 1;
    s->parent[at + k] = parent < 0 ? -1 : at + parent;
  }
}

// Chains, cells and paths of the velocities from `at` to `end` − 1, of one block.
static TriboStatus lay_chains(TriboSubsystems* s, int at, int end, int* nchain, int* npath) {
  int* children = s->mark;
  memset(children + at, 0, sizeof(int) * (size_t)(end - at));
  for (int k = at; k < end; ++k) {
    if (s->parent[k] >= 0) {
      children[s->parent[k]]++;
    }
  }
  for (int k = at; k < end;) {
    // the chain goes on as long as the next velocity is the only child of the last
    int last = k;
    while (last + 1 < end && s->parent[last + 1] == last && children[last] == 1) {
      ++last;
    }
    const int chain = (*nchain)++, before = s->parent[k], above = before < 0 ? 0 : s->depth[before];
    const int depth = above + (last - k + 4) / 4;
    TRIBO_TRY(TRIBO_APPEND(&s->paths, *npath, depth));
    s->chain_parent[chain] = before < 0 ? -1 : s->chain[before];
    s->chain_path[chain] = *npath;
    s->chain_tip[chain] = last;
    for (int i = 0; i < depth; ++i, ++*npath) {
      s->paths[*npath] = i < above ? s->paths[s->chain_path[s->chain[before]] + i] : s->ncell++;
    }
    for (const int first = k; k <= last; ++k) {
      s->chain[k] = chain;
      s->place[k] = 4 * above + k - first;
      s->depth[k] = depth;
    }
  }
  return TRIBO_OK;
}

// Chains, cells and paths of all velocities, and room for the factors.
static TriboStatus lay_motion(TriboSubsystems* s) {
  const TriboScaled* sc = s->sc;
  const size_t nv = (size_t)sc->nv;
  int** arrays[] = {&s->parent,     &s->place,     &s->depth, &s->chain, &s->chain_parent,
                    &s->chain_path, &s->chain_tip, &s->mark,  &s->tips};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; ++i) {
    TRIBO_TRY(TRIBO_RESERVE(arrays[i], nv));
  }
  TRIBO_TRY(TRIBO_RESERVE(&s->first_cell, s->nblock + 1));
  TRIBO_TRY(TRIBO_RESERVE(&s->row_at, nv));
  TRIBO_TRY(TRIBO_RESERVE(&s->inverse, nv));
  int nchain = 0, npath = 0;
  size_t numbers = 0;
  s->ncell = 0;
  for (int b = 0; b < s->nblock; ++b) {
    s->first_cell[b] = s->ncell;
    find_parents(s, b, sc->var[b]);
    TRIBO_TRY(lay_chains(s, sc->var[b], sc->var[b + 1], &nchain, &npath));
    for (int k = sc->var[b]; k < sc->var[b + 1]; ++k) {
      s->row_at[k] = numbers;
      numbers += 4 * (size_t)s->depth[k];
    }
  }
  s->first_cell[s->nblock] = s->ncell;
  for (int i = 0; i < nchain; ++i) {
    s->mark[i] = -1;
  }
  return TRIBO_RESERVE(&s->L, numbers);
}

// ---- parts

// Cuts a term into its branches: `mark` of a chain is the part that has its columns, `tips` the deepest velocities of
// the parts. Returns how many there are.
static int find_branches(TriboSubsystems* s, const double* J, int dim, int at, int n) {
  int count = 0;
  for (int k = n - 1; k >= 0; --k) {
    int any = 0;
    for (int i = 0; i < dim; ++i) {
      any |= J[i * n + k] != 0;
    }
    const int chain = s->chain[at + k];
    if (!any || s->mark[chain] >= s->npart) {
      continue;
    }
    // the deepest one that no part has yet: a new part, with its whole way to the root
    for (int c = chain; c >= 0; c = s->chain_parent[c]) {
      s->mark[c] = s->mark[c] >= s->npart ? s->mark[c] : s->npart + count;
    }
    s->tips[count++] = s->chain_tip[chain];
  }
  return count;
}

// Writes the rows of a part, those of its columns that are its own.
static void write_rows(TriboSubsystems* s, int which, const double* J, int at, int n) {
  const TriboPart* part = &s->part[which];
  double* to = s->J + part->J;
  memset(to, 0, sizeof(double) * 4 * (size_t)(part->ncell * part->dim));
  for (int k = part->tip; k >= 0; k = s->parent[k]) {
    if (s->mark[s->chain[k]] == which) {
      const int cell = s->place[k] / 4, lane = s->place[k] % 4;
      for (int i = 0; i < part->dim; ++i) {
        to[4 * (part->dim * cell + i) + lane] = J[i * n + k - at];
      }
    }
  }
}

// The parts of one term, behind those there are; J_end: end of their rows.
static TriboStatus add_parts(TriboSubsystems* s, int cone, int t, size_t* J_end) {
  const TriboScaled* sc = s->sc;
  const int b = sc->problem->term_block[t], at = sc->var[b], n = sc->var[b + 1] - at;
  const int dim = sc->cone[s->order[cone]].dim;
  const double* J = sc->jac + sc->term_at[t];
  const int count = find_branches(s, J, dim, at, n), first = s->npart;
  TRIBO_TRY(TRIBO_APPEND(&s->part, first, count));
  TRIBO_TRY(TRIBO_APPEND(&s->part_cone, first, count));
  TRIBO_TRY(TRIBO_APPEND(&s->block, first, count));
  for (int i = 0; i < count; ++i) {
    const int tip = s->tips[i], ncell = s->depth[tip];
    TRIBO_TRY(TRIBO_APPEND(&s->J, *J_end, 4 * dim * ncell));
    s->part[s->npart] = (TriboPart){dim, s->chain_path[s->chain[tip]], ncell, tip, *J_end, 0, 0};
    s->part_cone[s->npart] = cone;
    s->block[s->npart] = b;
    write_rows(s, s->npart, J, at, n);
    *J_end += 4 * (size_t)(dim * ncell);
    s->npart++;
  }
  return TRIBO_OK;
}

// Lists by counting: `list` gets the numbers 0 … count − 1 in the order of key[i], first[k] where those with key k
// begin.
static void sort_by_counting(int count, const int* key, int nkey, int* first, int* list) {
  memset(first, 0, sizeof(int) * (size_t)(nkey + 1));
  for (int i = 0; i < count; ++i) {
    first[key[i]]++;
  }
  for (int k = 0, sum = 0; k <= nkey; ++k) {
    sum += k < nkey ? first[k] : 0;
    first[k] = sum;
  }
  for (int i = count - 1; i >= 0; --i) {
    list[--first[key[i]]] = i;
  }
}

// Cones in the order of their first blocks.
static TriboStatus sort_cones(TriboSubsystems* s) {
  const TriboProblem* p = s->sc->problem;
  s->ncone = p->ncone;
  TRIBO_TRY(TRIBO_RESERVE(&s->order, p->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&s->owner, p->ncone));
  TRIBO_TRY(TRIBO_RESERVE(&s->first_owned, s->nblock + 1));
  for (int c = 0; c < p->ncone; ++c) {
    s->owner[c] = p->term_first[c] < p->term_first[c + 1] ? p->term_block[p->term_first[c]] : 0;
  }
  sort_by_counting(p->ncone, s->owner, s->nblock, s->first_owned, s->order);
  return TRIBO_OK;
}

// The parts of every block. K and the numbers of the rows follow the blocks.
static TriboStatus sort_parts(TriboSubsystems* s) {
  TRIBO_TRY(TRIBO_RESERVE(&s->first_of_block, s->nblock + 1));
  TRIBO_TRY(TRIBO_RESERVE(&s->of_block, s->npart));
  sort_by_counting(s->npart, s->block, s->nblock, s->first_of_block, s->of_block);
  size_t K = 0;
  s->numbers = 0;
  for (int i = 0; i < s->npart; ++i) {
    TriboPart* part = &s->part[s->of_block[i]];
    part->K = K;
    part->at = s->numbers;
    K += 4 * (size_t)(part->ncell * part->dim);
    s->numbers += (size_t)tribo_four_up(part->dim);
  }
  return TRIBO_RESERVE(&s->K, K);
}

TriboStatus tribo_sol_subsystems_cut(TriboSubsystems* s, const TriboScaled* sc, TriboSplit split) {
  const TriboProblem* p = sc->problem;
  size_t J_end = 0;
  s->sc = sc;
  s->split = split;
  s->nblock = p->nblock;
  s->npart = 0;
  TRIBO_TRY(lay_motion(s));
  TRIBO_TRY(TRIBO_RESERVE(&s->first_part, p->ncone + 1));
  TRIBO_TRY(sort_cones(s));
  for (int k = 0; k < p->ncone; ++k) {
    s->first_part[k] = s->npart;
    for (int t = p->term_first[s->order[k]]; t < p->term_first[s->order[k] + 1]; ++t) {
      TRIBO_TRY(add_parts(s, k, t, &J_end));
    }
  }
  s->first_part[p->ncone] = s->npart;
  return sort_parts(s);
}

// ---- factors

// f² JᵀJ of one part
static inline __attribute__((always_inline)) void add_square(TriboSubsystems* s, const TriboPart* part, int dim,
                                                             double f) {
  const double* J = s->J + part->J;
  for (int k = part->tip; k >= 0; k = s->parent[k]) {
    const double* own = J + 4 * dim * (s->place[k] / 4) + s->place[k] % 4;
    double *row = s->L + s->row_at[k], x[TRIBO_CONE_ROWS], any = 0;
    for (int r = 0; r < dim; ++r) {
      x[r] = f * f * own[4 * r];
      any += fabs(x[r]);
    }
    for (int c = any != 0 ? 0 : s->depth[k]; c < s->depth[k]; ++c) {
      TriboFour sum = TRIBO_FOUR_CONST(row + 4 * c);
      for (int r = 0; r < dim; ++r) {
        sum += x[r] * TRIBO_FOUR_CONST(J + 4 * (dim * c + r));
      }
      TRIBO_FOUR(row + 4 * c) = sum;
    }
  }
}

// H of a block: M, and f² JᵀJ of its parts
TRIBO_LANES static void fill(TriboSubsystems* s, int b, const double* factor) {
  const TriboScaled* sc = s->sc;
  const int at = sc->var[b], n = sc->var[b + 1] - at;
  const double* M = sc->problem->mass + sc->problem->block_at[b];
  for (int k = at; k < at + n; ++k) {
    double* row = s->L + s->row_at[k];
    memset(row, 0, sizeof(double) * 4 * (size_t)s->depth[k]);
    for (int i = k; i >= 0; i = s->parent[i]) {
      row[s->place[i]] = M[(k - at) * n + i - at];
    }
  }
  for (int i = s->first_of_block[b]; i < s->first_of_block[b + 1]; ++i) {
    const int which = s->of_block[i];
    const TriboPart* part = &s->part[which];
    if (part->dim == 3) {
      add_square(s, part, 3, factor[s->part_cone[which]]);
    } else {
      add_square(s, part, part->dim, factor[s->part_cone[which]]);
    }
  }
}

// H = LᵀL from the last velocity to the first; 1 when a pivot broke down.
TRIBO_LANES static int eliminate(TriboSubsystems* s, int b) {
  for (int k = s->sc->var[b + 1] - 1; k >= s->sc->var[b]; --k) {
    double* row = s->L + s->row_at[k];
    const double pivot = row[s->place[k]];
    if (!(pivot > 0)) {
      return 1;
    }
    s->inverse[k] = 1 / sqrt(pivot);
    // what is right of the diagonal was of use to nobody
    for (int i = s->place[k]; i < 4 * s->depth[k]; ++i) {
      row[i] = 0;
    }
    for (int c = 0; c < s->depth[k]; ++c) {
      TRIBO_FOUR(row + 4 * c) *= s->inverse[k];
    }
    for (int i = s->parent[k]; i >= 0; i = s->parent[i]) {
      const double x = row[s->place[i]];
      double* to = s->L + s->row_at[i];
      for (int c = 0; c < s->depth[i]; ++c) {
        TRIBO_FOUR(to + 4 * c) -= x * TRIBO_FOUR_CONST(row + 4 * c);
      }
    }
  }
  return 0;
}

// K = f J L⁻¹ of one part, from its tip to the root
static inline __attribute__((always_inline)) void whiten_rows(const TriboSubsystems* s, const TriboPart* part, int dim,
                                                              double f) {
  const double* J = s->J + part->J;
  double* K = s->K + part->K;
  for (int i = 0; i < part->ncell * dim; ++i) {
    TRIBO_FOUR(K + 4 * i) = f * TRIBO_FOUR_CONST(J + 4 * i);
  }
  for (int k = part->tip; k >= 0; k = s->parent[k]) {
    const double* row = s->L + s->row_at[k];
    double *own = K + 4 * dim * (s->place[k] / 4) + s->place[k] % 4, x[TRIBO_CONE_ROWS];
    for (int r = 0; r < dim; ++r) {
      x[r] = own[4 * r] *= s->inverse[k];
    }
    for (int c = 0; c < s->depth[k]; ++c) {
      const TriboFour l = TRIBO_FOUR_CONST(row + 4 * c);
      for (int r = 0; r < dim; ++r) {
        TRIBO_FOUR(K + 4 * (dim * c + r)) -= x[r] * l;
      }
    }
  }
}

TRIBO_LANES static void whiten(TriboSubsystems* s, int b, const double* factor) {
  for (int i = s->first_of_block[b]; i < s->first_of_block[b + 1]; ++i) {
    const int which = s->of_block[i];
    const TriboPart* part = &s->part[which];
    if (part->dim == 3) {
      whiten_rows(s, part, 3, factor[s->part_cone[which]]);
    } else {
      whiten_rows(s, part, part->dim, factor[s->part_cone[which]]);
    }
  }
}

int tribo_sol_subsystems_factor(TriboSubsystems* s, int block, const double* factor) {
  fill(s, block, factor);
  if (eliminate(s, block) != 0) {
    return 1;
  }
  whiten(s, block, factor);
  return 0;
}
