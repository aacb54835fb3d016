// The draw list without OpenGL: meshes against closed forms, bounds against vertices, overlays, cameras.
#include "worlds.h"

static const double PI = 3.14159265358979323846;

static void rotate(const double q[4], const double v[3], double out[3]) {
  // by the matrix, so that it shares nothing with the code under test
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  out[0] = (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - w * z) * v[1] + 2 * (x * z + w * y) * v[2];
  out[1] = 2 * (x * y + w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - w * x) * v[2];
  out[2] = 2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

// Where a vertex of an instance's mesh lands, as viewer.h says it.
static void land(const TriboDrawList* list, const TriboDrawInstance* instance, unsigned vertex, double out[3]) {
  int n;
  const TriboDrawVertex* v =
      &tribo_view_list_vertices(list, &n)[tribo_view_list_meshes(list, &n)[instance->mesh].first_vertex + (int)vertex];
  double p[3];
  for (int i = 0; i < 3; ++i) {
    p[i] = (double)v->xyz[i] * instance->scale[i];
  }
  p[2] += (double)v->w * instance->scale[3];
  rotate(instance->quaternion, p, out);
  for (int i = 0; i < 3; ++i) {
    out[i] += instance->position[i];
  }
}

// The volume inside an instance's triangles by the divergence theorem: right only when the mesh is closed and every
// triangle faces outwards.
static double volume(const TriboDrawList* list, const TriboDrawInstance* instance) {
  int n;
  const TriboDrawMesh* mesh = &tribo_view_list_meshes(list, &n)[instance->mesh];
  const unsigned* index = tribo_view_list_indices(list, &n) + mesh->first_index;
  double sum = 0;
  for (int t = 0; t < mesh->nindex; t += 3) {
    double a[3], b[3], c[3];
    land(list, instance, index[t], a);
    land(list, instance, index[t + 1], b);
    land(list, instance, index[t + 2], c);
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6;
}

static const double octahedron[] = {1, 0, 0, -1, 0, 0, 0, 2, 0, 0, -2, 0, 0, 0, 3, 0, 0, -3};

static TriboShapeDef octahedral(void) {
  TriboShapeDef hull = tribo_shape_default();
  hull.kind = TRIBO_SHAPE_HULL;
  hull.points = octahedron;
  hull.npoint = 6;
  return hull;
}

// One of every kind that has a volume, in random poses.
static World menagerie(KitRandom* random) {
  World world = world_begin();
  const TriboShapeDef shapes[] = {
      world_shape(TRIBO_SHAPE_SPHERE, 0.5, 0, 0),
      world_shape(TRIBO_SHAPE_BOX, 0.2, 0.5, 1.1),
      world_shape(TRIBO_SHAPE_CAPSULE, 0.3, 0.8, 0),
      world_shape(TRIBO_SHAPE_CYLINDER, 0.4, 0.7, 0),
      world_shape(TRIBO_SHAPE_CONE, 0.5, 1.2, 0),
      world_shape(TRIBO_SHAPE_ELLIPSOID, 0.2, 0.4, 0.9),
      octahedral(),
  };
  for (int i = 0; i < 7; ++i) {
    double q[4];
    kit_rotation(random, q);
    world_body(&world, &shapes[i], 5.0 * i, kit_uniform(random, -3, 3), kit_uniform(random, -3, 3), q);
  }
  world_end(&world, NULL);
  return world;
}

static void volumes_are_those_of_the_shapes(void** state) {
  (void)state;
  KitRandom random = {1};
  World world = menagerie(&random);
  int n;
  const TriboDrawInstance* instances = tribo_view_list_instances(world.list, &n);
  assert_int_equal(n, 7);
  // flat triangles lie inside round surfaces: up to 1.5 % is missing, nothing is added
  const double exact[] = {4 * PI / 3 * 0.125, 0.2 * 0.5 * 1.1,     4 * PI / 3 * 0.027 + PI * 0.09 * 0.8,
                          PI * 0.16 * 0.7,    PI * 0.25 * 1.2 / 3, 4 * PI / 3 * 0.2 * 0.4 * 0.9,
                          8.0 / 6 * 1 * 2 * 3};
  for (int i = 0; i < n; ++i) {
    double v = volume(world.list, &instances[i]);
    CHECK_LE(v, exact[i] * (1 + 1e-5));
    CHECK_LE(exact[i] * (i == 1 || i == 6 ? 1 - 1e-5 : 0.985), v);
  }
  world_destroy(&world);
}

static void normals_are_unit_and_face_outwards(void** state) {
  (void)state;
  KitRandom random = {2};
  World world = menagerie(&random);
  int nmesh, n;
  const TriboDrawMesh* meshes = tribo_view_list_meshes(world.list, &nmesh);
  const TriboDrawVertex* vertices = tribo_view_list_vertices(world.list, &n);
  const unsigned* indices = tribo_view_list_indices(world.list, &n);
  assert_int_equal(nmesh, TRIBO_MESH_BUILTIN + 1);
  for (int m = 0; m < nmesh; ++m) {
    for (int t = 0; t < meshes[m].nindex; t += 3) {
      const TriboDrawVertex* v[3];
      double u[2][3];
      for (int k = 0; k < 3; ++k) {
        v[k] = &vertices[meshes[m].first_vertex + (int)indices[meshes[m].first_index + t + k]];
        const float* a = v[k]->normal;
        CHECK_NEAR(a[0] * a[0] + a[1] * a[1] + a[2] * a[2], 1, 0.002);
      }
      for (int i = 0; i < 3; ++i) {
        double stretch0 = i == 2 ? 20.0 * (double)v[0]->w : 0, stretch1 = i == 2 ? 20.0 * (double)v[1]->w : 0,
               stretch2 = i == 2 ? 20.0 * (double)v[2]->w : 0;
        u[0][i] = v[1]->xyz[i] + stretch1 - v[0]->xyz[i] - stretch0;
        u[1][i] = v[2]->xyz[i] + stretch2 - v[0]->xyz[i] - stretch0;
      }
      const double face[3] = {u[0][1] * u[1][2] - u[0][2] * u[1][1], u[0][2] * u[1][0] - u[0][0] * u[1][2],
                              u[0][0] * u[1][1] - u[0][1] * u[1][0]};
      double size = sqrt(face[0] * face[0] + face[1] * face[1] + face[2] * face[2]);
      assert_true(size > 0);
      for (int k = 0; k < 3; ++k) {
        const float* a = v[k]->normal;
        CHECK_LE(0.85, (face[0] * a[0] + face[1] * a[1] + face[2] * a[2]) / size);
      }
    }
  }
  world_destroy(&world);
}

static void bounds_hold_every_vertex_and_are_tight(void** state) {
  (void)state;
  KitRandom random = {3};
  for (int trial = 0; trial < 20; ++trial) {
    World world = menagerie(&random);
    int n, nmesh;
    const TriboDrawInstance* instances = tribo_view_list_instances(world.list, &n);
    const TriboDrawMesh* meshes = tribo_view_list_meshes(world.list, &nmesh);
    double lo[3], hi[3], least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
    assert_true(tribo_view_list_bounds(world.list, lo, hi));
    for (int i = 0; i < n; ++i) {
      for (int v = 0; v < meshes[instances[i].mesh].nvertex; ++v) {
        double p[3];
        land(world.list, &instances[i], (unsigned)v, p);
        for (int k = 0; k < 3; ++k) {
          least[k] = fmin(least[k], p[k]), most[k] = fmax(most[k], p[k]);
        }
      }
    }
    for (int k = 0; k < 3; ++k) {
      // round meshes lie a little inside their shapes
      CHECK_LE(lo[k], least[k] + 1e-6);
      CHECK_LE(most[k], hi[k] + 1e-6);
      CHECK_NEAR(lo[k], least[k], 0.006);
      CHECK_NEAR(hi[k], most[k], 0.006);
    }
    world_destroy(&world);
  }
}

static void shapes_sit_on_their_bodies(void** state) {
  (void)state;
  KitRandom random = {5};
  World world = world_begin();
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 2, 2, 2);
  double q[4];
  const double place[3] = {1, -2, 3};
  kit_rotation(&random, box.quaternion);
  kit_rotation(&random, q);
  memcpy(box.position, place, sizeof place);
  world_body(&world, &box, 10, 20, 30, q);
  world_end(&world, NULL);
  int n;
  const TriboDrawInstance* instance = tribo_view_list_instances(world.list, &n);
  const TriboDrawVertex* vertices =
      tribo_view_list_vertices(world.list, &n) + tribo_view_list_meshes(world.list, &n)[TRIBO_MESH_BOX].first_vertex;
  // corners through the shape's frame, then the body's
  TriboView x, r;
  CHECK_OK(tribo_data_view(world.model, world.data, TRIBO_FIELD_POSITION, &x));
  CHECK_OK(tribo_data_view(world.model, world.data, TRIBO_FIELD_QUATERNION, &r));
  for (unsigned v = 0; v < 24; ++v) {
    double corner[3] = {vertices[v].xyz[0], vertices[v].xyz[1], vertices[v].xyz[2]}, on_body[3], there[3], drawn[3];
    rotate(box.quaternion, corner, on_body);
    for (int i = 0; i < 3; ++i) {
      on_body[i] += place[i];
    }
    rotate(r.values, on_body, there);
    land(world.list, instance, v, drawn);
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(drawn[i], there[i] + x.values[i], 1e-9);
    }
  }
  world_destroy(&world);
}

static void equal_hulls_share_a_mesh(void** state) {
  (void)state;
  World world = world_begin();
  TriboShapeDef hull = octahedral();
  for (int i = 0; i < 30; ++i) {
    world_body(&world, &hull, 5.0 * i, 0, 0, NULL);
  }
  double other[18];
  memcpy(other, octahedron, sizeof other);
  other[0] = 1.5;
  hull.points = other;
  world_body(&world, &hull, -5, 0, 0, NULL);
  world_end(&world, NULL);
  int n;
  tribo_view_list_meshes(world.list, &n);
  assert_int_equal(n, TRIBO_MESH_BUILTIN + 2);
  world_destroy(&world);
}

static void overlays_mark_what_is_there(void** state) {
  (void)state;
  World world = world_begin();
  world_ground(&world);
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 1, 1, 1);
  world_body(&world, &box, 0, 0, 0.5, NULL);
  TriboDrawOptions options = {.size = 10};
  world_end(&world, &options);
  CHECK_OK(tribo_step(world.model, world.data, NULL));
  const TriboContactView* contacts;
  int ncontact, n;
  CHECK_OK(tribo_data_contacts(world.model, world.data, &contacts, &ncontact));
  assert_int_equal(ncontact, 4);
  // points stand at the contacts, the four arrows carry the weight
  VIEW_OK(tribo_view_overlay_parse("contacts,forces", &options.overlays));
  options.force_scale = 1e-3;
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  const TriboDrawInstance* instances = tribo_view_list_instances(world.list, &n);
  assert_int_equal(n, 2 + 4 + 4);
  double length = 0;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(instances[2 + i].position[k], contacts[i].point[k], 0);
    }
    const TriboDrawInstance* arrow = &instances[6 + i];
    const double z[3] = {0, 0, 1};
    double direction[3];
    rotate(arrow->quaternion, z, direction);
    assert_true(arrow->mesh == TRIBO_MESH_ARROW && arrow->overlay);
    length += arrow->scale[3] * direction[2];
  }
  CHECK_NEAR(length, 1e-3 * 1000 * 9.81, 1e-3);
  // the others: three axes, one centre, twelve edges; what is drawn over the scene does not widen it
  VIEW_OK(tribo_view_overlay_parse("frames,com,aabb", &options.overlays));
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  tribo_view_list_instances(world.list, &n);
  assert_int_equal(n, 2 + 3 + 1 + 12);
  double lo[3], hi[3];
  assert_true(tribo_view_list_bounds(world.list, lo, hi));
  CHECK_NEAR(hi[2], 1, 1e-5);
  VIEW_FAILS(tribo_view_overlay_parse("contacts,force", &options.overlays), TRIBO_INVALID, "no overlay 'force'");
  VIEW_FAILS(tribo_view_overlay_parse(",", &options.overlays), TRIBO_INVALID, "accepted are contacts, forces");
  for (int i = 0; i < TRIBO_OVERLAY_COUNT; ++i) {
    VIEW_OK(tribo_view_overlay_parse(tribo_view_overlay_name(i), &options.overlays));
    assert_int_equal(options.overlays, 1u << i);
  }
  world_destroy(&world);
}

// A body that has visuals shows these, or on request what collides; others always show what they have.
static void bodies_wear_their_visuals(void** state) {
  (void)state;
  World world = world_begin();
  TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 1, 1, 1), ball = world_shape(TRIBO_SHAPE_SPHERE, 0.5, 0, 0);
  TriboShapeDef hull = octahedral();
  hull.position[2] = 0.25;
  world_body(&world, &box, 0, 0, 0, NULL);
  world_body(&world, &ball, 5, 0, 0, NULL);
  CHECK_OK(tribo_scene_add_visual(world.scene, 0, &hull, NULL));
  CHECK_OK(tribo_scene_add_visual(world.scene, TRIBO_WORLD, &ball, NULL));
  world_end(&world, NULL);
  int n, nmesh;
  const TriboDrawInstance* i = tribo_view_list_instances(world.list, &n);
  assert_int_equal(n, 3);
  assert_true(i[0].mesh == TRIBO_MESH_SPHERE && i[0].body == 1 && i[0].of == 1);
  assert_true(i[1].mesh == TRIBO_MESH_BUILTIN && i[1].body == 0 && i[1].of == -1);
  assert_true(tribo_view_list_meshes(world.list, &nmesh)[i[1].mesh].open);
  CHECK_NEAR(i[1].position[2], 0.25, 1e-12);
  assert_true(i[2].body == TRIBO_WORLD && i[2].of == -1);
  // a ray finds the body through what is seen of it, from inside too
  TriboHit hit;
  assert_true(tribo_view_pick(world.list, (const double[3]){0.1, 0.1, 9}, (const double[3]){0, 0, -1}, &hit));
  assert_true(hit.body == 0 && hit.shape == -1);
  assert_true(tribo_view_pick(world.list, (const double[3]){0.1, 0.1, 1}, (const double[3]){0, 0, 1}, &hit));
  assert_int_equal(hit.body, 0);
  const TriboDrawOptions options = {.overlays = 1u << TRIBO_OVERLAY_COLLISION};
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  i = tribo_view_list_instances(world.list, &n);
  assert_int_equal(n, 2);
  assert_true(i[0].mesh == TRIBO_MESH_BOX && i[1].mesh == TRIBO_MESH_SPHERE);
  world_destroy(&world);
}

static void cameras_are_found(void** state) {
  (void)state;
  KitRandom random = {4};
  World world = menagerie(&random);
  TriboCameraDef camera;
  // without cameras: one that sees every corner, on any shape of picture
  for (double aspect = 0.3; aspect < 3; aspect *= 1.7) {
    VIEW_OK(tribo_view_camera(world.model, world.list, NULL, aspect, &camera));
    double lo[3], hi[3], forward[3], right[3], above[3], length = 0, widest = 0;
    tribo_view_list_bounds(world.list, lo, hi);
    for (int i = 0; i < 3; ++i) {
      forward[i] = camera.target[i] - camera.eye[i];
      length += forward[i] * forward[i];
    }
    for (int i = 0; i < 3; ++i) {
      forward[i] /= sqrt(length);
    }
    const double side = sqrt(forward[0] * forward[0] + forward[1] * forward[1]);
    right[0] = forward[1] / side, right[1] = -forward[0] / side, right[2] = 0;
    above[0] = right[1] * forward[2], above[1] = -right[0] * forward[2],
    above[2] = right[0] * forward[1] - right[1] * forward[0];
    for (int corner = 0; corner < 8; ++corner) {
      double x = 0, y = 0, z = 0;
      for (int i = 0; i < 3; ++i) {
        double d = (corner >> i & 1 ? hi[i] : lo[i]) - camera.eye[i];
        x += d * right[i], y += d * above[i], z += d * forward[i];
      }
      double t = tan(camera.fov / 2);
      widest = fmax(widest, fmax(fabs(x) / (z * t * aspect), fabs(y) / (z * t)));
    }
    CHECK_LE(widest, 0.9);
    CHECK_LE(0.85, widest);
  }
  VIEW_FAILS(tribo_view_camera(world.model, world.list, "0", 1, &camera), TRIBO_NOT_FOUND, "no camera '0'");
  world_destroy(&world);

  world = world_begin();
  TriboCameraDef def = tribo_camera_default();
  def.name = "front";
  CHECK_OK(tribo_scene_add_camera(world.scene, &def));
  def.name = "top", def.eye[2] = 77;
  CHECK_OK(tribo_scene_add_camera(world.scene, &def));
  world_end(&world, NULL);
  VIEW_OK(tribo_view_camera(world.model, world.list, NULL, 1, &camera));
  assert_string_equal(camera.name, "front");
  VIEW_OK(tribo_view_camera(world.model, world.list, "top", 1, &camera));
  CHECK_NEAR(camera.eye[2], 77, 0);
  VIEW_OK(tribo_view_camera(world.model, world.list, "1", 1, &camera));
  CHECK_NEAR(camera.eye[2], 77, 0);
  VIEW_FAILS(tribo_view_camera(world.model, world.list, "2", 1, &camera), TRIBO_NOT_FOUND, "the scene has 2");
  VIEW_FAILS(tribo_view_camera(world.model, world.list, "side", 1, &camera), TRIBO_NOT_FOUND, "no camera 'side'");
  world_destroy(&world);
}

// Mounted it moves and turns with the body, following it only moves, aiming it looks at a centre of mass.
static void cameras_move_with_bodies(void** state) {
  (void)state;
  World world = world_begin();
  const TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 1, 1, 1);
  const double quarter[4] = {0, 0, sqrt(0.5), sqrt(0.5)};
  world_body(&world, &box, 1, 2, 3, quarter);
  world_body(&world, &box, 5, 6, 7, NULL);
  TriboCameraDef def = {.name = "mounted", .eye = {1, 0, 0}, .target = {2, 0, 1}, .up = {0, 1, 0}, .fov = 1};
  def.body = "body0";
  CHECK_OK(tribo_scene_add_camera(world.scene, &def));
  def.name = "following", def.follow = 1;
  CHECK_OK(tribo_scene_add_camera(world.scene, &def));
  def.name = "aiming", def.follow = 0, def.aim = "body1";
  CHECK_OK(tribo_scene_add_camera(world.scene, &def));
  def.body = NULL, def.follow = 1;
  CHECK_FAILS(tribo_scene_add_camera(world.scene, &def), TRIBO_INVALID, "a body to follow");
  world_end(&world, NULL);
  const double eyes[3][3] = {{1, 3, 3}, {2, 2, 3}, {1, 3, 3}}, targets[3][3] = {{1, 4, 4}, {3, 2, 4}, {5, 6, 7}},
               ups[3][3] = {{-1, 0, 0}, {0, 1, 0}, {0, 1, 0}};
  for (int k = 0; k < 3; ++k) {
    TriboCameraDef camera;
    VIEW_OK(tribo_view_camera(world.model, world.list, (const char*[]){"mounted", "following", "2"}[k], 1, &camera));
    assert_true(tribo_view_camera_is_mounted(tribo_model_camera(world.model, k)) &&
                !tribo_view_camera_is_mounted(&camera));
    for (int i = 0; i < 3; ++i) {
      CHECK_NEAR(camera.eye[i], eyes[k][i], 1e-12);
      CHECK_NEAR(camera.target[i], targets[k][i], 1e-12);
      CHECK_NEAR(camera.up[i], ups[k][i], 1e-12);
    }
  }
  world_destroy(&world);
  // a body that is not there
  world = world_begin();
  def = (TriboCameraDef){.eye = {1, 0, 0}, .up = {0, 0, 1}, .fov = 1, .body = "nobody"};
  CHECK_OK(tribo_scene_add_camera(world.scene, &def));
  CHECK_FAILS(tribo_model_create(world.scene, &world.model), TRIBO_NOT_FOUND, "nobody");
  world_destroy(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(volumes_are_those_of_the_shapes),
      cmocka_unit_test(normals_are_unit_and_face_outwards),
      cmocka_unit_test(bounds_hold_every_vertex_and_are_tight),
      cmocka_unit_test(equal_hulls_share_a_mesh),
      cmocka_unit_test(shapes_sit_on_their_bodies),
      cmocka_unit_test(overlays_mark_what_is_there),
      cmocka_unit_test(bodies_wear_their_visuals),
      cmocka_unit_test(cameras_are_found),
      cmocka_unit_test(cameras_move_with_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
