// Convex hulls. Coal's quickhull gives a triangle soup; here its coplanar triangles are merged into maximal faces,
// because contact manifolds need whole faces and vertices that merely lie on a face or an edge must go.
//
//   points ──check──► quickhull ──► triangles ──grow regions──► faces ──loops──► polygons ──► fans, planes, Coal object
#include "shape.h"

#include <stdlib.h>

#include "memory.h"
#include "random.h"
#include "status.h"

static const double FLAT = 1e-6;      // refused: thickness / extent below this
static const double COPLANAR = 1e-6;  // merged: distance from the face's plane / extent up to this
enum { MOST_POINTS = 1000000 };

// A directed edge of a triangle.
typedef struct Edge {
  int from, to, triangle;
} Edge;

typedef struct Seed {
  double area;
  int triangle;
} Seed;

// The directions in which a point set is long, wide and thick, and how much.
typedef struct Frame {
  const double* origin;
  double axis[3][3], size[3];
  double largest;  // coordinate
} Frame;

// A point in that frame, scaled to unit sizes, and where it came from.
typedef struct Scaled {
  double x[3];
  int index;
} Scaled;

// The triangle soup and what is worked out about it.
typedef struct Soup {
  int npoint, ntriangle, nface;
  double coplanar;    // distance up to which a point lies in a plane
  double middle[3];   // mean of the points
  double* points;     // (npoint × 3)
  int* triangles;     // (ntriangle × 3)
  double* normals;    // (ntriangle × 3) unit, outward
  Edge* edges;        // (ntriangle × 3) sorted by (from, to)
  Seed* seeds;        // (ntriangle) by falling area
  int* face;          // (ntriangle) face of each triangle
  int* members;       // (ntriangle) face by face
  int* member_first;  // (nface + 1) into members
  int* next;          // (npoint) the boundary of one face: vertex → vertex, −1 elsewhere
  int* uses;          // (npoint) number of faces at each vertex
  int* first;         // (ntriangle + 1) start of each face's polygon
  int* loops;         // (ntriangle × 3) the polygons
} Soup;

static void soup_free(Soup* s) {
  void* all[] = {s->points,  s->triangles,    s->normals, s->edges, s->seeds, s->face,
                 s->members, s->member_first, s->next,    s->uses,  s->first, s->loops};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_free(all[i]);
  }
}

// Distance of the farthest point from the affine space of the first `rank` axes; its index in *pick.
static double farthest(const double* points, int n, const Frame* frame, int rank, int* pick) {
  double most = -1;
  for (int i = 0; i < n; ++i) {
    double d[3];
    tribo_sub3(d, points + 3 * i, frame->origin);
    for (int k = 0; k < rank; ++k) {
      tribo_axpy3(d, d, -tribo_dot3(d, frame->axis[k]), frame->axis[k]);
    }
    double distance = tribo_norm3(d);
    if (distance > most) {
      most = distance, *pick = i;
    }
  }
  return most;
}

// Finite, and spanning a volume: length, width and thickness are the distances of the farthest points from the first
// point, from the line through both, and from the plane through all three.
static TriboStatus check_points(const double* points, int n, Frame* frame) {
  const char* where = "tribo_col_hull_create";
  if (points == NULL || n < 4 || n > MOST_POINTS) {
    return tribo_fail(TRIBO_INVALID, "%s: %d points, a hull needs 4 … %d", where, points == NULL ? 0 : n, MOST_POINTS);
  }
  frame->largest = 1e-9;
  for (int i = 0; i < 3 * n; ++i) {
    if (!(fabs(points[i]) <= 1e9)) {
      return tribo_fail(TRIBO_INVALID, "%s: coordinate %d of point %d is %g, it must be within ±1e9 m", where, i % 3,
                        i / 3, points[i]);
    }
    frame->largest = fmax(frame->largest, fabs(points[i]));
  }
  frame->origin = points;
  for (int rank = 0; rank < 3; ++rank) {
    int pick = 0;
    double* axis = frame->axis[rank];
    frame->size[rank] = farthest(points, n, frame, rank, &pick);
    // thinner than a millionth of the extent, or than what rounding of the coordinates leaves
    if (!(frame->size[rank] > fmax(FLAT * frame->size[0], 1e-12 * frame->largest))) {
      return tribo_fail(TRIBO_INVALID,
                        "%s: the %d points are flat: thickness %g m at an extent of %g m, at least %g of it is needed",
                        where, n, frame->size[rank], frame->size[0], FLAT);
    }
    tribo_sub3(axis, points + 3 * pick, frame->origin);
    for (int k = 0; k < rank; ++k) {
      tribo_axpy3(axis, axis, -tribo_dot3(axis, frame->axis[k]), frame->axis[k]);
    }
    tribo_normalize3(axis);
  }
  return TRIBO_OK;
}

static int compare_scaled(const void* x, const void* y) {
  return tribo_col_compare3(((const Scaled*)x)->x, ((const Scaled*)y)->x);
}

static int compare_edges(const void* x, const void* y) {
  const Edge *a = x, *b = y;
  return a->from != b->from ? (a->from > b->from) - (a->from < b->from) : (a->to > b->to) - (a->to < b->to);
}

// Larger first; equal areas in the order of their triangles.
static int compare_seeds(const void* x, const void* y) {
  const Seed *a = x, *b = y;
  return a->area != b->area ? (a->area < b->area) - (a->area > b->area) : a->triangle - b->triangle;
}

// The triangle on the other side of edge (from, to), or −1.
static int across(const Soup* s, int from, int to) {
  Edge key = {to, from, 0};
  const Edge* twin = bsearch(&key, s->edges, 3 * (size_t)s->ntriangle, sizeof *s->edges, compare_edges);
  return twin != NULL ? twin->triangle : -1;
}

static TriboStatus soup_take(Soup* s, const TriboCoalMesh* mesh) {
  tribo_coal_mesh_size(mesh, &s->npoint, &s->ntriangle);
  size_t np = (size_t)s->npoint, nt = (size_t)s->ntriangle;
  s->points = tribo_alloc(3 * np, sizeof *s->points);
  s->triangles = tribo_alloc(3 * nt, sizeof *s->triangles);
  s->normals = tribo_alloc(3 * nt, sizeof *s->normals);
  s->edges = tribo_alloc(3 * nt, sizeof *s->edges);
  s->seeds = tribo_alloc(nt, sizeof *s->seeds);
  s->face = tribo_alloc(nt, sizeof *s->face);
  s->members = tribo_alloc(nt, sizeof *s->members);
  s->member_first = tribo_alloc(nt + 1, sizeof *s->member_first);
  s->next = tribo_alloc(np, sizeof *s->next);
  s->uses = tribo_alloc(np, sizeof *s->uses);
  s->first = tribo_alloc(nt + 1, sizeof *s->first);
  s->loops = tribo_alloc(3 * nt, sizeof *s->loops);
  if (!s->points || !s->triangles || !s->normals || !s->edges || !s->seeds || !s->face || !s->members ||
      !s->member_first || !s->next || !s->uses || !s->first || !s->loops) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_hull_create: no memory for %zu triangles", nt);
  }
  tribo_coal_mesh_copy(mesh, s->points, s->triangles);
  return TRIBO_OK;
}

static void flip(Soup* s, int t) {
  int* tri = s->triangles + 3 * t;
  int swap = tri[1];
  tri[1] = tri[2], tri[2] = swap;
  tribo_scale3(s->normals + 3 * t, -1, s->normals + 3 * t);
}

// Whether two triangles run along a common edge in the same direction: then one of them is the wrong way round.
static int same_direction(const int* p, const int* q) {
  for (int k = 0; k < 9; ++k) {
    if (p[k / 3] == q[k % 3] && p[(k / 3 + 1) % 3] == q[(k % 3 + 1) % 3]) {
      return 1;
    }
  }
  return 0;
}

// Turns all triangles outward, spreading from the largest one across edges: slivers have no normal to judge by.
// 0 when some edge does not join exactly two triangles.
static int orient(Soup* s) {
  int nt = s->ntriangle, *neighbours = s->loops, *degree = s->first, tail = 0;
  for (int e = 0; e < 3 * nt; ++e) {
    int from = s->triangles[e], to = s->triangles[e % 3 == 2 ? e - 2 : e + 1];
    s->edges[e] = from < to ? (Edge){from, to, e / 3} : (Edge){to, from, e / 3};
  }
  qsort(s->edges, 3 * (size_t)nt, sizeof *s->edges, compare_edges);
  memset(degree, 0, (size_t)nt * sizeof *degree);
  for (int e = 0; e + 1 < 3 * nt; e += 2) {
    int p = s->edges[e].triangle, q = s->edges[e + 1].triangle;
    if (compare_edges(s->edges + e, s->edges + e + 1) != 0) {
      return 0;
    }
    neighbours[3 * p + degree[p]++] = q;
    neighbours[3 * q + degree[q]++] = p;
  }
  memset(s->face, -1, (size_t)nt * sizeof *s->face);
  int largest = s->seeds[0].triangle;
  double out[3];
  tribo_sub3(out, s->points + 3 * s->triangles[3 * largest], s->middle);
  if (tribo_dot3(s->normals + 3 * largest, out) < 0) {
    flip(s, largest);
  }
  s->face[largest] = 0;
  s->members[tail++] = largest;
  for (int head = 0; head < tail; ++head) {
    int p = s->members[head];
    for (int k = 0; k < 3; ++k) {
      int q = neighbours[3 * p + k];
      if (s->face[q] < 0) {
        if (same_direction(s->triangles + 3 * p, s->triangles + 3 * q)) {
          flip(s, q);
        }
        s->face[q] = 0;
        s->members[tail++] = q;
      }
    }
  }
  return tail == nt;
}

// Normals, triangles by falling area, all outward, and their directed edges. 0 when the surface is not closed.
static int soup_measure(Soup* s) {
  for (int i = 0; i < s->npoint; ++i) {
    tribo_axpy3(s->middle, s->middle, 1.0 / s->npoint, s->points + 3 * i);
  }
  for (int t = 0; t < s->ntriangle; ++t) {
    const int* tri = s->triangles + 3 * t;
    double u[3], v[3], *n = s->normals + 3 * t;
    tribo_sub3(u, s->points + 3 * tri[1], s->points + 3 * tri[0]);
    tribo_sub3(v, s->points + 3 * tri[2], s->points + 3 * tri[0]);
    tribo_cross3(n, u, v);
    s->seeds[t] = (Seed){tribo_normalize3(n), t};
  }
  // seeds of faces: the largest triangles have the best normals
  qsort(s->seeds, (size_t)s->ntriangle, sizeof *s->seeds, compare_seeds);
  if (!orient(s)) {
    return 0;
  }
  for (int e = 0; e < 3 * s->ntriangle; ++e) {
    s->edges[e] = (Edge){s->triangles[e], s->triangles[e % 3 == 2 ? e - 2 : e + 1], e / 3};
  }
  qsort(s->edges, 3 * (size_t)s->ntriangle, sizeof *s->edges, compare_edges);
  return 1;
}

// A triangle without height, whose normal says nothing.
static int is_sliver(const Soup* s, int t) {
  const int* tri = s->triangles + 3 * t;
  double longest = 0, u[3], v[3], n[3];
  for (int k = 0; k < 3; ++k) {
    tribo_sub3(u, s->points + 3 * tri[(k + 1) % 3], s->points + 3 * tri[k]);
    longest = fmax(longest, tribo_norm3(u));
  }
  tribo_sub3(v, s->points + 3 * tri[1], s->points + 3 * tri[0]);
  tribo_cross3(n, u, v);  // (u is the last edge)
  return tribo_norm3(n) <= s->coplanar * longest;
}

// Grows faces from the largest triangles: a neighbour joins when all its corners lie in the seed's plane.
static void grow_faces(Soup* s, double tolerance) {
  memset(s->face, -1, (size_t)s->ntriangle * sizeof *s->face);
  s->nface = 0;
  for (int i = 0, tail = 0, head = 0; i < s->ntriangle; ++i) {
    int seed = s->seeds[i].triangle;
    if (s->face[seed] >= 0) {
      continue;
    }
    const double* n = s->normals + 3 * seed;
    double offset = tribo_dot3(n, s->points + 3 * s->triangles[3 * seed]);
    s->face[seed] = s->nface;
    s->member_first[s->nface] = tail;
    s->members[tail++] = seed;
    while (head < tail) {
      const int* tri = s->triangles + 3 * s->members[head++];
      for (int k = 0; k < 3; ++k) {
        int other = across(s, tri[k], tri[(k + 1) % 3]);
        if (other < 0 || s->face[other] >= 0 || (!is_sliver(s, other) && tribo_dot3(n, s->normals + 3 * other) <= 0)) {
          continue;
        }
        double off = 0;
        for (int c = 0; c < 3; ++c) {
          off = fmax(off, fabs(tribo_dot3(n, s->points + 3 * s->triangles[3 * other + c]) - offset));
        }
        if (off <= tolerance) {
          s->face[other] = s->nface;
          s->members[tail++] = other;
        }
      }
    }
    s->member_first[++s->nface] = tail;
  }
}

// The polygon around face f into loop: its length, or 0 when the boundary is not one simple loop.
static int walk_boundary(Soup* s, int f, int* loop) {
  int start = -1, count = 0, length = 0, simple = 1;
  for (int m = s->member_first[f]; m < s->member_first[f + 1]; ++m) {
    const int* tri = s->triangles + 3 * s->members[m];
    for (int k = 0; k < 3; ++k) {
      int from = tri[k], to = tri[(k + 1) % 3], other = across(s, from, to);
      if (other >= 0 && s->face[other] == f) {
        continue;
      }
      simple = simple && other >= 0 && s->next[from] < 0;
      s->next[from] = to;
      start = start < 0 ? from : start;
      count++;
    }
  }
  // follow the arrows once around, wiping them for the next face
  int v = start;
  while (simple && v >= 0 && length < count) {
    loop[length++] = v;
    int to = s->next[v];
    s->next[v] = -1;
    v = to;
  }
  return simple && length == count && count >= 3 && v == start ? length : 0;
}

// All polygons one after the other; vertices where fewer than three faces meet lie inside a face or on an edge and
// are left out. 0 when some face is not a simple polygon of at least three vertices.
static int collect_polygons(Soup* s) {
  int *first = s->first, *vertices = s->loops;
  memset(s->uses, 0, (size_t)s->npoint * sizeof *s->uses);
  memset(s->next, -1, (size_t)s->npoint * sizeof *s->next);
  int used = 0;
  for (int f = 0; f < s->nface; ++f) {
    first[f] = used;
    int length = walk_boundary(s, f, vertices + used);
    if (length == 0) {
      return 0;
    }
    for (int k = 0; k < length; ++k) {
      s->uses[vertices[used + k]]++;
    }
    used += length;
  }
  first[s->nface] = used;
  int kept = 0;
  for (int f = 0, at = 0; f < s->nface; ++f) {
    first[f] = kept;
    for (; at < first[f + 1]; ++at) {
      if (s->uses[vertices[at]] >= 3) {
        vertices[kept++] = vertices[at];
      }
    }
    if (kept - first[f] < 3) {
      return 0;
    }
  }
  first[s->nface] = kept;
  return kept;
}

// Numbers the vertices in use and fills the hull's arrays from the polygons.
static TriboStatus hull_fill(TriboHull* hull, Soup* s) {
  const int *first = s->first, *vertices = s->loops;
  int used = first[s->nface];
  memset(s->uses, -1, (size_t)s->npoint * sizeof *s->uses);
  for (int k = 0; k < used; ++k) {
    s->uses[vertices[k]] = 0;
  }
  for (int i = 0; i < s->npoint; ++i) {
    s->uses[i] = s->uses[i] == 0 ? hull->nvertex++ : -1;
  }
  hull->nface = s->nface;
  hull->ntriangle = used - 2 * s->nface;
  hull->points = tribo_alloc(3 * (size_t)hull->nvertex, sizeof *hull->points);
  hull->triangles = tribo_alloc(3 * (size_t)hull->ntriangle, sizeof *hull->triangles);
  hull->planes = tribo_alloc(4 * (size_t)hull->nface, sizeof *hull->planes);
  hull->face_first = tribo_alloc((size_t)hull->nface + 1, sizeof *hull->face_first);
  hull->face_vertex = tribo_alloc((size_t)used, sizeof *hull->face_vertex);
  hull->around_first = tribo_alloc((size_t)hull->nvertex + 1, sizeof *hull->around_first);
  hull->around = tribo_alloc((size_t)used, sizeof *hull->around);
  hull->next = tribo_alloc((size_t)used, sizeof *hull->next);
  const int large = hull->nvertex > TRIBO_HULL_SMALL;
  hull->start = large ? tribo_alloc(TRIBO_HULL_STARTS, sizeof *hull->start) : NULL;
  if (!hull->points || !hull->triangles || !hull->planes || !hull->face_first || !hull->face_vertex ||
      !hull->around_first || !hull->around || !hull->next || (large && !hull->start)) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_hull_create: no memory for %d faces", hull->nface);
  }
  for (int i = 0; i < s->npoint; ++i) {
    if (s->uses[i] >= 0) {
      tribo_copy3(hull->points + 3 * s->uses[i], s->points + 3 * i);
    }
  }
  memcpy(hull->face_first, first, ((size_t)hull->nface + 1) * sizeof *first);
  for (int k = 0; k < used; ++k) {
    hull->face_vertex[k] = s->uses[vertices[k]];
  }
  return TRIBO_OK;
}

// Planes, triangles, the faces around each vertex and the bounding box.
static void hull_finish(TriboHull* hull) {
  int ntriangle = 0;
  for (int f = 0; f < hull->nface; ++f) {
    const int* loop = hull->face_vertex + hull->face_first[f];
    int length = hull->face_first[f + 1] - hull->face_first[f];
    // area-weighted normal of the fan; the offset that leaves no vertex of the face outside
    double* plane = hull->planes + 4 * f;
    const double* apex = hull->points + 3 * loop[0];
    for (int k = 1; k + 1 < length; ++k) {
      double u[3], v[3], n[3];
      tribo_sub3(u, hull->points + 3 * loop[k], apex);
      tribo_sub3(v, hull->points + 3 * loop[k + 1], apex);
      tribo_cross3(n, u, v);
      tribo_add3(plane, plane, n);
    }
    // triangles in a zigzag from both ends: no vertex is in many of them
    for (int low = 0, high = length - 1; high - low >= 2;) {
      int* tri = hull->triangles + 3 * ntriangle++;
      tri[0] = loop[low], tri[1] = loop[low + 1], tri[2] = loop[high];
      if (++low, high - low >= 2) {
        tri = hull->triangles + 3 * ntriangle++;
        tri[0] = loop[low], tri[1] = loop[high - 1], tri[2] = loop[high];
        --high;
      }
    }
    tribo_normalize3(plane);
    plane[3] = -INFINITY;
    for (int k = 0; k < length; ++k) {
      plane[3] = fmax(plane[3], tribo_dot3(plane, hull->points + 3 * loop[k]));
      hull->around_first[loop[k] + 1]++;
    }
  }
  for (int i = 0; i < hull->nvertex; ++i) {
    hull->around_first[i + 1] += hull->around_first[i];
  }
  // filled from the back, so that each vertex lists its faces in rising order
  for (int f = hull->nface - 1; f >= 0; --f) {
    for (int k = hull->face_first[f]; k < hull->face_first[f + 1]; ++k) {
      const int at = --hull->around_first[hull->face_vertex[k] + 1];
      hull->around[at] = f;
      hull->next[at] = hull->face_vertex[k + 1 < hull->face_first[f + 1] ? k + 1 : hull->face_first[f]];
    }
  }
  for (int i = 0; i < hull->nvertex; ++i) {
    hull->around_first[i] = hull->around_first[i + 1];
  }
  hull->around_first[hull->nvertex] = hull->face_first[hull->nface];
  for (int k = 0; k < 3; ++k) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < hull->nvertex; ++i) {
      low = fmin(low, hull->points[3 * i + k]);
      high = fmax(high, hull->points[3 * i + k]);
    }
    hull->centre[k] = 0.5 * (low + high);
    hull->half[k] = 0.5 * (high - low);
  }
}

static TriboStatus hull_build(TriboHull* hull, Soup* s) {
  int closed = soup_measure(s);
  if (closed) {
    // merged faces, or plain triangles where merging does not give simple polygons
    grow_faces(s, s->coplanar);
    closed = collect_polygons(s);
    if (!closed) {
      grow_faces(s, -1);
      closed = collect_polygons(s);
    }
  }
  if (!closed) {
    return tribo_fail(TRIBO_NUMERIC, "tribo_col_hull_create: the hull with %d vertices is not a closed surface",
                      s->npoint);
  }
  TRIBO_TRY(hull_fill(hull, s));
  hull_finish(hull);
  if (hull->start != NULL) {
    tribo_col_hull_starts(hull);
  }
  return tribo_coal_convex_create(hull->points, hull->nvertex, hull->triangles, hull->ntriangle, &hull->coal);
}

// Hulls do not care about affine maps, but quickhull crashes on thin or far sets: it gets them scaled to unit length,
// width and thickness, each moved by up to `jitter`. `flat` and `scaled` (npoint) receive the scaled points.
static void scale_points(const Frame* frame, const double* points, int npoint, double jitter, double* flat,
                         Scaled* scaled) {
  TriboRandom random = {1};
  for (int i = 0; i < npoint; ++i) {
    double d[3];
    tribo_sub3(d, points + 3 * i, frame->origin);
    for (int k = 0; k < 3; ++k) {
      flat[3 * i + k] = scaled[i].x[k] =
          tribo_dot3(d, frame->axis[k]) / frame->size[k] + tribo_random(&random, -jitter, jitter);
    }
    scaled[i].index = i;
  }
  qsort(scaled, (size_t)npoint, sizeof *scaled, compare_scaled);
}

// Looks the vertices of the soup up among the scaled points and puts the points themselves in their place.
static TriboStatus unscale(Soup* s, const double* points, const Scaled* scaled, int npoint) {
  for (int i = 0; i < s->npoint; ++i) {
    Scaled key = {{s->points[3 * i], s->points[3 * i + 1], s->points[3 * i + 2]}, 0};
    const Scaled* found = bsearch(&key, scaled, (size_t)npoint, sizeof *scaled, compare_scaled);
    if (found == NULL) {
      return tribo_fail(TRIBO_INTERNAL, "tribo_col_hull_create: a vertex of the hull is none of the points");
    }
    tribo_copy3(s->points + 3 * i, points + 3 * found->index);
  }
  return TRIBO_OK;
}

static TriboStatus soup_make(Soup* s, const Frame* frame, const double* points, int npoint) {
  Scaled* scaled = tribo_alloc((size_t)npoint, sizeof *scaled);
  double* flat = tribo_alloc(3 * (size_t)npoint, sizeof *flat);
  TriboCoalMesh* mesh = NULL;
  TriboStatus status;
  if (scaled == NULL || flat == NULL) {
    status = tribo_fail(TRIBO_NOMEM, "tribo_col_hull_create: no memory for %d points", npoint);
  } else {
    // quickhull cuts a face of many corners into a fan, and Coal refuses a vertex with more than 255 neighbours; with
    // corners that are not quite in one plane there is no fan
    static const double jitter[] = {0, 1e-7, 1e-5};
    status = TRIBO_INTERNAL;
    for (int k = 0; k < 3 && status != TRIBO_OK; ++k) {
      scale_points(frame, points, npoint, jitter[k], flat, scaled);
      status = tribo_coal_hull(flat, npoint, &mesh);
    }
    status = status == TRIBO_OK ? soup_take(s, mesh) : status;
    status = status == TRIBO_OK ? unscale(s, points, scaled, npoint) : status;
  }
  tribo_coal_mesh_destroy(mesh);
  tribo_free(scaled);
  tribo_free(flat);
  return status;
}

TriboStatus tribo_col_hull_create(const double* points, int npoint, TriboHull** out) {
  Soup soup = {0};
  Frame frame = {0};
  TRIBO_TRY(check_points(points, npoint, &frame));
  TriboHull* hull = tribo_alloc(1, sizeof *hull);
  if (hull == NULL) {
    return tribo_fail(TRIBO_NOMEM, "tribo_col_hull_create: no memory");
  }
  // a thousandth of the thickness at most, but never below the rounding of the coordinates
  soup.coplanar = fmax(fmin(COPLANAR * frame.size[0], 1e-3 * frame.size[2]), 1e-15 * frame.largest);
  TriboStatus status = soup_make(&soup, &frame, points, npoint);
  status = status == TRIBO_OK ? hull_build(hull, &soup) : status;
  soup_free(&soup);
  if (status != TRIBO_OK) {
    tribo_col_hull_destroy(hull);
    return status;
  }
  *out = hull;
  return TRIBO_OK;
}

void tribo_col_hull_destroy(TriboHull* hull) {
  if (hull == NULL) {
    return;
  }
  void* all[] = {hull->points,       hull->triangles, hull->planes, hull->face_first, hull->face_vertex,
                 hull->around_first, hull->around,    hull->next,   hull->start};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    tribo_free(all[i]);
  }
  tribo_coal_shape_destroy(hull->coal);
  tribo_free(hull);
}

int tribo_col_hull_vertices(const TriboHull* hull, const double** points) {
  *points = hull->points;
  return hull->nvertex;
}

int tribo_col_hull_triangles(const TriboHull* hull, const int** triangles) {
  *triangles = hull->triangles;
  return hull->ntriangle;
}
