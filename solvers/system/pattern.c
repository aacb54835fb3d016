// The graph of the sparse form: bodies and the cones that couple them, or the cones of an explicit G. It is made anew,
// and ordered anew, only when the pattern changes.
#include <string.h>

#include "memory.h"
#include "linear_system.h"

enum { S = TRIBO_CONE_ROWS };

// Compares the pattern with that of the present graph, and remembers it when it is another.
static TriboStatus pattern_changed(TriboLinearSystem* sys, const TriboScaled* sc, int* changed) {
  const TriboProblem* p = sc->problem;
  int motion = p->G_col == NULL, nterm = motion ? p->term_first[p->ncone] : sc->col[sc->n];
  const int* first = motion ? p->term_first : sc->col;
  const int* item = motion ? p->term_block : sc->row;
  int nfirst = motion ? p->ncone + 1 : sc->n + 1, nnode = motion ? p->nblock : p->ncone;
  int nkey = 3 + nfirst + nterm + nnode;
  *changed = !sys->has_graph || sys->nkey != nkey || sys->key[0] != motion || sys->key[1] != nnode ||
             sys->key[2] != nterm || memcmp(sys->key + 3, first, sizeof(int) * (size_t)nfirst) != 0 ||
             (nterm > 0 && memcmp(sys->key + 3 + nfirst, item, sizeof(int) * (size_t)nterm) != 0);
  for (int i = 0; !*changed && i < nnode; ++i) {
    *changed = sys->key[3 + nfirst + nterm + i] != (motion ? p->block_dim[i] : sc->cone[i].dim);
  }
  if (!*changed) {
    return TRIBO_OK;
  }
  sys->has_graph = 0;
  TRIBO_TRY(TRIBO_RESERVE(&sys->key, nkey));
  TRIBO_TRY(TRIBO_RESERVE(&sys->node_dim, nnode));
  sys->nkey = nkey;
  sys->key[0] = motion;
  sys->key[1] = nnode;
  sys->key[2] = nterm;
  memcpy(sys->key + 3, first, sizeof(int) * (size_t)nfirst);
  if (nterm > 0) {
    memcpy(sys->key + 3 + nfirst, item, sizeof(int) * (size_t)nterm);
  }
  for (int i = 0; i < nnode; ++i) {
    sys->node_dim[i] = sys->key[3 + nfirst + nterm + i] = motion ? p->block_dim[i] : sc->cone[i].dim;
  }
  return TRIBO_OK;
}

// Gives every pair (a, b), a < b, the number of its edge: pairs are sorted by a, then the last edge of every b finds
// the repeats.
static TriboStatus number_pairs(TriboLinearSystem* sys, int nnode, int npair, const int* pair) {
  TRIBO_TRY(TRIBO_RESERVE(&sys->pair_edge, npair));
  TRIBO_TRY(TRIBO_RESERVE(&sys->edge, 2 * (size_t)npair));
  int *head = sys->scratch + 2 * npair, *list = head + nnode + 1, *edge_of = list + npair;
  memset(head, 0, sizeof(int) * (size_t)(nnode + 1));
  for (int i = 0; i < npair; ++i) {
    head[pair[2 * i] + 1]++;
  }
  for (int i = 0; i < nnode; ++i) {
    head[i + 1] += head[i];
    edge_of[i] = -1;
  }
  for (int i = 0; i < npair; ++i) {
    list[head[pair[2 * i]]++] = i;
  }
  sys->nedge = 0;
  for (int a = 0, at = 0; a < nnode; ++a) {
    int first_edge = sys->nedge;
    for (; at < head[a]; ++at) {
      int b = pair[2 * list[at] + 1];
      if (edge_of[b] < first_edge) {
        edge_of[b] = sys->nedge;
        sys->edge[2 * sys->nedge] = a;
        sys->edge[2 * sys->nedge + 1] = b;
        sys->nedge++;
      }
      sys->pair_edge[list[at]] = edge_of[b];
    }
  }
  return TRIBO_OK;
}

// The graph of the problem's pattern and its elimination order, unless they are those of the last solve.
static TriboStatus make_graph(TriboLinearSystem* sys, const TriboScaled* sc) {
  const TriboProblem* p = sc->problem;
  int changed, motion = p->G_col == NULL, nnode = motion ? p->nblock : p->ncone, npair = 0;
  TRIBO_TRY(pattern_changed(sys, sc, &changed));
  if (!changed) {
    return TRIBO_OK;
  }
  if (motion) {
    for (int c = 0; c < p->ncone; ++c) {
      int terms = p->term_first[c + 1] - p->term_first[c];
      npair += terms * (terms - 1) / 2;
    }
  }
  npair = motion ? npair : sc->col[sc->n];
  TRIBO_TRY(TRIBO_RESERVE(&sys->scratch, 3 * (size_t)npair + 2 * (size_t)nnode + 1));
  int at = 0, *pair = sys->scratch;
  if (motion) {
    for (int c = 0; c < p->ncone; ++c) {
      for (int s = p->term_first[c]; s < p->term_first[c + 1]; ++s) {
        for (int t = s + 1; t < p->term_first[c + 1]; ++t) {
          pair[at++] = p->term_block[s];
          pair[at++] = p->term_block[t];
        }
      }
    }
  } else {
    // entries of W below the diagonal blocks; column after column, so the cones only go up
    for (int c = 0; c < sc->ncone; ++c) {
      for (int j = sc->cone[c].row; j < sc->cone[c].row + sc->cone[c].dim; ++j) {
        for (int e = sc->col[j], d = c; e < sc->col[j + 1]; ++e) {
          while (d + 1 < sc->ncone && sc->row[e] >= sc->cone[d].row + sc->cone[d].dim) {
            d++;
          }
          if (sc->row[e] >= sc->cone[c].row + sc->cone[c].dim) {
            pair[at++] = c;
            pair[at++] = d;
          }
        }
      }
    }
  }
  TRIBO_TRY(number_pairs(sys, nnode, at / 2, pair));
  if (!motion) {
    TRIBO_TRY(TRIBO_RESERVE(&sys->blockval, S * S * (size_t)(nnode + sys->nedge)));
  }
  TriboGraph graph = {nnode, sys->nedge, sys->node_dim, sys->edge};
  TRIBO_TRY(tribo_la_factor_analyse(sys->sparse, &graph));
  sys->has_graph = 1;
  return TRIBO_OK;
}

// dense blocks of an explicit W: (i,j) at 6 i + j; rows of the later cone first
static void gather_blocks(TriboLinearSystem* sys, const TriboScaled* sc) {
  memset(sys->blockval, 0, sizeof(double) * S * S * (size_t)(sc->ncone + sys->nedge));
  int at = 0;
  for (int c = 0; c < sc->ncone; ++c) {
    const TriboScaledCone* k = &sc->cone[c];
    for (int j = 0; j < k->dim; ++j) {
      for (int e = sc->col[k->row + j], d = c; e < sc->col[k->row + j + 1]; ++e) {
        int i = sc->row[e];
        while (d + 1 < sc->ncone && i >= sc->cone[d].row + sc->cone[d].dim) {
          d++;
        }
        if (i >= k->row + k->dim) {
          double* block = sys->blockval + S * S * (size_t)(sc->ncone + sys->pair_edge[at++]);
          block[S * (i - sc->cone[d].row) + j] = sc->val[e];
        } else if (i >= k->row) {
          sys->blockval[S * S * (size_t)c + (size_t)(S * (i - k->row) + j)] = sc->val[e];
        }
      }
      sys->blockval[S * S * (size_t)c + (size_t)(S * j + j)] += sc->R[k->row + j];
    }
  }
}

TriboStatus tribo_sol_system_graph(TriboLinearSystem* sys, const TriboScaled* sc) {
  TRIBO_TRY(make_graph(sys, sc));
  if (sc->problem->G_col) {
    gather_blocks(sys, sc);
  }
  return TRIBO_OK;
}
