// Mesh assets: their triangles, and what a body made of them weighs.
//
// The integral over a closed surface is a sum over its triangles (a, b, c) of pyramids with one common top o. With the
// middle m = (a + b + c)/3 and the weight w of a triangle,
//
//     w = (m − o)·n A/3 (n A: half the cross product),   centre = Σ w (3m + o)/4 / Σ w,
//     ∫ x xᵀ = Σ w/20 (9 m mᵀ + aaᵀ + bbᵀ + ccᵀ)   about the top;
//
// of a shell, w = A, the centre is Σ w m / Σ w and 20 becomes 12. MuJoCo measures twice: from the middle of the surface
// for the centre, and from the centre for the rest; it makes no difference to a closed surface, but to `legacy`, where
// all pyramids count as positive, and to a surface with holes it does.
#include "mjcf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collision.h"
#include "eigen3.h"
#include "text.h"

MjMesh* tribo_mjcf_find_mesh(const Mjcf* m, const char* name) {
  if (name != NULL) {
    for (int i = 0; i < m->nmesh; ++i) {
      if (m->meshs[i].name != NULL && strcmp(m->meshs[i].name, name) == 0) {
        return &m->meshs[i];
      }
    }
  }
  return NULL;
}

// ---- the asset

// Numbers of an attribute, as many as there are.
static TriboStatus read_list(Mjcf* m, const XmlNode* node, const char* attribute, double** out, int* count) {
  const char* text = tribo_xml_get(node, attribute);
  *count = 0;
  if (text == NULL) {
    return TRIBO_OK;
  }
  const size_t most = strlen(text) / 2 + 1;
  *out = tribo_pool_alloc(&m->pool, most, sizeof **out);
  if (*out == NULL) {
    return tribo_no_memory("to read the model");
  }
  *count = tribo_xml_numbers(text, *out, (int)most);
  return *count >= 0 && *count % 3 == 0
             ? TRIBO_OK
             : tribo_xml_fail(node, "<mesh> %s: accepted are finite numbers, three each", attribute);
}

// Points and triangles that stand in the file itself; MuJoCo keeps points as floats.
static TriboStatus read_inline(Mjcf* m, const XmlNode* node, MjMesh* mesh) {
  double *points = NULL, *corners = NULL;
  int npoint, ncorner;
  TRIBO_TRY(read_list(m, node, "vertex", &points, &npoint));
  TRIBO_TRY(read_list(m, node, "face", &corners, &ncorner));
  mesh->nvertex = npoint / 3;
  mesh->nface = ncorner / 3;
  mesh->vertex = points;
  mesh->face = tribo_pool_alloc(&m->pool, (size_t)ncorner + 1, sizeof *mesh->face);
  if (mesh->face == NULL) {
    return tribo_no_memory("to read the model");
  }
  for (int i = 0; i < npoint; ++i) {
    points[i] = (double)(float)points[i];
  }
  for (int i = 0; i < ncorner; ++i) {
    if (!(corners[i] >= 0 && corners[i] < mesh->nvertex && corners[i] == floor(corners[i]))) {
      return tribo_xml_fail(node, "<mesh> face: %g is no vertex; accepted are 0 … %d", corners[i], mesh->nvertex - 1);
    }
    mesh->face[i] = (int)corners[i];
  }
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_file(Mjcf* m, const XmlNode* node, const char* folder, const char* name, const char** out) {
  const char* slash = strrchr(name, '/');
  const MjCompiler* rules = tribo_mjcf_rules(m, node);
  name = rules->strip_path && slash != NULL ? slash + 1 : name;
  folder = folder != NULL ? folder : rules->asset_dir;
  *out = tribo_xml_beside(&m->pool, m->scopes[node->scope].root, folder, name);
  // an included file may name what stands beside itself
  const char* own = *out != NULL && access(*out, F_OK) != 0 ? tribo_xml_beside(&m->pool, node, folder, name) : NULL;
  *out = own != NULL && access(own, F_OK) == 0 ? own : *out;
  return *out == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
}

TriboStatus tribo_mjcf_file_name(Mjcf* m, const char* file, const char** name) {
  // without folder and ending
  const char* slash = strrchr(file, '/');
  const char* start = slash != NULL ? slash + 1 : file;
  const char* dot = strrchr(start, '.');
  *name = tribo_pool_format(&m->pool, "%.*s", dot != NULL ? (int)(dot - start) : (int)strlen(start), start);
  return *name == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
}

TriboStatus tribo_mjcf_need_mesh(const Mjcf* m, const MjMesh* mesh) {
  return !mesh->is_missing ? TRIBO_OK
                           : tribo_fail(TRIBO_NOT_FOUND, "%s: %d mesh%s not found: %s", m->root->path, m->nmissing,
                                        m->nmissing == 1 ? " was" : "es were", m->missing);
}

TriboStatus tribo_mjcf_read_mesh(Mjcf* m, const XmlNode* node) {
  TRIBO_TRY(MJ_GROW(m, mesh));
  MjMesh* mesh = &m->meshs[m->nmesh];
  *mesh = (MjMesh){.scale = {1, 1, 1}, .refquat = {1, 0, 0, 0}, .inertia = MJ_INERTIA_LEGACY, .node = node};
  TRIBO_TRY(tribo_mjcf_read(m, node, "mesh", NULL, &tribo_mjcf_mesh, mesh));
  if (mesh->file != NULL && mesh->name == NULL) {
    TRIBO_TRY(tribo_mjcf_file_name(m, mesh->file, &mesh->name));
  }
  if (mesh->file != NULL) {
    const char* given = mesh->file;
    TRIBO_TRY(tribo_mjcf_file(m, node, tribo_mjcf_rules(m, node)->mesh_dir, mesh->file, &mesh->file));
    if (access(mesh->file, F_OK) != 0) {
      const size_t used = strlen(m->missing);
      snprintf(m->missing + used, sizeof m->missing - used, "%s'%s' (line %d: %s)", used > 0 ? "; " : "", given,
               node->line, mesh->file);
      m->nmissing++;
      mesh->is_missing = 1;
    }
  }
  TRIBO_TRY(read_inline(m, node, mesh));
  if (mesh->file == NULL && mesh->nvertex == 0) {
    const char *name = mesh->name != NULL ? mesh->name : "", *builtin = tribo_xml_get(node, "builtin");
    return builtin != NULL ? tribo_xml_fail(node, "mesh '%.60s': builtin=\"%.40s\" is not known here", name, builtin)
                           : tribo_xml_fail(node, "mesh '%.60s' has neither a file nor vertices", name);
  }
  m->nmesh++;
  return TRIBO_OK;
}

// ---- its triangles

static TriboStatus load(const MjMesh* mesh, double** points, int* npoint, int** triangles, int* ntriangle) {
  if (mesh->file != NULL) {
    return tribo_mjcf_mesh_file(mesh->file, points, npoint, triangles, ntriangle);
  }
  *npoint = mesh->nvertex;
  *ntriangle = mesh->nface;
  *points = tribo_alloc(3 * (size_t)*npoint + 1, sizeof **points);
  *triangles = tribo_alloc(3 * (size_t)*ntriangle + 1, sizeof **triangles);
  if (*points == NULL || *triangles == NULL) {
    return tribo_no_memory("to read the model");
  }
  memcpy(*points, mesh->vertex, 3 * (size_t)*npoint * sizeof **points);
  memcpy(*triangles, mesh->face, 3 * (size_t)*ntriangle * sizeof **triangles);
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_load_vertices(MjMesh* mesh) {
  if (mesh->cloud != 0) {
    return TRIBO_OK;
  }
  double* points = NULL;
  int *triangles = NULL, npoint = 0, ntriangle = 1;
  TriboStatus status = TRIBO_OK;
  if (tribo_text_ends_in(mesh->file, ".obj")) {
    status = load(mesh, &points, &npoint, &triangles, &ntriangle);
  }
  tribo_free(points);
  tribo_free(triangles);
  mesh->cloud = ntriangle == 0 ? 1 : -1;
  return status;
}

TriboStatus tribo_mjcf_triangles(const MjMesh* mesh, double** points, int* npoint, int** triangles, int* ntriangle) {
  *points = NULL, *triangles = NULL;
  TRIBO_TRY(load(mesh, points, npoint, triangles, ntriangle));
  // from the reference frame, then scaled; a mirror turns triangles inside out
  double quat[4] = {mesh->refquat[1], mesh->refquat[2], mesh->refquat[3], mesh->refquat[0]}, R[9];
  tribo_quat_normalize(quat);
  tribo_quat_to_mat(R, quat);
  for (int i = 0; i < *npoint; ++i) {
    double arm[3], *p = *points + 3 * i;
    tribo_sub3(arm, p, mesh->refpos);
    tribo_mul33tv(p, R, arm);
    for (int k = 0; k < 3; ++k) {
      p[k] *= mesh->scale[k];
    }
  }
  if (mesh->scale[0] * mesh->scale[1] * mesh->scale[2] < 0) {
    for (int t = 0; t < *ntriangle; ++t) {
      const int second = (*triangles)[3 * t + 1];
      (*triangles)[3 * t + 1] = (*triangles)[3 * t + 2];
      (*triangles)[3 * t + 2] = second;
    }
  }
  return TRIBO_OK;
}

// ---- its mass

typedef struct Surface {
  const double* points;
  const int* triangles;
  int ntriangle, inertia;
} Surface;

// Corners, middle and weight of a triangle, seen from a point; area 1: its area.
static double weigh(const Surface* s, int t, const double top[3], int area, double x[3][3], double middle[3]) {
  double ab[3], ac[3], normal[3], up[3];
  memset(middle, 0, 3 * sizeof *middle);
  for (int k = 0; k < 3; ++k) {
    tribo_sub3(x[k], s->points + 3 * s->triangles[3 * t + k], top);
    tribo_axpy3(middle, middle, 1.0 / 3, x[k]);
  }
  tribo_sub3(ab, x[1], x[0]);
  tribo_sub3(ac, x[2], x[0]);
  tribo_cross3(normal, ab, ac);
  if (area || s->inertia == MJ_INERTIA_SHELL) {
    return 0.5 * tribo_norm3(normal);
  }
  tribo_copy3(up, middle);
  const double volume = tribo_dot3(up, normal) / 6;
  return s->inertia == MJ_INERTIA_LEGACY ? fabs(volume) : volume;
}

// The sum of all weights and the weighted middle, both from `top`; lift: share of a pyramid's height its middle is at.
static double find_centre(const Surface* s, const double top[3], int area, double centre[3]) {
  const double offset = area || s->inertia == MJ_INERTIA_SHELL ? 1 : 0.75;
  double sum = 0, x[3][3], middle[3], first[3] = {0};
  for (int t = 0; t < s->ntriangle; ++t) {
    const double w = weigh(s, t, top, area, x, middle);
    sum += w;
    tribo_axpy3(first, first, offset * w, middle);
  }
  tribo_axpy3(centre, top, sum > 0 ? 1 / sum : 0, first);
  return sum;
}

// Volume (or area) and inertia about the centre.
static double find_inertia(const Surface* s, const double centre[3], double inertia[9]) {
  const double divisor = s->inertia == MJ_INERTIA_SHELL ? 12 : 20;
  double sum = 0, x[3][3], m[3], second[9] = {0};
  for (int t = 0; t < s->ntriangle; ++t) {
    const double w = weigh(s, t, centre, 0, x, m);
    sum += w;
    for (int i = 0; i < 9; ++i) {
      const int r = i / 3, c = i % 3;
      second[i] += w / divisor * (9 * m[r] * m[c] + x[0][r] * x[0][c] + x[1][r] * x[1][c] + x[2][r] * x[2][c]);
    }
  }
  const double trace = second[0] + second[4] + second[8];
  for (int i = 0; i < 9; ++i) {
    inertia[i] = (i % 4 == 0) * trace - second[i];
  }
  return sum;
}

// The largest moment first, by quarter turns.
void tribo_mjcf_sort_axes(double moments[3], double axes[4]) {
  for (int pass = 0; pass < 3; ++pass) {
    const int k = pass % 2;
    if (moments[k] < moments[k + 1]) {
      const double larger = moments[k + 1];
      moments[k + 1] = moments[k];
      moments[k] = larger;
      double quarter[4] = {0, 0, 0, sqrt(0.5)}, turned[4];
      quarter[(k + 2) % 3] = sqrt(0.5);
      tribo_quat_mul(turned, axes, quarter);
      memcpy(axes, turned, sizeof turned);
      tribo_quat_normalize(axes);
    }
  }
}

// Volume, centre and principal axes of a closed surface, and the box around its points there.
static TriboStatus measure(const Surface* s, MjMesh* mesh, const double* points, int npoint) {
  const double origin[3] = {0};
  double middle[3], inertia[9];
  find_centre(s, origin, 1, middle);
  if (!(find_centre(s, middle, 0, mesh->centre) > 1e-15)) {
    return tribo_xml_fail(mesh->node,
                          "mesh '%s' encloses no volume (or its triangles face inwards): inertia=\"shell\" or a mass "
                          "of 0 may be meant",
                          mesh->name);
  }
  mesh->volume = find_inertia(s, mesh->centre, inertia);
  // the frame of a mesh is part of what a file says, primitives are fitted along it: found as coarsely as MuJoCo does
  tribo_eigen3(inertia, 1e-7, mesh->moments, mesh->axes);
  tribo_mjcf_sort_axes(mesh->moments, mesh->axes);
  // the box along the principal axes that holds all points
  double R[9];
  tribo_quat_to_mat(R, mesh->axes);
  tribo_set3(mesh->low, INFINITY, INFINITY, INFINITY);
  tribo_set3(mesh->high, -INFINITY, -INFINITY, -INFINITY);
  for (int i = 0; i < npoint; ++i) {
    double arm[3], at[3];
    tribo_sub3(arm, points + 3 * i, mesh->centre);
    tribo_mul33tv(at, R, arm);
    for (int k = 0; k < 3; ++k) {
      mesh->low[k] = fmin(mesh->low[k], at[k]);
      mesh->high[k] = fmax(mesh->high[k], at[k]);
    }
  }
  mesh->measured = 1;
  return TRIBO_OK;
}

TriboStatus tribo_mjcf_measure(MjMesh* mesh) {
  if (mesh->measured) {
    return TRIBO_OK;
  }
  double* points;
  int *triangles, npoint = 0, ntriangle = 0;
  TriboHull* hull = NULL;
  TriboStatus status = tribo_mjcf_triangles(mesh, &points, &npoint, &triangles, &ntriangle);
  Surface s = {points, triangles, ntriangle, mesh->inertia};
  // points without triangles stand for their hull
  if (status == TRIBO_OK && (mesh->inertia == MJ_INERTIA_CONVEX || ntriangle == 0)) {
    status = tribo_col_hull_create(points, npoint, &hull);
    if (status == TRIBO_OK) {
      tribo_col_hull_vertices(hull, &s.points);
      s.ntriangle = tribo_col_hull_triangles(hull, &s.triangles);
    }
  }
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s:%d: mesh '%s': ", mesh->node->path, mesh->node->line, mesh->name != NULL ? mesh->name : "");
  } else {
    status = measure(&s, mesh, points, npoint);
  }
  tribo_col_hull_destroy(hull);
  tribo_free(points);
  tribo_free(triangles);
  return status;
}

// ---- primitives in its place

// The primitive of the same inertia, or the one around the mesh: its frame in the frame of the mesh, and half sizes.
TriboStatus tribo_mjcf_fit(const Mjcf* m, MjMesh* mesh, int type, double scale, TriboPose* frame, double size[3]) {
  TRIBO_TRY(tribo_mjcf_measure(mesh));
  const double *I = mesh->moments, sum = I[0] + I[1] + I[2];
  double box[3], middle[3] = {0}, moved[3];
  for (int k = 0; k < 3; ++k) {
    box[k] = 0.5 * sqrt(6 * fmax(sum - 2 * I[k], 0) / mesh->volume);
    if (tribo_mjcf_rules(m, mesh->node)->fit_aabb) {
      middle[k] = 0.5 * (mesh->low[k] + mesh->high[k]);
      box[k] = mesh->high[k] - middle[k];
    }
  }
  *frame = tribo_pose(mesh->centre, mesh->axes);
  tribo_mul33v(moved, frame->R, middle);
  tribo_add3(frame->p, frame->p, moved);
  const double wide = tribo_mjcf_rules(m, mesh->node)->fit_aabb ? fmax(box[0], box[1]) : 0.5 * (box[0] + box[1]);
  tribo_copy3(size, box);
  if (type == MJ_SPHERE) {
    size[0] = tribo_mjcf_rules(m, mesh->node)->fit_aabb ? fmax(wide, box[2]) : (box[0] + box[1] + box[2]) / 3;
  } else if (type == MJ_CAPSULE || type == MJ_CYLINDER) {
    size[0] = wide;
    size[1] = box[2];
    if (type == MJ_CAPSULE) {
      size[1] -= tribo_mjcf_rules(m, mesh->node)->fit_aabb ? wide : fmin(0.5 * wide, box[2]);
    }
  }
  tribo_scale3(size, scale, size);
  return TRIBO_OK;
}
