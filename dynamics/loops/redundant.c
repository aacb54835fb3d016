// Which rows of the closures say nothing new, found once when a system is made, and what a row is compared with to
// tell. closure_factor.c says how such rows are solved.
//
// The mobility of a closure: what a unit impulse at the origin of its frame, or about it, would make its two bodies do,
// as if the closure were open and each were asked for alone, summed over three axes,
//
//     m = Σ over bodies, Σ over axes u:   (u·V) M⁻¹ (u·V)ᵀ      V (3 × n): velocity of the point, or of rotation
//
// which no turn of the axes changes. Diagonals of G are at most of this size, and 0 in theory where a row asks for what
// cannot move anyway. Two more terms say what rounding makes of 0: M⁻¹ of a tree, whose entries cancel in V M⁻¹ Vᵀ
// where light links carry heavy ones, is known to some ε of κ = (Σ |V_k| √M⁻¹_kk)²; and the velocity of a point, u + ω
// × p from the world's origin, to ε (|u| + |ω||p|), which counts where nothing else moves: a bearing on the axis of a
// hinge. Both shall come out below TRIBO_DYN_DEPENDENT of m. The order of magnitude is all that matters, so m is that
// of the start.
#include <float.h>

#include "dyn_data.h"

// A velocity of a body's point and its rotation, per unit of each dof of its block.
typedef struct Columns {
  int n;
  double *v, *w;  // (n × 3)
  double* size;   // (n) |u| + |ω||p|, of trees
} Columns;

// The columns of a body, at a point that is fixed to it.
static void find_columns(const TriboSystem* system, const TriboDynData* data, int body, const double point[3],
                         Columns* columns) {
  const int block = tribo_dyn_block_of(system, body), n = system->block_dim[block];
  columns->n = n;
  memset(columns->v, 0, 7 * (size_t)n * sizeof *columns->v);
  columns->w = columns->v + 3 * n;
  columns->size = columns->w + 3 * n;
  if (block < system->info.nfree) {
    const double *x = data->q + system->block_q[block], *R = data->poses[body].R;
    double arm[3];
    tribo_sub3(arm, point, x);
    for (int k = 0; k < 3; ++k) {
      double* turn = columns->w + 3 * (3 + k);
      columns->v[4 * k] = 1;
      turn[0] = R[k], turn[1] = R[3 + k], turn[2] = R[6 + k];
      tribo_cross3(columns->v + 3 * (3 + k), turn, arm);
    }
    return;
  }
  const TreePart* part = system->trees + (block - system->info.nfree);
  const double* jac = data->jac + 6 * system->block_v[block];
  for (int link = body - part->body; link >= 0; link = part->info->links[link].parent) {
    const TriboLinkInfo* at = part->info->links + link;
    for (int k = at->v_at; k < at->v_at + at->nv; ++k) {
      const double* twist = jac + 6 * k;
      tribo_copy3(columns->w + 3 * k, twist + 3);
      tribo_cross3(columns->v + 3 * k, twist + 3, point);
      tribo_add3(columns->v + 3 * k, columns->v + 3 * k, twist);
      columns->size[k] = tribo_norm3(twist) + tribo_norm3(twist + 3) * tribo_norm3(point);
    }
  }
}

// m of one body, of points or of angles, with what rounding makes of it.
static double mobility_of(const Columns* columns, const double* V, const double* size, const double* minv) {
  static const double EPS = 4 * DBL_EPSILON;
  double sum = 0, spread = 0, rounding = 0;
  for (int k = 0; k < columns->n; ++k) {
    const double root = sqrt(minv[k * (columns->n + 1)]);
    spread += tribo_norm3(V + 3 * k) * root;
    rounding += size != NULL ? size[k] * EPS * root : 0;
    for (int l = 0; l < columns->n; ++l) {
      sum += tribo_dot3(V + 3 * k, V + 3 * l) * minv[k * columns->n + l];
    }
  }
  return fmax(sum, 0) + (10 * EPS * spread * spread + rounding * rounding) / TRIBO_DYN_DEPENDENT;
}

// m of the rows of a closure: along axes, about axes.
static void closure_mobility(const TriboSystem* system, const TriboDynData* data, const TriboClosure* closure,
                             double* scratch, double m[2]) {
  RowAxis axes[6];
  double point[3], error[6];
  const int bodies[2] = {closure->body_a, closure->body_b};
  Columns columns = {.v = scratch};
  tribo_dyn_closure_axes(closure, data->poses, axes, point, error);
  m[0] = m[1] = 0;
  for (int side = 0; side < 2; ++side) {
    const int block = tribo_dyn_block_of(system, bodies[side]);
    if (block >= 0) {
      const double* minv = data->minv + system->block_at[block];
      find_columns(system, data, bodies[side], point, &columns);
      m[0] += mobility_of(&columns, columns.v, columns.size, minv);
      m[1] += mobility_of(&columns, columns.w, NULL, minv);
    }
  }
}

// The same of a closure between joints: these alone.
static double joint_mobility(const TriboSystem* system, const TriboDynData* data, int c) {
  const Rows* rows = &data->rows;
  double sum = 0;
  for (int t = rows->term_first[c]; t < rows->term_first[c + 1]; ++t) {
    const int n = system->block_dim[rows->term_block[t]];
    const double *jac = rows->term_jac + rows->term_at[t], *minv = data->minv + system->block_at[rows->term_block[t]];
    for (int k = 0; k < n; ++k) {
      sum += jac[k] * jac[k] * minv[k * (n + 1)];
    }
  }
  return sum;
}

// m of all rows; scratch is 7 × the dofs of the largest block.
static void find_mobility(TriboSystem* system, TriboDynData* data, double* scratch) {
  for (int i = 0, n = 0; i < system->nclosure; ++i) {
    const TriboClosure* closure = system->closures + i;
    const int forces = tribo_dyn_closure_forces(closure->kind), dim = data->rows.cones[i].dim;
    double m[2];
    if (closure->kind == TRIBO_CLOSURE_GEAR || closure->kind == TRIBO_CLOSURE_MIMIC) {
      m[0] = m[1] = joint_mobility(system, data, i);
    } else {
      closure_mobility(system, data, closure, scratch, m);
    }
    for (int r = 0; r < dim; ++r, ++n) {
      system->closure_mobility[n] = m[r >= forces];
      // what gives way depends on nothing
      data->rows.R[n] = tribo_dyn_is_soft(closure) ? m[r >= forces] : 0;
    }
  }
}

// Cholesky row by row in their own order, leaving out those that depend on rows before, by their scale: W holds G, then
// L.
static void find_dependent(int n, const double* scale, double* W, unsigned char* dependent) {
  for (int i = 0; i < n; ++i) {
    double* row = W + (size_t)i * (size_t)n;
    double rest = row[i];
    for (int k = 0; k < i; ++k) {
      const double* other = W + (size_t)k * (size_t)n;
      if (dependent[k]) {
        row[k] = 0;
        continue;
      }
      double sum = row[k];
      for (int m = 0; m < k; ++m) {
        sum -= row[m] * other[m];
      }
      row[k] = sum / other[k];
      rest -= row[k] * row[k];
    }
    dependent[i] = (unsigned char)!(rest > TRIBO_DYN_DEPENDENT * scale[i]);
    row[i] = dependent[i] ? 0 : sqrt(rest);
  }
}

TriboStatus tribo_dyn_closure_redundant(TriboSystem* system, TriboDynData* data, const double* q, unsigned* redundant) {
  // Euler's options give rows and masses at q itself
  const TriboStepOptions at_q = {.h = 1, .scheme = TRIBO_SCHEME_EULER};
  const ClosureSize* size = &system->closure_size;
  const size_t n = size->nrow, nv = (size_t)system->info.nv;
  const size_t widest = system->nv_max > 6 ? (size_t)system->nv_max : 6;
  double* W = tribo_alloc(n * n + 7 * widest + nv, sizeof *W);
  unsigned char* dependent = tribo_alloc(n, 1);
  TriboStatus status = TRIBO_OK;
  tribo_free(system->closure_mobility);
  system->closure_mobility = tribo_alloc(n, sizeof *system->closure_mobility);
  if (W == NULL || dependent == NULL || system->closure_mobility == NULL) {
    status = tribo_fail(TRIBO_NOMEM, "tribo_dyn_closure_redundant: no memory for %zu rows", n);
  }
  double *y = W + n * n, *v = y + 7 * widest;
  status = status == TRIBO_OK ? tribo_dyn_update(system, data, &at_q, q, v, NULL, NULL) : status;
  status = status == TRIBO_OK ? tribo_dyn_rows_reserve(&data->rows, size->ncone, n, size->nterm, size->njac) : status;
  if (status == TRIBO_OK) {
    const Place place = {data->q, data->poses, data->jac};
    for (int i = 0; i < system->nclosure; ++i) {
      double error[6];
      tribo_dyn_closure_append(system, &place, &data->rows, i, error);
    }
    find_mobility(system, data, y);
    tribo_dyn_closure_delassus(system, &data->rows, data->minv, W, y);
    find_dependent((int)n, system->closure_mobility, W, dependent);
    for (int i = 0; i < system->nclosure; ++i) {
      redundant[i] = 0;
      for (int r = 0; r < data->rows.cones[i].dim; ++r) {
        redundant[i] |= (unsigned)dependent[data->rows.cones[i].row + r] << r;
        system->has_redundant_rows |= dependent[data->rows.cones[i].row + r];
      }
    }
  }
  tribo_free(W);
  tribo_free(dependent);
  return status;
}
