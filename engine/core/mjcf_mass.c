// Masses and inertias of bodies: as the file gives them, or from their geoms.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collision.h"
#include "eigen3.h"
#include "mjcf.h"

// ---- geoms

// Mass, centre and inertia about it, in the body frame; axes: of the geom.
typedef struct Solid {
  double mass, centre[3], inertia[9], axes[4], principal[3];
} Solid;

// Volume, centre and inertia of the shape of density 1 in its own frame.
static TriboStatus solid_of(Mjcf* m, const MjGeom* geom, const TriboShapeDef* def, double* volume, double centre[3],
                            double inertia[9]) {
  TriboHull* hull = NULL;
  TriboStatus status = TRIBO_OK;
  if (def->kind == TRIBO_SHAPE_HULL) {
    TRIBO_TRY(tribo_mjcf_warn(m, geom->node, "mass of a mesh", "is taken from its convex hull"));
    status = def->mesh != NULL ? tribo_col_hull_load(def->mesh, def->scale, &hull)
                               : tribo_col_hull_create(def->points, def->npoint, &hull);
  }
  if (status == TRIBO_OK) {
    status = tribo_col_shape_mass(def->kind, def->size, hull, volume, centre, inertia);
  }
  tribo_col_hull_destroy(hull);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s:%d: geom '%s': ", geom->node->path, geom->node->line, geom->name);
  }
  return status;
}

static TriboStatus geom_solid(Mjcf* m, const MjGeom* geom, Solid* out) {
  memset(out, 0, sizeof *out);
  out->axes[3] = 1;
  TriboShapeDef def;
  if (geom->type == MJ_PLANE || geom->type == MJ_HFIELD || geom->type == MJ_SDF) {
    return TRIBO_OK;
  }
  if (geom->shell) {
    TRIBO_TRY(tribo_mjcf_warn(m, geom->node, "shellinertia", "is not honoured: the geom counts as solid"));
  }
  TRIBO_TRY(tribo_mjcf_shape(m, geom, &def));
  double volume, centre[3], about[9], turned[9];
  TRIBO_TRY(solid_of(m, geom, &def, &volume, centre, about));
  out->mass = isnan(geom->mass) ? geom->density * volume : geom->mass;
  const double density = out->mass / volume;
  if (!(out->mass >= 0)) {
    return tribo_xml_fail(geom->node, "geom '%s' has mass %g, must be ≥ 0", geom->name, out->mass);
  }
  tribo_mul33v(out->centre, geom->pose.R, centre);
  tribo_add3(out->centre, out->centre, geom->pose.p);
  for (int i = 0; i < 9; ++i) {
    about[i] *= density;
  }
  tribo_mul33(turned, geom->pose.R, about);
  tribo_mul33t(out->inertia, turned, geom->pose.R);
  // principal axes: the geom's own unless it is a mesh
  double quat[4], own[4], values[3];
  tribo_quat_from_mat(quat, geom->pose.R);
  tribo_eigen3(about, values, own);
  tribo_quat_mul(out->axes, quat, own);
  tribo_copy3(out->principal, values);
  return TRIBO_OK;
}

// The sum of a body's geoms; a single one keeps its own axes.
static TriboStatus from_geoms(Mjcf* m, int index) {
  MjBody* body = &m->bodys[index];
  Solid only = {.axes = {0, 0, 0, 1}};
  double first[3] = {0}, second[9] = {0}, mass = 0;
  int count = 0;
  for (int g = 0; g < m->ngeom; ++g) {
    const MjGeom* geom = &m->geoms[g];
    if (geom->body != index || geom->group < m->compiler.group_range[0] || geom->group > m->compiler.group_range[1]) {
      continue;
    }
    Solid solid;
    TRIBO_TRY(geom_solid(m, geom, &solid));
    if (!(solid.mass > 0)) {
      continue;
    }
    only = solid;
    count++;
    mass += solid.mass;
    tribo_axpy3(first, first, solid.mass, solid.centre);
    const double c2 = tribo_dot3(solid.centre, solid.centre);
    for (int i = 0; i < 9; ++i) {
      second[i] += solid.inertia[i] + solid.mass * ((i % 4 == 0 ? c2 : 0) - solid.centre[i / 3] * solid.centre[i % 3]);
    }
  }
  body->mass = mass;
  memcpy(body->axes, only.axes, sizeof body->axes);
  if (count == 0) {
    return TRIBO_OK;
  }
  if (count == 1) {
    tribo_copy3(body->com, only.centre);
    tribo_copy3(body->inertia, only.principal);
    return TRIBO_OK;
  }
  tribo_scale3(body->com, 1 / mass, first);
  const double c2 = tribo_dot3(body->com, body->com);
  for (int i = 0; i < 9; ++i) {
    second[i] -= mass * ((i % 4 == 0 ? c2 : 0) - body->com[i / 3] * body->com[i % 3]);
  }
  tribo_eigen3(second, body->inertia, body->axes);
  return TRIBO_OK;
}

// ---- given

static TriboStatus from_inertial(Mjcf* m, MjBody* body) {
  const XmlNode* node = body->inertial;
  MjInertial in = {.mass = NAN, .diag = {NAN}, .full = {NAN}, .orient = tribo_mjcf_orient_default()};
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_inertial, &in));
  if (!(in.mass >= 0)) {
    return tribo_xml_fail(node, "<inertial> of body '%s': mass = %g must be given and ≥ 0", body->name, in.mass);
  }
  if (!isnan(in.diag[0]) && !isnan(in.full[0])) {
    return tribo_xml_fail(node, "<inertial> of body '%s': diaginertia beside fullinertia", body->name);
  }
  body->mass = in.mass;
  tribo_copy3(body->com, in.pos);
  TRIBO_TRY(tribo_mjcf_quaternion(m, node, &in.orient, body->axes));
  if (isnan(in.full[0])) {
    tribo_copy3(body->inertia, isnan(in.diag[0]) ? (double[3]){0} : in.diag);
  } else {
    const double* f = in.full;
    const double full[9] = {f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2]};
    tribo_eigen3(full, body->inertia, body->axes);
  }
  for (int i = 0; i < 3; ++i) {
    if (!(body->inertia[i] >= 0)) {
      return tribo_xml_fail(node, "<inertial> of body '%s': moment of inertia %g must be ≥ 0", body->name,
                            body->inertia[i]);
    }
  }
  return TRIBO_OK;
}

// What the compiler section asks of all bodies.
static TriboStatus bound(Mjcf* m, MjBody* body) {
  const MjCompiler* c = &m->compiler;
  body->mass = fmax(body->mass, c->bound_mass);
  double* I = body->inertia;
  for (int i = 0; i < 3; ++i) {
    I[i] = fmax(I[i], c->bound_inertia);
  }
  const int broken =
      I[0] + I[1] < I[2] * (1 - 1e-6) || I[0] + I[2] < I[1] * (1 - 1e-6) || I[1] + I[2] < I[0] * (1 - 1e-6);
  if (broken && c->balance_inertia) {
    I[0] = I[1] = I[2] = (I[0] + I[1] + I[2]) / 3;
  } else if (broken) {
    char key[128];
    snprintf(key, sizeof key, "inertia of body '%.80s'", body->name);
    TRIBO_TRY(tribo_mjcf_warn(m, body->node, key, "breaks the triangle inequality: no solid body has it"));
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_masses(Mjcf* m) {
  double total = 0;
  for (int i = 1; i < m->nbody; ++i) {
    MjBody* body = &m->bodys[i];
    const int given = body->inertial != NULL && m->compiler.inertia_from_geom != MJ_TRUE;
    if (given) {
      TRIBO_TRY(from_inertial(m, body));
    } else if (m->compiler.inertia_from_geom != MJ_FALSE) {
      TRIBO_TRY(from_geoms(m, i));
    } else {
      tribo_quat_identity(body->axes);
    }
    TRIBO_TRY(bound(m, body));
    total += body->mass;
  }
  if (m->compiler.total_mass > 0 && total > 0) {
    const double scale = m->compiler.total_mass / total;
    for (int i = 1; i < m->nbody; ++i) {
      m->bodys[i].mass *= scale;
      tribo_scale3(m->bodys[i].inertia, scale, m->bodys[i].inertia);
    }
  }
  return TRIBO_OK;
}
