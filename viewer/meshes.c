// Triangle meshes of the shape kinds, of unit size, and of hulls.
#include "view_common.h"

enum { AROUND = 48, FEW = 12 };  // segments of round things around their axis: normally, and of those seen small

static const double PI = 3.14159265358979323846;

void tribo_view_meshes_free(MeshSet* set) {
  free(set->meshes);
  free(set->vertices);
  free(set->indices);
  *set = (MeshSet){0};
}

static TriboStatus begin(MeshSet* set, int nvertex, int nindex) {
  VIEW_TRY(tribo_view_reserve((void**)&set->meshes, &set->mesh_capacity, set->nmesh + 1, sizeof *set->meshes));
  VIEW_TRY(
      tribo_view_reserve((void**)&set->vertices, &set->vertex_capacity, set->nvertex + nvertex, sizeof *set->vertices));
  VIEW_TRY(tribo_view_reserve((void**)&set->indices, &set->index_capacity, set->nindex + nindex, sizeof *set->indices));
  set->meshes[set->nmesh++] = (TriboDrawMesh){.first_vertex = set->nvertex, .first_index = set->nindex};
  return TRIBO_OK;
}

// The last mesh gets a vertex; its number within the mesh comes back.
static unsigned vertex(MeshSet* set, double x, double y, double z, double w, const double normal[3]) {
  TriboDrawMesh* mesh = &set->meshes[set->nmesh - 1];
  set->vertices[set->nvertex++] = (TriboDrawVertex){.xyz = {(float)x, (float)y, (float)z},
                                                    .w = (float)w,
                                                    .normal = {(float)normal[0], (float)normal[1], (float)normal[2]}};
  return (unsigned)mesh->nvertex++;
}

static void triangle(MeshSet* set, unsigned a, unsigned b, unsigned c) {
  const unsigned corners[3] = {a, b, c};
  memcpy(set->indices + set->nindex, corners, sizeof corners);
  set->nindex += 3;
  set->meshes[set->nmesh - 1].nindex += 3;
}

// A point of the outline that is turned about z, with the normal of the surface there.
typedef struct Outline {
  double radius, z, w;
  double normal_r, normal_z;
} Outline;

// The surface between two points of the outline.
typedef struct Band {
  Outline below, above;
} Band;

static void add_band(MeshSet* set, const Outline* below, const Outline* above, int around) {
  unsigned first = 0;
  for (int i = 0; i <= around; ++i) {
    double angle = 2 * PI * i / around, c = cos(angle), s = sin(angle);
    for (int k = 0; k < 2; ++k) {
      const Outline* o = k == 0 ? below : above;
      const double normal[3] = {o->normal_r * c, o->normal_r * s, o->normal_z};
      unsigned at = vertex(set, o->radius * c, o->radius * s, o->z, o->w, normal);
      first = i == 0 && k == 0 ? at : first;
    }
  }
  for (unsigned i = 0; i < (unsigned)around; ++i) {
    unsigned a = first + 2 * i, b = a + 1, c = a + 2, d = a + 3;
    if (below->radius > 0) {
      triangle(set, a, c, b);
    }
    if (above->radius > 0) {
      triangle(set, b, c, d);
    }
  }
}

static TriboStatus revolve(MeshSet* set, const Band* bands, int n, int around) {
  VIEW_TRY(begin(set, n * 2 * (around + 1), n * 6 * around));
  for (int i = 0; i < n; ++i) {
    add_band(set, &bands[i].below, &bands[i].above, around);
  }
  return TRIBO_OK;
}

// A sphere whose halves move apart by w; a closed band lies between them when it is a capsule.
static TriboStatus ball(MeshSet* set, double w, int around) {
  Band bands[AROUND / 2 + 1];
  int n = 0, up = around / 2;
  for (int i = 0; i < up; ++i) {
    double half = i < up / 2 ? -w : w;
    for (int k = 0; k < 2; ++k) {
      double angle = PI * (i + k) / up, r = i + k == 0 || i + k == up ? 0 : sin(angle), z = -cos(angle);
      *(k == 0 ? &bands[n].below : &bands[n].above) = (Outline){r, z, half, r, z};
    }
    ++n;
    if (w > 0 && i == up / 2 - 1) {
      bands[n++] = (Band){{1, 0, -w, 1, 0}, {1, 0, w, 1, 0}};
    }
  }
  return revolve(set, bands, n, around);
}

static TriboStatus box(MeshSet* set) {
  VIEW_TRY(begin(set, 24, 36));
  for (int axis = 0; axis < 3; ++axis) {
    for (int side = -1; side <= 1; side += 2) {
      unsigned corner[4];
      for (int i = 0; i < 4; ++i) {
        // counter-clockwise seen from outside
        double u = i == 1 || i == 2 ? 1 : -1, v = i >= 2 ? 1 : -1, p[3], normal[3] = {0};
        normal[axis] = side;
        p[axis] = side, p[(axis + 1) % 3] = side * u, p[(axis + 2) % 3] = v;
        corner[i] = vertex(set, p[0], p[1], p[2], 0, normal);
        TriboDrawVertex* added = &set->vertices[set->nvertex - 1];
        added->edge[0] = (float)u, added->edge[1] = (float)v;
      }
      triangle(set, corner[0], corner[1], corner[2]);
      triangle(set, corner[0], corner[2], corner[3]);
    }
  }
  return TRIBO_OK;
}

static TriboStatus plane(MeshSet* set) {
  VIEW_TRY(begin(set, 4, 6));
  const double up[3] = {0, 0, 1};
  unsigned a = vertex(set, -1, -1, 0, 0, up), b = vertex(set, 1, -1, 0, 0, up), c = vertex(set, 1, 1, 0, 0, up),
           d = vertex(set, -1, 1, 0, 0, up);
  triangle(set, a, b, c);
  triangle(set, a, c, d);
  return TRIBO_OK;
}

TriboStatus tribo_view_meshes_builtin(MeshSet* set) {
  const double slant = 2 / sqrt(5);  // of the cone's normal: radius 1, height 2
  const Band cylinder[] = {
      {{0, -1, 0, 0, -1}, {1, -1, 0, 0, -1}}, {{1, -1, 0, 1, 0}, {1, 1, 0, 1, 0}}, {{1, 1, 0, 0, 1}, {0, 1, 0, 0, 1}}};
  const Band cone[] = {{{0, -1, 0, 0, -1}, {1, -1, 0, 0, -1}},
                       {{1, -1, 0, slant, slant / 2}, {0, 1, 0, slant, slant / 2}}};
  // the head is 5 thick and 10 long, and ends where the arrow ends
  const Band arrow[] = {{{0, 0, 0, 0, -1}, {1, 0, 0, 0, -1}},
                        {{1, 0, 0, 1, 0}, {1, -10, 1, 1, 0}},
                        {{1, -10, 1, 0, -1}, {2.5, -10, 1, 0, -1}},
                        {{2.5, -10, 1, 0.97, 0.24}, {0, 0, 1, 0.97, 0.24}}};
  VIEW_TRY(ball(set, 0, AROUND));
  VIEW_TRY(ball(set, 0, FEW));
  VIEW_TRY(box(set));
  VIEW_TRY(ball(set, 1, AROUND));
  VIEW_TRY(revolve(set, cylinder, 3, AROUND));
  VIEW_TRY(revolve(set, cone, 2, AROUND));
  VIEW_TRY(revolve(set, arrow, 4, FEW));
  return plane(set);
}

// ---- hulls and files

typedef struct Faces {
  double* normals;  // (ntriangle × 3) area weighted
  int* place;       // (npoint) the first point at the same place: a picture may cut a smooth surface open
  int* first;       // (npoint + 1) triangles around a point: around[first[p]] … around[first[p + 1] − 1]
  int* around;      // (3 ntriangle)
} Faces;

static void face_normals(const TriboVisualInfo* shape, double* normals) {
  for (int t = 0; t < shape->ntriangle; ++t) {
    const int* corner = shape->triangles + 3 * t;
    const double *a = shape->points + 3 * corner[0], *b = shape->points + 3 * corner[1],
                 *c = shape->points + 3 * corner[2];
    double u[3], v[3];
    for (int i = 0; i < 3; ++i) {
      u[i] = b[i] - a[i], v[i] = c[i] - a[i];
    }
    tribo_cross3(normals + 3 * t, u, v);
  }
}

typedef struct Place {
  double x[3];
  int index;
} Place;

static int compare_points(const double a[3], const double b[3]) {
  for (int k = 0; k < 3; ++k) {
    if (a[k] != b[k]) {
      return a[k] < b[k] ? -1 : 1;
    }
  }
  return 0;
}

static int compare_places(const void* left, const void* right) {
  const Place *a = left, *b = right;
  const int order = compare_points(a->x, b->x);
  return order != 0 ? order : a->index - b->index;
}

// Finds for every point the first one at the same place. 0: no memory
static int join_places(const TriboVisualInfo* shape, int* place) {
  Place* sorted = malloc(((size_t)shape->npoint + 1) * sizeof *sorted);
  if (sorted == NULL) {
    return 0;
  }
  for (int i = 0; i < shape->npoint; ++i) {
    memcpy(sorted[i].x, shape->points + 3 * i, sizeof sorted[i].x);
    sorted[i].index = i;
  }
  if (shape->npoint > 0) {
    qsort(sorted, (size_t)shape->npoint, sizeof *sorted, compare_places);
  }
  for (int i = 0; i < shape->npoint; ++i) {
    const int same = i > 0 && compare_points(sorted[i].x, sorted[i - 1].x) == 0;
    place[sorted[i].index] = same ? place[sorted[i - 1].index] : sorted[i].index;
  }
  free(sorted);
  return 1;
}

static void faces_around(const TriboVisualInfo* shape, Faces* faces) {
  for (int i = 0; i < 3 * shape->ntriangle; ++i) {
    faces->first[faces->place[shape->triangles[i]] + 1]++;
  }
  for (int p = 0; p < shape->npoint; ++p) {
    faces->first[p + 1] += faces->first[p];
  }
  for (int i = 3 * shape->ntriangle - 1; i >= 0; --i) {
    // filled from the back: `first` of the next point counts down to its own start
    int p = faces->place[shape->triangles[i]];
    faces->around[--faces->first[p + 1]] = i / 3;
  }
  // every start has moved one place to the right
  memmove(faces->first, faces->first + 1, (size_t)shape->npoint * sizeof(int));
  faces->first[shape->npoint] = 3 * shape->ntriangle;
}

// The normal of a corner: the mean over those faces around it that differ by less than 30° from its own.
static void corner_normal(const Faces* faces, int t, int point, double out[3]) {
  double own[3];
  memcpy(own, faces->normals + 3 * t, sizeof own);
  double size = tribo_normalize3(own);
  memset(out, 0, 3 * sizeof(double));
  for (int i = faces->first[point]; i < faces->first[point + 1]; ++i) {
    const double* n = faces->normals + 3 * faces->around[i];
    if (size > 0 && tribo_dot3(own, n) > 0.866 * tribo_norm3(n)) {
      out[0] += n[0], out[1] += n[1], out[2] += n[2];
    }
  }
  tribo_normalize3(out);
}

// The box around the vertices of the last mesh.
static void measure(MeshSet* set) {
  TriboDrawMesh* mesh = &set->meshes[set->nmesh - 1];
  for (int k = 0; k < 3; ++k) {
    mesh->lo[k] = INFINITY, mesh->hi[k] = -INFINITY;
    for (int v = 0; v < mesh->nvertex; ++v) {
      const double x = set->vertices[mesh->first_vertex + v].xyz[k];
      mesh->lo[k] = fmin(mesh->lo[k], x), mesh->hi[k] = fmax(mesh->hi[k], x);
    }
  }
}

TriboStatus tribo_view_meshes_triangles(MeshSet* set, const TriboVisualInfo* shape, int open) {
  int corners = 3 * shape->ntriangle;
  VIEW_TRY(begin(set, corners, corners));
  Faces faces = {.normals = malloc((size_t)corners * sizeof(double)),
                 .first = calloc((size_t)shape->npoint + 2, sizeof(int)),
                 .place = malloc(((size_t)shape->npoint + 1) * sizeof(int)),
                 .around = malloc((size_t)corners * sizeof(int))};
  TriboStatus status = faces.normals == NULL || faces.first == NULL || faces.around == NULL || faces.place == NULL ||
                               !join_places(shape, faces.place)
                           ? tribo_view_fail(TRIBO_NOMEM, "no memory for the triangles of %s", shape->name)
                           : TRIBO_OK;
  if (status == TRIBO_OK) {
    face_normals(shape, faces.normals);
    faces_around(shape, &faces);
    for (int i = 0; i < corners; ++i) {
      const double* p = shape->points + 3 * shape->triangles[i];
      double normal[3];
      corner_normal(&faces, i / 3, faces.place[shape->triangles[i]], normal);
      vertex(set, p[0], p[1], p[2], 0, normal);
      if (shape->uv != NULL) {
        const double* uv = shape->uv + 2 * shape->triangles[i];
        float* out = set->vertices[set->nvertex - 1].uv;
        out[0] = (float)uv[0], out[1] = (float)uv[1];
      }
    }
    for (int t = 0; t < shape->ntriangle; ++t) {
      triangle(set, 3 * (unsigned)t, 3 * (unsigned)t + 1, 3 * (unsigned)t + 2);
    }
    set->meshes[set->nmesh - 1].open = open;
    measure(set);
  }
  free(faces.normals);
  free(faces.first);
  free(faces.around);
  free(faces.place);
  return status;
}
