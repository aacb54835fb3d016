// The tables of the scene format: one row per key. The parser, the defaults and the manual page are made from them.
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BIG 1e100

static const char* const schemes[] = {"variational", "euler", NULL};
static const char* const joint_kinds[] = {"fixed",     "revolute",    "continuous", "prismatic", "helical",
                                          "universal", "cylindrical", "planar",     "spherical", "translation",
                                          "euler",     "ellipsoid",   "free",       NULL};
static const char* const closure_kinds[] = {"weld",   "ball",      "hinge",     "slider", "cylindrical",
                                            "planar", "universal", "cartesian", "gimbal", "distance",
                                            "gear",   "mimic",     NULL};
static const char* const wraps[] = {"sphere", "cylinder", NULL};
static const char* const activations[] = {"none", "integrator", "filter", "exact", "muscle", NULL};
static const char* const sensor_kinds[] = {
#define X(id, word, needs, doc) word,
    TRIBO_SENSORS(X)
#undef X
        NULL};
static const char* const volumes[] = {"ellipsoid", "box", "capsule", "cylinder", NULL};
static const char* const laws[] = {"pd", "computed", "effort", "gravity", "task", NULL};
static const char* const task_kinds[] = {
#define X(id, word, doc) word,
    TRIBO_TASKS(X)
#undef X
        NULL};
static const char* const task_contacts[] = {"auto", "stick", "none", NULL};
static const char* const interpolations[] = {"cubic", "linear", "hold", NULL};
static const char* const bases[] = {"false", "true", "auto", NULL};
static const char* const whens[] = {"end", "at", "always", "max", "min", "mean", NULL};
static const char* const texture_kinds[] = {"flat", "cube", "sky", NULL};
static const char* const patterns[] = {"plain", "checker", "gradient", NULL};
static const char* const marks[] = {"none", "edge", "cross", "dots", NULL};
static const char* const rule_by[] = {"index", "layer", "column", NULL};

// rows: R real, I int, B bool, T text, P path, V3/V4/V6 vectors, W word, S nested
#define AT(strct, field) offsetof(strct, field)
#define R(s, key, field, lo, hi, open, unit, doc) \
  { key, FIELD_REAL, AT(s, field), lo, hi, open, unit, doc, NULL }
#define I(s, key, field, lo, hi, doc) \
  { key, FIELD_INT, AT(s, field), lo, hi, 0, "", doc, NULL }
#define B(s, key, field, doc) \
  { key, FIELD_BOOL, AT(s, field), 0, 1, 0, "", doc, NULL }
#define T(s, key, field, doc) \
  { key, FIELD_TEXT, AT(s, field), 0, 0, 0, "", doc, NULL }
#define P(s, key, field, doc) \
  { key, FIELD_PATH, AT(s, field), 0, 0, 0, "", doc, NULL }
#define V(n, s, key, field, unit, doc) \
  { key, FIELD_VEC##n, AT(s, field), -BIG, BIG, 0, unit, doc, NULL }
#define Q(s, field)                                                                                                  \
  {"quaternion", FIELD_VEC4, AT(s, field), -2, 2, 0, "", "orientation as x, y, z, w", NULL}, {                       \
    "rpy", FIELD_RPY, AT(s, field), -BIG, BIG, 0, "rad", "orientation as roll, pitch, yaw about fixed x, y, z", NULL \
  }
#define W(s, key, field, words, doc) \
  { key, FIELD_WORD, AT(s, field), 0, 0, 0, "", doc, words }
#define S(key, doc) \
  { key, FIELD_SECTION, 0, 0, 0, 0, "", doc, NULL }

static const Field scene_fields[] = {
    S("include", "a scene or robot file, or a list of them, whose content stands before this one's"),
    S("open", "a list of closures of included files that are left out"),
    S("limits", "a mapping from joints of included files to [lower, upper], instead of the file's"),
    S("world", "section world"),
    S("materials", "a mapping from names to sections material; `default` is the one shapes have without a word"),
    S("pairs", "a list of sections pair"),
    S("textures", "a mapping from names to sections texture"),
    S("static", "a list of sections shape that never move"),
    S("bodies", "a list of sections body"),
    S("grid", "a list of sections grid"),
    S("wall", "a list of sections wall"),
    S("pile", "a list of sections pile"),
    S("visuals", "a list of sections visual"),
    S("joints", "a list of sections joint"),
    S("motors", "a list of sections motor"),
    S("closures", "a list of sections closure"),
    S("tendons", "a list of sections tendon"),
    S("actuators", "a list of sections actuator"),
    S("robots", "a list of sections robot"),
    S("controllers", "a list of sections controller"),
    S("sensors", "a list of sections sensor"),
    S("states", "a list of sections state"),
    S("start", "name of the state in which the scene begins"),
    S("exclude", "a list of pairs of body names that never collide"),
    S("forces", "a list of sections force"),
    S("record", "a list of sections record"),
    S("cameras", "a list of sections camera"),
    S("expect", "a list of sections expect: what the scene must show"),
};

static const Field world_fields[] = {
    V(3, TriboWorldDef, "gravity", gravity, "m/s²", "gravity"),
    V(3, TriboWorldDef, "wind", wind, "m/s", "velocity of the medium"),
    W(TriboWorldDef, "scheme", scheme, schemes, "time integration"),
    S("solver", "the solver's id, or a mapping with `id` and the solver's own settings"),
#define X(type, name, init, lo, hi, open, unit, doc) \
  {#name, FIELD_##type, AT(TriboWorldDef, name), lo, hi, open, unit, doc, NULL},
    TRIBO_WORLD_SETTINGS(X)
#undef X
};

#define MATERIAL_FIELDS                                                                                             \
  R(TriboMaterialDef, "friction", friction, 0, 1e6, 0, "", "Coulomb's coefficient μ"),                              \
      R(TriboMaterialDef, "friction2", friction2, 0, 1e6, 0, "", "across the grain of the shape; 0: as friction"),  \
      R(TriboMaterialDef, "torsion", torsion, 0, 1e6, 0, "m", "torsional friction"),                                \
      R(TriboMaterialDef, "rolling", rolling, 0, 1e6, 0, "m", "rolling friction"),                                  \
      R(TriboMaterialDef, "restitution", restitution, 0, 1, 0, "", "fraction of the impact speed that comes back"), \
      R(TriboMaterialDef, "stiffness", stiffness, 0, BIG, 0, "N/m", "of a compliant contact; 0 is rigid"),          \
      R(TriboMaterialDef, "damping", damping, 0, BIG, 0, "N s/m", "beside a stiffness"),                            \
      V(2, TriboMaterialDef, "solref", solref, "s", "MuJoCo's softness: time constant, damping ratio; 0 is rigid"), \
      V(5, TriboMaterialDef, "solimp", solimp, "",                                                                  \
        "beside solref: impedance at touch, at depth, depth, midpoint, power")

static const Field material_fields[] = {MATERIAL_FIELDS};
static const Field pair_fields[] = {S("between", "the names of the two materials"), MATERIAL_FIELDS};

#define RGB(s, key, field, doc) \
  { key, FIELD_VEC3, AT(s, field), 0, 1, 0, "", doc, NULL }
static const Field texture_fields[] = {
    W(TriboTextureDef, "kind", kind, texture_kinds,
      "flat: by the texture points of a mesh, or as seen along z; cube: around a shape; sky: around the scene"),
    P(TriboTextureDef, "file", file, "a PNG or JPEG picture; without it, the pattern"),
    W(TriboTextureDef, "pattern", pattern, patterns,
      "of two colours; a gradient goes from the middle outwards, of a cube or the sky from top to bottom"),
    W(TriboTextureDef, "mark", pattern_mark, marks, "lines over the pattern, or one pixel of a hundred"),
    RGB(TriboTextureDef, "color", color, "red, green, blue"),
    RGB(TriboTextureDef, "color2", color2, "of a checker or gradient"),
    RGB(TriboTextureDef, "mark_color", pattern_mark_color, "of the mark"),
    I(TriboTextureDef, "width", width, 1, 8192, "pixels of the pattern"),
    I(TriboTextureDef, "height", height, 1, 8192, "pixels of the pattern"),
};

// how a shape is painted, besides its colour
#define PAINT_FIELDS                                                                               \
  T(TriboShapeDef, "texture", texture, "name of the texture that the colour is multiplied with"),  \
      V(2, TriboShapeDef, "repeat", repeat, "", "how often a flat texture fits across the shape"), \
      B(TriboShapeDef, "per_metre", per_metre, "true: `repeat` counts into a metre")

#define SHAPE_KINDS                                                                                                   \
  S("sphere", "radius [m]"), S("box", "full lengths along x, y, z [m]"),                                              \
      S("capsule", "radius and length without the caps [m], axis z"), S("cylinder", "radius and length [m], axis z"), \
      S("cone", "radius and length [m], axis z, apex up"), S("ellipsoid", "half axes along x, y, z [m]"),             \
      S("hull", "a list of points [x, y, z]: their convex hull"),                                                     \
      S("mesh", "an STL, OBJ or DAE file; it collides as its convex hull"),                                           \
      S("plane", "outward normal of a half-space through `position`; static only"), SDF_KINDS,                        \
      S("heightfield", "lengths along x and y [m] of a ground with `heights`, centred, solid below; static only")

#define SDF_KINDS                                                                       \
  S("thread", "section thread: a bolt, or a nut; collides as it is"),                   \
      S("revolved", "section revolved: a polyline turned about z; collides as it is"),  \
      S("prism", "section prism: a regular polygon drawn out along z"),                 \
      S("union", "a list of sections part: what is in any of them; collides as it is"), \
      S("intersection", "a list of sections part: what is in all of them"),             \
      S("subtract", "a list of sections part: what is in the first and in no other"),   \
      S("offset", "section offset: a part with its surface moved")

#define SHAPE_REST                                                                                                  \
  S("heights",                                                                                                      \
    "of a heightfield [m]: a list of rows towards +y, each towards +x; or a file with a row per line, or a PNG "    \
    "picture, whose white is 1"),                                                                                   \
      V(3, TriboShapeDef, "scale", scale, "", "of a mesh; the third one also of heights"),                          \
      S("as", "how a mesh collides: `hull`, or `components` for one hull per part that no triangle joins"),         \
      I(TriboShapeDef, "vertices", vertices, 0, 1e6, "of a hull: at most so many, 4 or more; 0: all"),              \
      I(TriboShapeDef, "contacts", contacts, 0, 1024,                                                               \
        "of thread … offset: most of them with another shape, 24 or more; 0: 64, with a thread 128"),               \
      R(TriboShapeDef, "margin", margin, 0, 1, 1, "m",                                                              \
        "of thread … offset: how far ahead of touching contacts are made, if less than the world's; without it, " \
        "with a thread a hundredth of its pitch"),                                                                  \
      T(TriboShapeDef, "material", material, "name of its material"),                                               \
      R(TriboShapeDef, "contact_offset", contact_offset, 0, 1e6, 0, "m", "contacts act this far outside of it"),    \
      V(3, TriboShapeDef, "surface", surface, "m/s", "velocity of its surface, in body axes: a conveyor belt"),     \
      V(3, TriboShapeDef, "spin", spin, "rad/s", "and its turning about the position of the shape: a turntable"),   \
      V(3, TriboShapeDef, "grain", grain, "",                                                                       \
        "direction of `friction` where the material has a friction2, in body axes"),                                \
      R(TriboShapeDef, "density", density, 0, 1e9, 0, "kg/m³", "for bodies without a mass"),                        \
      {"color", FIELD_VEC4, AT(TriboShapeDef, color), 0, 1, 0, "", "red, green, blue, alpha", NULL}, PAINT_FIELDS,  \
      B(TriboShapeDef, "hidden", hidden, "true: a visual stands for it; it is drawn among what collides only"),     \
      I(TriboShapeDef, "group", group, 0, 2147483647, "bits of the groups it is in"),                               \
      I(TriboShapeDef, "mask", mask, 0, 2147483647, "bits of the groups it collides with")

static const Field shape_fields[] = {
    T(TriboShapeDef, "name", name, "for messages"),
    SHAPE_KINDS,
    V(3, TriboShapeDef, "position", position, "m", "in the body frame, or in the world"),
    Q(TriboShapeDef, quaternion),
    SHAPE_REST,
};

// trees of distance fields
static const Field thread_fields[] = {
    R(TriboSdfDef, "diameter", size[0], 0, 1e6, 1, "m", "of the crest of the bolt"),
    R(TriboSdfDef, "pitch", pitch, 0, 1e3, 1, "m", "from crest to crest"),
    R(TriboSdfDef, "length", size[1], 0, 1e6, 1, "m", "along z, centred"),
    R(TriboSdfDef, "clearance", clearance, 0, 1e3, 0, "m", "by which the profile is grown: of a nut, its play"),
    R(TriboSdfDef, "across", across, 0, 1e6, 0, "m",
      "width across the flats of a hexagon nut with this hole; 0: a bolt"),
    I(TriboSdfDef, "starts", starts, 1, 8, "how many helices: a turn leads by as many pitches"),
    B(TriboSdfDef, "left_hand", left_hand, "true: it is turned the other way"),
};
static const Field revolved_fields[] = {
    S("points", "a list of [r, z]: a polyline [m]"),
    R(TriboSdfDef, "pad", pad, 0, 1e3, 1, "m", "the solid is what lies within this distance of it"),
};
static const Field prism_fields[] = {
    I(TriboSdfDef, "sides", sides, 3, 64, "of the polygon; a flat is at +x"),
    R(TriboSdfDef, "across", size[0], 0, 1e6, 1, "m", "twice the distance of a flat from the axis"),
    R(TriboSdfDef, "length", size[1], 0, 1e6, 1, "m", "along z, centred"),
    R(TriboSdfDef, "round", round, 0, 1e6, 0, "m", "radius of its edges"),
};
static const Field offset_fields[] = {
    S("of", "a section part"),
    R(TriboSdfDef, "by", by, -1e3, 1e3, 0, "m", "how far its surface moves outwards"),
};
static const Field part_fields[] = {
    S("sphere", "radius [m]"),
    S("box", "full lengths along x, y, z [m]"),
    S("capsule", "radius and length without the caps [m], axis z"),
    S("cylinder", "radius and length [m], axis z"),
    S("cone", "radius and length [m], axis z, apex up"),
    S("ellipsoid", "half axes along x, y, z [m]"),
    S("plane", "outward normal of a half-space through `position`"),
    SDF_KINDS,
    R(TriboSdfDef, "round", round, 0, 1e6, 0, "m", "of a box or cylinder: radius of its edges"),
    V(3, TriboSdfDef, "position", position, "m", "in the frame of the shape, or of the part that it is a part of"),
    Q(TriboSdfDef, quaternion),
};

static const Field visual_fields[] = {
    S("body", "that it moves with; without it, the world"),
    T(TriboShapeDef, "name", name, "for messages"),
    SHAPE_KINDS,
    V(3, TriboShapeDef, "position", position, "m", "in the body frame, or in the world"),
    Q(TriboShapeDef, quaternion),
    V(3, TriboShapeDef, "scale", scale, "", "of a mesh"),
    {"color", FIELD_VEC4, AT(TriboShapeDef, color), 0, 1, 0, "", "red, green, blue, alpha", NULL},
    PAINT_FIELDS,
    B(TriboShapeDef, "use_file_colors", use_file_colors, "true: a mesh has the colours and textures of its file"),
};

static const Field body_fields[] = {
    T(TriboBodyDef, "name", name, "unique; how everything else refers to it"),
    V(3, TriboBodyDef, "position", position, "m", "of the body frame"),
    Q(TriboBodyDef, quaternion),
    V(3, TriboBodyDef, "velocity", velocity, "m/s", "initial, of the centre of mass"),
    V(3, TriboBodyDef, "omega", omega, "rad/s", "initial angular velocity, world axes"),
    R(TriboBodyDef, "mass", mass, 0, BIG, 0, "kg", "without it, the shapes' densities count"),
    V(3, TriboBodyDef, "com", com, "m", "centre of mass in the body frame"),
    V(6, TriboBodyDef, "inertia", inertia, "kg m²", "xx yy zz xy xz yz about the centre of mass"),
    {"inertia_axes", FIELD_VEC4, AT(TriboBodyDef, axes), -2, 2, 0, "",
     "orientation x, y, z, w in the body of the axes that inertia is given in", NULL},
    R(TriboBodyDef, "gravity_compensation", gravity_compensation, -BIG, BIG, 0, "",
      "fraction of its weight that a force at its centre of mass compensates"),
    S("shapes", "a list of sections shape; a single shape may stand in the body itself"),
};

// a single shape inside a body or a generator: everything of a shape but its pose and its name
static const Field inner_shape_fields[] = {SHAPE_KINDS, SHAPE_REST};

static const Field joint_fields[] = {
    T(TriboJointDef, "name", name, "unique among joints"),
    W(TriboJointDef, "kind", kind, joint_kinds, "what it allows"),
    S("parent", "body, or `world`"),
    S("child", "body"),
    V(3, TriboJointDef, "anchor", anchor, "m", "where the bodies meet, in the world at their initial poses"),
    V(3, TriboJointDef, "axis", axis, "", "in the world"),
    V(3, TriboJointDef, "axis2", axis2, "", "second axis of a universal joint"),
    R(TriboJointDef, "pitch", pitch, -BIG, BIG, 0, "m/rad", "of a helical joint"),
    {"radii", FIELD_VEC3, AT(TriboJointDef, radii), 0, TRIBO_RADIUS_MAX, 1, "m",
     "half axes that an ellipsoid joint needs, along the child's axes at the start; the anchor is its end on z", NULL},
    R(TriboJointDef, "armature", armature, 0, BIG, 0, "kg m², kg", "inertia of the drive"),
    R(TriboJointDef, "damping", damping, 0, BIG, 0, "N m s/rad, N s/m", "viscous"),
    R(TriboJointDef, "friction", friction, 0, BIG, 0, "N m, N", "dry"),
    R(TriboJointDef, "stiffness", stiffness, 0, BIG, 0, "N m/rad, N/m", "spring of a one-dof joint or a spherical one"),
    R(TriboJointDef, "rest", rest, -BIG, BIG, 0, "rad, m", "where the spring is slack"),
    R(TriboJointDef, "lower", lower, -INFINITY, BIG, 0, "rad, m",
      "limit; of each coordinate of a universal, translation, planar, euler or ellipsoid joint"),
    R(TriboJointDef, "upper", upper, -BIG, INFINITY, 0, "rad, m",
      "limit; of each coordinate of a universal, translation, planar, euler or ellipsoid joint, of the angle of a "
      "spherical one"),
    R(TriboJointDef, "restitution", restitution, 0, 1, 0, "", "fraction of the speed that comes back from a limit"),
    V(2, TriboJointDef, "solref", solref, "s",
      "MuJoCo's softness of the limits: time constant, damping ratio; 0 is rigid"),
    V(5, TriboJointDef, "solimp", solimp, "", "beside solref: impedance at touch, at depth, depth, midpoint, power"),
    R(TriboJointDef, "effort", effort, 0, INFINITY, 0, "N m, N", "largest effort of its motor"),
    B(TriboJointDef, "actuator_gravity_compensation", actuator_gravity_compensation,
      "its actuators bring the gravity compensation of the bodies that it carries, within `effort`"),
    R(TriboJointDef, "position", position, -BIG, BIG, 0, "rad, m", "initial, away from the bodies' poses"),
    R(TriboJointDef, "velocity", velocity, -BIG, BIG, 0, "rad/s, m/s", "initial"),
};

static const Field motor_fields[] = {
    T(TriboMotorDef, "joint", joint, "one-dof joint that is driven"),
    R(TriboMotorDef, "stiffness", stiffness, 0, BIG, 0, "N m/rad, N/m",
      "pull towards the target; 0 controls the speed"),
    R(TriboMotorDef, "damping", damping, 0, BIG, 0, "N m s/rad, N s/m", "pull towards the velocity"),
    R(TriboMotorDef, "target", target, -BIG, BIG, 0, "rad, m", "where to"),
    R(TriboMotorDef, "velocity", velocity, -BIG, BIG, 0, "rad/s, m/s", "how fast"),
    R(TriboMotorDef, "effort", effort, 0, INFINITY, 0, "N m, N", "largest effort; without it, the joint's"),
};

static const Field closure_fields[] = {
    T(TriboClosureDef, "name", name, "unique among closures"),
    W(TriboClosureDef, "kind", kind, closure_kinds, "what it allows"),
    T(TriboClosureDef, "body_a", body_a, "body or link (`robot/link`); without it, the world"),
    T(TriboClosureDef, "body_b", body_b, "body or link; without it, the world"),
    V(3, TriboClosureDef, "anchor", anchor, "m", "where the bodies meet, in the world at the start; a rod's end on a"),
    V(3, TriboClosureDef, "anchor2", anchor2, "m", "a rod's end on b"),
    V(3, TriboClosureDef, "axis", axis, "", "in the world at the start; the normal of a planar closure"),
    V(3, TriboClosureDef, "axis2", axis2, "", "second axis of a universal closure"),
    R(TriboClosureDef, "length", length, 0, 1e9, 1, "m", "of a rod; without it, as long as at the start"),
    T(TriboClosureDef, "joint_a", joint_a, "gear, mimic: the joint that leads"),
    T(TriboClosureDef, "joint_b", joint_b, "gear, mimic: the joint that follows"),
    R(TriboClosureDef, "ratio", ratio, -BIG, BIG, 0, "", "gear, mimic: q_b = ratio q_a + offset"),
    R(TriboClosureDef, "offset", offset, -BIG, BIG, 0, "rad, m", "mimic only; a gear keeps that of the start"),
    V(3, TriboClosureDef, "curve", curve, "", "mimic only: c in c₀ q_a² + c₁ q_a³ + c₂ q_a⁴, added to it"),
    V(2, TriboClosureDef, "solref", solref, "s", "MuJoCo's softness: time constant, damping ratio; 0 is rigid"),
    V(5, TriboClosureDef, "solimp", solimp, "", "beside solref: impedance at touch, at depth, depth, midpoint, power"),
    R(TriboClosureDef, "armature", armature, 0, BIG, 0, "kg m², kg",
      "inertia of the drive; with this or one of the next, the closure is a joint of its name"),
    R(TriboClosureDef, "damping", damping, 0, BIG, 0, "N m s/rad, N s/m", "viscous"),
    R(TriboClosureDef, "friction", friction, 0, BIG, 0, "N m, N", "dry"),
    R(TriboClosureDef, "stiffness", stiffness, 0, BIG, 0, "N m/rad, N/m", "spring of one coordinate, or of a ball"),
    R(TriboClosureDef, "rest", rest, -BIG, BIG, 0, "rad, m", "where the spring is slack"),
    R(TriboClosureDef, "lower", lower, -INFINITY, BIG, 0, "rad, m",
      "limit of its coordinate, or of each as of a joint; they count from the start"),
    R(TriboClosureDef, "upper", upper, -BIG, INFINITY, 0, "rad, m", "limit, likewise; of a ball, of its angle"),
    R(TriboClosureDef, "restitution", restitution, 0, 1, 0, "", "fraction of the speed that comes back from a limit"),
    V(2, TriboClosureDef, "limit_solref", limit_solref, "s", "softness of the limits, as solref of a joint"),
    V(5, TriboClosureDef, "limit_solimp", limit_solimp, "", "beside limit_solref"),
    R(TriboClosureDef, "effort", effort, 0, INFINITY, 0, "N m, N", "largest one of its drives that say none"),
    R(TriboClosureDef, "position", position, -BIG, BIG, 0, "rad, m", "hinge, slider: its coordinate at the start"),
};

static const Field tendon_fields[] = {
    T(TriboTendonDef, "name", name, "unique among tendons"),
    S("joints", "a mapping from joints to coefficients: its length is the sum of coefficient times position"),
    S("points",
      "or a list of mappings with `body` (none: the world), `at`, in body axes, `weight`, what the segment to the next "
      "one counts (1), and `around`, a section wrap: a string through them"),
    R(TriboTendonDef, "stiffness", stiffness, 0, BIG, 0, "N/m, N/rad", "of a spring along it"),
    R(TriboTendonDef, "damping", damping, 0, BIG, 0, "N s/m, N s/rad", "along it"),
    R(TriboTendonDef, "rest", rest[0], -BIG, BIG, 0, "m, rad", "slack from this length; without it, that of the start"),
    R(TriboTendonDef, "rest_max", rest[1], -BIG, BIG, 0, "m, rad", "slack up to this length; without it, `rest`"),
    R(TriboTendonDef, "lower", lower, -INFINITY, BIG, 0, "m, rad", "limit of its length"),
    R(TriboTendonDef, "upper", upper, -BIG, INFINITY, 0, "m, rad", "limit of its length"),
    R(TriboTendonDef, "force_min", force_min, -INFINITY, BIG, 0, "N, N m",
      "actuators pull together with this at least"),
    R(TriboTendonDef, "force_max", force_max, -BIG, INFINITY, 0, "N, N m", "actuators pull together with this at most"),
    V(2, TriboTendonDef, "solref", solref, "s",
      "MuJoCo's softness of the limits: time constant, damping ratio; 0 is rigid"),
    V(5, TriboTendonDef, "solimp", solimp, "", "beside solref: impedance at touch, at depth, depth, midpoint, power"),
};

static const Field wrap_fields[] = {
    W(TriboWrapDef, "kind", kind, wraps, "what the string goes around; a cylinder has no ends and lies along z"),
    R(TriboWrapDef, "radius", radius, 0, BIG, 0, "m", "of it"),
    T(TriboWrapDef, "body", body, "that it is part of; without one, the world"),
    V(3, TriboWrapDef, "position", position, "m", "of its centre, in the body"),
    Q(TriboWrapDef, quaternion),
    T(TriboWrapDef, "side_body", side_body, "that `side` is a point of; without one, the world"),
    V(3, TriboWrapDef, "side", side, "m",
      "a point on whose side the string passes; inside of the shape: the string passes inside, as through a ring"),
};

static const Field actuator_fields[] = {
    T(TriboActuatorDef, "name", name, "unique among actuators"),
    T(TriboActuatorDef, "joint", joint, "with one coordinate, that is pushed"),
    T(TriboActuatorDef, "tendon", tendon, "or that is pulled"),
    T(TriboActuatorDef, "body", body, "or a body or link that is pushed by a thruster"),
    V(3, TriboActuatorDef, "point", point, "m", "where the thruster is mounted, in the body"),
    Q(TriboActuatorDef, quaternion),
    V(6, TriboActuatorDef, "wrench", wrench, "",
      "of the thruster for each unit of force: force and torque in its axes"),
    R(TriboActuatorDef, "crank_length", crank_length, 0, BIG, 0, "m",
      "of a slider-crank: `body` is the crank, and a rod from `point` drives a slider on a rail"),
    T(TriboActuatorDef, "slider_body", slider_body,
      "the body or link on which the slider runs; without one, the world"),
    V(3, TriboActuatorDef, "slider_point", slider_point, "m", "a point of the slider's line there"),
    V(3, TriboActuatorDef, "slider_axis", slider_axis, "", "the direction of that line"),
    R(TriboActuatorDef, "gear", gear, -BIG, BIG, 0, "", "l = gear times position; efforts grow by it"),
    V(3, TriboActuatorDef, "gain", gain, "", "g in (g₀ + g₁ l + g₂ l̇) a"),
    V(3, TriboActuatorDef, "bias", bias, "", "b in b₀ + b₁ l + b₂ l̇, added to it"),
    R(TriboActuatorDef, "ctrl", ctrl, -BIG, BIG, 0, "", "control at the start"),
    R(TriboActuatorDef, "ctrl_min", ctrl_min, -INFINITY, BIG, 0, "", "controls are cut off here"),
    R(TriboActuatorDef, "ctrl_max", ctrl_max, -BIG, INFINITY, 0, "", "controls are cut off here"),
    R(TriboActuatorDef, "force_min", force_min, -INFINITY, BIG, 0, "N, N m", "forces are cut off here"),
    R(TriboActuatorDef, "force_max", force_max, -BIG, INFINITY, 0, "N, N m", "forces are cut off here"),
    W(TriboActuatorDef, "activation", activation, activations, "how a follows the control"),
    R(TriboActuatorDef, "time_constant", time_constant, 0, 1e9, 0, "s", "of a filter"),
    R(TriboActuatorDef, "time_constant_down", time_constant_down, 0, 1e9, 0, "s", "of a muscle that relaxes"),
    R(TriboActuatorDef, "smoothing", smoothing, 0, 1e9, 0, "", "of a muscle: width of the change between the two"),
    R(TriboActuatorDef, "act_min", act_min, -INFINITY, BIG, 0, "", "activations are cut off here"),
    R(TriboActuatorDef, "act_max", act_max, -BIG, INFINITY, 0, "", "activations are cut off here"),
    B(TriboActuatorDef, "act_early", act_early, "the activation of the end of the step acts"),
    B(TriboActuatorDef, "muscle", has_muscle, "the force is that of a muscle, not of gain and bias"),
    R(TriboActuatorDef, "muscle_peak", muscle.peak, -BIG, BIG, 0, "N",
      "active force at rest; below 0: `muscle_scale` over the acceleration that a unit force makes"),
    R(TriboActuatorDef, "muscle_scale", muscle.scale, 0, BIG, 0, "m/s², rad/s²", ""),
    V(2, TriboActuatorDef, "muscle_lengths", muscle.lengths, "m, rad",
      "lengths of what is pulled between which it works; without them, what limits of joints allow"),
    V(2, TriboActuatorDef, "muscle_range", muscle.range, "", "the same in optimal lengths"),
    R(TriboActuatorDef, "muscle_min", muscle.lmin, 0, 1, 0, "", "length below which it does not pull"),
    R(TriboActuatorDef, "muscle_max", muscle.lmax, 1, BIG, 0, "", "length above which it does not pull"),
    R(TriboActuatorDef, "muscle_speed", muscle.vmax, 0, BIG, 0, "1/s", "at which it shortens without a force"),
    R(TriboActuatorDef, "muscle_passive", muscle.fpmax, 0, BIG, 0, "",
      "passive force halfway on to `muscle_max`, twice, over the peak"),
    R(TriboActuatorDef, "muscle_fast", muscle.fvmax, 1, BIG, 0, "", "active force when stretched fast, over the peak"),
};

static const Field controller_fields[] = {
    T(TriboControllerDef, "name", name, "unique among controllers"),
    W(TriboControllerDef, "law", law, laws,
      "pd: a motor per joint; computed: torques by the equations of motion; effort: given ones; gravity: the "
      "weight; task: what serves its tasks best, contacts included"),
    T(TriboControllerDef, "robot", robot, "whose joints the names below are"),
    S("joints", "a list of names or patterns (`leg_*`); none: all joints that follow no other one"),
    R(TriboControllerDef, "stiffness", stiffness, 0, BIG, 0, "N m/rad, N/m", "pd; computed: [1/s²]"),
    R(TriboControllerDef, "damping", damping, 0, BIG, 0, "N m s/rad, N s/m", "pd; computed: [1/s]"),
    R(TriboControllerDef, "effort", effort, 0, INFINITY, 0, "N m, N", "largest one; without it, the joint's"),
    S("trajectory", "a CSV file: a head line `t, joint, …`, then a line per frame; the other joints stay"),
    S("keyframes", "or a list of mappings with `at` [s] and `joints`: a mapping from names to positions or efforts"),
    W(TriboControllerDef, "interpolation", interpolation, interpolations, "how frames are joined"),
    S("tasks", "task: a list of sections task"),
    W(TriboControllerDef, "contacts", contacts, task_contacts,
      "task: auto: they break, stick or slide as the tasks need; stick: those that touch; none"),
    R(TriboControllerDef, "horizon", horizon, 0, BIG, 0, "m", "task: contacts closer than this are reckoned with"),
    R(TriboControllerDef, "torque_weight", torque_weight, 0, BIG, 0, "",
      "task: factor of the impulses of the drives, beside the roots of the tasks' weights"),
    R(TriboControllerDef, "mode_margin", mode_margin, 0, 1, 0, "",
      "task: relative gain below which other modes are not better: against chatter"),
    I(TriboControllerDef, "flips", flips, 0, 4,
      "task: modes that are tried: 0 the last, 1 adjacent, 2 all single, 3 also pairs, 4 until proved"),
    I(TriboControllerDef, "programs", programs, 1, 1e9, "task: most programs of one step, of a proof or a search"),
};

static const Field task_fields[] = {
    W(TriboTaskDef, "kind", kind, task_kinds, "what it is about"),
    T(TriboTaskDef, "name", name, "unique within the controller; without it, its kind"),
    T(TriboTaskDef, "of", of, "the body, by full name; not of com, posture and momentum, which are the robot's"),
    V(3, TriboTaskDef, "point", point, "m", "of the body, in its frame"),
    S("axes", "a list of x, y, z, rx, ry, rz of the world; without it, all"),
    R(TriboTaskDef, "stiffness", stiffness, 0, BIG, 0, "1/s²", "errors e obey ë + damping ė + stiffness e = 0"),
    R(TriboTaskDef, "damping", damping, 0, BIG, 0, "1/s", "the same"),
    R(TriboTaskDef, "weight", weight, 0, BIG, 0, "", "of its squared error in speeds; force: in impulses"),
    R(TriboTaskDef, "normal", normal, 0, BIG, 0, "N", "force: wanted sum of the normal forces on the body"),
    R(TriboTaskDef, "start", start, -BIG, BIG, 0, "s", "force: when it begins to rise"),
    R(TriboTaskDef, "ramp", ramp, 0, BIG, 0, "s", "force: for how long"),
    B(TriboTaskDef, "relative", relative, "positions and angles count from where the body is at the start"),
    S("keyframes",
      "a list of mappings with `at` [s] and `position`, `rpy` (or `linear`, `angular`, or `normal`), and "
      "their rates: `velocity`, `spin`, `acceleration`; joined by polynomials of degree five"),
};

static const Field robot_fields[] = {
    T(TriboRobotDef, "name", name, "its bodies and joints are called name/link"),
    P(TriboRobotDef, "urdf", urdf, "the robot's file; it may be a package:// path, as all files may"),
    P(TriboRobotDef, "srdf", srdf, "reference poses and pairs that may touch"),
    T(TriboRobotDef, "attach", attach, "a link of a robot above that carries it as a tool: `arm/wrist`"),
    V(3, TriboRobotDef, "position", position, "m", "of the base, in the world or in the link that carries it"),
    Q(TriboRobotDef, quaternion),
    W(TriboRobotDef, "free_base", free_base, bases, "does the base float? auto: when the root link has a mass"),
    T(TriboRobotDef, "reference", reference, "initial pose by its name in the SRDF"),
    T(TriboRobotDef, "material", material, "of all its shapes"),
    B(TriboRobotDef, "self_collision", self_collision, "false: its own links never collide"),
    B(TriboRobotDef, "split_components", split_components,
      "meshes collide as hulls of their parts that no triangle joins, not as one hull"),
    I(TriboRobotDef, "vertices", vertices, 0, 1e6, "of each hull: at most so many, 4 or more; 0: all"),
    B(TriboRobotDef, "use_joint_friction", use_joint_friction,
      "false: without the friction and damping that the file gives to joints"),
    S("joints", "a mapping from joint names to initial positions [rad, m]"),
};

static const Field sensor_fields[] = {
    T(TriboSensorDef, "name", name, "unique among sensors"),
    W(TriboSensorDef, "kind", kind, sensor_kinds, "what it reads"),
    T(TriboSensorDef, "joint", joint, "whose position or velocity is read"),
    T(TriboSensorDef, "tendon", tendon, "whose length or speed is read"),
    T(TriboSensorDef, "actuator", actuator, "whose length, speed or force is read"),
    T(TriboSensorDef, "body", body, "of the mount, or whose subtree; without it, the world"),
    V(3, TriboSensorDef, "point", point, "m", "of the mount, in the body"),
    Q(TriboSensorDef, quaternion),
    T(TriboSensorDef, "ref_body", ref_body, "whose mount the reading is seen from; without it, the world"),
    V(3, TriboSensorDef, "ref_point", ref_point, "m", "of that mount, in its body"),
    V(4, TriboSensorDef, "ref_quaternion", ref_quaternion, "", "of that mount: x, y, z, w"),
    V(3, TriboSensorDef, "field", field, "", "the vector of the world that a compass reads"),
    W(TriboSensorDef, "volume", volume, volumes, "touch: where it feels"),
    V(3, TriboSensorDef, "size", size, "m", "of it: half lengths, or radius and half length; 0: all of the body"),
    R(TriboSensorDef, "cutoff", cutoff, 0, BIG, 0, "", "readings are cut off here, to both sides; 0: nowhere"),
};

static const Field state_fields[] = {
    T(TriboStateDef, "name", name, "unique among states"),
    R(TriboStateDef, "time", time, 0, 1e9, 0, "s", "of the clock"),
    S("positions",
      "a mapping from joints to coordinates (spherical: quaternion), and from floating bodies to 7 numbers"),
    S("velocities",
      "a mapping from joints to velocities, and from floating bodies to 6 numbers: of the centre of mass"),
    S("ctrl", "a mapping from actuators to controls"),
    S("act", "a mapping from actuators to activations"),
};

static const Field force_fields[] = {
    T(TriboForceDef, "body", body, "that is pushed"),
    T(TriboForceDef, "joint", joint, "or that is driven"),
    V(3, TriboForceDef, "force", force, "N", "at the centre of mass"),
    V(3, TriboForceDef, "torque", torque, "N m", "on the body"),
    R(TriboForceDef, "effort", effort, -BIG, BIG, 0, "N m, N", "on the joint"),
    R(TriboForceDef, "start", start, 0, BIG, 0, "s", "from this time"),
    R(TriboForceDef, "end", end, 0, INFINITY, 0, "s", "until this time"),
    B(TriboForceDef, "local", local, "true: in body axes"),
    B(TriboForceDef, "ramp", ramp, "true: it grows from 0 at the start to all of it at the end"),
};

static const Field record_fields[] = {
    T(TriboRecordDef, "file", file, "CSV, relative to where the program runs"),
    I(TriboRecordDef, "every", every, 1, 1e9, "steps between rows"),
    S("columns", "a list of quantities (\"cube0: position.z\"); none: all of q and v"),
};

static const Field camera_fields[] = {
    T(TriboCameraDef, "name", name, "to choose it by"),
    V(3, TriboCameraDef, "eye", eye, "m", "where it stands"),
    V(3, TriboCameraDef, "target", target, "m", "what it looks at"),
    V(3, TriboCameraDef, "up", up, "", "what is up in the picture"),
    R(TriboCameraDef, "fov", fov, 0.01, 3.1, 0, "rad", "vertical opening"),
    T(TriboCameraDef, "body", body, "body or link it is mounted on: then eye, target and up are in its axes"),
    B(TriboCameraDef, "follow", follow, "true: it goes where the body goes, but does not turn with it"),
    T(TriboCameraDef, "aim", aim, "body or link it looks at, instead of the target; then up is the world's"),
};

static const Field expect_fields[] = {
    T(TriboExpectDef, "quantity", quantity, "what is measured"),
    T(TriboExpectDef, "of", of, "the body or joint it belongs to"),
    W(TriboExpectDef, "when", when, whens, "end: last state; at: at time `from`; the others over [from, to]"),
    R(TriboExpectDef, "from", from, 0, BIG, 0, "s", "start of the window, or the moment"),
    R(TriboExpectDef, "to", to, 0, INFINITY, 0, "s", "end of the window"),
    B(TriboExpectDef, "change", change, "true: the change since the start is judged"),
    R(TriboExpectDef, "value", value, -BIG, BIG, 0, "", "expected"),
    R(TriboExpectDef, "abs", abs, 0, BIG, 0, "", "absolute tolerance"),
    R(TriboExpectDef, "rel", rel, 0, BIG, 0, "", "relative tolerance"),
    R(TriboExpectDef, "min", min, -BIG, BIG, 0, "", "least accepted"),
    R(TriboExpectDef, "max", max, -BIG, BIG, 0, "", "most accepted"),
};

#define GENERATOR_FIELDS                                                         \
  T(GeneratorDef, "name", name, "bodies are called name0, name1, …"),            \
      V(3, GeneratorDef, "origin", origin, "m", "centre of the lowest layer"),   \
      V(3, GeneratorDef, "velocity", velocity, "m/s", "initial, of every body"), \
      I(GeneratorDef, "seed", seed, 0, 2147483647, "of everything random"),      \
      S("mass", "a rule [kg]; without it, the shapes' densities count"),         \
      S("size", "a rule: factor on the shape's lengths"),                        \
      S("colors", "a list of colours that take turns, or a mapping with `list` and `by`")

static const Field grid_fields[] = {
    GENERATOR_FIELDS,
    V(3, GeneratorDef, "count", count, "", "bodies along x, y, z"),
    V(3, GeneratorDef, "spacing", spacing, "m", "between neighbours along x, y, z"),
};
static const Field wall_fields[] = {
    GENERATOR_FIELDS,
    I(GeneratorDef, "rows", rows, 1, 1000, "a pyramid: this many bodies below, one on top"),
    R(GeneratorDef, "pitch", pitch, 0, 1e6, 1, "m", "between neighbours of a row"),
    R(GeneratorDef, "layer", layer, 0, 1e6, 1, "m", "height of a row"),
};
static const Field pile_fields[] = {
    GENERATOR_FIELDS,
    I(GeneratorDef, "number", number, 1, 100000, "of bodies"),
    I(GeneratorDef, "columns", columns, 1, 1000, "bodies along x and along y in a layer"),
    R(GeneratorDef, "pitch", pitch, 0, 1e6, 1, "m", "between neighbours of a layer"),
    R(GeneratorDef, "layer", layer, 0, 1e6, 1, "m", "height of a layer"),
    R(GeneratorDef, "jitter", jitter, 0, 1e6, 0, "m", "random shift along x and y, to either side"),
    S("shapes", "a list of sections shape that take turns"),
};
static const Field rule_fields[] = {
    R(RuleDef, "first", first, -BIG, BIG, 0, "", "value at 0"),
    R(RuleDef, "factor", factor, -BIG, BIG, 0, "", "from one to the next"),
    R(RuleDef, "step", step, -BIG, BIG, 0, "", "added from one to the next"),
    R(RuleDef, "min", min, -BIG, BIG, 0, "", "random between min and max"),
    R(RuleDef, "max", max, -BIG, BIG, 0, "", "random between min and max"),
    W(RuleDef, "by", by, rule_by, "what is counted"),
    S("list", "values that take turns"),
};

// ---- defaults

#define INIT(name, type, expr)           \
  static void init_##name(void* strct) { \
    *(type*)strct = (expr);              \
  }
INIT(world, TriboWorldDef, tribo_world_default())
INIT(material, TriboMaterialDef, tribo_material_default())
INIT(texture, TriboTextureDef, tribo_texture_default())
INIT(shape, TriboShapeDef, tribo_shape_default())
INIT(sdf, TriboSdfDef, tribo_sdf_default())
INIT(body, TriboBodyDef, tribo_body_default())
INIT(joint, TriboJointDef, tribo_joint_default())
INIT(motor, TriboMotorDef, tribo_motor_default())
INIT(closure, TriboClosureDef, tribo_closure_default())
INIT(tendon, TriboTendonDef, tribo_tendon_default())
INIT(wrap, TriboWrapDef, tribo_wrap_default())
INIT(actuator, TriboActuatorDef, tribo_actuator_default())
INIT(controller, TriboControllerDef, tribo_controller_default())
INIT(task, TriboTaskDef, tribo_task_default())
INIT(robot, TriboRobotDef, tribo_robot_default())
INIT(sensor, TriboSensorDef, tribo_sensor_default())
INIT(state, TriboStateDef, ((TriboStateDef){.time = 0}))
INIT(force, TriboForceDef, tribo_force_default())
INIT(record, TriboRecordDef, ((TriboRecordDef){.every = 1}))
INIT(camera, TriboCameraDef, tribo_camera_default())
INIT(expect, TriboExpectDef, tribo_expect_default())
INIT(generator, GeneratorDef,
     ((GeneratorDef){
         .count = {1, 1, 1}, .spacing = {1, 1, 1}, .rows = 5, .pitch = 1, .layer = 1, .number = 1, .columns = 5}))
INIT(rule, RuleDef, ((RuleDef){.first = 1, .factor = 1, .min = NAN, .max = NAN}))

#define SECTION(name, strct, init, doc) \
  { #name, doc, name##_fields, sizeof name##_fields / sizeof *name##_fields, sizeof(strct), init }
static const Section sections[] = {
    SECTION(scene, char, NULL, "The whole file."),
    SECTION(world, TriboWorldDef, init_world, "What holds everywhere."),
    SECTION(material, TriboMaterialDef, init_material,
            "Two materials mix: geometric mean of the frictions, larger restitution, springs in series."),
    SECTION(pair, TriboMaterialDef, init_material, "Two materials that do not mix by rule."),
    SECTION(texture, TriboTextureDef, init_texture, "What shapes are painted with: a picture, or a pattern."),
    SECTION(shape, TriboShapeDef, init_shape, "Exactly one of sphere … plane says what it is."),
    SECTION(thread, TriboSdfDef, init_sdf,
            "An ISO thread of 60° about z, exact: a bolt, or a hexagon nut with `across`."),
    SECTION(revolved, TriboSdfDef, init_sdf, "A wall about a polyline in the half plane (r, z), turned about z."),
    SECTION(prism, TriboSdfDef, init_sdf, "A regular polygon drawn out along z."),
    SECTION(offset, TriboSdfDef, init_sdf, "A solid that is grown or shrunk."),
    SECTION(part, TriboSdfDef, init_sdf,
            "Exactly one of sphere … offset says what a part of a union, intersection, difference or offset is."),
    SECTION(body, TriboBodyDef, init_body, "A rigid body. Free, unless a joint ties it."),
    SECTION(inner_shape, TriboShapeDef, init_shape,
            "A single shape at the origin of a body or generator, without a list."),
    SECTION(visual, TriboShapeDef, init_shape, "A shape that is drawn and nothing else; a mesh is drawn as it is."),
    SECTION(joint, TriboJointDef, init_joint, "Ties two bodies into one tree of reduced coordinates."),
    SECTION(motor, TriboMotorDef, init_motor,
            "Drives a joint as a spring and a damper would, within its effort; implicit, so no gain is too stiff."),
    SECTION(closure, TriboClosureDef, init_closure,
            "Ties two bodies, or two joints, beyond the trees: loops, and mechanisms of free bodies."),
    SECTION(
        tendon, TriboTendonDef, init_tendon,
        "A length: a weighted sum of joint positions, or a string through points. Spring, damper, and for actuators."),
    SECTION(wrap, TriboWrapDef, init_wrap, "What a stretch of a string goes around, without friction."),
    SECTION(actuator, TriboActuatorDef, init_actuator,
            "Pushes a joint or pulls a tendon with a force that may depend on its position and speed."),
    SECTION(robot, TriboRobotDef, init_robot, "A robot from a URDF file."),
    SECTION(controller, TriboControllerDef, init_controller,
            "Drives joints along a trajectory, or holds them where they are at the start."),
    SECTION(task, TriboTaskDef, init_task, "What a controller with the law task wants."),
    SECTION(sensor, TriboSensorDef, init_sensor,
            "Reads up to four numbers, which recorders and expectations know as `reading`, or `reading.x` and so on."),
    SECTION(state, TriboStateDef, init_state, "A state with a name: what it says differs from the start."),
    SECTION(force, TriboForceDef, init_force, "A push or a motor effort over time."),
    SECTION(record, TriboRecordDef, init_record, "A CSV file of the motion."),
    SECTION(camera, TriboCameraDef, init_camera, "A view of the scene."),
    SECTION(expect, TriboExpectDef, init_expect, "A physical fact the scene must show; `tribo check` judges it."),
    SECTION(grid, GeneratorDef, init_generator, "Bodies on a regular grid."),
    SECTION(wall, GeneratorDef, init_generator, "A pyramid of bodies, each row one shorter than the one below."),
    SECTION(pile, GeneratorDef, init_generator, "Bodies in layers, shifted and turned at random, to be dropped."),
    SECTION(rule, RuleDef, init_rule, "A number per body: a plain number, a list that takes turns, or this."),
};

const Section* tribo_format_section(const char* name) {
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) {
    if (strcmp(sections[i].name, name) == 0) {
      return &sections[i];
    }
  }
  return NULL;
}

// ---- describing

static void describe_type(const Field* f, char* text, size_t size) {
  static const char* const names[] = {"number",    "whole number", "true or false", "text",      "file",
                                      "2 numbers", "3 numbers",    "4 numbers",     "5 numbers", "6 numbers",
                                      "3 numbers", "word",         "see right"};
  snprintf(text, size, "%s", names[f->type]);
}

static void describe_range(const Field* f, char* text, size_t size) {
  int n = 0;
  text[0] = '\0';
  if (f->type == FIELD_WORD) {
    for (int i = 0; f->words[i] != NULL && n >= 0 && (size_t)n < size; ++i) {
      n += snprintf(text + n, size - (size_t)n, "%s%s", i > 0 ? ", " : "", f->words[i]);
    }
    return;
  }
  const int numbers = f->type == FIELD_REAL || f->type == FIELD_INT || f->type == FIELD_VEC3 || f->type == FIELD_VEC4;
  const int bounded = numbers && f->max > f->min && (f->min > -BIG || f->max < BIG);
  if (bounded) {
    n = snprintf(text, size, "%c%g, %g]%s", f->open_min ? '(' : '[', f->min, f->max, f->unit[0] ? " " : "");
  }
  snprintf(text + n, size - (size_t)n, "%s", f->unit);
}

// The value a key has when it is left out, in words.
static void describe_init(const Section* s, const Field* f, char* text, size_t size) {
  union {
    char bytes[1024];
    double align;
  } strct;
  text[0] = '\0';
  if (s->init == NULL || f->type == FIELD_SECTION || s->size > sizeof strct.bytes) {
    return;
  }
  memset(&strct, 0, sizeof strct);
  s->init(&strct);
  const char* at = strct.bytes + f->offset;
  const double* x = (const double*)(const void*)at;
  int whole;
  switch (f->type) {
    case FIELD_REAL: snprintf(text, size, isnan(*x) ? "" : "%g", *x); return;
    case FIELD_VEC2: snprintf(text, size, "%g, %g", x[0], x[1]); return;
    case FIELD_VEC5: snprintf(text, size, "%g, %g, %g, %g, %g", x[0], x[1], x[2], x[3], x[4]); return;
    case FIELD_VEC3: snprintf(text, size, isnan(*x) ? "" : "%g, %g, %g", x[0], x[1], x[2]); return;
    case FIELD_VEC4: snprintf(text, size, "%g, %g, %g, %g", x[0], x[1], x[2], x[3]); return;
    default: break;
  }
  memcpy(&whole, at, sizeof whole);
  if (f->type == FIELD_INT) {
    snprintf(text, size, "%d", whole);
  } else if (f->type == FIELD_BOOL) {
    snprintf(text, size, "%s", whole ? "true" : "false");
  } else if (f->type == FIELD_WORD) {
    snprintf(text, size, "%s", f->words[whole]);
  }
}

int tribo_scene_format(int index, TriboFormatRow* out) {
  for (size_t s = 0; s < sizeof sections / sizeof *sections; ++s) {
    if (index < sections[s].nfield) {
      const Field* f = &sections[s].fields[index];
      *out = (TriboFormatRow){sections[s].name, sections[s].doc, f->key, f->doc, "", "", ""};
      describe_type(f, out->type, sizeof out->type);
      describe_range(f, out->range, sizeof out->range);
      describe_init(&sections[s], f, out->init, sizeof out->init);
      return 1;
    }
    index -= sections[s].nfield;
  }
  return 0;
}
