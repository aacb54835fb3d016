// From the scene's shapes, materials and exclusions to a collision world and a table of contact laws; and the mass
// properties that bodies take from their shapes.
#include "model_impl.h"

#include <stdio.h>
#include <string.h>

#include "pose.h"

TriboStatus tribo_compile_exclude(TriboModel* model, int body_a, int body_b) {
  TRIBO_TRY(TRIBO_APPEND(&model->geometry.excluded, model->geometry.nexcluded, 1));
  model->geometry.excluded[model->geometry.nexcluded][0] = body_a;
  model->geometry.excluded[model->geometry.nexcluded][1] = body_b;
  model->geometry.nexcluded++;
  return TRIBO_OK;
}

// The hull of a shape, made on first use: *slot keeps it for the next, the model owns it.
static TriboStatus make_hull(const TriboShapeDef* def, TriboModel* model, const TriboHull** slot) {
  if (def->kind != TRIBO_SHAPE_HULL || *slot != NULL) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_APPEND(&model->geometry.hulls, model->geometry.nhull, 1));
  TriboHull** hull = &model->geometry.hulls[model->geometry.nhull];
  TriboStatus status = def->mesh != NULL ? tribo_col_hull_load(def->mesh, def->scale, hull)
                                         : tribo_col_hull_create(def->points, def->npoint, hull);
  model->geometry.nhull += status == TRIBO_OK;
  status = status == TRIBO_OK && def->vertices > 0 ? tribo_col_hull_decimate(hull, def->vertices) : status;
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", def->name);
    return status;
  }
  *slot = *hull;
  return TRIBO_OK;
}

// Whether two trees are the same solid.
static int same_tree(const TriboSdfDef* a, const TriboSdfDef* b) {
  const int same = a->kind == b->kind && tribo_equal(a->size, b->size, 3) && a->round == b->round &&
                   a->sides == b->sides && a->pitch == b->pitch && a->clearance == b->clearance &&
                   a->across == b->across && a->starts == b->starts && a->left_hand == b->left_hand &&
                   a->pad == b->pad && a->by == b->by && a->nprofile == b->nprofile && a->npart == b->npart &&
                   tribo_equal(a->position, b->position, 3) && tribo_equal(a->quaternion, b->quaternion, 4) &&
                   (a->nprofile == 0 || tribo_equal(a->profile, b->profile, 2 * (size_t)a->nprofile));
  for (int i = 0; i < (same ? a->npart : 0); ++i) {
    if (!same_tree(&a->parts[i], &b->parts[i])) {
      return 0;
    }
  }
  return same;
}

// The field that an earlier shape of the scene has made of the same tree; NULL: none.
static TriboSdf* find_sdf(const TriboScene* scene, const TriboModel* model, int shape) {
  const TriboShapeDef* def = &scene->shapes[shape].def;
  for (int k = 0; k < (def->kind == TRIBO_SHAPE_SDF ? shape : 0); ++k) {
    const TriboShapeDef* other = &scene->shapes[k].def;
    const int same_margin = other->margin == def->margin || (isnan(other->margin) && isnan(def->margin));
    if (model->geometry.scene_sdfs[k] != NULL && same_margin && other->contacts == def->contacts &&
        same_tree(other->sdf, def->sdf)) {
      return model->geometry.scene_sdfs[k];
    }
  }
  return NULL;
}

// The distance field of a shape, likewise.
static TriboStatus make_sdf(const TriboShapeDef* def, TriboModel* model, TriboSdf** slot) {
  if (def->kind != TRIBO_SHAPE_SDF || *slot != NULL) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_APPEND(&model->geometry.sdfs, model->geometry.nsdf, 1));
  TriboStatus status =
      tribo_col_sdf_create(def->sdf, def->contacts, def->margin, &model->geometry.sdfs[model->geometry.nsdf]);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", def->name);
    return status;
  }
  *slot = model->geometry.sdfs[model->geometry.nsdf++];
  return TRIBO_OK;
}

static TriboStatus make_field(const TriboShapeDef* def, TriboModel* model, const TriboHeightField** out) {
  if (def->kind != TRIBO_SHAPE_HEIGHTFIELD) {
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_APPEND(&model->geometry.fields, model->geometry.nfield, 1));
  TRIBO_TRY(tribo_col_field_create(def->size, def->nx, def->ny, def->heights,
                                   &model->geometry.fields[model->geometry.nfield]));
  *out = model->geometry.fields[model->geometry.nfield++];
  return TRIBO_OK;
}

// ---- mass from shapes

// Adds a solid to a sum about the body origin: mass, first moment, second moment of inertia about the origin.
static void add_solid(double mass, const double centre[3], const double inertia[9], double* total, double first[3],
                      double second[9]) {
  *total += mass;
  tribo_axpy3(first, first, mass, centre);
  double c2 = tribo_dot3(centre, centre);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      second[3 * i + j] += inertia[3 * i + j] + mass * ((i == j ? c2 : 0) - centre[i] * centre[j]);
    }
  }
}

// Inertia about the centre of mass from that about the origin: Steiner, backwards.
static void to_centre(double mass, const double com[3], double inertia[9]) {
  double c2 = tribo_dot3(com, com);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      inertia[3 * i + j] -= mass * ((i == j ? c2 : 0) - com[i] * com[j]);
    }
  }
}

// Of density 1, in its own frame.
static TriboStatus shape_mass(const TriboScene* scene, TriboModel* model, int shape, double* volume, double centre[3],
                              double inertia[9]) {
  const TriboShapeDef* def = &scene->shapes[shape].def;
  const TriboHull** hull = &model->geometry.scene_hulls[shape];
  TriboSdf** sdf = &model->geometry.scene_sdfs[shape];
  TRIBO_TRY(make_hull(def, model, hull));
  *sdf = *sdf != NULL ? *sdf : find_sdf(scene, model, shape);
  TRIBO_TRY(make_sdf(def, model, sdf));
  return *sdf != NULL ? tribo_col_sdf_mass(*sdf, volume, centre, inertia)
                      : tribo_col_shape_mass(def->kind, def->size, *hull, volume, centre, inertia);
}

// The sum over the shapes of a body of density-weighted mass properties in the body frame.
static TriboStatus sum_shapes(const TriboScene* scene, TriboModel* model, int body, double* mass, double com[3],
                              double inertia[9]) {
  *mass = 0;
  memset(com, 0, 3 * sizeof *com);
  memset(inertia, 0, 9 * sizeof *inertia);
  for (int i = 0; i < scene->nshape; ++i) {
    const TriboShapeDef* def = &scene->shapes[i].def;
    if (scene->shapes[i].body != body) {
      continue;
    }
    double volume, centre[3], about[9], moved[3], turned[9], turned2[9];
    TRIBO_TRY(tribo_located(shape_mass(scene, model, i, &volume, centre, about), scene->shape_where[i]));
    TriboPose pose = tribo_pose(def->position, def->quaternion);
    tribo_mul33v(moved, pose.R, centre);
    tribo_add3(moved, moved, pose.p);
    tribo_mul33(turned, pose.R, about);
    tribo_mul33t(turned2, turned, pose.R);
    for (int k = 0; k < 9; ++k) {
      turned2[k] *= def->density;
    }
    add_solid(def->density * volume, moved, turned2, mass, com, inertia);
  }
  if (*mass > 0) {
    tribo_scale3(com, 1 / *mass, com);
    to_centre(*mass, com, inertia);
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_mass(const TriboScene* scene, TriboModel* model, int body, double* mass, double com[3],
                               double inertia[9]) {
  const TriboBodyDef* def = &scene->bodys[body];
  int given = !isnan(def->inertia[0]);
  double sum = 0, own_com[3] = {0}, own[9] = {0};
  if (def->mass == 0 && !given) {
    *mass = 0;
    memset(com, 0, 3 * sizeof *com);
    memset(inertia, 0, 9 * sizeof *inertia);
    return TRIBO_OK;
  }
  if (!given || isnan(def->com[0])) {
    TRIBO_TRY(sum_shapes(scene, model, body, &sum, own_com, own));
  }
  if (isnan(def->mass) && !(sum > 0)) {
    return tribo_located(
        tribo_fail(TRIBO_INVALID, "body '%s' has no mass: give it a mass, or shapes with a density above 0", def->name),
        scene->body_where[body]);
  }
  if (!given && !(sum > 0)) {
    return tribo_located(
        tribo_fail(TRIBO_INVALID,
                   "body '%s' has mass %g kg but no inertia: give it one, or shapes with a density above 0", def->name,
                   def->mass),
        scene->body_where[body]);
  }
  *mass = isnan(def->mass) ? sum : def->mass;
  memcpy(com, isnan(def->com[0]) ? own_com : def->com, 3 * sizeof *com);
  if (given) {
    const double* s = def->inertia;
    const double full[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
    double R[9], turned[9];
    tribo_quat_to_mat(R, def->axes);
    tribo_mul33(turned, R, full);
    tribo_mul33t(inertia, turned, R);
    return TRIBO_OK;
  }
  // the shapes' inertia, scaled to the mass that was asked for
  for (int k = 0; k < 9; ++k) {
    inertia[k] = own[k] * (*mass / sum);
  }
  return TRIBO_OK;
}

// ---- materials

static double across(const TriboMaterialDef* m) {
  return m->friction2 > 0 ? m->friction2 : m->friction;
}

static TriboContactLaw law_of(const TriboMaterialDef* m) {
  TriboContactLaw law = {.mu = {m->friction, across(m), m->torsion, m->rolling, m->rolling},
                         .restitution = m->restitution,
                         .compliance = m->stiffness,
                         .damping = m->damping};
  law.soft = tribo_softness(m->solref, m->solimp);
  law.dim = m->rolling > 0 ? 6 : m->torsion > 0 ? 4 : m->friction > 0 ? 3 : 1;
  return law;
}

// Springs in series; a rigid side (0) leaves the other one.
static double in_series(double a, double b) {
  return a == 0 ? b : b == 0 ? a : a * b / (a + b);
}

static TriboMaterialDef mix(const TriboMaterialDef* a, const TriboMaterialDef* b) {
  TriboMaterialDef def = {
      .friction = sqrt(a->friction * b->friction),
      .friction2 = a->friction2 > 0 || b->friction2 > 0 ? sqrt(across(a) * across(b)) : 0,
      .torsion = sqrt(a->torsion * b->torsion),
      .rolling = sqrt(a->rolling * b->rolling),
      .restitution = fmax(a->restitution, b->restitution),
      .stiffness = in_series(a->stiffness, b->stiffness),
      .damping = in_series(a->damping, b->damping),
  };
  // softness of both sides: the mean; of one side: its own
  const TriboMaterialDef *soft = a->solref[0] != 0 ? a : b, *other = b->solref[0] != 0 ? b : a;
  for (int i = 0; i < 5; ++i) {
    def.solimp[i] = 0.5 * (soft->solimp[i] + other->solimp[i]);
    if (i < 2) {
      def.solref[i] = 0.5 * (soft->solref[i] + other->solref[i]);
    }
  }
  return def;
}

// The materials, and what each two of them make: by rule, or as the scene gives it for the pair.
static TriboStatus compile_materials(const TriboScene* scene, TriboModel* model) {
  int n = model->geometry.nmaterial = scene->nmaterial;
  model->geometry.materials = tribo_pool_copy(&model->pool, scene->materials, (size_t)n, sizeof *scene->materials);
  model->geometry.laws = tribo_pool_alloc(&model->pool, (size_t)n * (size_t)n, sizeof *model->geometry.laws);
  TriboMaterialDef* mixed = tribo_pool_alloc(&model->pool, (size_t)n * (size_t)n, sizeof *mixed);
  if (model->geometry.materials == NULL || model->geometry.laws == NULL || mixed == NULL) {
    return tribo_no_memory("for the model");
  }
  model->geometry.mixed = mixed;
  for (int i = 0; i < n; ++i) {
    model->geometry.materials[i].name = tribo_pool_strdup(&model->pool, scene->materials[i].name);
    for (int k = 0; k < n; ++k) {
      mixed[i * n + k] = mix(&scene->materials[i], &scene->materials[k]);
    }
  }
  for (int i = 0; i < scene->npair; ++i) {
    const ScenePair* pair = &scene->pairs[i];
    TriboMaterialDef def = pair->def;
    def.name = NULL;
    mixed[pair->a * n + pair->b] = mixed[pair->b * n + pair->a] = def;
  }
  for (int i = 0; i < n * n; ++i) {
    model->geometry.laws[i] = law_of(&mixed[i]);
    model->geometry.soft |= tribo_law_is_soft(&model->geometry.laws[i]);
  }
  return TRIBO_OK;
}

// ---- geometries

// A shape as a geometry of the collision world and as a row of the model's table.
static TriboStatus add_geom(TriboModel* model, const TriboShapeDef* def, const TriboHull* hull, TriboSdf* sdf, int body,
                            int material) {
  int id = model->geometry.ngeom;
  TriboGeom* geom = &model->geometry.geoms[id];
  TriboShapeInfo* info = &model->geometry.shapes[id];
  TriboPose local = tribo_pose(def->position, def->quaternion);
  *geom = (TriboGeom){
      .kind = def->kind, .body = body, .contact_offset = def->contact_offset, .group = def->group, .mask = def->mask};
  tribo_copy3(geom->size, def->size);
  geom->local = body == TRIBO_WORLD ? local : tribo_pose_mul(&model->mechanism.body_offset[body], &local);
  TRIBO_TRY(make_hull(def, model, &hull));
  geom->hull = hull;
  TRIBO_TRY(make_sdf(def, model, &sdf));
  geom->sdf = sdf;
  TriboStatus status = make_field(def, model, &geom->field);
  status = status == TRIBO_OK ? tribo_col_geom_validate(geom) : status;
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s: ", def->name);
    return status;
  }
  *info = (TriboShapeInfo){.kind = def->kind, .body = body, .material = material};
  info->name = tribo_pool_strdup(&model->pool, def->name);
  tribo_copy3(info->size, def->size);
  tribo_copy3(info->position, def->position);
  memcpy(info->quaternion, def->quaternion, sizeof info->quaternion);
  memcpy(info->color, def->color, sizeof info->color);
  memcpy(info->repeat, def->repeat, sizeof info->repeat);
  info->per_metre = def->per_metre;
  info->hidden = def->hidden;
  info->texture = tribo_compile_texture(model, def->texture);
  tribo_copy3(info->surface, def->surface);
  tribo_copy3(info->spin, def->spin);
  tribo_copy3(info->grain, def->grain);
  if (geom->hull != NULL) {
    info->npoint = tribo_col_hull_vertices(geom->hull, &info->points);
    info->ntriangle = tribo_col_hull_triangles(geom->hull, &info->triangles);
  }
  if (sdf != NULL) {
    const TriboSdfInfo about = tribo_col_sdf_info(sdf);
    info->field = tribo_col_sdf_name(def->sdf->kind);
    info->samples = about.samples;
    info->cells = about.cells;
    info->contacts = about.contacts;
    info->margin = about.margin;
    TRIBO_TRY(tribo_col_sdf_surface(sdf, &info->points, &info->npoint, &info->triangles, &info->ntriangle));
  }
  if (geom->field != NULL) {
    info->npoint = tribo_col_field_surface(geom->field, &info->points, &info->triangles, &info->ntriangle);
  }
  model->geometry.ngeom++;
  return info->name == NULL ? tribo_no_memory("for the model") : TRIBO_OK;
}

void tribo_compile_tree_geom(const TriboTreeGeom* geom, TriboShapeDef* def) {
  static const TriboShapeKind kinds[] = {TRIBO_SHAPE_SPHERE, TRIBO_SHAPE_BOX, TRIBO_SHAPE_CAPSULE, TRIBO_SHAPE_CYLINDER,
                                         TRIBO_SHAPE_HULL};
  *def = tribo_shape_default();
  def->kind = kinds[geom->shape];
  tribo_copy3(def->size, geom->size);
  def->mesh = geom->mesh;
  tribo_copy3(def->scale, geom->scale);
  tribo_copy3(def->position, geom->local.p);
  tribo_quat_from_mat(def->quaternion, geom->local.R);
  memcpy(def->color, geom->color, sizeof def->color);
}

// A mesh as the parts that no triangle joins, each as its hull. `model` NULL: they are only counted.
static TriboStatus add_components(TriboModel* model, const TriboShapeDef* mesh, int body, int material, int* count) {
  double* points;
  int *first, npiece;
  TRIBO_TRY(tribo_col_mesh_components(mesh->mesh, mesh->scale, &points, &first, &npiece));
  TriboStatus status = TRIBO_OK;
  if (model != NULL) {
    for (int k = 0; k < npiece && status == TRIBO_OK; ++k) {
      char name[340];
      TriboShapeDef piece = *mesh;
      snprintf(name, sizeof name, "%s.%d", mesh->name, k);
      piece.name = name;
      piece.mesh = NULL;
      piece.points = points + 3 * (size_t)first[k];
      piece.npoint = first[k + 1] - first[k];
      status = add_geom(model, &piece, NULL, NULL, body, material);
    }
  }
  tribo_free(points);
  tribo_free(first);
  *count += npiece;
  return status;
}

// The collision shapes a robot's file names; meshes become their convex hulls. `model` NULL: they are only counted.
static TriboStatus add_robot_geoms(const TriboScene* scene, TriboModel* model, const ModelTree* tree, int* count) {
  const TriboTreeInfo* info = tribo_dyn_tree_info(tree->tree);
  if (tree->robot >= 0) {
    for (int i = 0; i < info->ngeom; ++i) {
      const TriboTreeGeom* g = &info->geoms[i];
      TriboShapeDef def;
      tribo_compile_tree_geom(g, &def);
      char name[320];
      snprintf(name, sizeof name, "%s.shape%d", info->links[g->link].name, i);
      def.name = name;
      const TriboRobotDef* robot = &scene->robots[tree->robots[info->links[g->link].file]];
      const int material = tribo_names_find(&scene->material_names, robot->material);
      def.vertices = robot->vertices;
      if (robot->split_components && def.mesh != NULL) {
        TRIBO_TRY(add_components(model, &def, tree->first_body + g->link, material, count));
        continue;
      }
      ++*count;
      if (model != NULL) {
        TRIBO_TRY(add_geom(model, &def, NULL, NULL, tree->first_body + g->link, material));
      }
    }
  }
  return TRIBO_OK;
}

static TriboStatus compile_exclusions(const TriboScene* scene, TriboModel* model) {
  for (int i = 0; i < scene->nexclusion; ++i) {
    int a, b;
    const char* where = scene->exclusion_where[i];
    TRIBO_TRY(tribo_located(tribo_model_body_id(model, scene->exclusions[i].a, &a), where));
    TRIBO_TRY(tribo_located(tribo_model_body_id(model, scene->exclusions[i].b, &b), where));
    TRIBO_TRY(tribo_compile_exclude(model, a, b));
  }
  return TRIBO_OK;
}

TriboStatus tribo_compile_shapes(const TriboScene* scene, TriboModel* model, const int* scene_body) {
  TRIBO_TRY(compile_materials(scene, model));
  int ngeom = scene->nshape;
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    TRIBO_TRY(add_robot_geoms(scene, NULL, &model->mechanism.trees[t], &ngeom));
  }
  model->geometry.geoms = tribo_pool_alloc(&model->pool, (size_t)ngeom, sizeof *model->geometry.geoms);
  model->geometry.shapes = tribo_pool_alloc(&model->pool, (size_t)ngeom, sizeof *model->geometry.shapes);
  if (model->geometry.geoms == NULL || model->geometry.shapes == NULL) {
    return tribo_no_memory("for the model");
  }
  for (int i = 0; i < scene->nshape; ++i) {
    const SceneShape* shape = &scene->shapes[i];
    int body = shape->body == TRIBO_WORLD ? TRIBO_WORLD : scene_body[shape->body];
    int material = tribo_names_find(&scene->material_names, shape->def.material);
    TriboSdf** sdf = &model->geometry.scene_sdfs[i];
    *sdf = *sdf != NULL ? *sdf : find_sdf(scene, model, i);
    TRIBO_TRY(tribo_located(make_sdf(&shape->def, model, sdf), scene->shape_where[i]));
    TRIBO_TRY(tribo_located(add_geom(model, &shape->def, model->geometry.scene_hulls[i], *sdf, body, material),
                            scene->shape_where[i]));
  }
  for (int t = 0; t < model->mechanism.ntree; ++t) {
    int count = 0;
    TRIBO_TRY(add_robot_geoms(scene, model, &model->mechanism.trees[t], &count));
  }
  TRIBO_TRY(compile_exclusions(scene, model));
  TriboColWorldDef def = {.geoms = model->geometry.geoms,
                          .ngeom = model->geometry.ngeom,
                          .nbody = model->nbody,
                          .excluded = (const int(*)[2])model->geometry.excluded,
                          .nexcluded = model->geometry.nexcluded};
  return tribo_col_world_create(&def, &model->geometry.collision);
}
