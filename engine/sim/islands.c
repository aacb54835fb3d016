// Islands: constraints couple motion blocks; what is not coupled is solved apart.
//
// Union-find over the blocks with the smaller index as root, so that islands come in the order of their first block
// and the split does not depend on the order of the unions. Cones keep their order within an island.
#include "data_impl.h"

#include <string.h>

#include "union_find.h"

static void* carve(char* slab, size_t* used, size_t count, size_t size) {
  void* at = slab == NULL ? NULL : slab + *used;
  *used += (count * size + 63) / 64 * 64;
  return at;
}

// Points the arrays into the slab (NULL: only counts) and returns the bytes they take.
static size_t lay_out(Islands* is, const TriboProblem* p, char* slab) {
  size_t nblock = (size_t)p->nblock, ncone = (size_t)p->ncone, nrow = (size_t)p->nrow, used = 0;
  size_t nterm = (size_t)p->term_first[p->ncone], count = nblock < ncone ? nblock : ncone;
#define ARRAY(name, n) is->name = carve(slab, &used, n, sizeof *is->name)
  ARRAY(root, nblock);
  ARRAY(island_of_block, nblock);
  ARRAY(local, nblock);
  ARRAY(island_of_cone, ncone);
  ARRAY(cone_of, ncone);
  ARRAY(first_cone, count + 1);
  ARRAY(first_row, count + 1);
  ARRAY(first_block, count + 1);
  ARRAY(first_term, count + 1);
  ARRAY(block_dim, nblock);
  ARRAY(block_at, nblock);
  ARRAY(dof_parent, nblock);
  ARRAY(cones, ncone);
  ARRAY(known, ncone);
  ARRAY(term_first, ncone + count);
  ARRAY(term_block, nterm);
  ARRAY(term_at, nterm);
  ARRAY(g, nrow);
  ARRAY(R, nrow);
  ARRAY(warm_lambda, nrow);
  ARRAY(warm_sigma, nrow);
  ARRAY(lambda, nrow);
  ARRAY(end, count);
  ARRAY(stats, count);
  ARRAY(status, count);
  ARRAY(error, count);
#undef ARRAY
  return used;
}

// Numbers the islands and counts what each one holds.
static void partition(Islands* is, const TriboProblem* p) {
  for (int b = 0; b < p->nblock; ++b) {
    is->root[b] = b;
    is->island_of_block[b] = -1;
  }
  for (int c = 0; c < p->ncone; ++c) {
    for (int t = p->term_first[c] + 1; t < p->term_first[c + 1]; ++t) {
      tribo_sets_join(is->root, p->term_block[t - 1], p->term_block[t]);
    }
  }
  // a root gets its number when the first constraint of its island is met
  for (int c = 0; c < p->ncone; ++c) {
    is->island_of_block[tribo_sets_find(is->root, p->term_block[p->term_first[c]])] = 0;
  }
  is->count = 0;
  for (int b = 0; b < p->nblock; ++b) {
    int root = tribo_sets_find(is->root, b);
    if (root == b && is->island_of_block[b] == 0) {
      is->island_of_block[b] = is->count++;
    } else {
      is->island_of_block[b] = is->island_of_block[root];  // roots come first: −1 or a number
    }
  }
  size_t bytes = ((size_t)is->count + 1) * sizeof(int);
  memset(is->first_cone, 0, bytes);
  memset(is->first_row, 0, bytes);
  memset(is->first_block, 0, bytes);
  memset(is->first_term, 0, bytes);
  for (int b = 0; b < p->nblock; ++b) {
    if (is->island_of_block[b] >= 0) {
      is->local[b] = is->first_block[is->island_of_block[b] + 1]++;
    }
  }
  for (int c = 0; c < p->ncone; ++c) {
    int i = is->island_of_cone[c] = is->island_of_block[p->term_block[p->term_first[c]]];
    is->first_cone[i + 1]++;
    is->first_row[i + 1] += p->cones[c].dim;
    is->first_term[i + 1] += p->term_first[c + 1] - p->term_first[c];
  }
  for (int i = 0; i < is->count; ++i) {
    is->first_cone[i + 1] += is->first_cone[i];
    is->first_row[i + 1] += is->first_row[i];
    is->first_block[i + 1] += is->first_block[i];
    is->first_term[i + 1] += is->first_term[i];
  }
}

// The same where there is one block: nothing to unite.
static void partition_one(Islands* is, const TriboProblem* p) {
  is->root[0] = is->island_of_block[0] = is->local[0] = 0;
  is->count = 1;
  is->first_cone[0] = is->first_row[0] = is->first_block[0] = is->first_term[0] = 0;
  is->first_cone[1] = p->ncone;
  is->first_row[1] = p->nrow;
  is->first_block[1] = 1;
  is->first_term[1] = p->term_first[p->ncone];
  memset(is->island_of_cone, 0, (size_t)p->ncone * sizeof *is->island_of_cone);
}

// Copies one cone of the whole problem behind those its island already has.
static void append_cone(Islands* is, const TriboProblem* p, int c) {
  int island = is->island_of_cone[c];
  IslandEnd* end = &is->end[island];
  const TriboCone* cone = &p->cones[c];
  int at = is->first_cone[island] + end->cone, row = is->first_row[island] + end->row;
  is->cone_of[at] = c;
  is->cones[at] = *cone;
  is->cones[at].row = end->row;
  memcpy(is->g + row, p->g + cone->row, (size_t)cone->dim * sizeof *is->g);
  if (p->R != NULL) {
    memcpy(is->R + row, p->R + cone->row, (size_t)cone->dim * sizeof *is->R);
  }
  // terms point to the same Jacobians, by the island's own block numbers
  int* term_first = is->term_first + is->first_cone[island] + island;
  for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t, ++end->term) {
    is->term_block[is->first_term[island] + end->term] = is->local[p->term_block[t]];
    is->term_at[is->first_term[island] + end->term] = p->term_at[t];
  }
  end->cone++;
  end->row += cone->dim;
  term_first[end->cone] = end->term;
}

// One island that holds every block is the whole problem, in its own order and numbers.
static void copy_whole(Islands* is, const TriboProblem* p) {
  const size_t ncone = (size_t)p->ncone, nrow = (size_t)p->nrow, nterm = (size_t)p->term_first[p->ncone];
  for (int c = 0; c < p->ncone; ++c) {
    is->cone_of[c] = c;
  }
  memcpy(is->cones, p->cones, ncone * sizeof *is->cones);
  memcpy(is->g, p->g, nrow * sizeof *is->g);
  if (p->R != NULL) {
    memcpy(is->R, p->R, nrow * sizeof *is->R);
  }
  memcpy(is->term_first, p->term_first, (ncone + 1) * sizeof *is->term_first);
  memcpy(is->term_block, p->term_block, nterm * sizeof *is->term_block);
  memcpy(is->term_at, p->term_at, nterm * sizeof *is->term_at);
}

TriboStatus tribo_islands_build(Islands* is, const TriboProblem* p) {
  is->is_again = is->has_new_g_only = 0;
  is->count = 0;
  if (p->ncone == 0) {
    return TRIBO_OK;
  }
  const int sizes[4] = {p->nblock, p->ncone, p->nrow, p->term_first[p->ncone]};
  if (is->slab == NULL || memcmp(sizes, is->sizes, sizeof sizes) != 0) {
    size_t bytes = lay_out(is, p, NULL);
    is->sizes[1] = 0;
    TRIBO_TRY(TRIBO_RESERVE(&is->slab, bytes));
    lay_out(is, p, is->slab);
    memcpy(is->sizes, sizes, sizeof sizes);
  }
  if (p->nblock == 1) {
    partition_one(is, p);
  } else {
    partition(is, p);
  }
  for (int b = 0; b < p->nblock; ++b) {
    int i = is->island_of_block[b];
    if (i >= 0) {
      is->block_dim[is->first_block[i] + is->local[b]] = p->block_dim[b];
      is->block_at[is->first_block[i] + is->local[b]] = p->block_at[b];
      is->dof_parent[is->first_block[i] + is->local[b]] = p->dof_parent != NULL ? p->dof_parent[b] : NULL;
    }
  }
  if (is->count == 1 && is->first_block[1] == p->nblock) {
    copy_whole(is, p);
    return TRIBO_OK;
  }
  for (int i = 0; i < is->count; ++i) {
    is->term_first[is->first_cone[i] + i] = 0;
  }
  memset(is->end, 0, (size_t)is->count * sizeof *is->end);
  for (int c = 0; c < p->ncone; ++c) {
    append_cone(is, p, c);
  }
  return TRIBO_OK;
}

void tribo_islands_again(Islands* is, const TriboProblem* p, int only_g) {
  is->is_again = 1;
  is->has_new_g_only = only_g;
  for (int i = 0; i < is->count; ++i) {
    for (int k = is->first_cone[i]; k < is->first_cone[i + 1]; ++k) {
      const TriboCone* whole = &p->cones[is->cone_of[k]];
      int row = is->first_row[i] + is->cones[k].row;
      memcpy(is->g + row, p->g + whole->row, (size_t)whole->dim * sizeof *is->g);
      memcpy(is->warm_lambda + row, is->lambda + row, (size_t)whole->dim * sizeof *is->lambda);
      is->known[k] = 1;
    }
  }
}

TriboProblem tribo_islands_problem(const Islands* is, const TriboProblem* p, int i) {
  int cone = is->first_cone[i], row = is->first_row[i], block = is->first_block[i], term = is->first_term[i];
  return (TriboProblem){.nrow = is->first_row[i + 1] - row,
                        .ncone = is->first_cone[i + 1] - cone,
                        .cones = is->cones + cone,
                        .g = is->g + row,
                        .R = p->R != NULL ? is->R + row : NULL,
                        .nblock = is->first_block[i + 1] - block,
                        .block_dim = is->block_dim + block,
                        .block_at = is->block_at + block,
                        .dof_parent = is->dof_parent + block,
                        .mass = p->mass,
                        .minv = p->minv,
                        .term_first = is->term_first + cone + i,
                        .term_block = is->term_block + term,
                        .term_at = is->term_at + term,
                        .jac = p->jac};
}

void tribo_islands_scatter(const Islands* is, const TriboProblem* p, double* lambda) {
  if (is->count == 1) {
    memcpy(lambda, is->lambda, (size_t)p->nrow * sizeof *lambda);
    return;
  }
  for (int i = 0; i < is->count; ++i) {
    for (int k = is->first_cone[i]; k < is->first_cone[i + 1]; ++k) {
      const TriboCone* whole = &p->cones[is->cone_of[k]];
      memcpy(lambda + whole->row, is->lambda + is->first_row[i] + is->cones[k].row,
             (size_t)whole->dim * sizeof *lambda);
    }
  }
}

void tribo_islands_free(Islands* is) {
  tribo_free(is->slab);
}
