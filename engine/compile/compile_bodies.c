// From the scene's bodies, joints and robots to a system of subsystems.
//
// A body that no joint touches is a free body. Joints tie bodies into trees: a body without a parent joint that carries
// others is a root and floats on a free flyer. The link frame of a jointed body is the joint's: origin at the anchor,
// axes of the body at its initial pose; the user's body frame is kept as a constant offset from it.
#include "model_impl.h"

#include <stdio.h>
#include <string.h>

#include "package.h"
#include "pose.h"

typedef struct Builder {
  const TriboScene* scene;
  TriboModel* model;
  int* scene_body;    // model id of a scene body
  int* parent_joint;  // (nbody of the scene) −1: none
  int* root;          // (nbody of the scene) root body of its tree, −1: free body
  int* order;         // (nbody of the scene) bodies, parents before children
  TriboPose* frame;   // (nbody of the scene) link frame in the world at zero configuration
  int* family;        // (nrobot of the scene) robots of one tree: the one that carries the others, then its tools
} Builder;

static void inertia6(double out[6], const double full[9]) {
  const double packed[6] = {full[0], full[4], full[8], full[1], full[2], full[5]};
  memcpy(out, packed, sizeof packed);
}

// Parent joint and root of every body; refuses loops, which are closures and not trees.
static TriboStatus find_trees(Builder* b) {
  const TriboScene* scene = b->scene;
  for (int i = 0; i < scene->nbody; ++i) {
    b->parent_joint[i] = -1;
    b->root[i] = -1;
  }
  for (int j = 0; j < scene->njoint; ++j) {
    b->parent_joint[scene->joints[j].child] = j;
  }
  int norder = 0;
  for (int i = 0; i < scene->nbody; ++i) {
    // walk up to the root; more steps than bodies mean a loop
    int at = i, steps = 0;
    while (b->parent_joint[at] >= 0 && scene->joints[b->parent_joint[at]].parent != TRIBO_WORLD) {
      at = scene->joints[b->parent_joint[at]].parent;
      if (++steps > scene->nbody) {
        return tribo_fail(TRIBO_UNSUPPORTED, "joint '%s': the joints of body '%s' form a closed loop",
                          scene->joints[b->parent_joint[i]].name, scene->bodys[i].name);
      }
    }
    if (b->parent_joint[i] >= 0) {
      b->root[i] = at;
      b->root[at] = at;
    }
  }
  // parents before children: bodies by depth would do, a repeated sweep in scene order keeps siblings in order
  char* placed = tribo_alloc((size_t)scene->nbody, 1);
  if (placed == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int before = -1; before != norder;) {
    before = norder;
    for (int i = 0; i < scene->nbody; ++i) {
      int parent = b->parent_joint[i] < 0 ? TRIBO_WORLD : scene->joints[b->parent_joint[i]].parent;
      if (!placed[i] && (parent == TRIBO_WORLD || placed[parent])) {
        placed[i] = 1;
        b->order[norder++] = i;
      }
    }
  }
  tribo_free(placed);
  return TRIBO_OK;
}

static TriboStatus add_body(TriboModel* model, const char* name, const TriboBodyInfo* info, const TriboPose* offset) {
  int id = model->nbody;
  model->mechanism.bodies[id] = *info;
  model->mechanism.bodies[id].name = tribo_pool_strdup(&model->pool, name);
  model->mechanism.body_offset[id] = *offset;
  tribo_copy3(model->mechanism.body_com + 3 * id, info->com);
  if (model->mechanism.bodies[id].name == NULL) {
    return tribo_no_memory("for the model");
  }
  if (tribo_names_find(&model->mechanism.body_names, name) >= 0) {
    return tribo_fail(TRIBO_INVALID, "two bodies are called '%s'", name);
  }
  TRIBO_TRY(tribo_names_add(&model->mechanism.body_names, model->mechanism.bodies[id].name, id));
  model->nbody++;
  return TRIBO_OK;
}

static TriboStatus add_joint(TriboModel* model, const char* name, const TriboJointInfo* info) {
  int id = model->njoint;
  model->mechanism.joints[id] = *info;
  model->mechanism.joints[id].name = tribo_pool_strdup(&model->pool, name);
  if (model->mechanism.joints[id].name == NULL) {
    return tribo_no_memory("for the model");
  }
  if (tribo_names_find(&model->mechanism.joint_names, name) >= 0) {
    return tribo_fail(TRIBO_INVALID, "two joints are called '%s'", name);
  }
  TRIBO_TRY(tribo_names_add(&model->mechanism.joint_names, model->mechanism.joints[id].name, id));
  model->njoint++;
  return TRIBO_OK;
}

static TriboStatus add_free_bodies(Builder* b, TriboFreeBodyDef* defs) {
  const TriboPose none = tribo_pose_identity();
  for (int i = 0; i < b->scene->nbody; ++i) {
    if (b->root[i] >= 0) {
      continue;
    }
    int id = b->model->nbody;
    TriboFreeBodyDef* def = &defs[id];
    TRIBO_TRY(tribo_compile_mass(b->scene, b->model, i, &def->mass, def->com, def->inertia));
    if (def->mass == 0 || def->inertia[0] + def->inertia[4] + def->inertia[8] == 0) {
      return tribo_located(tribo_fail(TRIBO_INVALID, "body '%s' has mass %g kg and inertia %g: a free body needs both",
                                      b->scene->bodys[i].name, def->mass, def->inertia[0]),
                           b->scene->body_where[i]);
    }
    TriboBodyInfo info = {.mass = def->mass, .q_at = 7 * id, .v_at = 6 * id, .block = id, .parent = TRIBO_WORLD};
    tribo_copy3(info.com, def->com);
    inertia6(info.inertia, def->inertia);
    TRIBO_TRY(add_body(b->model, b->scene->bodys[i].name, &info, &none));
    b->scene_body[i] = id;
  }
  b->model->mechanism.nfree = b->model->nbody;
  return TRIBO_OK;
}

// The link of one jointed body (or of a floating root).
static TriboStatus fill_link(Builder* b, int body, const int* link_of, TriboLinkDef* link) {
  const TriboScene* scene = b->scene;
  const TriboBodyDef* def = &scene->bodys[body];
  const TriboPose body_pose = tribo_pose(def->position, def->quaternion);
  const TriboJointDef free_joint = {.kind = TRIBO_JOINT_FREE,
                                    .axis = {0, 0, 1},
                                    .axis2 = {1, 0, 0},
                                    .parent = TRIBO_WORLD,
                                    .lower = -INFINITY,
                                    .upper = INFINITY,
                                    .effort = INFINITY};
  int j = b->parent_joint[body];
  const TriboJointDef* joint = j >= 0 ? &scene->joints[j] : &free_joint;
  // frames at zero configuration
  b->frame[body] = body_pose;
  if (joint->kind != TRIBO_JOINT_FREE) {
    tribo_copy3(b->frame[body].p, joint->anchor);
  }
  link->placement = joint->kind == TRIBO_JOINT_FREE ? tribo_pose_identity() : b->frame[body];
  if (joint->parent != TRIBO_WORLD) {
    link->placement = tribo_pose_between(&b->frame[joint->parent], &b->frame[body]);
  }
  link->name = def->name;
  link->joint_name = j >= 0 ? joint->name : def->name;
  link->parent = joint->parent == TRIBO_WORLD ? -1 : link_of[joint->parent];
  link->kind = joint->kind;
  tribo_mul33tv(link->axis, body_pose.R, joint->axis);
  tribo_mul33tv(link->axis2, body_pose.R, joint->axis2);
  link->pitch = joint->pitch;
  tribo_copy3(link->radii, joint->radii);
  link->armature = joint->armature;
  link->damping = joint->damping;
  link->friction = joint->friction;
  link->stiffness = joint->stiffness;
  link->rest = joint->rest;
  link->lower = joint->lower;
  link->upper = joint->upper;
  link->restitution = joint->restitution;
  link->soft = tribo_softness(joint->solref, joint->solimp);
  link->effort = joint->effort;
  // mass properties move from the body frame to the link frame: same axes, another origin
  double com[3];
  TRIBO_TRY(tribo_compile_mass(scene, b->model, body, &link->mass, com, link->inertia));
  TriboPose offset = tribo_pose_between(&b->frame[body], &body_pose);
  tribo_add3(link->com, com, offset.p);
  return TRIBO_OK;
}

// The body that moves a link, for exclusions: links welded together move as one, those welded to the world not at all.
static int mover(const TriboTreeInfo* info, int link) {
  return link < 0 ? -1 : info->links[link].carrier;
}

// Pairs of a tree that never collide: links that move as one, neighbours across a joint (they overlap by construction),
// and the pairs its file names.
static TriboStatus exclude_neighbours(TriboModel* model, const TriboTreeInfo* info, int first) {
  for (int i = 0; i < info->nlink; ++i) {
    int own = mover(info, i), below = own < 0 ? -1 : mover(info, info->links[own].parent);
    for (int k = 0; k < info->nlink; ++k) {
      int other = mover(info, k);
      if (k < i && (other == own || other == below || (other >= 0 && mover(info, info->links[other].parent) == own))) {
        TRIBO_TRY(tribo_compile_exclude(model, first + k, first + i));
      }
    }
  }
  for (int i = 0; i < info->ndisabled; ++i) {
    TRIBO_TRY(tribo_compile_exclude(model, first + info->disabled[i][0], first + info->disabled[i][1]));
  }
  return TRIBO_OK;
}

// The tree becomes the model's, with its bodies and joints.
static TriboStatus register_tree(TriboModel* model, TriboTree* tree, int robot, const TriboPose* offsets) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  ModelTree* entry = &model->mechanism.trees[model->mechanism.ntree];
  *entry = (ModelTree){.tree = tree, .robot = robot, .first_body = model->nbody, .q_at = model->nq, .v_at = model->nv};
  int block = model->mechanism.nfree + model->mechanism.ntree;
  model->mechanism.ntree++;
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = &info->links[i];
    TriboPose offset = offsets != NULL ? offsets[i] : tribo_pose_identity();
    TriboBodyInfo body = {.mass = link->mass,
                          .q_at = model->nq + link->q_at,
                          .v_at = model->nv + link->v_at,
                          .block = block,
                          .parent = link->parent < 0 ? TRIBO_WORLD : entry->first_body + link->parent};
    tribo_sub3(body.com, link->com, offset.p);
    inertia6(body.inertia, link->inertia);
    int id = model->nbody;
    TRIBO_TRY(add_body(model, link->name, &body, &offset));
    if (link->nv > 0) {
      TriboJointInfo joint = {.kind = link->joint_kind,
                              .parent = body.parent,
                              .body = id,
                              .q_at = model->nq + link->q_at,
                              .nq = link->nq,
                              .v_at = model->nv + link->v_at,
                              .nv = link->nv,
                              .lower = -INFINITY,
                              .upper = INFINITY,
                              .effort = INFINITY};
      if (link->nv == 1 && link->nq == 1) {
        joint.lower = info->lower[link->q_at];
        joint.upper = info->upper[link->q_at];
      }
      if (link->nv == 1) {
        joint.effort = info->effort[link->v_at];
        joint.armature = info->armature[link->v_at];
        joint.damping = info->damping[link->v_at];
        joint.friction = info->friction[link->v_at];
        joint.stiffness = info->stiffness[link->v_at];
        joint.rest = info->rest[link->v_at];
      }
      TRIBO_TRY(add_joint(model, link->joint_name, &joint));
    }
  }
  TRIBO_TRY(exclude_neighbours(model, info, entry->first_body));
  model->nq += info->nq;
  model->nv += info->nv;
  return TRIBO_OK;
}

static TriboStatus add_joint_tree(Builder* b, int root, TriboLinkDef* links, TriboPose* offsets, int* link_of) {
  // links in parent-first order
  int nlink = 0;
  for (int k = 0; k < b->scene->nbody; ++k) {
    int body = b->order[k];
    if (b->root[body] != root) {
      continue;
    }
    link_of[body] = nlink;
    memset(&links[nlink], 0, sizeof links[nlink]);
    TRIBO_TRY(fill_link(b, body, link_of, &links[nlink]));
    TriboPose body_pose = tribo_pose(b->scene->bodys[body].position, b->scene->bodys[body].quaternion);
    offsets[nlink] = tribo_pose_between(&b->frame[body], &body_pose);
    b->scene_body[body] = b->model->nbody + nlink;
    nlink++;
  }
  TriboTree* tree = NULL;
  int first_joint = b->parent_joint[root];
  TRIBO_TRY(tribo_located(tribo_dyn_tree_build(links, nlink, &tree),
                          first_joint >= 0 ? b->scene->joint_where[first_joint] : b->scene->body_where[root]));
  return register_tree(b->model, tree, -1, offsets);
}

// The robot that carries another one as a tool, directly; −1: none.
static TriboStatus find_support_body(const TriboScene* scene, int tool, int* out) {
  const TriboRobotDef* def = &scene->robots[tool];
  *out = -1;
  if (def->attach != NULL) {
    for (int i = 0; i < tool; ++i) {
      const size_t n = strlen(scene->robots[i].name);
      if (strncmp(def->attach, scene->robots[i].name, n) == 0 && def->attach[n] == '/') {
        *out = i;
      }
    }
  }
  return def->attach == NULL || *out >= 0
             ? TRIBO_OK
             : tribo_located(tribo_fail(TRIBO_NOT_FOUND, "robot '%s': attach: '%s' is no link of a robot above",
                                        def->name, def->attach),
                             scene->robot_where[tool]);
}

// A robot with its tools, those of tools included, in the order of the scene: b->family.
static TriboStatus find_family(Builder* b, int index, int* count) {
  *count = 0;
  for (int i = index; i < b->scene->nrobot; ++i) {
    int support, ours = i == index;
    TRIBO_TRY(find_support_body(b->scene, i, &support));
    for (int k = 0; k < *count; ++k) {
      ours |= b->family[k] == support;
    }
    if (ours) {
      b->family[(*count)++] = i;
    }
  }
  return TRIBO_OK;
}

static TriboStatus add_robot(Builder* b, int index, TriboTree* tree) {
  const TriboScene* scene = b->scene;
  TriboModel* model = b->model;
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree);
  TRIBO_TRY(register_tree(model, tree, index, NULL));
  int count;
  TRIBO_TRY(find_family(b, index, &count));
  ModelTree* entry = &model->mechanism.trees[model->mechanism.ntree - 1];
  entry->robots = tribo_pool_copy(&model->pool, b->family, (size_t)count, sizeof *b->family);
  if (entry->robots == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < info->nlink; ++i) {
    const TriboRobotDef* own = &scene->robots[entry->robots[info->links[i].file]];
    for (int k = 0; k < i; ++k) {
      const TriboRobotDef* other = &scene->robots[entry->robots[info->links[k].file]];
      if (!own->self_collision || !other->self_collision) {
        TRIBO_TRY(tribo_compile_exclude(model, entry->first_body + k, entry->first_body + i));
      }
    }
  }
  return TRIBO_OK;
}

// Links that are welded to the world cannot be pushed apart, from each other or from what is static.
static TriboStatus exclude_immovable(TriboModel* model) {
  const int* block = tribo_dyn_system_info(model->mechanism.system)->body_block;
  for (int i = model->mechanism.nfree; i < model->nbody; ++i) {
    if (block[i] >= 0) {
      continue;
    }
    TRIBO_TRY(tribo_compile_exclude(model, TRIBO_WORLD, i));
    for (int k = model->mechanism.nfree; k < i; ++k) {
      if (block[k] < 0) {
        TRIBO_TRY(tribo_compile_exclude(model, k, i));
      }
    }
  }
  return TRIBO_OK;
}

// ---- initial state

// The initial q and v of a free body: dynamics moves its centre of mass, and turns it about its own axes.
static void free_body_state(const TriboBodyDef* def, const TriboBodyInfo* info, double* q, double* v) {
  TriboPose pose = tribo_pose(def->position, def->quaternion);
  double com[3];
  tribo_mul33v(com, pose.R, info->com);
  tribo_add3(q, pose.p, com);
  memcpy(q + 3, def->quaternion, 4 * sizeof *q);
  tribo_copy3(v, def->velocity);
  tribo_mul33tv(v + 3, pose.R, def->omega);
}

// A free flyer's q is the pose of its link frame, its v the twist there in link axes.
static void free_flyer_state(const TriboBodyDef* def, const double com[3], double* q, double* v) {
  TriboPose pose = tribo_pose(def->position, def->quaternion);
  tribo_copy3(q, pose.p);
  memcpy(q + 3, def->quaternion, 4 * sizeof *q);
  double arm[3], spin[3], origin[3];
  tribo_mul33v(arm, pose.R, com);
  tribo_cross3(spin, def->omega, arm);
  tribo_sub3(origin, def->velocity, spin);
  tribo_mul33tv(v, pose.R, origin);
  tribo_mul33tv(v + 3, pose.R, def->omega);
}

// One-dof coordinate: an angle may be stored as cosine and sine.
static void set_joint(const TriboModel* model, const TriboJointInfo* joint, double position, double velocity) {
  if (joint->nq == 1) {
    model->initial.q[joint->q_at] = position;
  } else {
    model->initial.q[joint->q_at] = cos(position);
    model->initial.q[joint->q_at + 1] = sin(position);
  }
  model->initial.v[joint->v_at] = velocity;
}

static TriboStatus initial_joint(const TriboModel* model, const char* name, double position, double velocity) {
  int id = tribo_names_find(&model->mechanism.joint_names, name);
  if (id < 0) {
    return tribo_not_found(&model->mechanism.joint_names, "joint", name);
  }
  if (model->mechanism.joints[id].nv != 1) {
    return tribo_fail(TRIBO_INVALID, "joint '%s' has %d degrees of freedom; only those with one can be set by a number",
                      name, model->mechanism.joints[id].nv);
  }
  set_joint(model, &model->mechanism.joints[id], position, velocity);
  return TRIBO_OK;
}

// Where the joints of one robot of a tree start: in a reference pose of its own.
static TriboStatus reference_state(Builder* b, const ModelTree* entry, int file) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(entry->tree);
  const TriboRobotDef* def = &b->scene->robots[entry->robots[file]];
  double* q = b->model->initial.q + entry->q_at;
  char name[256];
  snprintf(name, sizeof name, "%s/%s", def->name, def->reference);
  int found = -1;
  for (int i = 0; i < info->nreference; ++i) {
    found = strcmp(info->reference_names[i], name) == 0 ? i : found;
  }
  if (found < 0) {
    return tribo_fail(TRIBO_NOT_FOUND, "robot '%s': there is no reference pose '%s' in %s", def->name, def->reference,
                      def->srdf != NULL ? def->srdf : "the robot (no srdf given)");
  }
  const double* reference = info->references + (size_t)found * (size_t)info->nq;
  for (int i = 0; i < info->nlink; ++i) {
    const TriboLinkInfo* link = &info->links[i];
    if (link->file == file) {
      memcpy(q + link->q_at, reference + link->q_at, (size_t)link->nq * sizeof *q);
    }
  }
  if (info->links[0].kind == TRIBO_JOINT_FREE && file == 0) {
    // the placement of the scene, on top of the reference's own base pose; the neutral pose has it already
    TriboPose base = tribo_pose(def->position, def->quaternion), own = tribo_pose(q, q + 3);
    TriboPose placed = tribo_pose_mul(&base, &own);
    tribo_copy3(q, placed.p);
    tribo_quat_from_mat(q + 3, placed.R);
  }
  return TRIBO_OK;
}

static TriboStatus robot_state(Builder* b, const ModelTree* entry) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(entry->tree);
  memcpy(b->model->initial.q + entry->q_at, info->neutral, (size_t)info->nq * sizeof(double));
  for (int file = 0; file <= info->links[info->nlink - 1].file; ++file) {
    const int robot = entry->robots[file];
    if (b->scene->robots[robot].reference != NULL) {
      TRIBO_TRY(tribo_located(reference_state(b, entry, file), b->scene->robot_where[robot]));
    }
  }
  return TRIBO_OK;
}

// q and v at the start: of robots by reference pose and joint values, of bodies by their poses.
static TriboStatus initial_state(Builder* b) {
  TriboModel* model = b->model;
  const TriboScene* scene = b->scene;
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    const ModelTree* entry = &model->mechanism.trees[t];
    const TriboTreeInfo* info = tribo_dyn_tree_info(entry->tree);
    if (entry->robot >= 0) {
      TRIBO_TRY(robot_state(b, entry));
    } else {
      memcpy(model->initial.q + entry->q_at, info->neutral, (size_t)info->nq * sizeof *model->initial.q);
    }
  }
  for (int i = 0; i < scene->nbody; ++i) {
    const TriboBodyInfo* info = &model->mechanism.bodies[b->scene_body[i]];
    if (b->root[i] < 0) {
      free_body_state(&scene->bodys[i], info, model->initial.q + info->q_at, model->initial.v + info->v_at);
    } else if (b->parent_joint[i] < 0 || scene->joints[b->parent_joint[i]].kind == TRIBO_JOINT_FREE) {
      free_flyer_state(&scene->bodys[i], info->com, model->initial.q + info->q_at, model->initial.v + info->v_at);
    }
  }
  for (int j = 0; j < scene->njoint; ++j) {
    const TriboJointDef* def = &scene->joints[j];
    if (def->position != 0 || def->velocity != 0) {
      TRIBO_TRY(tribo_located(initial_joint(model, def->name, def->position, def->velocity), scene->joint_where[j]));
    }
  }
  for (int i = 0; i < scene->njoint_value; ++i) {
    const SceneValue* value = &scene->joint_values[i];
    TRIBO_TRY(tribo_located(initial_joint(model, value->name, value->value, value->rate), scene->joint_value_where[i]));
  }
  return TRIBO_OK;
}

// ---- all of it

static TriboStatus load_robot(Builder* b, int index, TriboUrdfDef* files, TriboTree** out) {
  // package:// is also looked for among the example robots
  const char* const packages[] = {tribo_package_examples()};
  int count;
  TRIBO_TRY(find_family(b, index, &count));
  for (int i = 0; i < count; ++i) {
    const TriboRobotDef* def = &b->scene->robots[b->family[i]];
    files[i] = (TriboUrdfDef){.urdf = def->urdf,
                              .package_dirs = packages,
                              .npackage_dir = 1,
                              .srdf = def->srdf,
                              .free_base = def->free_base,
                              .prefix = tribo_pool_format(&b->model->pool, "%s/", def->name),
                              .parent = def->attach,
                              .without_joint_friction = !def->use_joint_friction,
                              .base = tribo_pose(def->position, def->quaternion)};
    if (files[i].prefix == NULL) {
      return tribo_no_memory("for the model");
    }
  }
  return tribo_located(tribo_dyn_tree_load_urdfs(files, count, out), b->scene->robot_where[index]);
}

// How many trees the joints make.
static int count_roots(const Builder* b) {
  int n = 0;
  for (int i = 0; i < b->scene->nbody; ++i) {
    n += b->root[i] == i;
  }
  return n;
}

// The system of trees and free bodies, and the model's tables that refer to them.
static TriboStatus build(Builder* b, TriboUrdfDef* files, TriboTree** robots, TriboFreeBodyDef* free_defs,
                         TriboLinkDef* links, TriboPose* offsets, int* link_of) {
  const TriboScene* scene = b->scene;
  TriboModel* model = b->model;
  int nlink = 0;
  for (int i = 0; i < scene->nrobot; ++i) {
    int support;
    TRIBO_TRY(find_support_body(scene, i, &support));
    if (support < 0) {
      TRIBO_TRY(load_robot(b, i, files, &robots[i]));
      nlink += tribo_dyn_tree_info(robots[i])->nlink;
    }
  }
  size_t nbody = (size_t)(scene->nbody + nlink);
  model->mechanism.bodies = tribo_pool_alloc(&model->pool, nbody, sizeof *model->mechanism.bodies);
  model->mechanism.body_offset = tribo_pool_alloc(&model->pool, nbody, sizeof *model->mechanism.body_offset);
  model->mechanism.body_com = tribo_pool_alloc(&model->pool, nbody, 3 * sizeof *model->mechanism.body_com);
  model->mechanism.joints = tribo_pool_alloc(&model->pool, nbody, sizeof *model->mechanism.joints);
  TRIBO_TRY(find_trees(b));
  size_t ntree = (size_t)(count_roots(b) + scene->nrobot);
  model->mechanism.trees = tribo_pool_alloc(&model->pool, ntree, sizeof *model->mechanism.trees);
  TriboTree** trees = tribo_pool_alloc(&model->pool, ntree, sizeof(TriboTree*));
  if (model->mechanism.bodies == NULL || model->mechanism.body_offset == NULL || model->mechanism.body_com == NULL ||
      model->mechanism.joints == NULL || model->mechanism.trees == NULL || trees == NULL) {
    return tribo_no_memory("for the model");
  }
  // subsystems: free bodies, trees of joints, robots
  TRIBO_TRY(add_free_bodies(b, free_defs));
  model->nq = 7 * model->mechanism.nfree;
  model->nv = 6 * model->mechanism.nfree;
  for (int i = 0; i < scene->nbody; ++i) {
    if (b->root[i] == i) {
      TRIBO_TRY(add_joint_tree(b, i, links, offsets, link_of));
    }
  }
  for (int i = 0; i < scene->nrobot; ++i) {
    TriboTree* tree = robots[i];
    robots[i] = NULL;  // the model owns it from here
    if (tree != NULL) {
      TRIBO_TRY(add_robot(b, i, tree));
    }
  }
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    trees[t] = model->mechanism.trees[t].tree;
  }
  TriboSystemDef def = {
      .bodies = free_defs, .nbody = model->mechanism.nfree, .trees = trees, .ntree = model->mechanism.ntree};
  TRIBO_TRY(tribo_dyn_system_create(&def, &model->mechanism.system));
  TRIBO_TRY(exclude_immovable(model));
  model->initial.q = tribo_pool_alloc(&model->pool, (size_t)model->nq, sizeof *model->initial.q);
  model->initial.v = tribo_pool_alloc(&model->pool, (size_t)model->nv, sizeof *model->initial.v);
  if (model->initial.q == NULL || model->initial.v == NULL) {
    return tribo_no_memory("for the model");
  }
  return initial_state(b);
}

TriboStatus tribo_compile_bodies(const TriboScene* scene, TriboModel* model, int* scene_body) {
  size_t n = (size_t)scene->nbody;
  Builder b = {scene,
               model,
               scene_body,
               tribo_alloc(n, sizeof(int)),
               tribo_alloc(n, sizeof(int)),
               tribo_alloc(n, sizeof(int)),
               tribo_alloc(n, sizeof(TriboPose)),
               tribo_alloc((size_t)scene->nrobot, sizeof(int))};
  TriboUrdfDef* files = tribo_alloc((size_t)scene->nrobot, sizeof *files);
  TriboTree** robots = tribo_alloc((size_t)scene->nrobot, sizeof(TriboTree*));
  TriboFreeBodyDef* free_defs = tribo_alloc(n, sizeof *free_defs);
  TriboLinkDef* links = tribo_alloc(n, sizeof *links);
  TriboPose* offsets = tribo_alloc(n, sizeof *offsets);
  int* link_of = tribo_alloc(n, sizeof *link_of);
  TriboStatus status = TRIBO_NOMEM;
  if (b.parent_joint == NULL || b.root == NULL || b.order == NULL || b.frame == NULL || b.family == NULL ||
      files == NULL || robots == NULL || free_defs == NULL || links == NULL || offsets == NULL || link_of == NULL) {
    status = tribo_no_memory("for the model");
  } else {
    status = build(&b, files, robots, free_defs, links, offsets, link_of);
  }
  if (robots != NULL) {
    for (int i = 0; i < scene->nrobot; ++i) {
      tribo_dyn_tree_destroy(robots[i]);
    }
  }
  void* scratch[] = {b.parent_joint, b.root,    b.order, b.frame, b.family, files,
                     robots,         free_defs, links,   offsets, link_of};
  for (size_t i = 0; i < sizeof scratch / sizeof scratch[0]; ++i) {
    tribo_free(scratch[i]);
  }
  return status;
}
