// What is drawn over the bodies and asked of a picture, against closed forms and by other ways of counting.
#include <stdlib.h>

#include "worlds.h"

static TriboDrawOptions with(const char* overlays) {
  TriboDrawOptions options = {.size = 10};
  VIEW_OK(tribo_view_overlay_parse(overlays, &options.overlays));
  return options;
}

// Instances behind those of the shapes.
static const TriboDrawInstance* marks(World* world, const TriboDrawOptions* options, int* n) {
  VIEW_OK(tribo_view_list_fill(world->list, world->model, world->data, options));
  int shapes = tribo_model_size(world->model).nshape;
  const TriboDrawInstance* instances = tribo_view_list_instances(world->list, n) + shapes;
  *n -= shapes;
  return instances;
}

static void turn(const double q[4], const double v[3], double out[3]) {
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  out[0] = (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - w * z) * v[1] + 2 * (x * z + w * y) * v[2];
  out[1] = 2 * (x * y + w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - w * x) * v[2];
  out[2] = 2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

static void turn_z(const double q[4], double out[3]) {
  turn(q, (const double[3]){0, 0, 1}, out);
}

static World from_text(const char* text) {
  World world = {.scene = scene_of_text(text)};
  world_end(&world, NULL);
  return world;
}

static World resting_boxes(void) {
  // two on each other, and one that slides
  return from_text(
      "materials: {default: {friction: 0.4}}\nstatic: [{plane: [0, 0, 1]}]\nbodies:\n"
      "  - {name: low, position: [0, 0, 0.5], box: [1, 1, 1], color: [0.5, 0.5, 0.5]}\n"
      "  - {name: high, position: [0.2, 0, 1.5], box: [1, 1, 1], color: [0.5, 0.5, 0.5]}\n"
      "  - {name: slides, position: [5, 0, 0.49995], box: [1, 1, 1], velocity: [3, 0, 0]}\n"
      "  - {name: flies, position: [9, 0, 5], sphere: 0.5}\n");
}

static void cones_stand_on_their_contacts(void** state) {
  (void)state;
  World world = resting_boxes();
  CHECK_OK(tribo_step(world.model, world.data, NULL));
  TriboDrawOptions options = with("cones");
  int n, closed = 0;
  const TriboDrawInstance* cones = marks(&world, &options, &n);
  const TriboDrawFacts* facts = tribo_view_list_facts(world.list);
  for (int i = 0; i < facts->ncontact; ++i) {
    closed += facts->contacts[i].mode != TRIBO_CONTACT_OPEN;
  }
  assert_true(n == closed && n >= 8);
  for (int i = 0; i < n; ++i) {
    const TriboContactView* c = &facts->contacts[cones[i].of];
    double z[3];
    turn_z(cones[i].quaternion, z);
    // its slope is the friction, its tip the contact, its axis the normal
    CHECK_NEAR(cones[i].scale[0] / (2 * cones[i].scale[2]), 0.4, 1e-6);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(cones[i].position[k] + cones[i].scale[2] * z[k], c->point[k], 1e-6);
      CHECK_NEAR(z[k], -c->normal[k], 1e-9);
    }
  }
  options = with("normals");
  const TriboDrawInstance* arrows = marks(&world, &options, &n);
  assert_int_equal(n, facts->ncontact);
  for (int i = 0; i < n; ++i) {
    double z[3];
    turn_z(arrows[i].quaternion, z);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(z[k], facts->contacts[i].normal[k], 1e-9);
    }
  }
  world_destroy(&world);
}

static void inertia_is_that_of_an_ellipsoid(void** state) {
  (void)state;
  KitRandom random = {7};
  for (int trial = 0; trial < 10; ++trial) {
    World world = world_begin();
    // a box turned in its body: the body's inertia is no diagonal matrix
    TriboShapeDef box = world_shape(TRIBO_SHAPE_BOX, 0.2, 0.5, 1.1);
    double q[4];
    kit_rotation(&random, box.quaternion);
    kit_rotation(&random, q);
    world_body(&world, &box, 1, 2, 3, q);
    world_end(&world, NULL);
    TriboDrawOptions options = with("inertia");
    int n;
    const TriboDrawInstance* e = marks(&world, &options, &n);
    assert_int_equal(n, 1);
    // a box of lengths L and an ellipsoid of half axes √(5/12) L have the same moments, and the same axes
    const TriboDrawInstance* shape = e - 1;
    for (int i = 0; i < 3; ++i) {
      double axis[3] = {0}, drawn[3], own[3], found = 0;
      axis[i] = 1;
      turn(shape->quaternion, axis, own);
      for (int k = 0; k < 3; ++k) {
        double unit[3] = {0};
        unit[k] = 1;
        turn(e->quaternion, unit, drawn);
        double along = fabs(drawn[0] * own[0] + drawn[1] * own[1] + drawn[2] * own[2]);
        if (along > 0.999999) {
          CHECK_NEAR(e->scale[k], sqrt(5.0 / 12) * 2 * shape->scale[i], 1e-5);
          found++;
        }
      }
      CHECK_NEAR(found, 1, 0);
    }
    world_destroy(&world);
  }
}

static void joints_and_closures_show_where_they_are(void** state) {
  (void)state;
  World world = from_text(
      "bodies:\n"
      "  - {name: arm, position: [1, 0, 0], box: [1, 0.1, 0.1]}\n"
      "  - {name: cart, position: [4, 0, 0], box: [0.1, 0.1, 0.1]}\n"
      "  - {name: ball, position: [0, 3, 0], sphere: 0.1}\n"
      "  - {name: other, position: [0, 5, 0], sphere: 0.1}\n"
      "joints:\n"
      "  - {name: hinge, kind: revolute, parent: world, child: arm, anchor: [0.5, 0, 0], axis: [0, 1, 0],"
      " lower: -0.5, upper: 1, position: 0.25}\n"
      "  - {name: rail, kind: prismatic, parent: world, child: cart, anchor: [4, 0, 0], axis: [0, 0, 1], lower: -1,"
      " upper: 2, position: 0.5}\n"
      "closures: [{kind: distance, body_a: ball, body_b: other, anchor: [0, 3, 0.1], anchor2: [0, 5, 0]}]\n");
  TriboDrawOptions options = with("joints");
  int n, bars = 0;
  const TriboDrawInstance* m = marks(&world, &options, &n);
  double lowest = INFINITY, highest = -INFINITY, nearest[2] = {INFINITY, INFINITY};
  for (int i = 0; i < n; ++i) {
    if (m[i].mesh == TRIBO_MESH_ARROW && fabs(m[i].position[0] - 0.5) < 1e-9) {
      double z[3];
      turn_z(m[i].quaternion, z);
      CHECK_NEAR(z[1], 1, 1e-9);
      CHECK_NEAR(m[i].position[1], -0.6, 1e-6);  // half of 0.12 × 10 m in front of the anchor
    } else if (m[i].mesh == TRIBO_MESH_BOX && m[i].position[0] < 2) {
      // the arc lies in the plane of the motion, half a metre around the anchor
      CHECK_NEAR(m[i].position[1], 0, 1e-9);
      bars++;
      double d = hypot(m[i].position[0] - 0.5, m[i].position[2]);
      nearest[0] = fmin(nearest[0], fabs(d - 0.5));
      CHECK_LE(d, 0.5001);
    } else if (m[i].mesh == TRIBO_MESH_BOX) {
      lowest = fmin(lowest, m[i].position[2] - m[i].scale[2]);
      highest = fmax(highest, m[i].position[2] + m[i].scale[2]);
    }
  }
  assert_true(bars > 5);
  CHECK_LE(nearest[0], 0.01);
  // the way of the slider stays where its limits are, wherever it stands
  CHECK_NEAR(lowest, -1, 1e-6);
  CHECK_NEAR(highest, 2, 1e-6);
  options = with("closures");
  m = marks(&world, &options, &n);
  // a ball at each end, one bar from either body (one has its centre at the end), the rod between them
  int rods = 0;
  for (int i = 0; i < n; ++i) {
    rods += m[i].mesh == TRIBO_MESH_BOX && fabs(2 * m[i].scale[2] - hypot(2, 0.1)) < 1e-6;
  }
  assert_int_equal(rods, 1);
  assert_int_equal(n, 2 + 1 + 1);
  world_destroy(&world);
}

// Efforts are arrows along axes, the largest a fifth of the picture long; a slider's is its force.
static void efforts_point_along_their_axes(void** state) {
  (void)state;
  World world = {0};
  world.scene = scene_of_text(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies: [{name: a, box: [1, 1, 1]}, {name: b, box: [1, 1, 1], position: [0, 0, 3]}]\n"
      "joints:\n  - {name: turn, kind: revolute, parent: world, child: a, axis: [0, 1, 0]}\n"
      "  - {name: slide, kind: prismatic, parent: a, child: b, anchor: [0, 0, 3], axis: [1, 0, 0]}\n"
      "motors: [{joint: turn, damping: 5, velocity: 1}]\n");
  // as they are told, by the place of the joints among the velocities
  const double given[2] = {4, -2};
  TriboDrawOptions options = {.overlays = 1u << TRIBO_OVERLAY_EFFORTS, .size = 10, .efforts = given};
  world_end(&world, &options);
  const double expected[2][3] = {{0, 2, 0}, {-1, 0, 0}};
  for (int pass = 0; pass < 2; ++pass) {
    int n, found = 0;
    const TriboDrawInstance* instances = tribo_view_list_instances(world.list, &n);
    for (int i = 0; i < n; ++i) {
      if (instances[i].mesh == TRIBO_MESH_ARROW) {
        double z[3];
        turn_z(instances[i].quaternion, z);
        for (int k = 0; k < 3; ++k) {
          CHECK_NEAR((double)instances[i].scale[3] * z[k], expected[found][k], 1e-3);
        }
        found++;
      }
    }
    assert_int_equal(found, pass == 0 ? 2 : 1);
    // those of the scene: its motor turns the first, nothing drives the other
    CHECK_OK(tribo_step(world.model, world.data, NULL));
    options.efforts = NULL;
    VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  }
  world_destroy(&world);
}

static void colours_tell_islands_and_depth(void** state) {
  (void)state;
  World world = resting_boxes();
  CHECK_OK(tribo_step(world.model, world.data, NULL));
  TriboDrawOptions options = with("islands");
  int n;
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  const TriboDrawInstance* i = tribo_view_list_instances(world.list, &n) + 1;
  assert_memory_equal(i[0].color, i[1].color, sizeof i->color);
  assert_memory_not_equal(i[0].color, i[2].color, sizeof i->color);
  CHECK_NEAR(i[3].color[0], i[3].color[2], 0);  // grey: it flies
  options = with("penetration");
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  i = tribo_view_list_instances(world.list, &n) + 1;
  // the slider is 50 µm deep, near the green of 0.1 mm; the others are not deeper than a micrometre
  assert_true(i[2].color[1] > i[2].color[2] && i[2].color[1] > i[2].color[0]);
  assert_true(i[0].color[2] > i[0].color[1]);
  options = with("transparent,wireframe");
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  i = tribo_view_list_instances(world.list, &n);
  CHECK_NEAR(i[0].color[3], 1, 0);  // the ground is no body
  CHECK_NEAR(i[1].color[3], 0.35, 1e-6);
  options = (TriboDrawOptions){.selected = 2};
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  i = tribo_view_list_instances(world.list, &n);
  assert_true(i[2].color[0] > i[2].color[2] + 0.2f);
  CHECK_NEAR(i[1].color[0], i[1].color[2], 1e-6);
  world_destroy(&world);
}

static void who_sleeps_is_dim(void** state) {
  (void)state;
  World world = from_text(
      "world: {sleep: 0.05}\nstatic: [{plane: [0, 0, 1]}]\nbodies:\n"
      "  - {name: rests, position: [0, 0, 0.5], box: [1, 1, 1], color: [0.5, 0.4, 0.8]}\n"
      "  - {name: flies, position: [9, 0, 5], sphere: 0.5, color: [0.5, 0.4, 0.8]}\n");
  const TriboDrawOptions plain = {.size = 10};
  const float day[3] = {0.5f, 0.4f, 0.8f};
  for (int steps = 0; steps <= 100; steps += 100) {
    for (int i = 0; i < steps; ++i) {
      CHECK_OK(tribo_step(world.model, world.data, NULL));
    }
    int n;
    VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &plain));
    const TriboDrawInstance* bodies = tribo_view_list_instances(world.list, &n) + 1;
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(bodies[0].color[k], (steps > 0 ? 0.45 : 1) * day[k], 1e-6);
      CHECK_NEAR(bodies[1].color[k], day[k], 1e-6);
    }
  }
  world_destroy(&world);
}

static void trails_follow_the_fall(void** state) {
  (void)state;
  World world = resting_boxes();
  TriboTrails* trails;
  VIEW_OK(tribo_view_trails_create(world.model, &trails));
  for (int i = 0; i < 500; ++i) {
    VIEW_OK(tribo_view_trails_add(trails, world.model, world.data));
    CHECK_OK(tribo_step(world.model, world.data, NULL));
  }
  TriboDrawOptions options = with("trails");
  options.size = 1;
  options.trails = trails;
  int n, flying = 0;
  const TriboDrawInstance* m = marks(&world, &options, &n);
  double length = 0;
  for (int i = 0; i < n; ++i) {
    if (fabs(m[i].position[0] - 9) < 1e-6) {
      length += 2 * (double)m[i].scale[2];
      flying++;
    }
  }
  // half a second of free fall, in at most one bar per 1/60 s
  CHECK_NEAR(length, 0.5 * 9.81 * 0.25, 1e-5);
  CHECK_LE(flying, 31);
  assert_true(flying > 20);
  // back at the start nothing is left of it
  tribo_data_reset(world.model, world.data);
  VIEW_OK(tribo_view_trails_add(trails, world.model, world.data));
  marks(&world, &options, &n);
  assert_int_equal(n, 0);
  tribo_view_trails_destroy(trails);
  world_destroy(&world);
}

static void rays_find_what_is_there(void** state) {
  (void)state;
  World world = resting_boxes();
  CHECK_OK(tribo_step(world.model, world.data, NULL));
  TriboDrawOptions options = with("contacts");
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, &options));
  TriboHit hit;
  const double down[3] = {0, 0, -2}, up[3] = {0, 0, 1}, front[3] = {0.1, -9, 1.7}, along[3] = {0, 1, 0};
  assert_true(tribo_view_pick(world.list, (const double[3]){9.1, 0, 10}, down, &hit));
  assert_string_equal(tribo_model_body(world.model, hit.body)->name, "flies");
  CHECK_NEAR(hit.point[2], 5 + sqrt(0.25 - 0.01), 2e-3);
  CHECK_NEAR(hit.distance, (10 - hit.point[2]) / 2, 1e-9);
  assert_true(tribo_view_pick(world.list, front, along, &hit));
  assert_string_equal(tribo_model_body(world.model, hit.body)->name, "high");
  CHECK_NEAR(hit.point[1], -0.5, 1e-4);
  assert_true(tribo_view_pick(world.list, (const double[3]){-30, 7, 10}, down, &hit));
  assert_true(hit.body == TRIBO_WORLD && hit.shape == 0 && hit.contact < 0);
  CHECK_NEAR(hit.point[2], 0, 1e-9);
  assert_false(tribo_view_pick(world.list, (const double[3]){-30, 7, 10}, up, &hit));
  // a mark behind a face is found through it
  const TriboContactView* c = &tribo_view_list_facts(world.list)->contacts[0];
  assert_true(tribo_view_pick(world.list, (const double[3]){c->point[0] + 0.001, c->point[1] + 0.001, 10}, down, &hit));
  assert_true(hit.contact >= 0);
  CHECK_NEAR(tribo_view_list_facts(world.list)->contacts[hit.contact].point[0], c->point[0], 1e-6);
  // the ray through a point of the picture: at the right rim, half the width away
  TriboCameraDef camera = tribo_camera_default();
  const double eye[3] = {0, -10, 0}, target[3] = {0, 0, 0};
  memcpy(camera.eye, eye, sizeof eye);
  memcpy(camera.target, target, sizeof target);
  camera.fov = 2 * atan(0.5);
  double d[3];
  tribo_view_camera_ray(&camera, 2, 1, -0.5, d);
  CHECK_NEAR(d[0] / d[1], 1, 1e-12);
  CHECK_NEAR(d[2] / d[1], -0.25, 1e-12);
  world_destroy(&world);
}

static void one_contact_stands_out(void** state) {
  (void)state;
  World world = resting_boxes();
  CHECK_OK(tribo_step(world.model, world.data, NULL));
  TriboDrawOptions options = {.size = 10, .contact = 3};
  int n;
  const TriboDrawInstance* m = marks(&world, &options, &n);
  assert_int_equal(n, 1);
  assert_true(m->of == 2 && m->color[0] > 0.9f);
  for (int k = 0; k < 3; ++k) {
    CHECK_NEAR(m->position[k], tribo_view_list_facts(world.list)->contacts[2].point[k], 0);
  }
  // one that is not there any more does not
  options.contact = 1000;
  marks(&world, &options, &n);
  assert_int_equal(n, 0);
  world_destroy(&world);
}

static void tables_are_sorted_and_wrenches_balance(void** state) {
  (void)state;
  World world = resting_boxes();
  for (int i = 0; i < 20; ++i) {
    CHECK_OK(tribo_step(world.model, world.data, NULL));
  }
  VIEW_OK(tribo_view_list_fill(world.list, world.model, world.data, NULL));
  const TriboDrawFacts* facts = tribo_view_list_facts(world.list);
  assert_true(facts->ncontact >= 8 && facts->hash == tribo_data_hash(world.model, world.data));
  int order[64];
  for (int column = 0; column < TRIBO_COLUMN_COUNT; ++column) {
    tribo_view_contacts_sort(facts, column, 1, order);
    unsigned seen = 0;
    for (int i = 0; i < facts->ncontact; ++i) {
      seen |= 1u << order[i];
    }
    assert_int_equal(seen, (1u << facts->ncontact) - 1);
  }
  tribo_view_contacts_sort(facts, TRIBO_COLUMN_GAP, 0, order);
  for (int i = 1; i < facts->ncontact; ++i) {
    CHECK_LE(facts->contacts[order[i - 1]].gap, facts->contacts[order[i]].gap);
  }
  tribo_view_contacts_sort(facts, TRIBO_COLUMN_FORCE, 1, order);
  for (int i = 1; i < facts->ncontact; ++i) {
    const double *a = facts->contacts[order[i - 1]].force, *b = facts->contacts[order[i]].force;
    CHECK_LE(b[0] * b[0] + b[1] * b[1] + b[2] * b[2], a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  }
  // what rests is carried: the weight upwards, no torque
  double force[3], torque[3];
  for (int body = 0; body < 2; ++body) {
    tribo_view_contact_wrench(facts, body, force, torque);
    CHECK_NEAR(force[2], 1000 * 9.81, 1e-3);
    for (int k = 0; k < 3; ++k) {
      CHECK_NEAR(torque[k], 0, 1e-3);
    }
  }
  assert_string_equal(tribo_view_contact_name(world.model, 1, 0), "high");
  world_destroy(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cones_stand_on_their_contacts),
      cmocka_unit_test(inertia_is_that_of_an_ellipsoid),
      cmocka_unit_test(joints_and_closures_show_where_they_are),
      cmocka_unit_test(efforts_point_along_their_axes),
      cmocka_unit_test(colours_tell_islands_and_depth),
      cmocka_unit_test(who_sleeps_is_dim),
      cmocka_unit_test(trails_follow_the_fall),
      cmocka_unit_test(rays_find_what_is_there),
      cmocka_unit_test(one_contact_stands_out),
      cmocka_unit_test(tables_are_sorted_and_wrenches_balance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
