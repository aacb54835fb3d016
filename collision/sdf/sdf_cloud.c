// The cloud of a field: samples of the surface of every leaf, kept where that is the surface of the whole. Corners,
// edges and faces have samples each; what lies between two of them is found by sliding a sample along its edge or face.
// A ball is one sample with a radius, a capsule a few along its axis: exact without any more.
#include "sdf_field.h"

#include "memory.h"
#include "shape.h"
#include "status.h"

static const double PI = 3.14159265358979323846;

// Samples in a turn, by which a M16 thread misses no more than 0.2 µm of its deepest point (measured with random poses
// of a nut: 12 miss 1.35, 24 0.39, 36 0.20, 72 0.03 µm). Cells in a turn, and along a nut.
enum { TURN = 36, SECTORS = 12, LAYERS = 3 };
// Samples lie this part of the size apart, on edges and faces.
static const double SPACING = 1.0 / 8;

// Cosines: contacts of a face's sample, which may have to slide, have their normals within 60° of its own. Those of an
// edge lie between the normals of its two faces; 15° are added for what turns along it. The edges of a thread have
// faces 60° apart, others 90°, corners three of them.
static const double FACE = 0.5, THREAD_EDGE = 0.7071, EDGE = 0.5, CORNER = 0.34;

// Where the samples of a leaf go.
typedef struct Cloud {
  TriboSdf* sdf;
  const SdfNode* leaf;
  TriboPose pose;  // of the leaf in the field
  double out;      // by how much trees above it have moved its surface [m]
  double sign;     // −1: it is subtracted
  double spacing;
  double tolerance;
  TriboStatus status;
} Cloud;

static SdfSample sample_at(double x, double y, double z) {
  return (SdfSample){.x = {x, y, z}, .cell = -1, .curve = -1};
}

// Adds a sample of a leaf, given in its frame with the way out of it, if the whole has its surface there.
static void add(Cloud* c, SdfSample s, const double way[3]) {
  double x[3], n[3], g[3], far[3];
  tribo_axpy3(far, s.x, c->out + c->leaf->round, way);
  tribo_col_to_world(x, &c->pose, far);
  tribo_mul33v(n, c->pose.R, way);
  tribo_scale3(n, c->sign, n);
  const double phi = tribo_col_sdf_value(c->sdf, x, g) - s.radius;
  if (c->status != TRIBO_OK || (s.radius == 0 && fabs(phi) > c->tolerance)) {
    return;
  }
  tribo_copy3(s.x, x);
  if (c->out + c->leaf->round != 0 && s.radius == 0) {
    s.slide = SDF_ALONG_SURFACE;
  }
  tribo_set3(s.n, 0, 0, 0);
  if (s.slide == SDF_ALONG_SURFACE) {
    tribo_copy3(s.n, g);
    s.facing = FACE;
  } else if (s.facing > 0) {
    tribo_copy3(s.n, n);
  }
  s.spacing = s.spacing > 0 ? s.spacing : c->spacing;
  c->status = TRIBO_APPEND(&c->sdf->samples, c->sdf->nsample, 1);
  if (c->status == TRIBO_OK) {
    c->sdf->samples[c->sdf->nsample++] = s;
  }
}

// A new line to slide along, given in the leaf's frame; −1 when there is no memory.
static int add_curve(Cloud* c, const double origin[3], const double axis[3], double lead, int is_straight) {
  TriboSdf* sdf = c->sdf;
  if (c->status == TRIBO_OK) {
    c->status = TRIBO_APPEND(&sdf->curves, sdf->ncurve, 1);
  }
  if (c->status != TRIBO_OK) {
    return -1;
  }
  SdfCurve* curve = &sdf->curves[sdf->ncurve];
  curve->lead = lead;
  curve->is_straight = is_straight;
  tribo_col_to_world(curve->origin, &c->pose, origin);
  tribo_mul33v(curve->axis, c->pose.R, axis);
  return sdf->ncurve++;
}

static int steps(double length, double spacing) {
  const double n = ceil(length / spacing - 1e-6);
  return n < 1 ? 1 : n > 64 ? 64 : (int)n;
}

// ---- faces and edges with corners

// A straight edge from a to b without its ends; way: out of it.
static void add_edge(Cloud* c, const double a[3], const double b[3], const double way[3], double facing) {
  double axis[3];
  tribo_sub3(axis, b, a);
  const double length = tribo_normalize3(axis);
  const int n = steps(length, c->spacing), curve = add_curve(c, a, axis, 0, 1);
  for (int i = 1; i < n; ++i) {
    SdfSample s = sample_at(0, 0, 0);
    tribo_axpy3(s.x, a, length * i / n, axis);
    s.slide = SDF_ALONG_LINE;
    s.curve = curve;
    s.spacing = length / n;
    s.facing = facing;
    add(c, s, way);
  }
}

// The inner points of a face spanned by u and v from a corner.
static void add_face(Cloud* c, const double corner[3], const double u[3], const double v[3], const double way[3]) {
  const int nu = steps(tribo_norm3(u), c->spacing), nv = steps(tribo_norm3(v), c->spacing);
  for (int i = 1; i < nu; ++i) {
    for (int k = 1; k < nv; ++k) {
      SdfSample s = sample_at(0, 0, 0);
      tribo_axpy3(s.x, corner, (double)i / nu, u);
      tribo_axpy3(s.x, s.x, (double)k / nv, v);
      s.slide = SDF_ALONG_SURFACE;
      add(c, s, way);
    }
  }
}

// A corner of the box: +1 or −1 along each axis.
static void box_corner(const double half[3], const int sign[3], double x[3], double way[3]) {
  for (int k = 0; k < 3; ++k) {
    x[k] = sign[k] * half[k];
    way[k] = sign[k];
  }
  tribo_normalize3(way);
}

// Corners, edges and faces.
static void box_cloud(Cloud* c) {
  double half[3], x[3], y[3], way[3];
  for (int k = 0; k < 3; ++k) {
    half[k] = c->leaf->half[k] - c->leaf->round;
  }
  for (int i = 0; i < 8; ++i) {
    const int sign[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
    box_corner(half, sign, x, way);
    SdfSample corner = sample_at(x[0], x[1], x[2]);
    corner.facing = CORNER;
    add(c, corner, way);
    for (int k = 0; k < 3; ++k) {
      if (sign[k] < 0) {
        int other[3] = {sign[0], sign[1], sign[2]};
        other[k] = 1;
        box_corner(half, other, y, way);
        box_corner(half, sign, x, way);
        way[k] = 0;
        tribo_normalize3(way);
        add_edge(c, x, y, way, EDGE);
      }
    }
  }
  for (int k = 0; k < 3; ++k) {
    for (int side = -1; side <= 1; side += 2) {
      double corner[3], u[3] = {0, 0, 0}, v[3] = {0, 0, 0};
      tribo_scale3(corner, -1, half);
      corner[k] = side * half[k];
      u[(k + 1) % 3] = 2 * half[(k + 1) % 3];
      v[(k + 2) % 3] = 2 * half[(k + 2) % 3];
      tribo_set3(way, 0, 0, 0);
      way[k] = side;
      add_face(c, corner, u, v, way);
    }
  }
}

// ---- bodies about an axis

// A circle of samples about z, turned by a phase; way (r, z): out of it, cell: of its first sample, −1 for none.
static void add_ring(Cloud* c, double r, double z, const double way[2], int slide, int cell) {
  const double centre[3] = {0, 0, z}, axis[3] = {0, 0, 1}, up[3] = {0, 0, way[1] < 0 ? -1 : 1};
  if (r < 1e-9 * c->sdf->size) {
    SdfSample s = sample_at(0, 0, z);
    s.slide = slide == SDF_ALONG_LINE ? SDF_STAYS : slide;
    s.cell = cell;
    add(c, s, up);
    return;
  }
  const int curve = slide == SDF_ALONG_LINE ? add_curve(c, centre, axis, 0, 0) : -1;
  for (int i = 0; i < TURN; ++i) {
    const double angle = 2 * PI * i / TURN;
    SdfSample s = sample_at(r * cos(angle), r * sin(angle), z);
    const double out[3] = {way[0] * cos(angle), way[0] * sin(angle), way[1]};
    s.slide = slide;
    s.curve = curve;
    s.spacing = fmax(2 * PI * r / TURN, slide == SDF_ALONG_SURFACE ? c->spacing : 0);
    s.facing = EDGE;
    s.cell = cell < 0 ? -1 : cell + i * SECTORS / TURN;
    add(c, s, out);
  }
}

// A flat end: rings from the rim inwards.
static void add_end(Cloud* c, double r, double z, double up) {
  const int n = steps(r, c->spacing);
  const double way[2] = {0, up};
  for (int i = 0; i < n; ++i) {
    add_ring(c, r * i / n, z, way, SDF_ALONG_SURFACE, -1);
  }
}

static void cylinder_cloud(Cloud* c) {
  const SdfNode* leaf = c->leaf;
  const double r = leaf->radius - leaf->round, h = leaf->half[2] - leaf->round, side[2] = {1, 0};
  for (int up = -1; up <= 1; up += 2) {
    const double rim[2] = {sqrt(0.5), up * sqrt(0.5)};
    add_ring(c, r, up * h, rim, SDF_ALONG_LINE, -1);
    add_end(c, r, up * h, up);
  }
  const int n = steps(2 * h, c->spacing);
  for (int i = 1; i < n; ++i) {
    add_ring(c, r, -h + 2 * h * i / n, side, SDF_ALONG_SURFACE, -1);
  }
}

static void cone_cloud(Cloud* c) {
  const double r = c->leaf->radius, h = c->leaf->half[2], length = hypot(r, 2 * h);
  const double rim[2] = {sqrt(0.5), -sqrt(0.5)}, top[3] = {0, 0, 1}, side[2] = {2 * h / length, r / length};
  const int n = steps(length, c->spacing);
  add(c, sample_at(0, 0, h), top);
  add_ring(c, r, -h, rim, SDF_ALONG_LINE, -1);
  add_end(c, r, -h, -1);
  for (int i = 1; i < n; ++i) {
    add_ring(c, r * i / n, h - 2 * h * i / n, side, SDF_ALONG_SURFACE, -1);
  }
}

static void ellipsoid_cloud(Cloud* c) {
  enum { ROWS = TURN / 2 };
  const double* a = c->leaf->half;
  for (int k = 0; k <= ROWS; ++k) {
    const double polar = PI * k / ROWS;
    for (int i = 0; i < (k % ROWS == 0 ? 1 : TURN); ++i) {
      const double angle = 2 * PI * i / TURN, u[3] = {sin(polar) * cos(angle), sin(polar) * sin(angle), cos(polar)};
      SdfSample s = sample_at(a[0] * u[0], a[1] * u[1], a[2] * u[2]);
      double way[3] = {u[0] / a[0], u[1] / a[1], u[2] / a[2]};
      tribo_normalize3(way);
      s.slide = SDF_ALONG_SURFACE;
      s.spacing = PI * fmax(a[0], fmax(a[1], a[2])) / ROWS;
      add(c, s, way);
    }
  }
}

// Corners, edges, sides and rings of the ends.
static void prism_cloud(Cloud* c) {
  const SdfNode* leaf = c->leaf;
  const double flat = leaf->radius - leaf->round, h = leaf->half[2] - leaf->round, part = PI / leaf->sides;
  const double corner = flat / cos(part);
  const int rings = steps(flat, c->spacing);
  for (int i = 0; i < leaf->sides; ++i) {
    const double at = 2 * part * i, a0 = at - part, a1 = at + part;
    const double out[3] = {cos(at), sin(at), 0}, edge[3] = {cos(a0), sin(a0), 0};
    double from[2][3], to[2][3], along[3], up[3] = {0, 0, 2 * h};
    for (int end = 0; end < 2; ++end) {
      const double z = end ? h : -h, slant[3] = {out[0] * sqrt(0.5), out[1] * sqrt(0.5), (end ? 1 : -1) * sqrt(0.5)};
      double way[3] = {edge[0], edge[1], end ? 1 : -1}, top[3] = {0, 0, end ? 1 : -1};
      tribo_set3(from[end], corner * cos(a0), corner * sin(a0), z);
      tribo_set3(to[end], corner * cos(a1), corner * sin(a1), z);
      tribo_normalize3(way);
      add(c, sample_at(from[end][0], from[end][1], z), way);
      add_edge(c, from[end], to[end], slant, EDGE);
      // the end's face: lines parallel to this side
      for (int k = 1; k < rings; ++k) {
        const double inner = (double)k / rings;
        const int n = steps(2 * inner * flat * tan(part), c->spacing);
        for (int j = 0; j < n; ++j) {
          SdfSample s = sample_at(0, 0, z);
          for (int d = 0; d < 2; ++d) {
            s.x[d] = inner * (from[end][d] + (to[end][d] - from[end][d]) * j / n);
          }
          s.slide = SDF_ALONG_SURFACE;
          add(c, s, top);
        }
      }
    }
    add_edge(c, from[0], from[1], edge, EDGE);
    tribo_sub3(along, to[0], from[0]);
    add_face(c, from[0], along, up, out);
  }
}

// ---- what is turned about z

// An offset point of a profile: rings there, with cells of their own.
static void add_profile_ring(Cloud* c, const double p[2], double nr, double nz, int* cell) {
  const double way[2] = {nr, nz}, r = p[0] + c->leaf->pad * nr;
  if (r >= -1e-9 * c->sdf->size) {
    add_ring(c, fmax(r, 0), p[1] + c->leaf->pad * nz, way, SDF_ALONG_SURFACE, *cell);
    *cell += SECTORS;
  }
}

// Whether a profile ends or turns at a point by so much that its sides there do not say all.
static int is_bent(const SdfNode* leaf, int i) {
  static const double SMOOTH = 0.94;  // cosine of 20°
  if (i == 0 || i == leaf->nprofile - 1) {
    return 1;
  }
  const double *p = leaf->profile + 2 * i, u[2] = {p[0] - p[-2], p[1] - p[-1]}, v[2] = {p[2] - p[0], p[3] - p[1]};
  return u[0] * v[0] + u[1] * v[1] < SMOOTH * hypot(u[0], u[1]) * hypot(v[0], v[1]);
}

// Both sides of every segment, and the round way about its points where the surface bends around them.
static void revolved_cloud(Cloud* c) {
  enum { ROUND = 6 };
  const SdfNode* leaf = c->leaf;
  int cell = c->sdf->ncell;
  double since = 0;
  for (int i = 0; i + 1 < leaf->nprofile; ++i) {
    const double *a = leaf->profile + 2 * i, *b = a + 2;
    const double length = hypot(b[0] - a[0], b[1] - a[1]), nr = (b[1] - a[1]) / length, nz = -(b[0] - a[0]) / length;
    const int n = steps(length, c->spacing);
    // (of a fine profile not every segment)
    since += length;
    if (since < 0.25 * c->spacing && i > 0 && i + 2 < leaf->nprofile) {
      continue;
    }
    since = 0;
    for (int side = -1; side <= 1; side += 2) {
      for (int k = 0; k <= n; ++k) {
        const double p[2] = {a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n};
        add_profile_ring(c, p, side * nr, side * nz, &cell);
      }
    }
  }
  // (what the solid covers is dropped where it is added)
  for (int i = 0; i < leaf->nprofile; ++i) {
    for (int k = 0; k < (is_bent(leaf, i) ? 2 * ROUND : 0); ++k) {
      const double angle = PI * (k + 0.5) / ROUND;
      add_profile_ring(c, leaf->profile + 2 * i, cos(angle), sin(angle), &cell);
    }
  }
  c->sdf->ncell = cell;
}

// ---- threads

// The two helices in which the flanks of a bolt end at its crest, or those of a hole at its root, which is the nut's
// crest: gaps between flanks are linear across them, so that these edges are where they are least.
static void thread_cloud(Cloud* c) {
  const SdfThread* t = &c->leaf->thread;
  const int is_hole = c->sign < 0;
  const double g = t->grow, r = is_hole ? t->root + g : t->crest + g * t->flank[0];
  const double a = is_hole ? 0.375 * t->pitch + g * tan(PI / 6) : t->pitch / 16 + g * t->flank[1];
  // of an endless thread what the whole has of it
  double low = -t->half, high = t->half;
  if (isinf(t->half)) {
    low = c->sdf->low[2] - c->pose.p[2], high = c->sdf->high[2] - c->pose.p[2];
    const double reach = c->sdf->reach + tribo_norm3(c->pose.p);
    if (fabs(c->pose.R[8]) < 1 - 1e-12) {
      low = -reach, high = reach;
    }
  }
  const double layer = is_hole ? fmax((high - low) / LAYERS, 0.5 * t->pitch) : 2 * t->pitch;
  const int layers = (int)floor((high - low) / layer + 1e-9) + 1,
            starts = (int)lround(fabs(t->lead) * 2 * PI / t->pitch);
  const int first = (int)floor(low / t->pitch) - starts - 1, last = (int)ceil(high / t->pitch) + starts + 1;
  for (int side = -1; side <= 1; side += 2) {
    for (int turn = first; turn <= last; ++turn) {
      for (int i = 0; i < TURN; ++i) {
        const double angle = 2 * PI * i / TURN, z = turn * t->pitch + side * a + t->lead * angle;
        const int row = (int)floor((z - low) / layer);
        SdfSample s = sample_at(r * cos(angle), r * sin(angle), z);
        // between the crest and its flank
        const double out = (1 + t->flank[0]) / sqrt(3),
                     way[3] = {out * cos(angle), out * sin(angle), side * t->flank[1] / sqrt(3)};
        if (z < low || z > high) {
          continue;
        }
        s.spacing = 2 * PI * r / TURN;
        s.facing = THREAD_EDGE;
        s.cell = c->sdf->ncell + (((side > 0) * layers + row) * SECTORS + i * SECTORS / TURN);
        add(c, s, way);
      }
    }
  }
  c->sdf->ncell += 2 * layers * SECTORS;
  // the ends of a bolt
  for (int end = -1; end <= 1 && isfinite(t->half); end += 2) {
    for (int i = 0; i < TURN; ++i) {
      const double angle = 2 * PI * i / TURN;
      const double at = tribo_col_sdf_thread_edge(t, end * t->half - t->lead * angle), way[3] = {0, 0, end};
      add(c, sample_at(at * cos(angle), at * sin(angle), end * t->half), way);
    }
  }
}

// ---- round things and hulls

static void capsule_cloud(Cloud* c) {
  const double h = c->leaf->half[2], origin[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
  const int n = steps(2 * h, fmax(c->spacing, c->leaf->radius)), curve = add_curve(c, origin, axis, 0, 1);
  for (int i = 0; i <= n; ++i) {
    SdfSample s = sample_at(0, 0, -h + 2 * h * i / n);
    s.radius = c->leaf->radius;
    s.curve = curve;
    s.slide = i == 0 || i == n ? SDF_STAYS : SDF_ALONG_LINE;
    s.spacing = 2 * h / n;
    add(c, s, axis);
  }
}

static void sphere_cloud(Cloud* c) {
  const double way[3] = {0, 0, 1};
  SdfSample s = sample_at(0, 0, 0);
  s.radius = c->leaf->radius + c->out;
  s.spacing = s.radius;
  // the centre of a whole ball; what is left of one has samples of its surface
  if (c->sdf->nnode == 1) {
    s.radius = c->leaf->radius;
    add(c, s, way);
    return;
  }
  SdfNode ball = *c->leaf;
  Cloud round = *c;
  tribo_set3(ball.half, ball.radius, ball.radius, ball.radius);
  round.leaf = &ball;
  ellipsoid_cloud(&round);
  c->status = round.status;
}

static void hull_cloud(Cloud* c) {
  const TriboHull* hull = c->leaf->hull;
  for (int i = 0; i < hull->nvertex; ++i) {
    const double* x = hull->points + 3 * i;
    double way[3];
    tribo_sub3(way, x, hull->centre);
    tribo_normalize3(way);
    add(c, sample_at(x[0], x[1], x[2]), way);
  }
  for (int f = 0; f < hull->nface; ++f) {
    const int *v = hull->face_vertex + hull->face_first[f], n = hull->face_first[f + 1] - hull->face_first[f];
    double middle[3] = {0, 0, 0};
    for (int k = 0; k < n; ++k) {
      const double *a = hull->points + 3 * v[k], *b = hull->points + 3 * v[(k + 1) % n];
      tribo_axpy3(middle, middle, 1.0 / n, a);
      // each edge belongs to two faces
      if (v[k] < v[(k + 1) % n]) {
        add_edge(c, a, b, hull->planes + 4 * f, 0);
      }
    }
    SdfSample s = sample_at(middle[0], middle[1], middle[2]);
    s.slide = SDF_ALONG_SURFACE;
    add(c, s, hull->planes + 4 * f);
  }
}

// ---- the tree

static void leaf_cloud(Cloud* c) {
  switch (c->leaf->kind) {
    case TRIBO_SDF_SPHERE: sphere_cloud(c); break;
    case TRIBO_SDF_BOX: box_cloud(c); break;
    case TRIBO_SDF_CAPSULE: capsule_cloud(c); break;
    case TRIBO_SDF_CYLINDER: cylinder_cloud(c); break;
    case TRIBO_SDF_CONE: cone_cloud(c); break;
    case TRIBO_SDF_ELLIPSOID: ellipsoid_cloud(c); break;
    case TRIBO_SDF_PRISM: prism_cloud(c); break;
    case TRIBO_SDF_THREAD: thread_cloud(c); break;
    case TRIBO_SDF_REVOLVED: revolved_cloud(c); break;
    case TRIBO_SDF_HULL: hull_cloud(c); break;
    default: break;
  }
}

static void node_cloud(Cloud* c, const SdfNode* node, const TriboPose* above, double out, double sign) {
  const TriboPose pose = tribo_pose_mul(above, &node->pose);
  if (node->count == 0) {
    c->leaf = node;
    c->pose = pose;
    c->out = sign * out;
    c->sign = sign;
    leaf_cloud(c);
    return;
  }
  for (int i = 0; i < node->count; ++i) {
    const int removes = node->kind == TRIBO_SDF_SUBTRACT && i > 0;
    node_cloud(c, c->sdf->nodes + node->first + i, &pose, out + (node->kind == TRIBO_SDF_OFFSET ? node->by : 0),
               removes ? -sign : sign);
  }
}

TriboStatus tribo_col_sdf_fill_cloud(TriboSdf* sdf) {
  const TriboPose rest = tribo_pose_identity();
  Cloud c = {.sdf = sdf, .spacing = SPACING * sdf->size, .tolerance = 1e-9 * sdf->size + 1e-12};
  node_cloud(&c, sdf->nodes, &rest, 0, 1);
  if (c.status == TRIBO_OK && sdf->nsample == 0) {
    return tribo_fail(TRIBO_INVALID, "%s: nothing is left of its surface",
                      tribo_col_sdf_name((TriboSdfKind)sdf->nodes->kind));
  }
  return c.status;
}
