// Contacts become rows of the problem  σ = J v⁺ + γ + Rλ.
//
// Frame [t1 t2 n], n from A to B; the rows are t1, t2, [torsion], [rolling 1, 2], n: components of the velocity of B
// against A at the point, or of the angular velocity for torsion (about n) and rolling (about t1, t2).
#include "dyn_data.h"

void tribo_dyn_contact_axes(const double frame[9], int dim, RowAxis axes[6]) {
  const double *t1 = frame, *t2 = frame + 3, *n = frame + 6;
  int count = 0;
#define AXIS(d, turns)              \
  axes[count++] = (RowAxis) {       \
    {(d)[0], (d)[1], (d)[2]}, turns \
  }
  if (dim >= 3) {
    AXIS(t1, 0);
    AXIS(t2, 0);
  }
  if (dim >= 4) {
    AXIS(n, 1);
  }
  if (dim >= 6) {
    AXIS(t1, 1);
    AXIS(t2, 1);
  }
  AXIS(n, 0);
#undef AXIS
}

static const char* const where = "tribo_dyn_assemble";

static TriboStatus check_contact(const TriboSystem* system, int index, const TriboContact* c) {
  const int nbody = system->info.nbody;
  if (c->body_a < -1 || c->body_a >= nbody || c->body_b < -1 || c->body_b >= nbody) {
    return tribo_fail(TRIBO_INVALID, "%s: contact %d is between bodies %d and %d, must be −1 … %d", where, index,
                      c->body_a, c->body_b, nbody - 1);
  }
  if (tribo_dyn_are_welded(system, c->body_a, c->body_b)) {
    return tribo_fail(TRIBO_INTERNAL, "%s: contact %d is between bodies %d and %d, which never move against each other",
                      where, index, c->body_a, c->body_b);
  }
  if (!tribo_finite(c->point, 3) || !(fabs(tribo_dot3(c->normal, c->normal) - 1) <= 1e-6) || !isfinite(c->gap)) {
    return tribo_fail(TRIBO_NUMERIC, "%s: contact %d has a point, gap (%g) or unit normal (length %g) that is none",
                      where, index, c->gap, tribo_norm3(c->normal));
  }
  return TRIBO_OK;
}

static TriboStatus check_law(int index, const TriboContactLaw* law) {
  if (law->dim != 1 && law->dim != 3 && law->dim != 4 && law->dim != 6) {
    return tribo_fail(TRIBO_INVALID, "%s: law %d has dim %d, must be 1, 3, 4 or 6", where, index, law->dim);
  }
  for (int i = 0; i < law->dim - 1; ++i) {
    if (!(law->mu[i] >= 0) || !isfinite(law->mu[i])) {
      return tribo_fail(TRIBO_INVALID, "%s: law %d has mu[%d] = %g, must be finite and ≥ 0", where, index, i,
                        law->mu[i]);
    }
  }
  if (!(law->restitution >= 0 && law->restitution <= 1)) {
    return tribo_fail(TRIBO_INVALID, "%s: law %d has restitution %g, must be in 0 … 1", where, index, law->restitution);
  }
  if (!(law->compliance >= 0) || !isfinite(law->compliance) || !(law->damping >= 0) || !isfinite(law->damping) ||
      !tribo_finite(law->surface, 3) || !tribo_finite(law->grain, 3)) {
    return tribo_fail(
        TRIBO_INVALID,
        "%s: law %d has stiffness %g, damping %g (must be finite, ≥ 0) or a surface velocity or grain that is "
        "not finite",
        where, index, law->compliance, law->damping);
  }
  return TRIBO_OK;
}

// How far a point of a tree falls behind its tangent in a step, along the normal of something that stands still: joints
// go on turning, and the point with them by ½h²a with the acceleration a that it has without joint accelerations. Links
// that spin, even where their spins cancel, leave the ground or go into it by that much in every step; [m], below 0:
// into it.
static double tangent_fall(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                           const TriboContact* contact, const double normal[3]) {
  const int block[2] = {tribo_dyn_block_of(system, contact->body_a), tribo_dyn_block_of(system, contact->body_b)};
  const int side = block[0] < 0 ? 1 : 0, tree = block[side] - system->info.nfree;
  if (block[1 - side] >= 0 || tree < 0 || data->motion_kind[tree] != MOTION_TOUCHED) {
    return 0;
  }
  const TreePart* part = system->trees + tree;
  const int body = side == 0 ? contact->body_a : contact->body_b;
  const TreeMotion* m = data->motions + system->block_v[block[side]] + part->joint_of[body - part->body];
  // (seen from the tree's own origin)
  double a[3], across[3], turned[3], point[3];
  tribo_dyn_tree_origin(part, data->q + system->block_q[block[side]], point);
  tribo_sub3(point, contact->point, point);
  tribo_cross3(across, m->omega, point);
  tribo_cross3(turned, m->omega, across);
  tribo_cross3(a, m->alpha, point);
  tribo_add3(a, a, m->acc);
  tribo_add3(a, a, turned);
  return (side == 0 ? -0.5 : 0.5) * options->h * options->h * tribo_dot3(normal, a);
}

// How far the turning of a tree's joints alone moves the point of a contact along its normal in the step, below 0: into
// it [m]. g (dim), J v_f with all that the joints bend, keeps that only where the contact lasts.
static double hold_off(const TriboSystem* system, const TriboDynData* data, const TriboStepOptions* options,
                       const double* v, int c, const TriboContact* contact, const double normal[3], double* g) {
  const int dim = data->rows.cones[c].dim, nfree = system->info.nfree;
  const int is_of_tree =
      tribo_dyn_block_of(system, contact->body_a) >= nfree || tribo_dyn_block_of(system, contact->body_b) >= nfree;
  if (!is_of_tree || options->scheme == TRIBO_SCHEME_EULER) {
    return 0;
  }
  double fall = tangent_fall(system, data, options, contact, normal), bent[6];
  if (!tribo_dyn_lasts(options, contact->gap, tribo_dyn_rows_speed(system, &data->rows, c, dim - 1, v), 0)) {
    tribo_dyn_rows_apply(system, &data->rows, c, data->flight.touch_bent, bent);
    for (int i = 0; i < dim; ++i) {
      g[i] -= bent[i];
    }
    fall += options->h * bent[dim - 1];
  }
  return fall;
}

// A block that a contact is at.
static int block_of_contact(const TriboSystem* system, const TriboContact* contact) {
  const int a = tribo_dyn_block_of(system, contact->body_a);
  return a >= 0 ? a : tribo_dyn_block_of(system, contact->body_b);
}

// Appends one contact: its frame, the Jacobian terms of its two bodies, g and R.
static void add_contact(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options, const double* v,
                        int index, const TriboContact* contact, const TriboContactLaw* law) {
  Rows* d = &data->rows;
  const Place place = {data->q, data->poses, data->jac};
  const int c = tribo_dyn_rows_begin(d, law->dim == 1 ? TRIBO_CONE_NONNEG : TRIBO_CONE_FRICTION, law->dim,
                                     TRIBO_ROW_CONTACT, index);
  double* frame = d->infos[c].frame;
  const double* normal = tribo_dyn_directions_find(&data->directions, contact->normal);
  // (the points of a face come one after the other, and have tangents in common)
  if (c > 0 && !(tribo_dot3(law[-1].grain, law[-1].grain) > 0) && tribo_equal(d->infos[c - 1].frame + 6, normal, 3)) {
    memcpy(frame, d->infos[c - 1].frame, 9 * sizeof *frame);
  } else {
    tribo_copy3(frame + 6, normal);
    tribo_tangents(frame, frame + 3, frame + 6);
  }
  // friction with a grain: the first tangent lies along it
  const double grain = tribo_dot3(law->grain, law->grain);
  if (grain > 0) {
    double along[3];
    tribo_axpy3(along, law->grain, -tribo_dot3(law->grain, frame + 6), frame + 6);
    if (tribo_normalize3(along) > 1e-6 * sqrt(grain)) {
      tribo_copy3(frame, along);
      tribo_cross3(frame + 3, frame + 6, frame);
    }
  }
  memcpy(d->cones[c].mu, law->mu, (size_t)(law->dim - 1) * sizeof *law->mu);

  const int dim = law->dim;
  // where all that is there lasts, impulses act at both ends of the step: rows that turn are the mean of these
  ContactTurn* turn = data->turns + index;
  double bent[6] = {0};
  const int lasts =
      options->scheme != TRIBO_SCHEME_EULER && turn->lasts && data->lasts[block_of_contact(system, contact)];
  if (lasts && turn->is_known) {
    tribo_dyn_contact_mean_rows(system, data, contact, turn, frame, v, bent);
  } else if (tribo_dyn_impact_rows(system, data, options, v, contact, law, frame)) {
    // (they are there)
  } else if (dim == 3) {
    tribo_dyn_rows_contact(system, &place, d, contact->body_a, contact->body_b, contact->point, frame);
  } else {
    RowAxis axes[6];
    tribo_dyn_contact_axes(frame, dim, axes);
    tribo_dyn_rows_pair(system, &place, d, contact->body_a, contact->body_b, contact->point, axes);
  }

  // g = J v_f + γ
  double* g = d->g + d->cones[c].row;
  tribo_dyn_rows_apply(system, d, c, data->v_free, g);
  for (int i = 0; i < dim; ++i) {
    g[i] += bent[i];
  }
  const double fall = hold_off(system, data, options, v, c, contact, frame + 6, g);
  // (only what bounces or is soft looks back)
  const int needs_old = law->restitution > 0 || law->soft.solref[0] != 0;
  const double free = g[dim - 1], old = needs_old ? tribo_dyn_rows_speed(system, d, c, dim - 1, v) : 0;
  if (dim >= 3) {
    g[0] += tribo_dot3(frame, law->surface);
    g[1] += tribo_dot3(frame + 3, law->surface);
  }
  tribo_dyn_normal_row(system, data, options, c, law, lasts, 4 * tribo_norm3(turn->bend) * turn->angle, contact->gap,
                       free, old);
  // what the turning of joints alone would push into the ground is held off it
  if (law->compliance == 0 && law->soft.solref[0] == 0 && !d->infos[c].impact) {
    g[dim - 1] += contact->gap + fall < 0 && fall < 0 ? fall / options->h : 0;
  }
}

// twice the signed area of a triangle seen against n
static double area(const double n[3], const double* x, const double* y, const double* z) {
  double a[3], b[3], c[3];
  tribo_sub3(a, y, x);
  tribo_sub3(b, z, x);
  tribo_cross3(c, a, b);
  return tribo_dot3(n, c);
}

// Four contacts in one plane with one normal: a rigid motion moves them by an affine function of their place, and four
// values are one too many for that. Biases have kinks (gap 0, slop), where they leave it by a little; all four can then
// close only by a force that leaves one corner, for a mismatch of no size. What is less than the dead band is taken
// out: Σ cᵢ gᵢ = 0 with the plane's cᵢ, Σ cᵢ = Σ cᵢ xᵢ = 0, the areas opposite to the corners.
static void relax_inconsistent_face(const TriboStepOptions* o, Rows* d, const TriboContact* contacts, int first) {
  const TriboContact* k = contacts + first;
  const double* n = k->normal;
  double* g[4];
  for (int i = 0; i < 4; ++i) {
    const TriboCone* cone = d->cones + first + i;
    if (d->infos[first + i].impact || !tribo_equal(k[i].normal, n, 3)) {
      return;
    }
    g[i] = d->g + cone->row + cone->dim - 1;
  }
  const double c[4] = {area(n, k[1].point, k[2].point, k[3].point), -area(n, k[0].point, k[2].point, k[3].point),
                       area(n, k[0].point, k[1].point, k[3].point), -area(n, k[0].point, k[1].point, k[2].point)};
  double mismatch = 0, square = 0, most = 0;
  for (int i = 0; i < 4; ++i) {
    mismatch += c[i] * *g[i];
    square += c[i] * c[i];
    most = fmax(most, fabs(c[i]));
  }
  if (fabs(mismatch) * most <= TRIBO_DYN_DEAD_BAND / o->h * square) {
    if (square > 0) {
      for (int i = 0; i < 4; ++i) {
        *g[i] -= mismatch / square * c[i];
      }
    }
  }
}

static void relax_inconsistent_faces(const TriboStepOptions* o, Rows* d, const TriboContact* contacts, int ncontact) {
  for (int first = 0, next = 0; first < ncontact; first = next) {
    const TriboContact* k = contacts + first;
    while (next < ncontact && contacts[next].geom_a == k->geom_a && contacts[next].geom_b == k->geom_b) {
      ++next;
    }
    if (next - first == 4) {
      relax_inconsistent_face(o, d, contacts, first);
    }
  }
}

// ---- all contacts of a step ----------------------------------------------------------------------------------------

// How much room the contacts need, after checking each of them.
TriboStatus tribo_dyn_contacts_measure(const TriboSystem* system, const TriboContact* contacts,
                                       const TriboContactLaw* laws, int ncontact, size_t* nrow, size_t* nterm,
                                       size_t* njac) {
  for (int i = 0; i < ncontact; ++i) {
    TRIBO_TRY(check_contact(system, i, contacts + i));
    TRIBO_TRY(check_law(i, laws + i));
    const int block[2] = {tribo_dyn_block_of(system, contacts[i].body_a),
                          tribo_dyn_block_of(system, contacts[i].body_b)};
    *nrow += (size_t)laws[i].dim;
    for (int k = 0; k < 2; ++k) {
      if (block[k] >= 0 && (k == 0 || block[0] != block[1])) {
        *nterm += 1;
        *njac += (size_t)(laws[i].dim * system->info.block_dim[block[k]]);
      }
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_dyn_contact_rows(const TriboSystem* system, TriboDynData* data, const TriboStepOptions* options,
                                   const double* v, const TriboContact* contacts, const TriboContactLaw* laws,
                                   int ncontact) {
  TRIBO_TRY(tribo_dyn_directions_begin(&data->directions, ncontact));
  for (int i = 0; i < ncontact; ++i) {
    add_contact(system, data, options, v, i, contacts + i, laws + i);
  }
  relax_inconsistent_faces(options, &data->rows, contacts, ncontact);
  return TRIBO_OK;
}
