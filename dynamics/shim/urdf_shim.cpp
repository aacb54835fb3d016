// URDF and SRDF files, read by urdfdom and tinyxml2 into plain link definitions. Nothing physical is judged here: the
// same checks and the same builder serve files and links made in memory.
#include "pinocchio_shim.h"

#include <console_bridge/console.h>
#include <tinyxml2.h>
#include <urdfdom/urdf_parser/urdf_parser.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "shim_barrier.hpp"

namespace fs = std::filesystem;

static const std::uintmax_t FILE_LIMIT = 50u << 20;
static const int DEPTH_LIMIT = 2000;   // links between root and tip: reading recurses
static const int JOINT_LIMIT = 20000;  // joints in a file: urdfdom takes chains apart by recursion, too

// Carries a status through urdf_shim's own functions to the barrier.
struct Refusal {
  TriboStatus status;
  std::string text;
};

struct RobotFile : TriboRobotFile {
  std::deque<std::string> text;
  std::deque<std::vector<double>> numbers;
  std::vector<TriboLinkDef> link_list;
  std::vector<TriboTreeGeom> geom_list, visual_list;
  std::vector<TriboTreeMimic> mimic_list;
  std::vector<std::string> missing;  // meshes that were not found
  std::vector<std::array<int, 2>> disabled_list;
  std::vector<const char*> state_list;
  std::vector<TriboRobotValue> value_list;
  std::map<std::string, int> link_index;

  const char* keep(const std::string& words) {
    text.push_back(words);
    return text.back().c_str();
  }
};

static std::string read_file(const char* path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw Refusal{TRIBO_NOT_FOUND, std::string(path) + ": no such file"};
  }
  if (!fs::is_regular_file(path, error)) {
    throw Refusal{TRIBO_IO, std::string(path) + ": not a file"};
  }
  if (fs::file_size(path, error) > FILE_LIMIT) {
    throw Refusal{TRIBO_INVALID, std::string(path) + ": larger than 50 MB"};
  }
  std::ifstream stream(path, std::ios::binary);
  std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream) {
    throw Refusal{TRIBO_IO, std::string(path) + ": cannot be read"};
  }
  return content;
}

// ---- URDF ----------------------------------------------------------------------------------------------------------

// urdfdom speaks only through a process-wide handler: hold a lock and listen while it parses.
class Listener : public console_bridge::OutputHandler {
 public:
  Listener() : lock_(mutex_) { console_bridge::useOutputHandler(this); }
  ~Listener() override { console_bridge::restorePreviousOutputHandler(); }
  void log(const std::string& text, console_bridge::LogLevel level, const char*, int) override {
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR) {
      heard_ += (heard_.empty() ? "" : "; ") + text;
    }
  }
  const std::string& heard() const { return heard_; }

 private:
  static std::mutex mutex_;
  std::lock_guard<std::mutex> lock_;
  std::string heard_;
};
std::mutex Listener::mutex_;

static urdf::ModelInterfaceSharedPtr parse_urdf(const char* path) {
  const std::string content = read_file(path);
  int joints = 0;
  for (size_t at = content.find("<joint"); at != std::string::npos; at = content.find("<joint", at + 1)) {
    if (++joints > JOINT_LIMIT) {
      throw Refusal{TRIBO_UNSUPPORTED, std::string(path) + ": more than " + std::to_string(JOINT_LIMIT) + " joints"};
    }
  }
  Listener listener;
  urdf::ModelInterfaceSharedPtr model = urdf::parseURDF(content);
  if (!model || !model->getRoot()) {
    const std::string why = listener.heard().empty() ? "not a URDF robot" : listener.heard();
    throw Refusal{TRIBO_INVALID, std::string(path) + ": " + why};
  }
  return model;
}

static TriboPose to_pose(const urdf::Pose& from) {
  const double x = from.rotation.x, y = from.rotation.y, z = from.rotation.z, w = from.rotation.w;
  return TriboPose{{from.position.x, from.position.y, from.position.z},
                   {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),  //
                    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),  //
                    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
}

// The inertia of the file stands in axes of its own: R I Rᵀ in link axes.
static void read_inertial(const urdf::Inertial& from, TriboLinkDef* link) {
  const TriboPose pose = to_pose(from.origin);
  const double I[9] = {from.ixx, from.ixy, from.ixz, from.ixy, from.iyy, from.iyz, from.ixz, from.iyz, from.izz};
  link->mass = from.mass;
  for (int i = 0; i < 3; ++i) {
    link->com[i] = pose.p[i];
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 9; ++k) {
        sum += pose.R[3 * i + k / 3] * I[k] * pose.R[3 * j + k % 3];
      }
      link->inertia[3 * i + j] = sum;
    }
  }
}

// Kind, axis, limits and dynamics of a URDF joint.
static void read_joint(const char* path, const urdf::Joint& from, TriboLinkDef* link) {
  switch (from.type) {
    case urdf::Joint::REVOLUTE: link->kind = TRIBO_JOINT_REVOLUTE; break;
    case urdf::Joint::CONTINUOUS: link->kind = TRIBO_JOINT_CONTINUOUS; break;
    case urdf::Joint::PRISMATIC: link->kind = TRIBO_JOINT_PRISMATIC; break;
    case urdf::Joint::FLOATING: link->kind = TRIBO_JOINT_FREE; break;
    case urdf::Joint::PLANAR: link->kind = TRIBO_JOINT_PLANAR; break;
    case urdf::Joint::FIXED: link->kind = TRIBO_JOINT_FIXED; break;
    default: throw Refusal{TRIBO_UNSUPPORTED, std::string(path) + ": joint '" + from.name + "' is of unknown type"};
  }
  if (from.type == urdf::Joint::PLANAR && !(from.axis.x == 0 && from.axis.y == 0 && from.axis.z > 0)) {
    throw Refusal{TRIBO_UNSUPPORTED,
                  std::string(path) + ": planar joint '" + from.name + "' has another normal than z (axis \"0 0 1\")"};
  }
  link->placement = to_pose(from.parent_to_joint_origin_transform);
  link->axis[0] = from.axis.x, link->axis[1] = from.axis.y, link->axis[2] = from.axis.z;
  if (from.dynamics) {
    link->damping = from.dynamics->damping;
    link->friction = from.dynamics->friction;
  }
  if (from.limits) {
    link->effort = from.limits->effort;
    if (link->kind == TRIBO_JOINT_REVOLUTE || link->kind == TRIBO_JOINT_PRISMATIC) {
      link->lower = from.limits->lower;
      link->upper = from.limits->upper;
    }
  }
}

// The folders in which package://name/… may lie, in the order they are tried.
static std::vector<fs::path> package_folders(const TriboUrdfDef& def) {
  std::vector<fs::path> folders(def.package_dirs, def.package_dirs + def.npackage_dir);
  const auto add_list = [&](const char* variable, const char* below) {
    const char* list = std::getenv(variable);
    std::istringstream stream(list == nullptr ? "" : list);
    for (std::string folder; std::getline(stream, folder, ':');) {
      if (!folder.empty()) {
        folders.push_back(fs::path(folder) / below);
      }
    }
  };
  add_list("ROS_PACKAGE_PATH", "");
  add_list("AMENT_PREFIX_PATH", "share");
  return folders;
}

// Where a file is that a robot names, "" if it is nowhere; `places` tells where it was looked for.
static std::string find_file(const TriboUrdfDef& def, const std::string& name, std::string* places) {
  std::vector<fs::path> candidates;
  std::error_code error;
  if (name.rfind("package://", 0) == 0) {
    const std::string rest = name.substr(name.find_first_not_of('/', 10));
    const std::string package = rest.substr(0, rest.find('/'));
    for (const fs::path& folder : package_folders(def)) {
      candidates.push_back(folder / rest);
      // the folder may be the package itself
      if (folder.filename() == package || folder.parent_path().filename() == package) {
        candidates.push_back(folder / rest.substr(std::min(package.size() + 1, rest.size())));
      }
    }
  } else {
    const std::string plain = name.rfind("file://", 0) == 0 ? name.substr(7) : name;
    candidates.push_back(fs::path(def.urdf).parent_path() / plain);
  }
  for (const fs::path& candidate : candidates) {
    if (fs::is_regular_file(candidate, error)) {
      return fs::absolute(candidate).lexically_normal().string();
    }
  }
  for (const fs::path& candidate : candidates) {
    *places += (places->empty() ? " (" : ", ") + candidate.string();
  }
  *places += places->empty() ? "" : ")";
  return "";
}

static std::string find_mesh(const TriboUrdfDef& def, RobotFile* robot, const std::string& name) {
  std::string places;
  const std::string path = find_file(def, name, &places);
  if (path.empty()) {
    robot->missing.push_back("'" + name + "'" + places);
  }
  return path;
}

// Colour and picture of a visual. A picture is shown as it is; one that is not there is no reason to refuse a robot.
static void read_paint(const TriboUrdfDef& def, RobotFile* robot, const urdf::Material& material, TriboTreeGeom* geom) {
  const double rgba[4] = {material.color.r, material.color.g, material.color.b, material.color.a};
  const bool pictured = !material.texture_filename.empty();
  std::string unused;
  const std::string picture = pictured ? find_file(def, material.texture_filename, &unused) : "";
  geom->colored = 1;
  if (!picture.empty()) {
    geom->texture = robot->keep(picture);
    std::fill(geom->color, geom->color + 4, 1.0);
  } else if (!pictured || rgba[0] + rgba[1] + rgba[2] > 0) {
    for (int i = 0; i < 4; ++i) {
      geom->color[i] = std::min(std::max(rgba[i], 0.0), 1.0);
    }
  }
}

// A collision or visual shape of a URDF link, with the path of its mesh resolved.
static void read_geometry(const TriboUrdfDef& def, RobotFile* robot, const urdf::Pose& origin,
                          const urdf::Geometry* shape, const urdf::Material* material, int link,
                          std::vector<TriboTreeGeom>* list) {
  TriboTreeGeom geom{};
  geom.link = link;
  geom.local = to_pose(origin);
  geom.color[0] = geom.color[1] = geom.color[2] = 0.7;
  geom.color[3] = 1;
  if (material != nullptr) {
    read_paint(def, robot, *material, &geom);
  }
  geom.scale[0] = geom.scale[1] = geom.scale[2] = 1;
  if (const auto* sphere = dynamic_cast<const urdf::Sphere*>(shape)) {
    geom.shape = 0;
    geom.size[0] = sphere->radius;
  } else if (const auto* box = dynamic_cast<const urdf::Box*>(shape)) {
    geom.shape = 1;
    geom.size[0] = box->dim.x, geom.size[1] = box->dim.y, geom.size[2] = box->dim.z;
  } else if (const auto* capsule = dynamic_cast<const urdf::Capsule*>(shape)) {
    geom.shape = 2;
    geom.size[0] = capsule->radius, geom.size[1] = capsule->length;
  } else if (const auto* cylinder = dynamic_cast<const urdf::Cylinder*>(shape)) {
    geom.shape = 3;
    geom.size[0] = cylinder->radius, geom.size[1] = cylinder->length;
  } else if (const auto* mesh = dynamic_cast<const urdf::Mesh*>(shape)) {
    geom.shape = 4;
    geom.mesh = robot->keep(find_mesh(def, robot, mesh->filename));
    geom.scale[0] = mesh->scale.x, geom.scale[1] = mesh->scale.y, geom.scale[2] = mesh->scale.z;
  } else {
    return;
  }
  list->push_back(geom);
}

// One complaint for all meshes that were not found, each once.
static void refuse_missing(const TriboUrdfDef& def, RobotFile* robot) {
  std::vector<std::string>& missing = robot->missing;
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  if (missing.empty()) {
    return;
  }
  std::string all;
  for (const std::string& one : missing) {
    all += (all.empty() ? "" : "; ") + one;
  }
  throw Refusal{TRIBO_NOT_FOUND, std::string(def.urdf) + ": " + std::to_string(missing.size()) +
                                     (missing.size() == 1 ? " mesh was not found: " : " meshes were not found: ") +
                                     all};
}

// A link and everything below it, depth first.
static void read_link(const TriboUrdfDef& def, RobotFile* robot, const urdf::Link& from, int parent, int depth) {
  if (depth > DEPTH_LIMIT) {
    throw Refusal{TRIBO_UNSUPPORTED,
                  std::string(def.urdf) + ": the tree is deeper than " + std::to_string(DEPTH_LIMIT) + " links"};
  }
  TriboLinkDef link = tribo_dyn_link_def();
  link.name = robot->keep(from.name);
  link.parent = parent;
  if (from.parent_joint) {
    link.joint_name = robot->keep(from.parent_joint->name);
    read_joint(def.urdf, *from.parent_joint, &link);
    if (def.without_joint_friction) {
      link.damping = link.friction = 0;
    }
    // a joint that has been fixed may still say whom it followed
    if (const auto mimic = link.kind == TRIBO_JOINT_FIXED ? nullptr : from.parent_joint->mimic) {
      robot->mimic_list.push_back({link.joint_name, robot->keep(mimic->joint_name), mimic->multiplier, mimic->offset});
    }
  } else {
    const bool heavy = from.inertial && from.inertial->mass > 0;
    const bool floats = def.free_base == 1 || (def.free_base == 2 && heavy);
    link.joint_name = "root_joint";
    link.kind = floats ? TRIBO_JOINT_FREE : TRIBO_JOINT_FIXED;
    link.placement = floats ? link.placement : def.base;
  }
  if (from.inertial) {
    read_inertial(*from.inertial, &link);
  }
  const int index = static_cast<int>(robot->link_list.size());
  robot->link_list.push_back(link);
  robot->link_index[from.name] = index;
  for (const urdf::CollisionSharedPtr& collision : from.collision_array) {
    if (collision && collision->geometry) {
      read_geometry(def, robot, collision->origin, collision->geometry.get(), nullptr, index, &robot->geom_list);
    }
  }
  for (const urdf::VisualSharedPtr& visual : from.visual_array) {
    if (visual && visual->geometry) {
      read_geometry(def, robot, visual->origin, visual->geometry.get(), visual->material.get(), index,
                    &robot->visual_list);
    }
  }
  for (const urdf::LinkSharedPtr& child : from.child_links) {
    read_link(def, robot, *child, index, depth + 1);
  }
}

// ---- SRDF ----------------------------------------------------------------------------------------------------------

static Refusal srdf_refusal(const char* path, int line, const std::string& text) {
  return Refusal{TRIBO_INVALID, std::string(path) + ":" + std::to_string(line) + ": " + text};
}

static const char* attribute(const char* path, const tinyxml2::XMLElement& element, const char* name) {
  const char* value = element.Attribute(name);
  if (value == nullptr) {
    throw srdf_refusal(path, element.GetLineNum(),
                       std::string("<") + element.Name() + "> has no attribute '" + name + "'");
  }
  return value;
}

static std::vector<double> numbers_of(const char* path, const tinyxml2::XMLElement& element, const char* name) {
  std::istringstream stream(attribute(path, element, name));
  stream.imbue(std::locale::classic());
  std::vector<double> numbers;
  for (double number; stream >> number;) {
    numbers.push_back(number);
  }
  if (!stream.eof() || numbers.empty()) {
    throw srdf_refusal(path, element.GetLineNum(),
                       std::string("'") + element.Attribute(name) + "' is not a list of numbers");
  }
  return numbers;
}

// Poses of the same name, of several groups, are one pose. Names the robot does not have belong to its relatives.
static void read_srdf(const char* path, RobotFile* robot) {
  tinyxml2::XMLDocument document;
  const std::string content = read_file(path);
  if (document.Parse(content.data(), content.size()) != tinyxml2::XML_SUCCESS || document.RootElement() == nullptr) {
    throw srdf_refusal(path, document.ErrorLineNum(), document.ErrorStr());
  }
  const tinyxml2::XMLElement& root = *document.RootElement();
  std::map<std::string, int> state_index;
  for (const auto* state = root.FirstChildElement("group_state"); state != nullptr;
       state = state->NextSiblingElement("group_state")) {
    const std::string name = attribute(path, *state, "name");
    const auto [found, is_new] = state_index.emplace(name, static_cast<int>(robot->state_list.size()));
    if (is_new) {
      robot->state_list.push_back(robot->keep(name));
    }
    for (const auto* joint = state->FirstChildElement("joint"); joint != nullptr;
         joint = joint->NextSiblingElement("joint")) {
      const char* words = robot->keep(attribute(path, *joint, "name"));
      robot->numbers.push_back(numbers_of(path, *joint, "value"));
      const std::vector<double>& values = robot->numbers.back();
      robot->value_list.push_back({found->second, words, values.data(), static_cast<int>(values.size())});
    }
  }
  for (const auto* pair = root.FirstChildElement("disable_collisions"); pair != nullptr;
       pair = pair->NextSiblingElement("disable_collisions")) {
    const auto a = robot->link_index.find(attribute(path, *pair, "link1"));
    const auto b = robot->link_index.find(attribute(path, *pair, "link2"));
    if (a != robot->link_index.end() && b != robot->link_index.end()) {
      robot->disabled_list.push_back({a->second, b->second});
    }
  }
}

// ---- the door ------------------------------------------------------------------------------------------------------

TriboStatus tribo_pin_robot_read(const TriboUrdfDef* def, const TriboRobotFile** out) {
  RobotFile* robot = nullptr;
  const TriboStatus status = tribo_shim_guard("tribo_pin_robot_read", [&] {
    try {
      robot = new RobotFile{};
      const urdf::ModelInterfaceSharedPtr model = parse_urdf(def->urdf);
      read_link(*def, robot, *model->getRoot(), -1, 1);
      refuse_missing(*def, robot);
      if (def->srdf != nullptr) {
        read_srdf(def->srdf, robot);
      }
    } catch (const Refusal& refusal) {
      return tribo_fail(refusal.status, "%s", refusal.text.c_str());
    }
    robot->links = robot->link_list.data();
    robot->nlink = static_cast<int>(robot->link_list.size());
    robot->geoms = robot->geom_list.data();
    robot->ngeom = static_cast<int>(robot->geom_list.size());
    robot->visuals = robot->visual_list.data();
    robot->nvisual = static_cast<int>(robot->visual_list.size());
    robot->mimics = robot->mimic_list.data();
    robot->nmimic = static_cast<int>(robot->mimic_list.size());
    robot->disabled = reinterpret_cast<const int(*)[2]>(robot->disabled_list.data());
    robot->ndisabled = static_cast<int>(robot->disabled_list.size());
    robot->states = robot->state_list.data();
    robot->nstate = static_cast<int>(robot->state_list.size());
    robot->values = robot->value_list.data();
    robot->nvalue = static_cast<int>(robot->value_list.size());
    robot->base = def->base;
    return TRIBO_OK;
  });
  if (status != TRIBO_OK) {
    delete robot;
    return status;
  }
  *out = robot;
  return TRIBO_OK;
}

void tribo_pin_robot_free(const TriboRobotFile* robot) {
  delete static_cast<const RobotFile*>(robot);
}
