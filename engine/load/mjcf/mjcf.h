// MJCF, MuJoCo's model files: read into plain structs with the file's own numbers, then built into a scene through the
// public calls. What the files of this reader share.
//
//   mjcf.c           the file: includes, compiler, option, sections; warnings
//   mjcf_attach.c    models that are attached, replicas
//   mjcf_tables.c    every element's attributes, one row each
//   mjcf_read.c      attributes by table, default classes, orientations
//   mjcf_mesh.c      mesh assets: triangles, mass, primitives fitted to them
//   mjcf_meshfile.c  their files
//   mjcf_field.c     height fields
//   mjcf_paint.c     textures and materials
//   mjcf_bodies.c    worldbody: bodies, joints, geoms, sites with frames
//   mjcf_mass.c      inertia of bodies, given or from their geoms
//   mjcf_build.c     bodies, joints, shapes of the scene
//   mjcf_contact.c   who collides with whom, and how: bits, materials, pairs, exclusions
//   mjcf_equality.c  equalities
//   mjcf_effective_mass.c  springs and dampers by time constants: the inertia that a joint moves
//   mjcf_tendon.c    tendons
//   mjcf_actuator.c  actuators
//   mjcf_sensor.c    sensors
//   mjcf_camera.c    cameras
//   mjcf_keyframe.c  keyframes
#pragma once

#include "pose.h"
#include "scene_impl.h"
#include "xml_tree.h"

// ---- attributes

typedef enum MjAttrKind {
  MJ_REAL,         // double[max], at least min of them
  MJ_INT,          // int
  MJ_BOOL,         // int: false, true
  MJ_WORD,         // int: index of a word
  MJ_TEXT,         // const char*
  MJ_VISUAL_ONLY,  // says nothing about motion or what is drawn here: taken without a word
  MJ_WARN,         // not honoured: a warning
} MjAttrKind;

typedef struct MjAttr {
  const char* name;
  MjAttrKind kind;
  size_t offset;
  int min, max;
  const char* const* words;
} MjAttr;

typedef struct MjElement {
  const char* name;
  const MjAttr* attrs;
  int nattr;
} MjElement;

enum { MJ_FALSE, MJ_TRUE, MJ_AUTO };  // words of "limited" and its like

// NaN: not given
typedef struct MjOrient {
  double quat[4];  // w x y z
  double axisangle[4], xyaxes[6], zaxis[3], euler[3];
} MjOrient;

typedef enum MjJointType { MJ_FREE, MJ_BALL, MJ_SLIDE, MJ_HINGE } MjJointType;
typedef struct MjJoint {
  const char *name, *cls;
  int type, limited, force_limited, actuator_gravity_compensation;
  double pos[3], axis[3], range[2], ref, springref, stiffness[3], damping[3], armature, frictionloss, springdamper[2];
  double force_range[2], solref[2], solimp[5];
  const XmlNode* node;
} MjJoint;

typedef enum MjGeomType {
  MJ_PLANE,
  MJ_HFIELD,
  MJ_SPHERE,
  MJ_CAPSULE,
  MJ_ELLIPSOID,
  MJ_CYLINDER,
  MJ_BOX,
  MJ_MESH,
  MJ_SDF
} MjGeomType;
typedef struct MjGeom {
  const char *name, *cls, *mesh, *hfield, *material;
  int type, contype, conaffinity, condim, group, priority, shell;
  double size[3], fromto[6], pos[3], mass, density, friction[3], rgba[4];
  double solmix, solref[2], solimp[5], margin, gap, fit_scale, surface[6];
  MjOrient orient;
  const XmlNode* node;
  int body;
  TriboPose pose;  // in the body frame
  int material_id, collision_class;
} MjGeom;

typedef struct MjSite {
  const char *name, *cls;
  int type;
  double pos[3], fromto[6], size[3];
  MjOrient orient;
  int body;
  TriboPose pose;  // in the body frame
} MjSite;

typedef enum MjCameraMode { MJ_FIXED, MJ_TRACK, MJ_TRACKCOM, MJ_TARGETBODY, MJ_TARGETBODYCOM } MjCameraMode;
typedef struct MjCamera {
  const char *name, *cls, *target;
  int mode, body;
  double pos[3], fovy, focal[2], sensor[2];  // [degree], [m]
  MjOrient orient;
  const XmlNode* node;
  TriboPose pose;  // in the body frame
} MjCamera;

typedef struct MjInertial {
  double pos[3], mass, diag[3], full[6];
  MjOrient orient;
} MjInertial;

typedef struct MjBody {
  const char *name, *cls;
  double pos[3], gravcomp;
  MjOrient orient;
  int mocap;
  const XmlNode* node;
  int parent, weld;  // weld: the body it never moves against that is nearest to the root, 0: the world
  TriboPose local;   // in the parent
  int first_joint, njoint;
  const XmlNode* inertial;
  double mass, com[3], inertia[3], axes[4];  // principal; axes in the body frame, x y z w
  TriboPose pose;                            // in the world, all joint values 0
  TriboPose start;                           // in the world, at the start
  int id;                                    // in the scene, TRIBO_WORLD for static ones
} MjBody;

typedef struct MjReplicate {
  const char *sep, *cls, *prefix;
  int count;
  double offset[3];
  MjOrient orient;
} MjReplicate;

typedef struct MjMaterial {
  const char *name, *texture;
  double rgba[4], repeat[2];
  int uniform;
} MjMaterial;

typedef enum MjTextureType { MJ_TEXTURE_2D, MJ_TEXTURE_CUBE, MJ_TEXTURE_SKYBOX } MjTextureType;
typedef enum MjBuiltin { MJ_BUILTIN_NONE, MJ_BUILTIN_GRADIENT, MJ_BUILTIN_CHECKER, MJ_BUILTIN_FLAT } MjBuiltin;
typedef struct MjTexture {
  const char *name, *file;
  int type, builtin, mark, width, height;
  double rgb1[3], rgb2[3], markrgb[3];
} MjTexture;

typedef enum MjInertia { MJ_INERTIA_CONVEX, MJ_INERTIA_EXACT, MJ_INERTIA_LEGACY, MJ_INERTIA_SHELL } MjInertia;
typedef struct MjMesh {
  const char *name, *cls, *file;
  double scale[3], refpos[3], refquat[4];
  int inertia;
  int is_missing;  // its file is not there: only what is looked at may name it
  const double* vertex;
  int nvertex;
  int* face;
  int nface;
  const XmlNode* node;
  // set by tribo_mjcf_measure: of density 1 (per area: SHELL), axes x y z w, the box of its points along them
  int measured;
  int cloud;  // 1: the file has points only, −1: faces too, 0: not looked at yet
  double volume, centre[3], moments[3], axes[4], low[3], high[3];
} MjMesh;

typedef struct MjField {
  const char *name, *file;
  int nrow, ncol;
  double size[4];         // half lengths along x and y, elevation, depth of the base
  const double* heights;  // (nrow × ncol) towards +y, x fastest
} MjField;

typedef struct MjPair {
  const char *geom1, *geom2;
  int condim, a, b;
  double friction[5], solref[2], solimp[5], margin;  // NAN: not given
} MjPair;

// Two bodies that never collide, one of them part of the world.
typedef struct MjApart {
  int a, b;
} MjApart;

typedef struct MjTendon {
  const char *name, *cls;
  int limited, force_limited;
  double range[2], force_range[2], springlength[2], stiffness[3], damping[3], frictionloss, armature;
  double solref[2], solimp[5];
  const XmlNode* node;
} MjTendon;

// An actuator of the file, in its order.
typedef struct MjControl {
  const char* name;
  int id;    // in the scene, −1: left out
  int nact;  // activations that MuJoCo has for it
} MjControl;

// ---- the file as a whole

typedef struct MjCompiler {
  int autolimits, degree, inertia_from_geom, balance_inertia, strip_path, fit_aabb;
  const char *euler_order, *mesh_dir, *texture_dir, *asset_dir, *coordinate;
  double total_mass, bound_mass, bound_inertia, group_range[2];
} MjCompiler;

typedef struct MjOption {
  double timestep, gravity[3], wind[3], magnetic[3], density, viscosity;
  double groups[10];  // of actuators that are switched off, NAN behind the last
  int groups_off;     // the same as bits
  int integrator;
  // of <flag>
  int constraint, contact, limit, frictionloss, equality, has_gravity, spring, damper, actuation, filter_parent;
} MjOption;

// A file and what it includes: a model that is attached keeps its own rules.
typedef struct MjScope {
  MjCompiler compiler;
  const XmlNode* root;
} MjScope;

typedef struct MjClass {
  const char* name;
  int parent;  // −1: the main class of its scope
  const XmlNode* node;
} MjClass;

// The mass matrix at the start, factored; L NULL: nobody asked yet.
typedef struct MjEffectiveMass {
  int nv;
  double *L, *y;  // (nv × nv), scratch (nv)
  int* v;         // (njoint) first velocity of each joint
} MjEffectiveMass;

// X(type, name): arrays that grow while the file is read
#define MJ_ARRAYS(X)      \
  X(MjScope, scope)       \
  X(MjClass, cls)         \
  X(const char*, warned)  \
  X(MjMaterial, material) \
  X(MjMesh, mesh)         \
  X(MjField, field)       \
  X(MjBody, body)         \
  X(MjJoint, joint)       \
  X(MjGeom, geom)         \
  X(MjSite, site)         \
  X(MjCamera, camera)     \
  X(MjPair, pair)         \
  X(MjApart, apart)       \
  X(MjTendon, tendon)     \
  X(MjControl, control)

typedef struct Mjcf {
  TriboScene* scene;
  TriboPool pool;
  const TriboLog* log;
  XmlNode* root;
  int ncopied;        // copies made for <attach> and <replicate>
  int nmissing;       // meshes that were not found,
  char missing[600];  // and where they were looked for
  int incomplete;     // 1: parts that others may name were left out
  MjEffectiveMass effective_mass;
  MjOption option;
#define X(type, name) \
  type* name##s;      \
  int n##name;
  MJ_ARRAYS(X)
#undef X
} Mjcf;

#define MJ_GROW(m, name) TRIBO_APPEND(&(m)->name##s, (m)->n##name, 1)

// The rules of the file that an element is from.
static inline const MjCompiler* tribo_mjcf_rules(const Mjcf* m, const XmlNode* node) {
  return &m->scopes[node->scope].compiler;
}

// Said once per key and file: "path:line: …".
TriboStatus tribo_mjcf_warn(Mjcf* m, const XmlNode* node, const char* key, const char* what);
// The same of an element of a section: "<section>: <element> …".
TriboStatus tribo_mjcf_leave_out(Mjcf* m, const XmlNode* node, const char* why);
// A name that the file does not have: an error, but in a file whose parts were left out.
TriboStatus tribo_mjcf_missing(Mjcf* m, const XmlNode* node, const char* what, const char* name);
// A file with all it includes, in a scope of its own. `from`: the element that names it, NULL: none.
TriboStatus tribo_mjcf_read_tree(Mjcf* m, const XmlNode* from, const char* path, XmlNode** root);
// Calls a reader for every child of every section of a name.
TriboStatus tribo_mjcf_each(Mjcf* m, const char* section, TriboStatus (*read)(Mjcf*, const XmlNode*));
// What follows in the scene comes from this node.
TriboStatus tribo_mjcf_at(Mjcf* m, const XmlNode* node);
TriboStatus tribo_mjcf_added(const Mjcf* m, TriboStatus status);

// mjcf_tables.c
extern const MjElement tribo_mjcf_compiler, tribo_mjcf_option, tribo_mjcf_flag, tribo_mjcf_joint, tribo_mjcf_freejoint,
    tribo_mjcf_geom, tribo_mjcf_site, tribo_mjcf_body, tribo_mjcf_inertial, tribo_mjcf_frame, tribo_mjcf_replicate,
    tribo_mjcf_material, tribo_mjcf_texture, tribo_mjcf_mesh, tribo_mjcf_field, tribo_mjcf_tendon, tribo_mjcf_camera;
MjJoint tribo_mjcf_joint_default(void);
MjGeom tribo_mjcf_geom_default(void);
MjSite tribo_mjcf_site_default(void);
MjTendon tribo_mjcf_tendon_default(void);
MjOrient tribo_mjcf_orient_default(void);

// mjcf_read.c
TriboStatus tribo_mjcf_apply(Mjcf* m, const XmlNode* node, const MjElement* element, void* out);
// The classes of the file, all <default> elements.
TriboStatus tribo_mjcf_classes(Mjcf* m);
// Defaults of the class named by the node (or `inherited`, may be NULL), then the node itself. `kind` names the
// elements of the class that count; NULL: those of actuators.
TriboStatus tribo_mjcf_read(Mjcf* m, const XmlNode* node, const char* kind, const char* inherited,
                            const MjElement* element, void* out);
// The same for what only classes say; the node itself is left to the caller.
TriboStatus tribo_mjcf_defaults(Mjcf* m, const XmlNode* node, const char* inherited, const char* const* kinds,
                                int nkind, TriboStatus (*apply)(Mjcf*, const XmlNode*, void*), void* out);
TriboStatus tribo_mjcf_quaternion(const Mjcf* m, const XmlNode* node, const MjOrient* orient, double quat[4]);
// Position and orientation along fromto, where that is given: the length is returned, 0 without.
double tribo_mjcf_fromto(const double fromto[6], double pos[3], double quat[4]);
// A softness that the file asks for, within MuJoCo's bounds. Its default, which a file need not write, is how MuJoCo
// solves what is rigid: ref[0] = 0.
void tribo_mjcf_softness(const double solref[2], const double solimp[5], double ref[2], double imp[5]);
int tribo_mjcf_find_joint(const Mjcf* m, const char* name);  // −1: not there
int tribo_mjcf_find_body(const Mjcf* m, const char* name);
int tribo_mjcf_find_geom(const Mjcf* m, const char* name);
int tribo_mjcf_find_site(const Mjcf* m, const char* name);

// mjcf_attach.c
TriboStatus tribo_mjcf_expand(Mjcf* m);

// mjcf_paint.c
TriboStatus tribo_mjcf_read_material(Mjcf* m, const XmlNode* node);
TriboStatus tribo_mjcf_read_texture(Mjcf* m, const XmlNode* node);
// Colour and texture of a shape, as its geom and the geom's material say.
void tribo_mjcf_paint(const Mjcf* m, const MjGeom* geom, TriboShapeDef* def);

// mjcf_field.c
TriboStatus tribo_mjcf_read_field(Mjcf* m, const XmlNode* node);

// mjcf_mesh.c
TriboStatus tribo_mjcf_read_mesh(Mjcf* m, const XmlNode* node);
MjMesh* tribo_mjcf_find_mesh(const Mjcf* m, const char* name);  // NULL: not there
// Fails where the mesh's file was not found, with the names of all that were not.
TriboStatus tribo_mjcf_need_mesh(const Mjcf* m, const MjMesh* mesh);
int tribo_mjcf_is_msh(const char* path);  // a file that only this reader knows
// mjcf_meshfile.c: what a file holds, as it is; to be freed also on failure.
TriboStatus tribo_mjcf_mesh_file(const char* path, double** points, int* npoint, int** triangles, int* ntriangle);
// Its points and triangles as geoms see them, to be freed also on failure.
TriboStatus tribo_mjcf_triangles(const MjMesh* mesh, double** points, int* npoint, int** triangles, int* ntriangle);
TriboStatus tribo_mjcf_measure(MjMesh* mesh);
TriboStatus tribo_mjcf_load_vertices(MjMesh* mesh);  // sets cloud
// A primitive in place of the mesh: its frame in that of the mesh, and its sizes as the file would give them.
TriboStatus tribo_mjcf_fit(const Mjcf* m, MjMesh* mesh, int type, double scale, TriboPose* frame, double size[3]);
// A file that an asset names, in its folder (NULL: the one of all assets), and the asset's name where it has none.
TriboStatus tribo_mjcf_file(Mjcf* m, const XmlNode* node, const char* folder, const char* name, const char** out);
TriboStatus tribo_mjcf_file_name(Mjcf* m, const char* file, const char** name);
// Turns principal axes so that the largest moment comes first.
void tribo_mjcf_sort_axes(double moments[3], double axes[4]);

// mjcf_effective_mass.c: J M⁻¹Jᵀ at the start, J being Σ coefᵢ times velocity `part` of jointᵢ. Of the bodies and
// joints that the scene has when it is called first.
TriboStatus tribo_mjcf_effective_mobility(Mjcf* m, const int* joints, const double* coefs, int count, int part,
                                          double* out);

// The rest, in this order
TriboStatus tribo_mjcf_bodies(Mjcf* m);
TriboStatus tribo_mjcf_masses(Mjcf* m);
TriboStatus tribo_mjcf_contacts(Mjcf* m);
TriboStatus tribo_mjcf_build(Mjcf* m);
TriboStatus tribo_mjcf_springs(Mjcf* m);
TriboStatus tribo_mjcf_shapes(Mjcf* m);
TriboStatus tribo_mjcf_filter(Mjcf* m);
TriboStatus tribo_mjcf_tendons(Mjcf* m);
TriboStatus tribo_mjcf_equalities(Mjcf* m);
TriboStatus tribo_mjcf_actuators(Mjcf* m);
TriboStatus tribo_mjcf_sensors(Mjcf* m);
TriboStatus tribo_mjcf_cameras(Mjcf* m);
TriboStatus tribo_mjcf_keyframes(Mjcf* m);
int tribo_mjcf_collide(const Mjcf* m, const MjGeom* a, const MjGeom* b);
// The geometry of a geom as shapes have it.
TriboStatus tribo_mjcf_shape(Mjcf* m, const MjGeom* geom, TriboShapeDef* def);

// mjcf.c: adds the whole model of an MJCF file to the scene.
TriboStatus tribo_mjcf_load(TriboScene* scene, const char* path, const TriboLog* log);
