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

// Area and moments of inertia of the surface of a shape, of mass 1 per area; 0: there is no formula.
static int shell_of(const TriboShapeDef* def, double* area, double moments[3]) {
  const double pi = 3.14159265358979323846, r = def->size[0], l = def->size[1];
  const double ball = 4 * pi * r * r, tube = 2 * pi * r * l, lid = pi * r * r;
  switch (def->kind) {
    case TRIBO_SHAPE_SPHERE:
      *area = ball;
      moments[0] = moments[2] = 2.0 / 3 * ball * r * r;
      break;
    case TRIBO_SHAPE_CAPSULE:
      // the middle of half a ball's surface is at half its radius
      *area = ball + tube;
      moments[2] = tube * r * r + 2.0 / 3 * ball * r * r;
      moments[0] = tube * (6 * r * r + l * l) / 12 + ball * (2.0 / 3 * r * r + 0.5 * r * l + 0.25 * l * l);
      break;
    case TRIBO_SHAPE_CYLINDER:
      *area = tube + 2 * lid;
      moments[2] = tube * r * r + lid * r * r;
      moments[0] = tube * (6 * r * r + l * l) / 12 + 2 * lid * (r * r + l * l) / 4;
      break;
    case TRIBO_SHAPE_BOX: {
      // of two opposite sides each: their second moments along the axes, then those of inertia
      double second[3] = {0};
      *area = 0;
      for (int k = 0; k < 3; ++k) {
        const double* s = def->size;
        const double side = 2 * s[(k + 1) % 3] * s[(k + 2) % 3];
        *area += side;
        for (int i = 0; i < 3; ++i) {
          second[i] += side * s[i] * s[i] / (i == k ? 4 : 12);
        }
      }
      for (int i = 0; i < 3; ++i) {
        moments[i] = second[(i + 1) % 3] + second[(i + 2) % 3];
      }
      return 1;
    }
    default: return 0;
  }
  moments[1] = moments[0];
  return 1;
}

// Of density 1, in the frame of the geom: volume or area, centre, principal moments and axes.
static TriboStatus measure(Mjcf* m, const MjGeom* geom, double* volume, double centre[3], double moments[3],
                           double axes[4]) {
  if (geom->type == MJ_MESH) {
    MjMesh* mesh = tribo_mjcf_find_mesh(m, geom->mesh);
    if (mesh == NULL) {
      return tribo_xml_fail(geom->node, "geom '%s': there is no mesh '%.60s'", geom->name,
                            geom->mesh != NULL ? geom->mesh : "");
    }
    TRIBO_TRY(tribo_mjcf_need_mesh(m, mesh));
    TRIBO_TRY(tribo_mjcf_measure(mesh));
    *volume = mesh->volume;
    tribo_copy3(centre, mesh->centre);
    tribo_copy3(moments, mesh->moments);
    memcpy(axes, mesh->axes, sizeof mesh->axes);
    return TRIBO_OK;
  }
  TriboShapeDef def;
  TRIBO_TRY(tribo_mjcf_shape(m, geom, &def));
  memset(centre, 0, 3 * sizeof *centre);
  tribo_quat_identity(axes);
  if (geom->shell && shell_of(&def, volume, moments)) {
    return TRIBO_OK;
  }
  if (geom->shell) {
    TRIBO_TRY(tribo_mjcf_warn(m, geom->node, "shellinertia of an ellipsoid", "is not honoured: it counts as solid"));
  }
  double about[9] = {0};
  TriboStatus status = tribo_col_shape_mass(def.kind, def.size, NULL, volume, centre, about);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s:%d: geom '%s': ", geom->node->path, geom->node->line, geom->name);
    return status;
  }
  tribo_set3(moments, about[0], about[4], about[8]);
  return TRIBO_OK;
}

// Mass, centre and inertia of a geom as a solid or a shell.
static TriboStatus geom_solid(Mjcf* m, const MjGeom* geom, Solid* out) {
  memset(out, 0, sizeof *out);
  out->axes[3] = 1;
  const double given = isnan(geom->mass) ? geom->density : geom->mass;
  if (geom->type == MJ_PLANE || geom->type == MJ_HFIELD || given == 0) {
    return TRIBO_OK;
  }
  if (geom->type == MJ_SDF) {
    return m->bodys[geom->body].weld == 0
               ? TRIBO_OK
               : tribo_xml_fail(geom->node,
                                "geom '%s': the mass of a signed distance field is not known here; its "
                                "body needs an <inertial>",
                                geom->name);
  }
  if (!(given >= 0)) {
    return tribo_xml_fail(geom->node, "geom '%s' has %s %g, must be ≥ 0", geom->name,
                          isnan(geom->mass) ? "density" : "mass", given);
  }
  double volume = 1, centre[3] = {0}, moments[3] = {0}, own[4] = {0, 0, 0, 1}, quat[4], R[9], turned[9];
  TRIBO_TRY(measure(m, geom, &volume, centre, moments, own));
  out->mass = isnan(geom->mass) ? geom->density * volume : geom->mass;
  tribo_scale3(out->principal, out->mass / volume, moments);
  tribo_mul33v(out->centre, geom->pose.R, centre);
  tribo_add3(out->centre, out->centre, geom->pose.p);
  tribo_quat_from_mat(quat, geom->pose.R);
  tribo_quat_mul(out->axes, quat, own);
  tribo_quat_to_mat(R, out->axes);
  for (int i = 0; i < 9; ++i) {
    turned[i] = R[i] * out->principal[i % 3];
  }
  tribo_mul33t(out->inertia, turned, R);
  return TRIBO_OK;
}

// The sum of a body's geoms; a single one keeps its own axes.
static TriboStatus from_geoms(Mjcf* m, int index) {
  MjBody* body = &m->bodys[index];
  const MjCompiler* rules = tribo_mjcf_rules(m, body->node);
  Solid only = {.axes = {0, 0, 0, 1}};
  double first[3] = {0}, second[9] = {0}, mass = 0;
  int count = 0;
  for (int g = 0; g < m->ngeom; ++g) {
    const MjGeom* geom = &m->geoms[g];
    if (geom->body != index || geom->group < rules->group_range[0] || geom->group > rules->group_range[1]) {
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
  tribo_eigen3(second, 1e-15, body->inertia, body->axes);
  tribo_mjcf_sort_axes(body->inertia, body->axes);
  return TRIBO_OK;
}

// ---- given

// Mass, centre and inertia as <inertial> gives them.
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
    tribo_eigen3(full, 1e-15, body->inertia, body->axes);
    tribo_mjcf_sort_axes(body->inertia, body->axes);
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
  const MjCompiler* c = tribo_mjcf_rules(m, body->node);
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
    const int guess = tribo_mjcf_rules(m, body->node)->inertia_from_geom;
    if (body->inertial != NULL && guess != MJ_TRUE) {
      TRIBO_TRY(from_inertial(m, body));
    } else if (guess != MJ_FALSE) {
      TRIBO_TRY(from_geoms(m, i));
    } else {
      tribo_quat_identity(body->axes);
    }
    TRIBO_TRY(bound(m, body));
    total += body->mass;
  }
  const double wanted = tribo_mjcf_rules(m, m->root)->total_mass;
  if (wanted > 0 && total > 0) {
    const double scale = wanted / total;
    for (int i = 1; i < m->nbody; ++i) {
      m->bodys[i].mass *= scale;
      tribo_scale3(m->bodys[i].inertia, scale, m->bodys[i].inertia);
    }
  }
  return TRIBO_OK;
}
