// What a closure demands: rows φ(q) = 0 and their Jacobian.
//
// Each of the two bodies carries a frame, A = (p_a, R_a) and B = (p_b, R_b), with z along the axis of the joint. All
// kinds but gears are made of three sorts of rows, u_a being an axis of A and w_b one of B:
//
//   point      φ = u_a · (p_b − p_a).  φ̇ = u_a · (ṗ_b − ṗ_a) + (ω_a × u_a) · (p_b − p_a), which is u_a · (velocity of B
//              against A at p_b): both bodies feel the impulse at one and the same point, so no momentum is made.
//   angle      φ = u_a · w_b, two axes at right angles.  φ̇ = (ω_b − ω_a) · (w_b × u_a).
//   distance   φ = |p_b − p_a| − length.  φ̇ = d · (velocity of B against A at p_b), d the unit vector from p_a to p_b:
//              ω_a × (p_b − p_a) has no part along d.
//
// Joints: φ = q_b − p(q_a), p(x) = offset + ratio x + curve₀ x² + curve₁ x³ + curve₂ x⁴.
#include "loops/loops.h"

#include <stdio.h>

enum { X = 1, Y = 2, Z = 4 };

static const struct {
  const char* name;
  int points;       // axes of A along which the origins agree
  int nangle;       // pairs of axes at right angles:
  int angle[3][2];  // u of A, w of B
} KINDS[TRIBO_CLOSURE_COUNT] = {
    [TRIBO_CLOSURE_WELD] = {"weld", X | Y | Z, 3, {{0, 2}, {1, 2}, {1, 0}}},
    [TRIBO_CLOSURE_BALL] = {"ball", X | Y | Z, 0, {{0}}},
    [TRIBO_CLOSURE_HINGE] = {"hinge", X | Y | Z, 2, {{0, 2}, {1, 2}}},
    [TRIBO_CLOSURE_SLIDER] = {"slider", X | Y, 3, {{0, 2}, {1, 2}, {1, 0}}},
    [TRIBO_CLOSURE_CYLINDRICAL] = {"cylindrical", X | Y, 2, {{0, 2}, {1, 2}}},
    [TRIBO_CLOSURE_PLANAR] = {"planar", Z, 2, {{0, 2}, {1, 2}}},
    [TRIBO_CLOSURE_UNIVERSAL] = {"universal", X | Y | Z, 1, {{2, 0}}},
    [TRIBO_CLOSURE_CARTESIAN] = {"cartesian", 0, 3, {{0, 2}, {1, 2}, {1, 0}}},
    [TRIBO_CLOSURE_GIMBAL] = {"gimbal", X | Y | Z, 0, {{0}}},
    [TRIBO_CLOSURE_DISTANCE] = {"distance", 0, 0, {{0}}},
    [TRIBO_CLOSURE_GEAR] = {"gear", 0, 0, {{0}}},
    [TRIBO_CLOSURE_MIMIC] = {"mimic", 0, 0, {{0}}},
};

const char* tribo_dyn_closure_name(TriboClosureKind kind) {
  return (unsigned)kind < TRIBO_CLOSURE_COUNT ? KINDS[kind].name : "unknown";
}

int tribo_dyn_closure_forces(TriboClosureKind kind) {
  const int points = KINDS[kind].points, along = (points & 1) + (points >> 1 & 1) + (points >> 2);
  return kind == TRIBO_CLOSURE_DISTANCE ? 1 : along;
}

int tribo_dyn_closure_dim(TriboClosureKind kind) {
  const int rows = tribo_dyn_closure_forces(kind) + KINDS[kind].nangle;
  return rows > 0 ? rows : 1;
}

const char* tribo_dyn_closure_row_name(TriboClosureKind kind, int row) {
  static const char* const along[] = {"along x", "along y", "along z"};
  // u of A against w of B turns about the third axis
  static const char* const about[] = {"about x", "about y", "about z"};
  int n = 0;
  for (int i = 0; i < 3; ++i) {
    if ((KINDS[kind].points >> i & 1) && n++ == row) {
      return along[i];
    }
  }
  row -= n;
  if (row >= 0 && row < KINDS[kind].nangle) {
    return about[3 - KINDS[kind].angle[row][0] - KINDS[kind].angle[row][1]];
  }
  return "its row";
}

int tribo_dyn_ties_joints(const TriboClosure* closure) {
  return closure->kind == TRIBO_CLOSURE_GEAR || closure->kind == TRIBO_CLOSURE_MIMIC;
}

int tribo_dyn_is_soft(const TriboClosure* closure) {
  return closure->soft.solref[0] != 0;
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// The origin of a closure frame in the world.
static void place_origin(const TriboPose* poses, int body, const TriboPose* local, double p[3]) {
  if (body == TRIBO_WORLD_BODY) {
    tribo_copy3(p, local->p);
    return;
  }
  tribo_mul33v(p, poses[body].R, local->p);
  tribo_add3(p, p, poses[body].p);
}

// Its axes, as rows.
static void place_axes(const TriboPose* poses, int body, const TriboPose* local, double axes[3][3]) {
  for (int i = 0; i < 3; ++i) {
    const double own[3] = {local->R[i], local->R[3 + i], local->R[6 + i]};
    if (body == TRIBO_WORLD_BODY) {
      tribo_copy3(axes[i], own);
    } else {
      tribo_mul33v(axes[i], poses[body].R, own);
    }
  }
}

int tribo_dyn_closure_axes(const TriboClosure* closure, const TriboPose* poses, RowAxis axes[6], double point[3],
                           double error[6]) {
  double p_a[3], a[3][3], b[3][3], arm[3];
  int n = 0;
  place_origin(poses, closure->body_a, &closure->frame_a, p_a);
  place_origin(poses, closure->body_b, &closure->frame_b, point);
  tribo_sub3(arm, point, p_a);
  if (closure->kind == TRIBO_CLOSURE_DISTANCE) {
    error[0] = tribo_normalize3(arm) - closure->length;
    axes[0].angular = 0;
    tribo_copy3(axes[0].direction, arm);
    return 1;
  }
  place_axes(poses, closure->body_a, &closure->frame_a, a);
  if (KINDS[closure->kind].nangle > 0) {
    place_axes(poses, closure->body_b, &closure->frame_b, b);
  }
  for (int i = 0; i < 3; ++i) {
    if (KINDS[closure->kind].points >> i & 1) {
      error[n] = tribo_dot3(a[i], arm);
      axes[n].angular = 0;
      tribo_copy3(axes[n++].direction, a[i]);
    }
  }
  for (int i = 0; i < KINDS[closure->kind].nangle; ++i, ++n) {
    const double *u = a[KINDS[closure->kind].angle[i][0]], *w = b[KINDS[closure->kind].angle[i][1]];
    error[n] = tribo_dot3(u, w);
    axes[n].angular = 1;
    tribo_cross3(axes[n].direction, w, u);
  }
  return n;
}

double tribo_dyn_closure_follow(const TriboClosure* closure, double a, double* slope) {
  const double* k = closure->curve;
  if (slope != NULL) {
    *slope = closure->ratio + a * (2 * k[0] + a * (3 * k[1] + a * 4 * k[2]));
  }
  return closure->offset + a * (closure->ratio + a * (k[0] + a * (k[1] + a * k[2])));
}

static double joint_angle(const double* q, int nq) {
  return nq == 2 ? atan2(q[1], q[0]) : q[0];
}

static double joint_error(const TriboClosure* closure, const double* q) {
  const double a = joint_angle(q + closure->q_a, closure->nq_a), b = joint_angle(q + closure->q_b, closure->nq_b);
  const double error = b - tribo_dyn_closure_follow(closure, a, NULL);
  return closure->period > 0 ? remainder(error, closure->period) : error;
}

int tribo_dyn_closure_open(const TriboClosure* closure, const double* q, const TriboPose* poses, double error[6]) {
  if (tribo_dyn_ties_joints(closure)) {
    error[0] = joint_error(closure, q);
    return 1;
  }
  RowAxis axes[6];
  double point[3];
  return tribo_dyn_closure_axes(closure, poses, axes, point, error);
}

void tribo_dyn_closure_append(const TriboSystem* system, const Place* place, Rows* rows, int index, double error[6]) {
  const TriboClosure* closure = system->closures + index;
  const int dim = tribo_dyn_closure_dim(closure->kind);
  const int c = tribo_dyn_rows_begin(rows, TRIBO_CONE_FREE, dim, TRIBO_ROW_CLOSURE, index);
  memset(rows->g + rows->cones[c].row, 0, (size_t)dim * sizeof *rows->g);
  if (!tribo_dyn_ties_joints(closure)) {
    RowAxis axes[6];
    double point[3];
    tribo_dyn_closure_axes(closure, place->poses, axes, point, error);
    tribo_dyn_rows_pair(system, place, rows, closure->body_a, closure->body_b, point, axes);
    return;
  }
  error[0] = joint_error(closure, place->q);
  const int block_a = tribo_dyn_block_of_v(system, closure->v_a), block_b = tribo_dyn_block_of_v(system, closure->v_b);
  double* low = tribo_dyn_rows_term(system, rows, block_a < block_b ? block_a : block_b);
  double* high = block_a == block_b ? low : tribo_dyn_rows_term(system, rows, block_a < block_b ? block_b : block_a);
  double slope;
  tribo_dyn_closure_follow(closure, joint_angle(place->q + closure->q_a, closure->nq_a), &slope);
  (block_a <= block_b ? low : high)[closure->v_a - system->block_v[block_a]] -= slope;
  (block_a <= block_b ? high : low)[closure->v_b - system->block_v[block_b]] += 1;
}

// ---- taking closures into a system ---------------------------------------------------------------------------------

static TriboStatus check_joints(const TriboSystem* system, const char* what, const TriboClosure* c) {
  const TriboSystemInfo* info = &system->info;
  const int free_v = 6 * info->nfree;
  if (c->v_a < free_v || c->v_a >= info->nv || c->v_b < free_v || c->v_b >= info->nv || c->q_a < 0 || c->q_b < 0 ||
      c->nq_a < 1 || c->nq_a > 2 || c->nq_b < 1 || c->nq_b > 2 || c->q_a + c->nq_a > info->nq ||
      c->q_b + c->nq_b > info->nq || !(c->period >= 0) || c->v_a == c->v_b) {
    return tribo_fail(TRIBO_INVALID, "%s ties v[%d] and v[%d], must be two different joints of trees (%d … %d)", what,
                      c->v_a, c->v_b, free_v, info->nv - 1);
  }
  const int bent = c->curve[0] != 0 || c->curve[1] != 0 || c->curve[2] != 0;
  if (!isfinite(c->ratio) || (c->ratio == 0 && !bent) || !isfinite(c->offset) || !tribo_finite(c->curve, 3)) {
    return tribo_fail(TRIBO_INVALID, "%s has ratio %g and offset %g, must be finite and the ratio not 0", what,
                      c->ratio, c->offset);
  }
  if (bent && c->nq_a != 1) {
    return tribo_fail(TRIBO_INVALID, "%s has a curve of a joint that goes round", what);
  }
  return TRIBO_OK;
}

// Whether a closure names bodies that can move against each other, with finite frames and a possible length.
static TriboStatus check_closure(const TriboSystem* system, int index, const TriboClosure* c) {
  char what[64];
  const int nbody = system->info.nbody;
  snprintf(what, sizeof what, "tribo_dyn_system_close: closure %d", index);
  if ((unsigned)c->kind >= TRIBO_CLOSURE_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s has kind %d, must be 0 … %d", what, (int)c->kind, TRIBO_CLOSURE_COUNT - 1);
  }
  if (tribo_dyn_ties_joints(c)) {
    return check_joints(system, what, c);
  }
  if (c->body_a < -1 || c->body_a >= nbody || c->body_b < -1 || c->body_b >= nbody) {
    return tribo_fail(TRIBO_INVALID, "%s ties bodies %d and %d, must be −1 … %d", what, c->body_a, c->body_b,
                      nbody - 1);
  }
  if (tribo_dyn_are_welded(system, c->body_a, c->body_b)) {
    return tribo_fail(TRIBO_INVALID, "%s ties bodies %d and %d, which never move against each other", what, c->body_a,
                      c->body_b);
  }
  if (!tribo_finite(c->frame_a.p, 3) || !tribo_finite(c->frame_a.R, 9) || !tribo_finite(c->frame_b.p, 3) ||
      !tribo_finite(c->frame_b.R, 9)) {
    return tribo_fail(TRIBO_INVALID, "%s has a frame that is not finite", what);
  }
  if (c->kind == TRIBO_CLOSURE_DISTANCE && (!(c->length > 0) || !isfinite(c->length))) {
    return tribo_fail(TRIBO_INVALID, "%s has length %g, must be finite and > 0", what, c->length);
  }
  return TRIBO_OK;
}

int tribo_dyn_closure_blocks(const TriboSystem* system, const TriboClosure* c, int blocks[2]) {
  int pair[2] = {tribo_dyn_block_of(system, c->body_a), tribo_dyn_block_of(system, c->body_b)};
  if (tribo_dyn_ties_joints(c)) {
    pair[0] = tribo_dyn_block_of_v(system, c->v_a);
    pair[1] = tribo_dyn_block_of_v(system, c->v_b);
  }
  int n = 0;
  for (int k = 0; k < 2; ++k) {
    if (pair[k] >= 0 && (k == 0 || pair[1] != pair[0])) {
      blocks[n++] = pair[k];
    }
  }
  return n;
}

// Marks the block whose poses tell where a body is; links that are welded to the world have one too.
static void mark_observed(TriboSystem* s, int body) {
  if (body >= 0 && body < s->info.nfree) {
    s->closure_needs_pose[body] = 1;
  }
  for (int t = 0; t < s->info.ntree; ++t) {
    const int at = body - s->trees[t].body;
    if (at >= 0 && at < s->trees[t].info->nlink) {
      s->closure_needs_pose[s->trees[t].block] = 1;
    }
  }
}

// Blocks that closures tie, directly or through others, get one number; numbers follow the lowest block.
static void find_clusters(TriboSystem* s) {
  for (int changed = 1; changed;) {
    changed = 0;
    for (int i = 0; i < s->nclosure; ++i) {
      int blocks[2], n = tribo_dyn_closure_blocks(s, s->closures + i, blocks), low = s->info.nblock;
      for (int k = 0; k < n; ++k) {
        const int at = s->cluster[blocks[k]] < 0 ? blocks[k] : s->cluster[blocks[k]];
        low = at < low ? at : low;
      }
      for (int k = 0; k < n; ++k) {
        changed |= s->cluster[blocks[k]] != low;
        s->cluster[blocks[k]] = low;
      }
    }
  }
  // a cluster is called by its lowest block so far: number them
  for (int b = 0; b < s->info.nblock; ++b) {
    if (s->cluster[b] >= 0) {
      s->cluster[b] = s->cluster[b] == b ? s->ncluster++ : s->cluster[s->cluster[b]];
    }
  }
}

TriboStatus tribo_dyn_system_close(TriboSystem* system, const TriboClosure* closures, int nclosure) {
  if (system == NULL || nclosure < 0 || (nclosure > 0 && closures == NULL) || system->closures != NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_dyn_system_close: system or closures is NULL, or the call is repeated");
  }
  for (int i = 0; i < nclosure; ++i) {
    TRIBO_TRY(check_closure(system, i, closures + i));
  }
  system->closures = tribo_alloc((size_t)nclosure, sizeof *closures);
  if (system->closures == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_dyn_system_close: no memory for %d closures", nclosure);
  }
  system->nclosure = nclosure;
  for (int i = 0; i < nclosure; ++i) {
    system->closures[i] = closures[i];
    if (!tribo_dyn_ties_joints(closures + i)) {
      mark_observed(system, closures[i].body_a);
      mark_observed(system, closures[i].body_b);
    }
    int blocks[2];
    const size_t dim = (size_t)tribo_dyn_closure_dim(closures[i].kind);
    const int n = tribo_dyn_closure_blocks(system, closures + i, blocks);
    system->closure_size.ncone++;
    system->closure_size.nrow += dim;
    system->closure_size.nterm += (size_t)n;
    for (int k = 0; k < n; ++k) {
      system->closure_size.njac += dim * (size_t)system->info.block_dim[blocks[k]];
    }
  }
  find_clusters(system);
  return TRIBO_OK;
}
