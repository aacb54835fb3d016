// Pinocchio behind plain C.
//
// Only calls that libpinocchio_default holds ready-made are used, with exactly the argument types it was built for
// (Ref of a Map for the recursive algorithms, VectorXd for integrate and difference): anything else compiles its own
// copy of every joint's code, four times as long, without a word.
#ifdef __AVX__
#error "compile the shims for plain x86-64: Eigen's alignment must be that of the Pinocchio library"
#endif

#include "pinocchio_shim.h"

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/centroidal.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "shim_barrier.hpp"

namespace pin = pinocchio;
using Vector = Eigen::VectorXd;
using ConstRef = Eigen::Ref<const Eigen::VectorXd>;
using ConstMap = Eigen::Map<const Eigen::VectorXd>;

struct TriboTree {
  pin::Model model;
  std::vector<pin::JointIndex> joint;  // that moves a link, 0 (the universe) for none
  std::vector<pin::SE3> placement;     // of a link in that joint's frame
  std::deque<std::string> text;        // all names; a deque never moves its strings
  std::vector<TriboLinkInfo> links;
  std::vector<double> lower, upper, effort, damping, stiffness, rest, friction, restitution, armature, neutral,
      references;
  std::vector<TriboSoftness> soft;
  std::vector<const char*> reference_names;
  std::vector<TriboTreeGeom> geoms, visuals;
  std::vector<TriboTreeMimic> mimics;
  std::vector<std::array<int, 2>> disabled;
  TriboTreeInfo info{};

  const char* keep(const char* words) {
    text.emplace_back(words == nullptr ? "" : words);
    return text.back().c_str();
  }
};

struct TriboPinData {
  const TriboTree* tree;
  pin::Model model;  // own copy: gravity is a field of the model
  pin::Data data;
  Vector q0, q1, v0;

  explicit TriboPinData(const TriboTree* t)
      : tree(t), model(t->model), data(t->model), q0(t->model.nq), q1(t->model.nq), v0(t->model.nv) {
    // five tensors of nv³ numbers that only second derivatives need
    data.kinematic_hessians.resize(0, 0, 0);
    data.d2tau_dqdq.resize(0, 0, 0);
    data.d2tau_dvdv.resize(0, 0, 0);
    data.d2tau_dqdv.resize(0, 0, 0);
    data.d2tau_dadq.resize(0, 0, 0);
  }
};

// ---- building ------------------------------------------------------------------------------------------------------

static pin::SE3 to_se3(const TriboPose& pose) {
  using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  return pin::SE3(Eigen::Map<const RowMajor>(pose.R), Eigen::Map<const Eigen::Vector3d>(pose.p));
}

static void to_pose(const pin::SE3& from, TriboPose* pose) {
  for (int i = 0; i < 3; ++i) {
    pose->p[i] = from.translation()[i];
    for (int j = 0; j < 3; ++j) {
      pose->R[3 * i + j] = from.rotation()(i, j);
    }
  }
}

// The joint model of a definition; axes that lie on a coordinate axis get the faster joints.
static pin::JointModel joint_model(const TriboLinkDef& def) {
  const Eigen::Vector3d axis = Eigen::Map<const Eigen::Vector3d>(def.axis).normalized();
  const int along = axis == Eigen::Vector3d::UnitX()   ? 0
                    : axis == Eigen::Vector3d::UnitY() ? 1
                    : axis == Eigen::Vector3d::UnitZ() ? 2
                                                       : 3;
  switch (def.kind) {
    case TRIBO_JOINT_REVOLUTE:
      switch (along) {
        case 0: return pin::JointModelRX();
        case 1: return pin::JointModelRY();
        case 2: return pin::JointModelRZ();
        default: return pin::JointModelRevoluteUnaligned(axis);
      }
    case TRIBO_JOINT_CONTINUOUS:
      switch (along) {
        case 0: return pin::JointModelRUBX();
        case 1: return pin::JointModelRUBY();
        case 2: return pin::JointModelRUBZ();
        default: return pin::JointModelRevoluteUnboundedUnaligned(axis);
      }
    case TRIBO_JOINT_PRISMATIC:
      switch (along) {
        case 0: return pin::JointModelPX();
        case 1: return pin::JointModelPY();
        case 2: return pin::JointModelPZ();
        default: return pin::JointModelPrismaticUnaligned(axis);
      }
    case TRIBO_JOINT_HELICAL:
      switch (along) {
        case 0: return pin::JointModelHX(def.pitch);
        case 1: return pin::JointModelHY(def.pitch);
        case 2: return pin::JointModelHZ(def.pitch);
        default: return pin::JointModelHelicalUnaligned(axis, def.pitch);
      }
    case TRIBO_JOINT_UNIVERSAL: {
      // exactly orthogonal, as the joint assumes; the caller has checked that they are nearly so
      Eigen::Vector3d second = Eigen::Map<const Eigen::Vector3d>(def.axis2);
      second = (second - second.dot(axis) * axis).normalized();
      return pin::JointModelUniversal(axis, second);
    }
    case TRIBO_JOINT_CYLINDRICAL: {
      pin::JointModelComposite both(2);
      both.addJoint(pin::JointModelPrismaticUnaligned(axis));
      both.addJoint(pin::JointModelRevoluteUnaligned(axis));
      return both;
    }
    case TRIBO_JOINT_PLANAR: return pin::JointModelPlanar();
    case TRIBO_JOINT_SPHERICAL: return pin::JointModelSpherical();
    case TRIBO_JOINT_TRANSLATION: return pin::JointModelTranslation();
    case TRIBO_JOINT_EULER: return pin::JointModelSphericalZYX();
    case TRIBO_JOINT_ELLIPSOID: return pin::JointModelEllipsoid(def.radii[0], def.radii[1], def.radii[2]);
    default: return pin::JointModelFreeFlyer();
  }
}

// Links in depth-first order, which Pinocchio needs: the dofs of a subtree must be neighbours.
static std::vector<int> depth_first(const TriboLinkDef* links, int nlink) {
  std::vector<std::vector<int>> children(static_cast<size_t>(nlink) + 1);
  for (int i = 0; i < nlink; ++i) {
    children[static_cast<size_t>(links[i].parent + 1)].push_back(i);
  }
  std::vector<int> order, stack(children[0].rbegin(), children[0].rend());
  while (!stack.empty()) {
    const int link = stack.back();
    stack.pop_back();
    order.push_back(link);
    const std::vector<int>& next = children[static_cast<size_t>(link) + 1];
    stack.insert(stack.end(), next.rbegin(), next.rend());
  }
  return order;
}

// Adds a link: a joint of its own, or a weld to the joint of its parent.
static void add_link(TriboTree* tree, const TriboLinkDef* links, int index) {
  const TriboLinkDef& def = links[index];
  const auto at = static_cast<size_t>(index);
  const auto parent = static_cast<size_t>(def.parent);
  const pin::JointIndex parent_joint = def.parent < 0 ? 0 : tree->joint[parent];
  pin::SE3 placement = def.parent < 0 ? to_se3(def.placement) : tree->placement[parent] * to_se3(def.placement);
  if (def.kind == TRIBO_JOINT_ELLIPSOID) {
    // Pinocchio's joint frame is the ellipsoid's centre, from which the zero configuration leads to (0, 0, c)
    placement.translation() -= def.radii[2] * placement.rotation().col(2);
  }
  TriboLinkInfo& link = tree->links[at];
  link.name = tree->keep(def.name);
  link.joint_name = tree->keep(def.joint_name == nullptr ? def.name : def.joint_name);
  link.kind = def.kind;
  link.joint_kind = tribo_dyn_joint_name(def.kind);
  link.parent = def.parent;
  link.file = def.file;
  link.mass = def.mass;
  std::memcpy(link.com, def.com, sizeof link.com);
  std::memcpy(link.inertia, def.inertia, sizeof link.inertia);
  to_pose(placement, &link.place);
  Eigen::Map<Eigen::Vector3d>(link.axis) = Eigen::Map<const Eigen::Vector3d>(def.axis).normalized();
  std::memcpy(link.radii, def.radii, sizeof link.radii);
  if (def.kind == TRIBO_JOINT_FIXED) {
    tree->joint[at] = parent_joint;
    tree->placement[at] = placement;
    link.carrier = def.parent < 0 ? -1 : tree->links[parent].carrier;
  } else {
    tree->joint[at] = tree->model.addJoint(parent_joint, joint_model(def), placement, link.joint_name);
    tree->placement[at].setIdentity();
    link.carrier = index;
    const pin::JointModel& joint = tree->model.joints[tree->joint[at]];
    link.q_at = joint.idx_q();
    link.nq = joint.nq();
    link.v_at = joint.idx_v();
    link.nv = joint.nv();
  }
  if (def.mass > 0 || Eigen::Map<const Eigen::Matrix3d>(def.inertia).norm() > 0) {
    const pin::Inertia inertia(def.mass, Eigen::Map<const Eigen::Vector3d>(def.com),
                               Eigen::Map<const Eigen::Matrix3d>(def.inertia));
    tree->model.appendBodyToJoint(tree->joint[at], inertia, tree->placement[at]);
  }
}

// Ranges, efforts, springs, friction and armature of the joints.
static void fill_limits(TriboTree* tree, const TriboLinkDef* links) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto nq = static_cast<size_t>(tree->model.nq), nv = static_cast<size_t>(tree->model.nv);
  tree->lower.assign(nq, -infinity);
  tree->upper.assign(nq, infinity);
  tree->effort.assign(nv, infinity);
  tree->damping.assign(nv, 0);
  tree->stiffness.assign(nv, 0);
  tree->rest.assign(nv, 0);
  tree->friction.assign(nv, 0);
  tree->restitution.assign(nv, 0);
  tree->soft.assign(nv, TriboSoftness{});
  tree->armature.assign(nv, 0);
  for (size_t i = 0; i < tree->links.size(); ++i) {
    const TriboLinkInfo& link = tree->links[i];
    for (int k = 0; k < tribo_dyn_joint_limits(link.kind); ++k) {
      tree->lower[static_cast<size_t>(link.q_at + k)] = links[i].lower;
      tree->upper[static_cast<size_t>(link.q_at + k)] = links[i].upper;
    }
    for (auto k = static_cast<size_t>(link.v_at); k < static_cast<size_t>(link.v_at + link.nv); ++k) {
      tree->effort[k] = links[i].effort;
      tree->damping[k] = links[i].damping;
      tree->stiffness[k] = links[i].stiffness;
      tree->rest[k] = links[i].rest;
      tree->friction[k] = links[i].friction;
      tree->restitution[k] = links[i].restitution;
      tree->soft[k] = links[i].soft;
      tree->armature[k] = links[i].armature;
    }
  }
  tree->model.armature = ConstMap(tree->armature.data(), tree->model.nv);
}

// Reference poses of the file: the zero configuration with the values the file gives.
static TriboStatus fill_references(TriboTree* tree, const TriboRobotFile* robot) {
  const auto nq = static_cast<size_t>(tree->model.nq);
  for (int s = 0; s < robot->nstate; ++s) {
    tree->reference_names.push_back(tree->keep(robot->states[s]));
    tree->references.insert(tree->references.end(), tree->neutral.begin(), tree->neutral.end());
  }
  for (int i = 0; i < robot->nvalue; ++i) {
    const TriboRobotValue& value = robot->values[i];
    for (const TriboLinkInfo& link : tree->links) {
      if (link.nq == 0 || std::strcmp(link.joint_name, value.joint) != 0) {
        continue;
      }
      double* q = tree->references.data() + static_cast<size_t>(value.state) * nq + link.q_at;
      if (value.count == link.nq) {
        std::copy(value.values, value.values + value.count, q);
      } else if (link.kind == TRIBO_JOINT_CONTINUOUS && value.count == 1) {
        q[0] = std::cos(value.values[0]);
        q[1] = std::sin(value.values[0]);
      } else {
        return tribo_fail(TRIBO_INVALID, "pose '%s' gives joint '%s' %d values, must be %d", robot->states[value.state],
                          value.joint, value.count, link.nq);
      }
    }
  }
  return TRIBO_OK;
}

// What each joint moves: Pinocchio has added it up.
static void fill_moved(TriboTree* tree) {
  for (size_t i = 0; i < tree->links.size(); ++i) {
    TriboLinkInfo& link = tree->links[i];
    if (link.kind != TRIBO_JOINT_FIXED) {
      const pin::Inertia& moved = tree->model.inertias[tree->joint[i]];
      const Eigen::Matrix3d inertia = moved.inertia().matrix();
      link.moved_mass = moved.mass();
      for (int k = 0; k < 3; ++k) {
        link.moved_com[k] = moved.lever()[k];
        for (int l = 0; l < 3; ++l) {
          link.moved_inertia[3 * k + l] = inertia(k, l);
        }
      }
    }
  }
}

// What the engine may read of a tree: sizes, names, links and joints.
static void fill_info(TriboTree* tree) {
  TriboTreeInfo& info = tree->info;
  info.nq = tree->model.nq;
  info.nv = tree->model.nv;
  info.nlink = static_cast<int>(tree->links.size());
  info.links = tree->links.data();
  info.lower = tree->lower.data();
  info.upper = tree->upper.data();
  info.effort = tree->effort.data();
  info.damping = tree->damping.data();
  info.stiffness = tree->stiffness.data();
  info.rest = tree->rest.data();
  info.friction = tree->friction.data();
  info.restitution = tree->restitution.data();
  info.soft = tree->soft.data();
  info.armature = tree->armature.data();
  info.neutral = tree->neutral.data();
  info.nreference = static_cast<int>(tree->reference_names.size());
  info.reference_names = tree->reference_names.data();
  info.references = tree->references.data();
  info.ngeom = static_cast<int>(tree->geoms.size());
  info.geoms = tree->geoms.data();
  info.nvisual = static_cast<int>(tree->visuals.size());
  info.visuals = tree->visuals.data();
  info.nmimic = static_cast<int>(tree->mimics.size());
  info.mimics = tree->mimics.data();
  info.ndisabled = static_cast<int>(tree->disabled.size());
  info.disabled = reinterpret_cast<const int(*)[2]>(tree->disabled.data());
}

TriboStatus tribo_pin_tree_create(const TriboLinkDef* links, int nlink, const TriboRobotFile* robot, TriboTree** out) {
  TriboTree* tree = nullptr;
  const TriboStatus status = tribo_shim_guard("tribo_pin_tree_create", [&] {
    tree = new TriboTree;
    const auto count = static_cast<size_t>(nlink);
    tree->joint.assign(count, 0);
    tree->placement.assign(count, pin::SE3::Identity());
    tree->links.assign(count, TriboLinkInfo{});
    for (const int link : depth_first(links, nlink)) {
      add_link(tree, links, link);
    }
    fill_limits(tree, links);
    const Vector neutral = pin::neutral(tree->model);
    tree->neutral.reserve(1);  // a pointer to copy from, also without coordinates
    tree->neutral.assign(neutral.data(), neutral.data() + neutral.size());
    if (robot != nullptr) {
      if (links[0].kind == TRIBO_JOINT_FREE) {
        const pin::SE3 base = to_se3(robot->base);
        const Eigen::Quaterniond turn(base.rotation());
        Eigen::Map<Eigen::Vector3d>(tree->neutral.data()) = base.translation();
        Eigen::Map<Eigen::Vector4d>(tree->neutral.data() + 3) = turn.coeffs();
      }
      tree->geoms.assign(robot->geoms, robot->geoms + robot->ngeom);
      tree->visuals.assign(robot->visuals, robot->visuals + robot->nvisual);
      for (std::vector<TriboTreeGeom>* list : {&tree->geoms, &tree->visuals}) {
        for (TriboTreeGeom& geom : *list) {
          geom.mesh = geom.mesh == nullptr ? nullptr : tree->keep(geom.mesh);
        }
      }
      for (int i = 0; i < robot->nmimic; ++i) {
        const TriboTreeMimic& from = robot->mimics[i];
        tree->mimics.push_back({tree->keep(from.joint), tree->keep(from.of), from.ratio, from.offset});
      }
      for (int i = 0; i < robot->ndisabled; ++i) {
        tree->disabled.push_back({robot->disabled[i][0], robot->disabled[i][1]});
      }
      const TriboStatus filled = fill_references(tree, robot);
      if (filled != TRIBO_OK) {
        return filled;
      }
    }
    fill_moved(tree);
    fill_info(tree);
    return TRIBO_OK;
  });
  if (status != TRIBO_OK) {
    delete tree;
    return status;
  }
  *out = tree;
  return TRIBO_OK;
}

void tribo_pin_tree_destroy(TriboTree* tree) {
  delete tree;
}
const TriboTreeInfo* tribo_pin_tree_info(const TriboTree* tree) {
  return &tree->info;
}
const char* tribo_pin_version(void) {
  return PINOCCHIO_VERSION;
}

TriboStatus tribo_pin_data_create(const TriboTree* tree, TriboPinData** out) {
  return tribo_shim_guard("tribo_pin_data_create", [&] {
    *out = new TriboPinData(tree);
    return TRIBO_OK;
  });
}

void tribo_pin_data_destroy(TriboPinData* data) {
  delete data;
}

// ---- algorithms ----------------------------------------------------------------------------------------------------

TriboStatus tribo_pin_kinematics(TriboPinData* d, const double* q, TriboPose* poses, double* jac) {
  return tribo_shim_guard("tribo_pin_kinematics", [&] {
    const ConstRef q_ref(ConstMap(q, d->model.nq));
    pin::computeJointJacobians(d->model, d->data, q_ref);
    for (size_t i = 0; i < d->tree->links.size(); ++i) {
      to_pose(d->data.oMi[d->tree->joint[i]] * d->tree->placement[i], poses + i);
    }
    std::memcpy(jac, d->data.J.data(), sizeof(double) * static_cast<size_t>(d->data.J.size()));
    return TRIBO_OK;
  });
}

TriboStatus tribo_pin_mass(TriboPinData* d, const double* q, double* mass) {
  return tribo_shim_guard("tribo_pin_mass", [&] {
    const ConstRef q_ref(ConstMap(q, d->model.nq));
    pin::crba(d->model, d->data, q_ref, pin::Convention::WORLD);
    // the upper triangle is filled; what stands below the diagonal is old
    const int n = d->model.nv;
    for (int i = 0; i < n; ++i) {
      for (int j = i; j < n; ++j) {
        mass[i * n + j] = mass[j * n + i] = d->data.M(i, j);
      }
    }
    return TRIBO_OK;
  });
}

static void set_gravity(TriboPinData* d, const double gravity[3]) {
  d->model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
}

TriboStatus tribo_pin_bias(TriboPinData* d, const double gravity[3], const double* q, const double* v, double* bias) {
  return tribo_shim_guard("tribo_pin_bias", [&] {
    const ConstRef q_ref(ConstMap(q, d->model.nq)), v_ref(ConstMap(v, d->model.nv));
    set_gravity(d, gravity);
    pin::nonLinearEffects(d->model, d->data, q_ref, v_ref);
    Eigen::Map<Vector>(bias, d->model.nv) = d->data.nle;
    return TRIBO_OK;
  });
}

TriboStatus tribo_pin_rnea(TriboPinData* d, const double gravity[3], const double* q, const double* v, const double* a,
                           double* tau) {
  return tribo_shim_guard("tribo_pin_rnea", [&] {
    const ConstRef q_ref(ConstMap(q, d->model.nq)), v_ref(ConstMap(v, d->model.nv)), a_ref(ConstMap(a, d->model.nv));
    set_gravity(d, gravity);
    pin::rnea(d->model, d->data, q_ref, v_ref, a_ref);
    Eigen::Map<Vector>(tau, d->model.nv) = d->data.tau;
    return TRIBO_OK;
  });
}

TriboStatus tribo_pin_aba(TriboPinData* d, const double gravity[3], const double* q, const double* v, const double* tau,
                          double* a) {
  return tribo_shim_guard("tribo_pin_aba", [&] {
    const ConstRef q_ref(ConstMap(q, d->model.nq)), v_ref(ConstMap(v, d->model.nv)),
        tau_ref(ConstMap(tau, d->model.nv));
    set_gravity(d, gravity);
    pin::aba(d->model, d->data, q_ref, v_ref, tau_ref, pin::Convention::WORLD);
    Eigen::Map<Vector>(a, d->model.nv) = d->data.ddq;
    return TRIBO_OK;
  });
}

TriboStatus tribo_pin_integrate(TriboPinData* d, const double* q, const double* dv, double* q_next) {
  return tribo_shim_guard("tribo_pin_integrate", [&] {
    d->q0 = ConstMap(q, d->model.nq);
    d->v0 = ConstMap(dv, d->model.nv);
    pin::integrate(d->model, d->q0, d->v0, d->q1);
    Eigen::Map<Vector>(q_next, d->model.nq) = d->q1;
    return TRIBO_OK;
  });
}

TriboStatus tribo_pin_difference(TriboPinData* d, const double* q0, const double* q1, double* dv) {
  return tribo_shim_guard("tribo_pin_difference", [&] {
    d->q0 = ConstMap(q0, d->model.nq);
    d->q1 = ConstMap(q1, d->model.nq);
    pin::difference(d->model, d->q0, d->q1, d->v0);
    Eigen::Map<Vector>(dv, d->model.nv) = d->v0;
    return TRIBO_OK;
  });
}

TriboStatus tribo_pin_energy(TriboPinData* d, const double gravity[3], const double* q, const double* v,
                             TriboEnergy* out) {
  return tribo_shim_guard("tribo_pin_energy", [&] {
    const ConstRef q_ref(ConstMap(q, d->model.nq)), v_ref(ConstMap(v, d->model.nv));
    set_gravity(d, gravity);
    out->kinetic = pin::computeKineticEnergy(d->model, d->data, q_ref, v_ref);
    out->potential = pin::computePotentialEnergy(d->model, d->data, q_ref);
    const pin::Force& momentum = pin::computeCentroidalMomentum(d->model, d->data, q_ref, v_ref);
    const Eigen::Vector3d com = d->data.com[0], linear = momentum.linear();
    const Eigen::Vector3d angular = momentum.angular() + com.cross(linear);
    out->mass = d->data.mass[0];
    for (int i = 0; i < 3; ++i) {
      out->com[i] = com[i];
      out->momentum[i] = linear[i];
      out->angular[i] = angular[i];
    }
    return TRIBO_OK;
  });
}
