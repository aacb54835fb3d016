// A look at a URDF file before urdfdom reads it: see urdf.h.
#include "urdf.h"

#include <stdio.h>
#include <string.h>

#include "inertia.h"
#include "xml_tree.h"

// The elements of the format: where they stand, and the numbers that their attributes hold. Elements of other programs
// (transmission, gazebo) are theirs and not looked into.
typedef struct Element {
  const char *parent, *name;
  struct {
    const char* attribute;
    int count;
  } numbers[6];
} Element;

static const Element elements[] = {
    {"robot", "link", {{0}}},
    {"robot", "joint", {{0}}},
    {"robot", "material", {{0}}},
    {"robot", "transmission", {{0}}},
    {"robot", "gazebo", {{0}}},
    {"link", "inertial", {{0}}},
    {"link", "visual", {{0}}},
    {"link", "collision", {{0}}},
    {"inertial", "origin", {{"xyz", 3}, {"rpy", 3}}},
    {"inertial", "mass", {{"value", 1}}},
    {"inertial", "inertia", {{"ixx", 1}, {"iyy", 1}, {"izz", 1}, {"ixy", 1}, {"ixz", 1}, {"iyz", 1}}},
    {"visual", "origin", {{"xyz", 3}, {"rpy", 3}}},
    {"visual", "geometry", {{0}}},
    {"visual", "material", {{0}}},
    {"collision", "origin", {{"xyz", 3}, {"rpy", 3}}},
    {"collision", "geometry", {{0}}},
    {"collision", "material", {{0}}},
    {"geometry", "box", {{"size", 3}}},
    {"geometry", "sphere", {{"radius", 1}}},
    {"geometry", "cylinder", {{"radius", 1}, {"length", 1}}},
    {"geometry", "capsule", {{"radius", 1}, {"length", 1}}},
    {"geometry", "mesh", {{"scale", 3}}},
    {"material", "color", {{"rgba", 4}}},
    {"material", "texture", {{0}}},
    {"joint", "parent", {{0}}},
    {"joint", "child", {{0}}},
    {"joint", "origin", {{"xyz", 3}, {"rpy", 3}}},
    {"joint", "axis", {{"xyz", 3}}},
    {"joint", "limit", {{"lower", 1}, {"upper", 1}, {"effort", 1}, {"velocity", 1}}},
    {"joint", "dynamics", {{"damping", 1}, {"friction", 1}}},
    {"joint", "mimic", {{"multiplier", 1}, {"offset", 1}}},
    {"joint", "calibration", {{0}}},
    {"joint", "safety_controller", {{0}}},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

typedef struct Check {
  const TriboLog* log;
  TriboPool pool;
  TriboNames reported;
} Check;

// Once per kind of element and its parent.
static TriboStatus say_unknown(Check* c, const XmlNode* node) {
  const char* key = tribo_pool_format(&c->pool, "<%.40s>: <%.40s>", node->parent->name, node->name);
  if (key == NULL) {
    return tribo_no_memory("to read %s", node->path);
  }
  if (tribo_names_find(&c->reported, key) < 0) {
    TRIBO_TRY(tribo_names_add(&c->reported, key, 1));
    tribo_log(c->log, TRIBO_LOG_WARNING, "%s:%d: %s is not known", node->path, node->line, key);
  }
  return TRIBO_OK;
}

static TriboStatus check_numbers(const XmlNode* node, const Element* element) {
  for (int i = 0; i < 6 && element->numbers[i].attribute != NULL; ++i) {
    const char* text = tribo_xml_get(node, element->numbers[i].attribute);
    double x[6];
    // an empty attribute says nothing
    if (text != NULL && text[strspn(text, " \t\r\n")] != '\0' &&
        tribo_xml_numbers(text, x, 6) != element->numbers[i].count) {
      return tribo_xml_fail(node, "<%s> %s=\"%.60s\": accepted %s", node->name, element->numbers[i].attribute, text,
                            element->numbers[i].count == 1   ? "is a finite number"
                            : element->numbers[i].count == 3 ? "are three finite numbers"
                                                             : "are four finite numbers");
    }
  }
  return TRIBO_OK;
}

static double number_of(const XmlNode* node, const char* attribute) {
  const char* text = node != NULL ? tribo_xml_get(node, attribute) : NULL;
  double x;
  return text != NULL && tribo_xml_numbers(text, &x, 1) == 1 ? x : 0;
}

static const char* name_of(const XmlNode* node) {
  const char* name = tribo_xml_get(node, "name");
  return name != NULL ? name : "";
}

static TriboStatus check_inertial(const Check* c, const XmlNode* link, const XmlNode* node) {
  static const char* const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  const XmlNode *mass = tribo_xml_child(node, "mass"), *inertia = tribo_xml_child(node, "inertia");
  if (number_of(mass, "value") < 0) {
    return tribo_xml_fail(mass, "link '%.60s': mass is %g kg, must be ≥ 0", name_of(link), number_of(mass, "value"));
  }
  double I[6];
  for (int i = 0; i < 6; ++i) {
    I[i] = number_of(inertia, names[i]);
  }
  // what is welded together counts as one body: whether that can move is judged when the robot is made
  const TriboInertiaVerdict verdict = tribo_inertia_check(I);
  if (verdict != TRIBO_INERTIA_FINE) {
    tribo_log(c->log, TRIBO_LOG_WARNING, "%s:%d: inertia of link '%.60s' %s: no solid body has it", inertia->path,
              inertia->line, name_of(link),
              verdict == TRIBO_INERTIA_BROKEN ? "breaks the triangle inequality" : "is indefinite");
  }
  return TRIBO_OK;
}

static TriboStatus check_joint(const XmlNode* joint) {
  const XmlNode* limit = tribo_xml_child(joint, "limit");
  const char* type = tribo_xml_get(joint, "type");
  const int limited = type != NULL && (strcmp(type, "revolute") == 0 || strcmp(type, "prismatic") == 0);
  const double lower = number_of(limit, "lower"), upper = number_of(limit, "upper");
  return limited && limit != NULL && lower > upper
             ? tribo_xml_fail(limit, "joint '%.60s': limits are %g … %g, the lower must not be above the upper",
                              name_of(joint), lower, upper)
             : TRIBO_OK;
}

static TriboStatus check_children(Check* c, const XmlNode* parent) {
  for (const XmlNode* node = parent->children; node != NULL; node = node->next) {
    const Element* element = NULL;
    for (int i = 0; i < ELEMENTS && element == NULL; ++i) {
      const int here = strcmp(elements[i].parent, parent->name) == 0 && strcmp(elements[i].name, node->name) == 0;
      element = here ? &elements[i] : NULL;
    }
    if (element == NULL) {
      TRIBO_TRY(say_unknown(c, node));
      continue;
    }
    TRIBO_TRY(check_numbers(node, element));
    if (strcmp(node->name, "inertial") == 0) {
      TRIBO_TRY(check_inertial(c, parent, node));
    } else if (strcmp(node->name, "joint") == 0) {
      TRIBO_TRY(check_joint(node));
    }
    if (strcmp(node->name, "transmission") != 0 && strcmp(node->name, "gazebo") != 0) {
      TRIBO_TRY(check_children(c, node));
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_urdf_check(const char* path, const TriboLog* log) {
  Check c = {.log = log};
  XmlNode* root;
  TriboStatus status = tribo_xml_read(&c.pool, path, &root);
  if (status == TRIBO_OK) {
    status = strcmp(root->name, "robot") == 0
                 ? check_children(&c, root)
                 : tribo_xml_fail(root, "<%.40s>: a URDF file has the root <robot>", root->name);
  }
  tribo_names_clear(&c.reported);
  tribo_pool_clear(&c.pool);
  return status;
}

// The robot of a URDF file, called after the file. Its links do not collide with each other: hulls of meshes overlap
// where the parts do not, and which pairs to leave out only an SRDF file tells.
TriboStatus tribo_urdf_load(TriboScene* scene, const char* path, const TriboLog* log) {
  const char* slash = strrchr(path, '/');
  const char* start = slash != NULL ? slash + 1 : path;
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)(strlen(start) - strlen(".urdf")), start);
  TriboRobotDef robot = tribo_robot_default();
  robot.name = name;
  robot.urdf = path;
  robot.free_base = 2;
  robot.self_collision = 0;
  TRIBO_TRY(tribo_scene_add_robot(scene, &robot));
  return tribo_urdf_check(path, log);
}
