// Collision: poses in, contacts out. Shapes are compiled once into a const world of geometries; everything mutable
// (trees, pair lists, scratch) lives in the data, so that one world serves many threads.
//
//   shapes ──► world (const)                    poses, twists, h ──► detect ──► sorted contacts
#pragma once

#include <tribo/types.h>

#include "exchange.h"

const char* tribo_col_shape_name(TriboShapeKind kind);

// A hull, made once and shared by geometries. Vertices, faces (planes with their polygons) and edges; the Coal object
// inside is for the pairs without a closed form.
typedef struct TriboHull TriboHull;
// Refuses fewer than 4 points, non-finite points and flat sets (thickness below 1e-6 of the extent), naming the cause.
TRIBO_NODISCARD TriboStatus tribo_col_hull_create(const double* points, int npoint, TriboHull** out);
// The vertices of an STL, OBJ or DAE file, scaled, as one hull. A missing, empty or broken file is named.
TRIBO_NODISCARD TriboStatus tribo_col_hull_load(const char* path, const double scale[3], TriboHull** out);
// The connected components of a mesh file: points grouped by component, component k is first[k] … first[k+1]−1. Each
// component is taken as convex. points and first are to be freed with tribo_free.
TRIBO_NODISCARD TriboStatus tribo_col_mesh_components(const char* path, const double scale[3], double** points,
                                                      int** first, int* npiece);
// A textured mesh, a mesh file as it looks: what has one colour or picture is one part. Points are the same as those of
// tribo_col_mesh_load, but for those that stand there several times because the picture is cut open at them.
typedef struct TriboTexturedMesh TriboTexturedMesh;
typedef struct TriboTexturedPart {
  const double *points, *uv;  // (npoint × 3), (npoint × 2); uv NULL: no texture points
  const int* triangles;       // (ntriangle × 3)
  int npoint, ntriangle;
  const double* color;  // (4) NULL: the file says none
  const char* texture;  // path of a picture, NULL: none that is there
} TriboTexturedPart;
TRIBO_NODISCARD TriboStatus tribo_col_textured_mesh_load(const char* path, const double scale[3],
                                                         TriboTexturedMesh** out);
const TriboTexturedPart* tribo_col_textured_mesh_parts(const TriboTexturedMesh* textured, int* count);
void tribo_col_textured_mesh_destroy(TriboTexturedMesh* textured);
// The vertices and triangles of a mesh file, scaled; points and triangles are to be freed with tribo_free.
TRIBO_NODISCARD TriboStatus tribo_col_mesh_load(const char* path, const double scale[3], double** points, int* npoint,
                                                int** triangles, int* ntriangle);
void tribo_col_hull_destroy(TriboHull* hull);
// A hull with more than `most` (at least 4) vertices gives way to the hull of `most` of them that lie far apart.
TRIBO_NODISCARD TriboStatus tribo_col_hull_decimate(TriboHull** hull, int most);
int tribo_col_hull_vertices(const TriboHull* hull, const double** points);   // (n × 3), n returned
int tribo_col_hull_triangles(const TriboHull* hull, const int** triangles);  // (n × 3) outward, for drawing and inertia

// A height field: nx × ny heights (row by row, x fastest) over a rectangle of the given lengths about the origin of its
// frame, solid below. Refuses grids below 2 × 2 and heights that are not finite, naming the cause.
typedef struct TriboHeightField TriboHeightField;
TRIBO_NODISCARD TriboStatus tribo_col_field_create(const double size[2], int nx, int ny, const double* heights,
                                                   TriboHeightField** out);
void tribo_col_field_destroy(TriboHeightField* field);
// Its surface, for drawing: points (n × 3), n returned, and triangles (ntriangle × 3), upward.
int tribo_col_field_surface(const TriboHeightField* field, const double** points, const int** triangles,
                            int* ntriangle);

// A signed distance field, made once and shared by geometries.
typedef struct TriboSdf TriboSdf;
enum { TRIBO_SDF_CONTACTS_LEAST = 24, TRIBO_SDF_CONTACTS_MOST = 1024 };
const char* tribo_col_sdf_name(TriboSdfKind kind);
// Refuses sizes that make no solid, naming the part and the number.
TRIBO_NODISCARD TriboStatus tribo_col_sdf_check(const TriboSdfDef* def);
// `contacts`: most contacts of a pair, 0 for what suits it. `margin`: its contacts are made this far ahead of touching
// if that is less than the query's; NAN for what suits it [m].
TRIBO_NODISCARD TriboStatus tribo_col_sdf_create(const TriboSdfDef* def, int contacts, double margin, TriboSdf** out);
void tribo_col_sdf_destroy(TriboSdf* sdf);
// Signed distance of a point in the field's frame, and its gradient; far from the surface only a bound.
double tribo_col_sdf_distance(const TriboSdf* sdf, const double x[3], double gradient[3]);
// Its surface, for drawing, made on the first call: points (n × 3), n returned, and triangles (ntriangle × 3), outward.
TRIBO_NODISCARD TriboStatus tribo_col_sdf_surface(TriboSdf* sdf, const double** points, int* npoint,
                                                  const int** triangles, int* ntriangle);
// Volume, centre and inertia about it at density 1, by quadrature.
TRIBO_NODISCARD TriboStatus tribo_col_sdf_mass(const TriboSdf* sdf, double* volume, double centre[3],
                                               double inertia[9]);
typedef struct TriboSdfInfo {
  int samples, cells, contacts;
  double margin, lipschitz, size;
} TriboSdfInfo;
TriboSdfInfo tribo_col_sdf_info(const TriboSdf* sdf);

typedef struct TriboGeom {
  TriboShapeKind kind;
  double size[3];                 // as TriboShapeKind says [m]
  const TriboHull* hull;          // HULL only; must outlive the world
  const TriboHeightField* field;  // HEIGHTFIELD only; must outlive the world
  const TriboSdf* sdf;            // SDF only; must outlive the world
  int body;                       // TRIBO_WORLD_BODY or 0 … nbody−1
  TriboPose local;                // geometry frame in the body frame (in the world for static ones)
  double contact_offset;          // contact offset: its surface for contacts is this far outside of it, ≥ 0 [m]
  unsigned group, mask;           // a pair collides when (a.group & b.mask) && (b.group & a.mask)
} TriboGeom;

// Mass properties of the solid of density 1 in its own frame: volume, centre, inertia about the centre (row-major).
// Half-spaces and height fields have none: TRIBO_INVALID.
TRIBO_NODISCARD TriboStatus tribo_col_shape_mass(TriboShapeKind kind, const double size[3], const TriboHull* hull,
                                                 double* volume, double centre[3], double inertia[9]);

// Checks one geometry: positive finite sizes, a hull or field where one is needed, half-spaces and
// height fields only on the world body.
TRIBO_NODISCARD TriboStatus tribo_col_geom_validate(const TriboGeom* geom);

typedef struct TriboColWorld TriboColWorld;
// Whether groups, masks and bodies let two geometries collide.
int tribo_col_may_touch(const TriboColWorld* world, int a, int b);
typedef struct TriboColWorldDef {
  const TriboGeom* geoms;
  int ngeom, nbody;
  const int (*excluded)[2];  // body pairs that never collide (joint neighbours, SRDF, the user); any order
  int nexcluded;
} TriboColWorldDef;
TRIBO_NODISCARD TriboStatus tribo_col_world_create(const TriboColWorldDef* def, TriboColWorld** out);
void tribo_col_world_destroy(TriboColWorld* world);

typedef struct TriboColData TriboColData;
TRIBO_NODISCARD TriboStatus tribo_col_data_create(const TriboColWorld* world, TriboColData** out);
void tribo_col_data_destroy(TriboColData* data);
// How many threads collide pairs (1 at first). The contacts do not depend on it.
TRIBO_NODISCARD TriboStatus tribo_col_data_workers(TriboColData* data, int count);

// The name by which a contact is found again, from step to step.
typedef struct TriboContactName {
  int geom_a, geom_b;
  uint32_t feature, place;
  int carries;  // 1: it had an impulse
} TriboContactName;

// Detection rule (speculative contacts). A contact exists when gap ≤ h·max(0, −c_N) + margin, c_N from the twists given
// (the free velocity). A pair that moves by more than the margin in one step may be somewhere else by its end: of its
// contacts whose linearised gap gap + h c_N is negative only those are kept that a conservative advancement along the
// free motion confirms, with the normal and the gap (along that normal, at the start) of the time of impact. The point
// of such a contact lies on the moving body at the start when the other is static (its lever arm counts), else midway.
typedef struct TriboColQuery {
  const TriboPose* poses;         // (nbody)
  const TriboTwist* twists;       // (nbody) free velocity
  double h;                       // step [s]
  double margin;                  // δ [m]
  const unsigned char* absent;    // (nbody) 1: the body is not there; NULL: all are
  const unsigned char* asleep;    // (nbody) 1: it touches only bodies that are awake; NULL: all are
  uint64_t start;                 // the tick (tribo_tick) from which on its time counts, 0: nobody wants to know
  const TriboContactName* known;  // (nknown) contacts of the step before, sorted as contacts are: where a pair has more
  int nknown;                     // points than it keeps, they stay, and keep their names
} TriboColQuery;

typedef struct TriboColStats {
  uint64_t broad_ticks, narrow_ticks;  // of tribo_tick
  int pairs;                           // pairs that reached the narrow phase
  int coal_pairs;                      // of these, without a closed form
} TriboColStats;

// Contacts sorted by (geom_a, geom_b, feature), at most 4 per pair, of distance fields as many as they say; valid until
// the next call on the same data. The result depends on the query alone, never on earlier ones. No heap call of ours
// once the buffers have grown.
TRIBO_NODISCARD TriboStatus tribo_col_detect(const TriboColWorld* world, TriboColData* data, const TriboColQuery* query,
                                             const TriboContact** contacts, int* ncontact, TriboColStats* stats);

// 1: nothing in this world can ever touch anything.
int tribo_col_world_is_idle(const TriboColWorld* world);

// Re-detection after a solve, whether it is needed: 1 when, with the velocities of the query instead of those detect
// was given, some geometry has a point that moves otherwise by more than half the margin in the step. Otherwise another
// detect would find no new pair that closes: every pair left out has a gap of more than the margin beyond its motion.
int tribo_col_motion_left_margin(const TriboColWorld* world, const TriboColData* data, const TriboColQuery* query,
                                 const TriboTwist* before);

// Re-detection after a solve, penetrating points that the reduction dropped. After a detect at the same poses: of each
// pair that has more points than the four it kept, those that the velocities of the query take deeper than `depth` by
// the end of the step: all, or the deepest. Sorted like contacts; valid until the next call.
TRIBO_NODISCARD TriboStatus tribo_col_penetrating_dropped_points(const TriboColWorld* world, TriboColData* data,
                                                                 const TriboColQuery* query, double depth, int all,
                                                                 const TriboContact** contacts, int* ncontact);

// Signed distance of two geometries at given poses of their own frames (not of bodies): closed form or Coal.
// normal from a to b. For tests, metrics and the sensor of a robot test.
TRIBO_NODISCARD TriboStatus tribo_col_distance(const TriboGeom* a, const TriboPose* pose_a, const TriboGeom* b,
                                               const TriboPose* pose_b, double* gap, double normal[3], double point[3]);

// How the surface of a geometry bends at a point of it (within `reach`) where its outward normal is given, body being
// the pose of its body: H (9) with dx = H dn, radii of curvature [m], 0 at corners, 1e9 along edges, 1e15 in faces.
void tribo_col_roundness(const TriboColWorld* world, int geom, const TriboPose* body, const double point[3],
                         const double outward[3], double reach, double H[9]);

// Version of the Coal library in use, "3.0.3".
const char* tribo_coal_version(void);
