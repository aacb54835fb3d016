// Every attribute of every element that is read, one row each: a name that has no row is an error of the file.
#include <math.h>

#include "mjcf.h"

#define AT(strct, field) offsetof(strct, field)
#define R(s, name, field, min, max) \
  { name, MJ_REAL, AT(s, field), min, max, NULL }
#define I(s, name, field) \
  { name, MJ_INT, AT(s, field), 1, 1, NULL }
#define B(s, name, field) \
  { name, MJ_BOOL, AT(s, field), 1, 1, NULL }
#define W(s, name, field, words) \
  { name, MJ_WORD, AT(s, field), 1, 1, words }
#define T(s, name, field) \
  { name, MJ_TEXT, AT(s, field), 1, 1, NULL }
#define VISUAL_ONLY(name) \
  { name, MJ_VISUAL_ONLY, 0, 0, 0, NULL }
#define WARN(name) \
  { name, MJ_WARN, 0, 0, 0, NULL }
#define ORIENT(s, field)                                                                                        \
  R(s, "quat", field.quat, 4, 4), R(s, "axisangle", field.axisangle, 4, 4), R(s, "xyaxes", field.xyaxes, 6, 6), \
      R(s, "zaxis", field.zaxis, 3, 3), R(s, "euler", field.euler, 3, 3)
#define ELEMENT(name) \
  const MjElement tribo_mjcf_##name = {#name, name##_attrs, sizeof name##_attrs / sizeof *name##_attrs}

static const char* const tristate[] = {"false", "true", "auto", NULL};
static const char* const angles[] = {"radian", "degree", NULL};
static const char* const enabled[] = {"disable", "enable", NULL};
static const char* const integrators[] = {"Euler", "RK4", "implicit", "implicitfast", NULL};
static const char* const inertias[] = {"convex", "exact", "legacy", "shell", NULL};
static const char* const joint_types[] = {"free", "ball", "slide", "hinge", NULL};
static const char* const geom_types[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                         "cylinder", "box",    "mesh",   "sdf",     NULL};

static const MjAttr compiler_attrs[] = {
    B(MjCompiler, "autolimits", autolimits),
    R(MjCompiler, "boundmass", bound_mass, 1, 1),
    R(MjCompiler, "boundinertia", bound_inertia, 1, 1),
    R(MjCompiler, "settotalmass", total_mass, 1, 1),
    B(MjCompiler, "balanceinertia", balance_inertia),
    T(MjCompiler, "coordinate", coordinate),
    W(MjCompiler, "angle", degree, angles),
    T(MjCompiler, "eulerseq", euler_order),
    T(MjCompiler, "meshdir", mesh_dir),
    T(MjCompiler, "assetdir", asset_dir),
    W(MjCompiler, "inertiafromgeom", inertia_from_geom, tristate),
    R(MjCompiler, "inertiagrouprange", group_range, 2, 2),
    B(MjCompiler, "strippath", strip_path),
    B(MjCompiler, "fitaabb", fit_aabb),
    T(MjCompiler, "texturedir", texture_dir),
    VISUAL_ONLY("discardvisual"),
    VISUAL_ONLY("usethread"),
    VISUAL_ONLY("fusestatic"),
    VISUAL_ONLY("saveinertial"),
    VISUAL_ONLY("savecompiled"),
    VISUAL_ONLY("savecanonical"),
    VISUAL_ONLY("alignfree"),
    VISUAL_ONLY("conflict"),
    VISUAL_ONLY("passthrough"),
    VISUAL_ONLY("convexhull"),
    VISUAL_ONLY("exactmeshinertia"),
};
ELEMENT(compiler);

static const MjAttr option_attrs[] = {
    R(MjOption, "timestep", timestep, 1, 1),
    R(MjOption, "gravity", gravity, 3, 3),
    R(MjOption, "wind", wind, 3, 3),
    R(MjOption, "magnetic", magnetic, 3, 3),
    R(MjOption, "density", density, 1, 1),
    R(MjOption, "viscosity", viscosity, 1, 1),
    W(MjOption, "integrator", integrator, integrators),
    WARN("o_margin"),
    WARN("o_solref"),
    WARN("o_solimp"),
    WARN("o_friction"),
    R(MjOption, "actuatorgroupdisable", groups, 1, 10),
    // how MuJoCo solves; Tribo solves its own way
    VISUAL_ONLY("impratio"),
    VISUAL_ONLY("tolerance"),
    VISUAL_ONLY("ls_tolerance"),
    VISUAL_ONLY("noslip_tolerance"),
    VISUAL_ONLY("ccd_tolerance"),
    VISUAL_ONLY("sleep_tolerance"),
    VISUAL_ONLY("cone"),
    VISUAL_ONLY("jacobian"),
    VISUAL_ONLY("solver"),
    VISUAL_ONLY("iterations"),
    VISUAL_ONLY("ls_iterations"),
    VISUAL_ONLY("noslip_iterations"),
    VISUAL_ONLY("ccd_iterations"),
    VISUAL_ONLY("mpr_iterations"),
    VISUAL_ONLY("mpr_tolerance"),
    VISUAL_ONLY("sdf_iterations"),
    VISUAL_ONLY("sdf_initpoints"),
    VISUAL_ONLY("apirate"),
    VISUAL_ONLY("collision"),
};
ELEMENT(option);

static const MjAttr flag_attrs[] = {
    W(MjOption, "constraint", constraint, enabled),
    W(MjOption, "contact", contact, enabled),
    W(MjOption, "limit", limit, enabled),
    W(MjOption, "frictionloss", frictionloss, enabled),
    W(MjOption, "equality", equality, enabled),
    W(MjOption, "gravity", has_gravity, enabled),
    W(MjOption, "spring", spring, enabled),
    W(MjOption, "damper", damper, enabled),
    W(MjOption, "actuation", actuation, enabled),
    W(MjOption, "filterparent", filter_parent, enabled),
    WARN("clampctrl"),
    WARN("passive"),
    WARN("override"),
    VISUAL_ONLY("warmstart"),
    VISUAL_ONLY("refsafe"),
    VISUAL_ONLY("sensor"),
    VISUAL_ONLY("midphase"),
    VISUAL_ONLY("eulerdamp"),
    VISUAL_ONLY("autoreset"),
    VISUAL_ONLY("nativeccd"),
    VISUAL_ONLY("island"),
    VISUAL_ONLY("multiccd"),
    VISUAL_ONLY("energy"),
    VISUAL_ONLY("fwdinv"),
    VISUAL_ONLY("invdiscrete"),
    VISUAL_ONLY("sleep"),
    VISUAL_ONLY("diagexact"),
    VISUAL_ONLY("ipc"),
};
ELEMENT(flag);

static const MjAttr joint_attrs[] = {
    T(MjJoint, "name", name),
    T(MjJoint, "class", cls),
    W(MjJoint, "type", type, joint_types),
    W(MjJoint, "limited", limited, tristate),
    W(MjJoint, "actuatorfrclimited", force_limited, tristate),
    R(MjJoint, "actuatorfrcrange", force_range, 2, 2),
    R(MjJoint, "pos", pos, 3, 3),
    R(MjJoint, "axis", axis, 3, 3),
    R(MjJoint, "range", range, 2, 2),
    R(MjJoint, "ref", ref, 1, 1),
    R(MjJoint, "springref", springref, 1, 1),
    R(MjJoint, "springdamper", springdamper, 2, 2),
    R(MjJoint, "stiffness", stiffness, 1, 3),
    R(MjJoint, "damping", damping, 1, 3),
    R(MjJoint, "armature", armature, 1, 1),
    R(MjJoint, "frictionloss", frictionloss, 1, 1),
    B(MjJoint, "actuatorgravcomp", actuator_gravity_compensation),
    VISUAL_ONLY("group"),
    VISUAL_ONLY("user"),
    R(MjJoint, "solreflimit", solref, 1, 2),
    R(MjJoint, "solimplimit", solimp, 1, 5),
    WARN("margin"),
    WARN("solreffriction"),
    WARN("solimpfriction"),
};
ELEMENT(joint);

static const MjAttr freejoint_attrs[] = {T(MjJoint, "name", name), VISUAL_ONLY("group"), VISUAL_ONLY("align")};
ELEMENT(freejoint);

static const MjAttr geom_attrs[] = {
    T(MjGeom, "name", name),
    T(MjGeom, "class", cls),
    W(MjGeom, "type", type, geom_types),
    I(MjGeom, "contype", contype),
    I(MjGeom, "conaffinity", conaffinity),
    I(MjGeom, "condim", condim),
    I(MjGeom, "group", group),
    I(MjGeom, "priority", priority),
    R(MjGeom, "size", size, 1, 3),
    T(MjGeom, "material", material),
    R(MjGeom, "friction", friction, 1, 3),
    R(MjGeom, "mass", mass, 1, 1),
    R(MjGeom, "density", density, 1, 1),
    B(MjGeom, "shellinertia", shell),
    R(MjGeom, "solmix", solmix, 1, 1),
    R(MjGeom, "solref", solref, 1, 2),
    R(MjGeom, "solimp", solimp, 1, 5),
    R(MjGeom, "margin", margin, 1, 1),
    R(MjGeom, "gap", gap, 1, 1),
    R(MjGeom, "fromto", fromto, 6, 6),
    R(MjGeom, "pos", pos, 3, 3),
    ORIENT(MjGeom, orient),
    T(MjGeom, "hfield", hfield),
    T(MjGeom, "mesh", mesh),
    R(MjGeom, "rgba", rgba, 4, 4),
    R(MjGeom, "fitscale", fit_scale, 1, 1),
    R(MjGeom, "surfacevel", surface, 3, 6),
    WARN("adhesion"),
    WARN("fluidshape"),
    WARN("fluidcoef"),
    VISUAL_ONLY("user"),
};
ELEMENT(geom);

static const MjAttr site_attrs[] = {
    T(MjSite, "name", name),       T(MjSite, "class", cls),
    R(MjSite, "pos", pos, 3, 3),   R(MjSite, "fromto", fromto, 6, 6),
    ORIENT(MjSite, orient),        W(MjSite, "type", type, geom_types),
    R(MjSite, "size", size, 1, 3), VISUAL_ONLY("group"),
    VISUAL_ONLY("material"),       VISUAL_ONLY("mesh"),
    VISUAL_ONLY("rgba"),           VISUAL_ONLY("user"),
};
ELEMENT(site);

static const char* const camera_modes[] = {"fixed", "track", "trackcom", "targetbody", "targetbodycom", NULL};
static const MjAttr camera_attrs[] = {
    T(MjCamera, "name", name),
    T(MjCamera, "class", cls),
    W(MjCamera, "mode", mode, camera_modes),
    T(MjCamera, "target", target),
    R(MjCamera, "pos", pos, 3, 3),
    ORIENT(MjCamera, orient),
    R(MjCamera, "fovy", fovy, 1, 1),
    R(MjCamera, "focal", focal, 2, 2),
    R(MjCamera, "sensorsize", sensor, 2, 2),
    VISUAL_ONLY("resolution"),
    VISUAL_ONLY("focalpixel"),
    VISUAL_ONLY("principal"),
    VISUAL_ONLY("principalpixel"),
    VISUAL_ONLY("orthographic"),
    VISUAL_ONLY("projection"),
    VISUAL_ONLY("output"),
    VISUAL_ONLY("ipd"),
    VISUAL_ONLY("user"),
};
ELEMENT(camera);

static const MjAttr body_attrs[] = {
    T(MjBody, "name", name), T(MjBody, "childclass", cls), R(MjBody, "pos", pos, 3, 3),
    ORIENT(MjBody, orient),  B(MjBody, "mocap", mocap),    R(MjBody, "gravcomp", gravcomp, 1, 1),
    VISUAL_ONLY("sleep"),    VISUAL_ONLY("simple"),        VISUAL_ONLY("fuse"),
    VISUAL_ONLY("user"),
};
ELEMENT(body);

static const MjAttr inertial_attrs[] = {
    R(MjInertial, "pos", pos, 3, 3),          R(MjInertial, "mass", mass, 1, 1),        ORIENT(MjInertial, orient),
    R(MjInertial, "diaginertia", diag, 3, 3), R(MjInertial, "fullinertia", full, 6, 6),
};
ELEMENT(inertial);

static const MjAttr frame_attrs[] = {
    T(MjBody, "name", name),
    T(MjBody, "childclass", cls),
    R(MjBody, "pos", pos, 3, 3),
    ORIENT(MjBody, orient),
};
ELEMENT(frame);

static const MjAttr replicate_attrs[] = {
    I(MjReplicate, "count", count),         T(MjReplicate, "sep", sep),  T(MjReplicate, "prefix", prefix),
    R(MjReplicate, "offset", offset, 3, 3), ORIENT(MjReplicate, orient), T(MjReplicate, "childclass", cls),
};
ELEMENT(replicate);

static const MjAttr material_attrs[] = {
    T(MjMaterial, "name", name),
    R(MjMaterial, "rgba", rgba, 4, 4),
    VISUAL_ONLY("class"),
    T(MjMaterial, "texture", texture),
    R(MjMaterial, "texrepeat", repeat, 2, 2),
    B(MjMaterial, "texuniform", uniform),
    VISUAL_ONLY("emission"),
    VISUAL_ONLY("specular"),
    VISUAL_ONLY("shininess"),
    VISUAL_ONLY("reflectance"),
    VISUAL_ONLY("metallic"),
    VISUAL_ONLY("roughness"),
};
ELEMENT(material);

static const char* const texture_types[] = {"2d", "cube", "skybox", NULL};
static const char* const builtins[] = {"none", "gradient", "checker", "flat", NULL};
static const char* const texture_marks[] = {"none", "edge", "cross", "random", NULL};
static const MjAttr texture_attrs[] = {
    T(MjTexture, "name", name),
    W(MjTexture, "type", type, texture_types),
    T(MjTexture, "file", file),
    W(MjTexture, "builtin", builtin, builtins),
    W(MjTexture, "mark", mark, texture_marks),
    R(MjTexture, "rgb1", rgb1, 3, 3),
    R(MjTexture, "rgb2", rgb2, 3, 3),
    R(MjTexture, "markrgb", markrgb, 3, 3),
    I(MjTexture, "width", width),
    I(MjTexture, "height", height),
    VISUAL_ONLY("class"),
    VISUAL_ONLY("colorspace"),
    VISUAL_ONLY("content_type"),
    VISUAL_ONLY("random"),
    VISUAL_ONLY("nchannel"),
    VISUAL_ONLY("hflip"),
    VISUAL_ONLY("vflip"),
    VISUAL_ONLY("gridsize"),
    VISUAL_ONLY("gridlayout"),
    VISUAL_ONLY("fileright"),
    VISUAL_ONLY("fileleft"),
    VISUAL_ONLY("fileup"),
    VISUAL_ONLY("filedown"),
    VISUAL_ONLY("filefront"),
    VISUAL_ONLY("fileback"),
};
ELEMENT(texture);

static const MjAttr mesh_attrs[] = {
    T(MjMesh, "name", name),
    T(MjMesh, "class", cls),
    T(MjMesh, "file", file),
    R(MjMesh, "scale", scale, 3, 3),
    R(MjMesh, "refpos", refpos, 3, 3),
    R(MjMesh, "refquat", refquat, 4, 4),
    VISUAL_ONLY("content_type"),
    VISUAL_ONLY("vertex"),
    VISUAL_ONLY("face"),
    VISUAL_ONLY("normal"),
    VISUAL_ONLY("texcoord"),
    VISUAL_ONLY("smoothnormal"),
    VISUAL_ONLY("maxhullvert"),
    W(MjMesh, "inertia", inertia, inertias),
    VISUAL_ONLY("builtin"),
    VISUAL_ONLY("params"),
    VISUAL_ONLY("material"),
};
ELEMENT(mesh);

static const MjAttr field_attrs[] = {
    T(MjField, "name", name),       T(MjField, "file", file), I(MjField, "nrow", nrow),    I(MjField, "ncol", ncol),
    R(MjField, "size", size, 4, 4), VISUAL_ONLY("elevation"), VISUAL_ONLY("content_type"),
};
ELEMENT(field);

static const MjAttr tendon_attrs[] = {
    T(MjTendon, "name", name),
    T(MjTendon, "class", cls),
    W(MjTendon, "limited", limited, tristate),
    R(MjTendon, "range", range, 2, 2),
    R(MjTendon, "springlength", springlength, 1, 2),
    R(MjTendon, "stiffness", stiffness, 1, 3),
    R(MjTendon, "damping", damping, 1, 3),
    R(MjTendon, "frictionloss", frictionloss, 1, 1),
    R(MjTendon, "armature", armature, 1, 1),
    W(MjTendon, "actuatorfrclimited", force_limited, tristate),
    R(MjTendon, "actuatorfrcrange", force_range, 2, 2),
    VISUAL_ONLY("group"),
    VISUAL_ONLY("width"),
    VISUAL_ONLY("material"),
    VISUAL_ONLY("rgba"),
    VISUAL_ONLY("user"),
    R(MjTendon, "solreflimit", solref, 1, 2),
    R(MjTendon, "solimplimit", solimp, 1, 5),
    WARN("margin"),
    WARN("solreffriction"),
    WARN("solimpfriction"),
};
ELEMENT(tendon);

MjOrient tribo_mjcf_orient_default(void) {
  return (MjOrient){.quat = {1, 0, 0, 0}, .axisangle = {NAN}, .xyaxes = {NAN}, .zaxis = {NAN}, .euler = {NAN}};
}

MjJoint tribo_mjcf_joint_default(void) {
  return (MjJoint){.type = MJ_HINGE,
                   .limited = MJ_AUTO,
                   .force_limited = MJ_AUTO,
                   .axis = {0, 0, 1},
                   .range = {NAN},
                   .force_range = {NAN},
                   .solref = {0.02, 1},
                   .solimp = TRIBO_SOLIMP};
}

MjGeom tribo_mjcf_geom_default(void) {
  return (MjGeom){.type = MJ_SPHERE,
                  .contype = 1,
                  .conaffinity = 1,
                  .condim = 3,
                  .fromto = {NAN},
                  .mass = NAN,
                  .density = 1000,
                  .friction = {1, 0.005, 0.0001},
                  .rgba = {NAN},
                  .fit_scale = 1,
                  .solmix = 1,
                  .solref = {0.02, 1},
                  .solimp = TRIBO_SOLIMP,
                  .orient = tribo_mjcf_orient_default()};
}

MjSite tribo_mjcf_site_default(void) {
  return (MjSite){
      .type = MJ_SPHERE, .size = {0.005, 0.005, 0.005}, .fromto = {NAN}, .orient = tribo_mjcf_orient_default()};
}

MjTendon tribo_mjcf_tendon_default(void) {
  return (MjTendon){.limited = MJ_AUTO,
                    .force_limited = MJ_AUTO,
                    .force_range = {NAN},
                    .range = {NAN},
                    .springlength = {-1, NAN},
                    .solref = {0.02, 1},
                    .solimp = TRIBO_SOLIMP};
}
