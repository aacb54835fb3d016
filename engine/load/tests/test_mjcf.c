// MJCF files: what becomes of them, and which are refused. That their numbers are MuJoCo's is shown by conform.py.
#include "scenes.h"

typedef struct Heard {
  int count;
  char text[4096];
} Heard;

static void hear(TriboLogLevel level, const char* text, void* user) {
  Heard* heard = user;
  if (level == TRIBO_LOG_WARNING) {
    const size_t used = strlen(heard->text);
    snprintf(heard->text + used, sizeof heard->text - used, "%s\n", text);
    heard->count++;
  }
}

static TriboStatus load(const char* text, Heard* heard, TriboScene** scene) {
  char* path = text_file(text, strlen(text), ".xml");
  const TriboLog log = {hear, heard};
  TriboStatus status = tribo_scene_load(path, heard != NULL ? &log : NULL, scene);
  unlink(path);
  free(path);
  return status;
}

static TriboModel* model_from(const char* text, Heard* heard) {
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(load(text, heard, &scene));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  return model;
}

static int joint_id(const TriboModel* model, const char* name) {
  int id;
  CHECK_OK(tribo_model_joint_id(model, name, &id));
  return id;
}

// Cameras of a body that moves are mounted on it, follow it or look at it; those of the world stand.
static void cameras_go_with_their_bodies(void** state) {
  (void)state;
  Heard heard = {0};
  TriboModel* model = model_from(
      "<mujoco><worldbody><camera name='still' pos='0 -2 1' xyaxes='1 0 0 0 0 1'/>"
      "<camera name='watch' mode='targetbody' target='a' pos='3 0 0'/>"
      "<body name='a' pos='0 0 5' euler='0 0 90'><freejoint/><geom name='g' size='.1'/>"
      "<camera name='eye' pos='1 0 0' xyaxes='0 1 0 0 0 1'/><camera name='near' mode='track' pos='1 0 0'/></body>"
      "</worldbody></mujoco>",
      &heard);
  assert_string_equal(heard.text, "");
  const TriboCameraDef *still = tribo_model_camera(model, 0), *watch = tribo_model_camera(model, 1),
                       *eye = tribo_model_camera(model, 2), *near = tribo_model_camera(model, 3);
  assert_true(still->body == NULL && still->aim == NULL && watch->body == NULL);
  CHECK_NEAR(still->target[1], -1, 1e-12);
  assert_string_equal(watch->aim, "a");
  CHECK_NEAR(watch->eye[0], 3, 0);
  // on the body it is given in its axes: from (1, 0, 0), looking along x
  assert_string_equal(eye->body, "a");
  assert_false(eye->follow);
  CHECK_NEAR(eye->eye[0], 1, 1e-12);
  CHECK_NEAR(eye->target[0], 0, 1e-12);
  // following it keeps the offset it has at the start, where the body is turned by a quarter
  assert_true(near->follow);
  CHECK_NEAR(near->eye[0], 0, 1e-12);
  CHECK_NEAR(near->eye[1], 1, 1e-12);
  tribo_model_destroy(model);
}

// What geoms are painted with comes along, and is written down when the scene is saved.
static void textures_come_with_materials(void** state) {
  (void)state;
  TriboScene* scene;
  CHECK_OK(
      load("<mujoco><compiler texturedir='pictures'/><asset>"
           "<texture type='skybox' builtin='gradient' rgb1='.1 .2 .3' rgb2='0 0 .1' width='32' height='192'/>"
           "<texture name='grid' type='2d' builtin='checker' mark='edge' rgb1='1 0 0' rgb2='0 1 0' "
           "markrgb='0 0 1' width='64' height='32'/><texture type='2d' file='wood.png'/>"
           "<material name='floor' texture='grid' texrepeat='4 2' rgba='.5 .6 .7 1'/>"
           "<material name='even' texture='grid' texrepeat='4 2' texuniform='true'/>"
           "<material name='wooden' texture='wood'/></asset><worldbody>"
           "<geom name='p' type='plane' size='5 5 1' material='floor'/>"
           "<body><freejoint/><geom name='a' type='box' size='1 1 1' material='even'/></body>"
           "<body pos='0 0 9'><freejoint/><geom name='b' size='1' material='wooden' rgba='0 1 0 1'/></body>"
           "</worldbody></mujoco>",
           NULL, &scene));
  char path[] = "/tmp/tribo-paint-XXXXXX.yaml";
  close(mkstemps(path, 5));
  CHECK_OK(tribo_scene_save(scene, path));
  // from the file, and from what was written of it
  for (int pass = 0; pass < 2; ++pass) {
    TriboModel* model;
    if (pass == 1) {
      tribo_scene_destroy(scene);
      CHECK_OK(tribo_scene_load(path, NULL, &scene));
    }
    CHECK_OK(tribo_model_create(scene, &model));
    assert_int_equal(tribo_model_size(model).ntexture, 3);
    const TriboTextureDef *sky = tribo_model_texture(model, 0), *grid = tribo_model_texture(model, 1),
                          *wood = tribo_model_texture(model, 2);
    assert_true(sky->kind == TRIBO_TEXTURE_SKY && sky->pattern == TRIBO_PATTERN_GRADIENT);
    CHECK_NEAR(sky->color[2], 0.3, 0);
    assert_true(grid->kind == TRIBO_TEXTURE_FLAT && grid->pattern == TRIBO_PATTERN_CHECKER);
    assert_true(grid->pattern_mark == TRIBO_PATTERN_MARK_EDGE && grid->width == 64 && grid->height == 32);
    assert_string_equal(wood->name, "wood");
    assert_non_null(strstr(wood->file, "pictures/wood.png"));
    // a plane counts in metres: four times across ten of them
    const TriboShapeInfo *p = tribo_model_shape(model, 0), *a = tribo_model_shape(model, 1),
                         *b = tribo_model_shape(model, 2);
    assert_true(p->texture == 1 && p->per_metre && a->texture == 1 && a->per_metre && b->texture == 2);
    CHECK_NEAR(p->repeat[0], 0.4, 1e-15);
    CHECK_NEAR(a->repeat[1], 2, 0);
    CHECK_NEAR(p->color[1], 0.6, 0);
    CHECK_NEAR(b->color[0], 0, 0);
    tribo_model_destroy(model);
  }
  tribo_scene_destroy(scene);
  unlink(path);
}

// What collides and what is looked at: a mesh that does both is drawn as it is, together with all that MuJoCo would
// show of its body; a body of shapes alone shows them.
static void bodies_show_what_mujoco_shows(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' face='0 2 1 0 1 3 0 3 2 1 2 3'/></asset>"
      "<worldbody><geom name='floor' type='plane' size='1 1 1'/><geom name='spot' size='.1' contype='0' "
      "conaffinity='0'/>"
      "<body pos='0 0 2'><geom name='stand' type='box' size='.1 .1 .1' group='3'/>"
      "<geom name='cover' size='.2' contype='0' conaffinity='0'/></body>"
      "<body pos='0 0 4'><freejoint/><geom name='part' type='mesh' mesh='m'/><geom name='knob' size='.1'/>"
      "<geom name='bound' size='.3' group='3'/></body>"
      "<body pos='0 0 9'><freejoint/><geom name='ball' size='.1'/></body></worldbody></mujoco>",
      NULL);
  const char *seen[] = {"spot", "cover", "part", "knob"}, *hidden[] = {"stand", "part", "knob", "bound"};
  int n, nhidden = 0;
  const TriboVisualInfo* visuals = tribo_model_visuals(model, &n);
  assert_int_equal(n, 4);
  for (int i = 0; i < n; ++i) {
    assert_string_equal(visuals[i].name, seen[i]);
  }
  for (int i = 0; i < tribo_model_size(model).nshape; ++i) {
    const TriboShapeInfo* shape = tribo_model_shape(model, i);
    int expected = 0;
    for (int k = 0; k < 4; ++k) {
      expected |= strcmp(shape->name, hidden[k]) == 0;
    }
    assert_int_equal(shape->hidden, expected);
    nhidden += shape->hidden;
  }
  assert_int_equal(nhidden, 4);
  tribo_model_destroy(model);
}

// A body with two joints is a chain; the one in between has no mass. Values of joints start at ref.
static void several_joints_become_a_chain(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><body name='a' pos='0 0 1'>"
      "<joint name='x' type='slide' axis='1 0 0' ref='0.5'/><joint name='turn' axis='0 1 0' ref='90' pos='0 0 1'/>"
      "<geom name='g' type='box' size='.1 .2 .3' density='1000'/></body></worldbody></mujoco>",
      NULL);
  const TriboModelSize size = tribo_model_size(model);
  assert_int_equal(size.nbody, 2);
  assert_int_equal(size.nv, 2);
  int a, between;
  CHECK_OK(tribo_model_body_id(model, "a", &a));
  CHECK_OK(tribo_model_body_id(model, "a.x", &between));
  CHECK_NEAR(tribo_model_body(model, a)->mass, 1000 * 0.2 * 0.4 * 0.6, 1e-12);
  CHECK_NEAR(tribo_model_body(model, between)->mass, 0, 0);
  TriboData* data = data_of(model);
  TriboView q, p;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_Q, &q));
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  CHECK_NEAR(q.values[tribo_model_joint(model, joint_id(model, "x"))->q_at], 0.5, 0);
  CHECK_NEAR(q.values[tribo_model_joint(model, joint_id(model, "turn"))->q_at], 1.5707963267948966, 0);
  // at these values the body is where the file puts it
  CHECK_NEAR(p.values[3 * a], 0, 1e-15);
  CHECK_NEAR(p.values[3 * a + 2], 1, 1e-15);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Frames and replicas move what is in them; names count up.
static void replicas_are_numbered(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><frame pos='0 0 2'><replicate count='12' offset='0.5 0 0' sep='-'>"
      "<body name='b'><freejoint/><geom size='.1'/></body></replicate></frame></worldbody></mujoco>",
      NULL);
  assert_int_equal(tribo_model_size(model).nfree, 12);
  TriboData* data = data_of(model);
  TriboView p;
  int last;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_POSITION, &p));
  CHECK_OK(tribo_model_body_id(model, "b-11", &last));
  CHECK_NEAR(p.values[3 * last], 5.5, 1e-14);
  CHECK_NEAR(p.values[3 * last + 2], 2, 1e-14);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// What refers to a replica is replicated: one string from the ceiling to each ball.
static void replicas_keep_their_tendons(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><site name='up' pos='0 0 3'/><replicate count='3' offset='2 0 0'>"
      "<body><joint name='j' type='slide'/><geom size='.1'/><site name='s' pos='0 0 1'/></body></replicate></worldbody>"
      "<tendon><spatial name='t'><site site='up'/><site site='s'/></spatial></tendon>"
      "<actuator><motor name='m' tendon='t'/><motor name='n' joint='j' gear='2'/></actuator></mujoco>",
      NULL);
  const TriboModelSize size = tribo_model_size(model);
  assert_int_equal(size.ntendon, 3);
  assert_int_equal(size.nactuator, 6);
  TriboData* data = data_of(model);
  TriboView length;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_TENDON, &length));
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(length.values[i], sqrt(4 + 4.0 * i * i), 1e-14);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static const char* child_file =
    "<mujoco model='arm'><compiler angle='radian'/>"
    "<default><geom density='500'/><default class='thin'><geom size='.1'/></default></default>"
    "<worldbody><body name='base' childclass='thin' pos='9 9 9'><joint name='j' range='-1 2'/><geom/>"
    "<body name='hand' pos='1 0 0'><joint name='k'/><geom size='.2'/></body></body>"
    "<body name='other'><joint name='o'/><geom size='.1'/></body></worldbody>"
    "<actuator><motor name='mj' joint='j'/><motor name='mo' joint='o'/></actuator>"
    "<keyframe><key name='up'/></keyframe></mujoco>";

// A body of another file keeps its own angles and classes; what drives it comes along, under new names.
static void models_are_attached(void** state) {
  (void)state;
  char text[1200];
  char* child = text_file(child_file, strlen(child_file), ".xml");
  snprintf(text, sizeof text,
           "<mujoco><default><geom size='.3' density='7'/></default><asset><model name='a' file='%s'/>"
           "<model file='%s'/></asset><worldbody><attach model='a' body='base' prefix='left_'/>"
           "<frame pos='0 0 5'><attach model='arm' body='base' prefix='right_'/></frame>"
           "<body name='own'><joint name='o' range='-90 90'/><geom/></body></worldbody></mujoco>",
           child, child);
  Heard heard = {0};
  TriboModel* model = model_from(text, &heard);
  const TriboModelSize size = tribo_model_size(model);
  assert_int_equal(size.nbody, 5);
  assert_int_equal(size.nactuator, 2);
  assert_non_null(strstr(heard.text, "<keyframe> of an attached model is left out"));
  CHECK_NEAR(tribo_model_joint(model, joint_id(model, "right_j"))->upper, 2, 0);
  CHECK_NEAR(tribo_model_joint(model, joint_id(model, "o"))->upper, acos(-1) / 2, 1e-15);
  const double ball = 4.0 / 3 * acos(-1);
  int body;
  CHECK_OK(tribo_model_body_id(model, "left_base", &body));
  CHECK_NEAR(tribo_model_body(model, body)->mass, 500 * ball * 1e-3, 1e-12);
  CHECK_OK(tribo_model_body_id(model, "own", &body));
  CHECK_NEAR(tribo_model_body(model, body)->mass, 7 * ball * 0.027, 1e-12);
  TriboData* data = data_of(model);
  CHECK_NEAR(scene_value(model, data, "position.z", "right_hand"), 14, 1e-14);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
  // what is not there, and what attaches itself
  TriboScene* scene = NULL;
  snprintf(text, sizeof text,
           "<mujoco><asset><model name='a' file='%s'/></asset><worldbody>\n<attach model='a' body='tail'/>"
           "</worldbody></mujoco>",
           child);
  CHECK_FAILS(load(text, NULL, &scene), TRIBO_INVALID, ":2: <attach>: there is no body 'tail'");
  CHECK_FAILS(load("<mujoco><worldbody><attach model='b'/></worldbody></mujoco>", NULL, &scene), TRIBO_INVALID,
              "there is no <model> 'b'");
  FILE* file = fopen(child, "w");
  assert_non_null(file);
  fprintf(file,
          "<mujoco><asset><model name='me' file='%s'/></asset><worldbody><attach model='me'/></worldbody></mujoco>",
          child);
  fclose(file);
  CHECK_FAILS(tribo_scene_load(child, NULL, &scene), TRIBO_INVALID, "in a circle");
  unlink(child);
  free(child);
}

// Bits: a meets the floor only, b meets nothing and is drawn; friction of a pair is the larger one.
static void contacts_follow_the_bits(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><geom type='plane' size='1 1 1' conaffinity='2' contype='0' friction='.2'/>"
      "<body name='a' pos='0 0 .1'><freejoint/><geom size='.1' contype='2' conaffinity='0' friction='.9'/></body>"
      "<body name='c' pos='.05 0 .1'><freejoint/><geom size='.1' contype='2' conaffinity='0'/></body>"
      "<body name='b' pos='3 0 .1'><freejoint/><geom size='.1' contype='0' conaffinity='0' rgba='1 0 0 .5'/></body>"
      "</worldbody></mujoco>",
      NULL);
  assert_int_equal(tribo_model_size(model).nshape, 3);
  int nvisual;
  const TriboVisualInfo* visual = tribo_model_visuals(model, &nvisual);
  assert_int_equal(nvisual, 1);
  CHECK_NEAR(visual->color[0], 1, 0);
  CHECK_NEAR(visual->color[3], 0.5, 0);
  TriboData* data = data_of(model);
  TriboStepInfo info;
  CHECK_OK(tribo_step(model, data, &info));
  assert_int_equal(info.contacts, 2);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Keyframes are states of the scene, in its own coordinates; a scene may begin in one.
static void keyframes_are_states(void** state) {
  (void)state;
  TriboScene* scene;
  TriboModel* model;
  CHECK_OK(
      load("<mujoco><worldbody><body name='b' pos='0 0 1'><freejoint/><geom size='.1' pos='.5 0 0'/></body>"
           "<body name='c'><joint name='h' axis='0 1 0'/><geom size='.1' pos='1 0 0'/></body></worldbody>"
           "<actuator><motor name='m' joint='h'/><intvelocity name='i' joint='h'/></actuator><keyframe>"
           "<key name='up' time='2' qpos='1 2 3 1 0 0 1 0.25' qvel='1 0 0 0 0 2 -3' ctrl='4 5' act='6'/>"
           "<key name='rest'/></keyframe></mujoco>",
           NULL, &scene));
  CHECK_FAILS(tribo_scene_start_at(scene, "upp"), TRIBO_NOT_FOUND, "did you mean 'up'?");
  CHECK_OK(tribo_scene_start_at(scene, "up"));
  CHECK_OK(tribo_model_create(scene, &model));
  tribo_scene_destroy(scene);
  assert_int_equal(tribo_model_size(model).nstate, 2);
  assert_string_equal(tribo_model_state(model, 1), "rest");
  assert_null(tribo_model_state(model, 2));
  TriboData* data = data_of(model);
  for (int begun = 1; begun >= 0; --begun) {
    // turned by a quarter about z; the ball is half a metre off the origin, at 2 rad/s
    CHECK_NEAR(scene_value(model, data, "position.x", "b"), 1, 1e-15);
    CHECK_NEAR(scene_value(model, data, "position.z", "b"), 3, 1e-15);
    CHECK_NEAR(scene_value(model, data, "quaternion.w", "b"), sqrt(0.5), 1e-15);
    CHECK_NEAR(scene_value(model, data, "omega.z", "b"), 2, 1e-15);
    CHECK_NEAR(scene_value(model, data, "velocity.x", "b"), 1 - 2 * 0.5, 1e-15);
    CHECK_NEAR(scene_value(model, data, "q", "h"), 0.25, 0);
    CHECK_NEAR(scene_value(model, data, "v", "h"), -3, 0);
    CHECK_NEAR(tribo_data_time(data), 2, 1e-12);
    TriboView ctrl, act;
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_CTRL, &ctrl));
    CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_ACT, &act));
    CHECK_NEAR(ctrl.values[0], 4, 0);
    CHECK_NEAR(act.values[1], 6, 0);
    // elsewhere, and back by name
    CHECK_OK(tribo_data_restore_snapshot(model, data, "rest"));
    CHECK_NEAR(scene_value(model, data, "position.z", "b"), 1, 0);
    CHECK_NEAR(scene_value(model, data, "q", "h"), 0, 0);
    CHECK_OK(tribo_data_restore_snapshot(model, data, "up"));
  }
  CHECK_FAILS(tribo_data_restore_snapshot(model, data, "down"), TRIBO_NOT_FOUND, "none of the scene is called so");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Two masses hang at rest, one welded to the other: each mount feels the weight below it, in its own axes. That
// readings of the state are MuJoCo's is shown by conform.py.
static void force_sensors_feel_what_hangs_below(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><body name='a' pos='0 0 2'><joint axis='0 1 0'/><geom size='.1' pos='0 0 -1' mass='2'/>"
      "<site name='s' euler='0 90 0'/><body name='b' pos='0 0 -1'><geom size='.1' pos='0 0 -.5' mass='3'/>"
      "<site name='t' pos='0 .25 0'/></body></body></worldbody><sensor><force name='f' site='s'/>"
      "<force name='g' site='t'/><torque name='h' site='t'/><accelerometer name='i' site='t'/><clock name='c'/>"
      "</sensor></mujoco>",
      NULL);
  TriboData* data = data_of(model);
  CHECK_NEAR(scene_value(model, data, "reading.x", "f"), 0, 0);  // before the first step
  CHECK_OK(tribo_step(model, data, NULL));
  CHECK_NEAR(scene_value(model, data, "reading.x", "f"), -5 * 9.81, 1e-9);
  CHECK_NEAR(scene_value(model, data, "reading.z", "f"), 0, 1e-9);
  CHECK_NEAR(scene_value(model, data, "reading.z", "g"), 3 * 9.81, 1e-9);
  CHECK_NEAR(scene_value(model, data, "reading.x", "h"), -0.25 * 3 * 9.81, 1e-9);
  CHECK_NEAR(scene_value(model, data, "reading.z", "i"), 9.81, 1e-9);
  CHECK_NEAR(scene_value(model, data, "reading", "c"), 0.002, 1e-15);
  TriboQuantity what;
  CHECK_FAILS(tribo_quantity_find(model, "reading.y", "c", &what), TRIBO_INVALID, "reads 1 numbers");
  CHECK_FAILS(tribo_quantity_find(model, "readin", "c", &what), TRIBO_NOT_FOUND, "did you mean 'reading'?");
  double reading[4];
  CHECK_FAILS(tribo_data_sensor(model, data, 5, reading), TRIBO_INVALID, "accepted are 0 … 4");
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// How far a weight sinks into what gives way as MuJoCo's constraints do: k φ = R f per mass, with the impedance d
// there.
static double penetrating(void) {
  double depth = 0.01;
  for (int i = 0; i < 200; ++i) {
    const double x = depth / 0.02, y = x >= 1 ? 1 : x <= 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
    const double d = 0.9 + 0.05 * y, k = d / (0.95 * 0.95 * 0.1 * 0.1 * 0.8 * 0.8);
    depth = (1 - d) / d * 9.81 / k;
  }
  return depth;
}

// Stops of joints and tendons and equalities that a file makes soft give way as far as they should.
static void softness_is_that_of_the_file(void** state) {
  (void)state;
#define MASS(name, x, more) "<body name='" name "' pos='" x " 0 1'>" more "<geom size='.1' mass='2'/></body>"
  TriboModel* model = model_from(
      "<mujoco><option timestep='.001'/><worldbody>"
      MASS("a", "0", "<joint name='a' type='slide' axis='0 0 1' range='0 1' solreflimit='.1 .8' solimplimit='.9 .95 .02 .5 2'/>")
      MASS("b", "1", "<joint name='b' type='slide' axis='0 0 1'/>")
      MASS("c", "2", "<joint name='c' type='slide' axis='0 0 1'/>") MASS("d", "3", "<freejoint/>")
      // a lever: across its plane nothing moves, and the closure says nothing there
      MASS("e", "4", "<joint axis='0 1 0' pos='-.5 0 0'/>")
      "</worldbody><tendon><fixed range='0 1' solreflimit='.1 .8' solimplimit='.9 .95 .02 .5 2'>"
      "<joint joint='b' coef='1'/></fixed></tendon><equality>"
      "<connect body1='e' anchor='.5 0 0' solref='.1 .8' solimp='.9 .95 .02 .5 2'/>"
      "<connect body1='d' anchor='0 0 0' solref='.1 .8' solimp='.9 .95 .02 .5 2'/></equality></mujoco>",
      NULL);
  TriboData* data = data_of(model);
  for (int i = 0; i < 3000; ++i) {
    TriboStepInfo info;
    CHECK_OK(tribo_step(model, data, &info));
    assert_int_equal(info.certified, 1);
    CHECK_NEAR(info.opening, 0, 0);  // what gives way is not open
  }
  CHECK_NEAR(scene_value(model, data, "q", "a"), -penetrating(), 1e-9);
  CHECK_NEAR(scene_value(model, data, "q", "b"), -penetrating(), 1e-9);
  CHECK_NEAR(scene_value(model, data, "position.z", "d"), 1 - penetrating(), 1e-9);
  CHECK_LE(scene_value(model, data, "q", "c"), -1);  // nothing holds it
  tribo_data_destroy(data);
  tribo_model_destroy(model);
#undef MASS
}

// Heights from a picture and from MuJoCo's binary format, as MuJoCo places them; YAML takes pictures too.
static void height_fields_come_from_files(void** state) {
  (void)state;
  // 3 × 2 grey: 0 50 100 above 150 200 255
  static const unsigned char png[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
      0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x00, 0x00, 0x00, 0xb8, 0x1f, 0x39, 0xc6, 0x00, 0x00, 0x00, 0x10, 0x49,
      0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x30, 0x4a, 0x61, 0x98, 0x76, 0xe2, 0x3f, 0x00, 0x07, 0x79, 0x02, 0xf4,
      0xd5, 0x81, 0x42, 0xb0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
  static const int32_t binary[] = {2, 3, 0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40e00000};  // 0 1 2 3 4 7
  char *picture = text_file((const char*)png, sizeof png, ".png"),
       *numbers = text_file((const char*)binary, sizeof binary, ".bin");
  char text[512];
  snprintf(text, sizeof text,
           "<mujoco><asset><hfield name='a' file='%s' size='1 1 2 .1'/><hfield name='b' file='%s' size='1 1 2 .1'/>"
           "</asset><worldbody><geom type='hfield' hfield='a'/><geom type='hfield' hfield='b'/></worldbody></mujoco>",
           picture, numbers);
  TriboModel* model = model_from(text, NULL);
  const double far_right[2] = {2 * 100 / 255.0,
                               2};  // the top row of a picture is the far one, as is the last of a file
  for (int i = 0; i < 2; ++i) {
    const TriboShapeInfo* shape = tribo_model_shape(model, i);
    int seen = 0;
    for (int k = 0; k < shape->npoint; ++k) {
      const double* p = shape->points + 3 * k;
      if (p[0] == 1 && p[1] == 1 && p[2] > -0.01) {
        CHECK_NEAR(p[2], far_right[i], 1e-12);
        seen++;
      }
    }
    assert_true(seen > 0);
  }
  tribo_model_destroy(model);
  snprintf(text, sizeof text, "static: [{heightfield: [2, 2], heights: %s, scale: [1, 1, 3]}]\n", picture);
  model = model_of(text);
  assert_int_equal(tribo_model_shape(model, 0)->kind, TRIBO_SHAPE_HEIGHTFIELD);
  tribo_model_destroy(model);
  // a file that ends too soon
  TriboScene* scene = NULL;
  assert_int_equal(truncate(picture, 45), 0);
  CHECK_FAILS(load_text(text, &scene), TRIBO_INVALID, "a broken picture");
  unlink(picture);
  CHECK_FAILS(load_text(text, &scene), TRIBO_IO, "no picture");
  unlink(numbers);
  free(picture);
  free(numbers);
}

// A link that stands in the floor and can only turn about its normal is left alone; one that is damped to a stop by its
// drive within a step does not fly away.
static void what_cannot_move_is_not_pushed(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body><joint name='turn' axis='0 0 1'/>"
      "<geom type='box' size='.1 .1 .1' mass='.01'/></body></worldbody>"
      "<actuator><position joint='turn' kp='1' kv='10'/></actuator>"
      "<keyframe><key name='go' qvel='1' ctrl='0.5'/></keyframe></mujoco>",
      NULL);
  TriboData* data = data_of(model);
  TriboStepInfo info;
  CHECK_OK(tribo_data_restore_snapshot(model, data, "go"));
  for (int i = 0; i < 100; ++i) {
    CHECK_OK(tribo_step(model, data, &info));
    assert_int_equal(info.certified, 1);
    CHECK_LE(fabs(scene_value(model, data, "v", "turn")), 1);
  }
  // what is left is slow: τ = kp (0.5 − q) − kv q̇ with hardly any inertia
  CHECK_NEAR(scene_value(model, data, "v", "turn"), (0.5 - scene_value(model, data, "q", "turn")) / 10, 1e-4);
  CHECK_NEAR(scene_value(model, data, "contact_force", NULL), 0, 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Bodies rest at the sum of their margins, whatever their shapes; a gap does nothing. Surfaces that move take along
// what lies on them: a ball in the middle of a turntable beside a belt.
static void margins_hold_apart_and_surfaces_carry(void** state) {
  (void)state;
  static const char* const shapes[] = {"type='sphere' size='.1'", "type='box' size='.2 .2 .1'",
                                       "type='cylinder' size='.2 .1'", "type='ellipsoid' size='.2 .2 .1'",
                                       "type='mesh' mesh='m'"};
  static const char* const grounds[] = {"type='plane' size='1 1 1'", "type='box' size='2 2 1' pos='0 0 -1'",
                                        "type='hfield' hfield='h'"};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes * 3; ++k) {
    char text[900];
    snprintf(
        text, sizeof text,
        "<mujoco><asset><mesh name='m' vertex='.2 .2 .1 -.2 .2 .1 .2 -.2 .1 -.2 -.2 .1 .2 .2 -.1 -.2 .2 -.1 .2 -.2 -.1 "
        "-.2 -.2 -.1'/><hfield name='h' nrow='3' ncol='3' elevation='0 0 0 0 0 0 0 0 0' size='2 2 1 1'/></asset>"
        "<worldbody><geom %s margin='.01' gap='.2'/><body name='a' pos='0 0 .14'><freejoint/>"
        "<geom %s margin='.02'/></body></worldbody></mujoco>",
        grounds[k % 3], shapes[k / 3]);
    TriboModel* model = model_from(text, NULL);
    TriboData* data = data_of(model);
    for (int i = 0; i < 200; ++i) {
      CHECK_OK(tribo_step(model, data, NULL));
    }
    CHECK_NEAR(scene_value(model, data, "position.z", "a"), 0.13, 2e-6);
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
  TriboModel* model = model_from(
      "<mujoco><worldbody><geom type='cylinder' size='2 .1' pos='0 0 -.1' surfacevel='0 0 0 0 0 3'/>"
      "<body name='disc' pos='0 0 .1'><freejoint/><geom type='cylinder' size='.3 .1'/></body>"
      "<geom type='box' size='3 1 .1' pos='9 0 -.1' surfacevel='.7 0 0'/>"
      "<body name='box' pos='8 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody></mujoco>",
      NULL);
  TriboData* data = data_of(model);
  for (int i = 0; i < 500; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
  CHECK_NEAR(scene_value(model, data, "velocity.x", "box"), 0.7, 1e-9);
  CHECK_NEAR(scene_value(model, data, "omega.z", "disc"), 3, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// y − y0 = Σ a_k (x − x0)^k, also while it moves: the follower stays on its curve.
static void joints_follow_curves(void** state) {
  (void)state;
  TriboModel* model = model_from(
      "<mujoco><worldbody><body><joint name='x' axis='0 1 0' ref='30'/><geom size='.1' pos='.3 0 0'/></body>"
      "<body pos='0 2 0'><joint name='y' type='slide' ref='.2'/><geom size='.1'/></body></worldbody>"
      "<equality><joint joint1='y' joint2='x' polycoef='.1 .2 -.3 .15 .05'/></equality></mujoco>",
      NULL);
  TriboData* data = data_of(model);
  double moved = 0;
  for (int i = 0; i < 500; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
    const double d = scene_value(model, data, "q", "x") - acos(-1) / 6;
    const double y = 0.2 + 0.1 + d * (0.2 + d * (-0.3 + d * (0.15 + d * 0.05)));
    CHECK_NEAR(scene_value(model, data, "q", "y"), y, 1e-9);
    moved = fmax(moved, fabs(d));
  }
  CHECK_LE(0.5, moved);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// What is not honoured is said once per kind, with its line.
static void what_is_left_out_is_said(void** state) {
  (void)state;
  Heard heard = {0};
  TriboModel* model = model_from(
      "<mujoco>\n<worldbody>\n<body><freejoint/><geom size='.1' fluidshape='ellipsoid'/>\n"
      "<geom size='.1' "
      "fluidshape='ellipsoid'/></body></worldbody>\n<sensor><rangefinder/><rangefinder/></sensor></mujoco>",
      &heard);
  assert_int_equal(heard.count, 2);
  assert_non_null(strstr(heard.text, ".xml:3: attribute 'fluidshape' of <geom> is not honoured"));
  assert_non_null(strstr(heard.text, ".xml:5: <sensor>: <rangefinder> is left out"));
  tribo_model_destroy(model);
}

// A mesh that is not there is missed where it has mass or touches something, not where it is only looked at.
static void meshes_for_the_eye_may_be_missing(void** state) {
  (void)state;
  static const char* text =
      "<mujoco><asset><mesh file='/no/a.stl'/></asset><worldbody><body><freejoint/><geom size='.1'/>"
      "<geom type='mesh' mesh='a' mass='%s' contype='%s' conaffinity='0'/></body></worldbody></mujoco>";
  char model_text[512];
  Heard heard = {0};
  snprintf(model_text, sizeof model_text, text, "0", "0");
  tribo_model_destroy(model_from(model_text, &heard));
  assert_non_null(strstr(heard.text, "1 mesh was not found, and what shows it is not drawn: '/no/a.stl' (line 1: "));
  TriboScene* scene = NULL;
  snprintf(model_text, sizeof model_text, text, "1", "0");
  CHECK_FAILS(load(model_text, NULL, &scene), TRIBO_NOT_FOUND, "1 mesh was not found: '/no/a.stl'");
  snprintf(model_text, sizeof model_text, text, "0", "1");
  CHECK_FAILS(load(model_text, NULL, &scene), TRIBO_NOT_FOUND, "1 mesh was not found: '/no/a.stl'");
}

#define BODY(inside) "<mujoco><worldbody><body name='a'>" inside "</body></worldbody></mujoco>"

static const struct {
  const char* text;
  const char* message;
} wrong[] = {
    {"<mujoco>", ".xml:1:"},
    {"", "empty"},
    {"<!DOCTYPE a [<!ENTITY b 'c'>]><mujoco>&b;</mujoco>", "DOCTYPE"},
    {"<robot/>", ":1: <robot>: an MJCF file has the root <mujoco>"},
    {"<mujoco>\n<world/></mujoco>", ":2: <world> is no section"},
    {"<mujoco><worldbody><geom sise='1'/></worldbody></mujoco>", "<geom> has no attribute 'sise'"},
    {"<mujoco><worldbody><geom size='a'/></worldbody></mujoco>", "accepted is 1 to 3 finite numbers"},
    {"<mujoco><worldbody><geom size='1 nan'/></worldbody></mujoco>", "accepted is 1 to 3 finite numbers"},
    {"<mujoco><worldbody><geom size='0'/></worldbody></mujoco>", "size[0] = 0 must be above 0"},
    {"<mujoco><worldbody><geom type='ball'/></worldbody></mujoco>", "accepted is plane, hfield, sphere"},
    {"<mujoco><worldbody><geom class='x' size='1'/></worldbody></mujoco>", "no default class 'x'"},
    {"<mujoco><worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>", "there is no mesh 'm'"},
    {"<mujoco><worldbody><geom size='1' quat='0 0 0 0'/></worldbody></mujoco>", "quaternion has length 0"},
    {"<mujoco><worldbody><geom size='1' euler='0 0 1' zaxis='0 0 1'/></worldbody></mujoco>", "two orientations"},
    {"<mujoco><worldbody><joint/></worldbody></mujoco>", "the world has no joints"},
    {BODY("<joint axis='0 0 0'/><geom size='1'/>"), "has length 0"},
    {BODY("<joint range='1 -1'/><geom size='1'/>"), "the lower must not be above the upper"},
    {BODY("<joint limited='true'/><geom size='1'/>"), "has no range"},
    {BODY("<freejoint/><joint/><geom size='1'/>"), "has a free joint already"},
    {BODY("<inertial mass='-1' pos='0 0 0'/><freejoint/>"), "mass = -1"},
    {BODY("<inertial mass='1' pos='0 0 0' diaginertia='1 1 -1'/><freejoint/>"), "moment of inertia -1"},
    {BODY("<freejoint/><geom size='1' mass='-2'/>"), "mass -2"},
    {BODY("<freejoint/><geom type='plane' size='1 1 1'/>"), "a plane cannot move"},
    {BODY("<wheel/>"), "<wheel> has no place in a body"},
    {"<mujoco><include file='/nowhere.xml'/></mujoco>", "/nowhere.xml: no such file"},
    {"<mujoco><asset><mesh name='m' builtin='cone'/></asset></mujoco>", ":1: mesh 'm': builtin=\"cone\" is not known"},
    {"<mujoco><asset><mesh file='/no/a.stl'/>\n<mesh file='/no/b.obj'/></asset><worldbody><geom type='mesh' mesh='a'/>"
     "</worldbody></mujoco>",
     "2 meshes were not found: '/no/a.stl' (line 1: /no/a.stl); '/no/b.obj' (line 2: /no/b.obj)"},
    {"<mujoco><actuator><motor joint='j'/></actuator></mujoco>", "there is no joint 'j'"},
    {"<mujoco><keyframe><key qpos='1'/></keyframe></mujoco>", "the model has 0 of them"},
    {"<mujoco><keyframe><key pos='1'/></keyframe></mujoco>", "no attribute 'pos'"},
    {"<mujoco><worldbody><replicate count='0'/></worldbody></mujoco>", "count"},
    {"<mujoco><worldbody><replicate count='9999'><replicate count='9999'><site/></replicate></replicate>"
     "</worldbody></mujoco>",
     "more than"},
};

static void wrong_files_are_refused_with_a_place(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    TriboScene* scene = NULL;
    TriboStatus status = load(wrong[i].text, NULL, &scene);
    assert_null(scene);
    if (status == TRIBO_OK || strstr(tribo_last_error(), wrong[i].message) == NULL ||
        strstr(tribo_last_error(), ".xml") == NULL) {
      print_error("case %zu: %s: \"%s\"\nexpected \"%s\"\nfor: %s\n", i, tribo_status_name(status), tribo_last_error(),
                  wrong[i].message, wrong[i].text);
      fail();
    }
  }
}

static void circles_and_depth_are_refused(void** state) {
  (void)state;
  // a file that includes itself
  char text[256];
  char* path = text_file("", 0, ".xml");
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "<mujoco><include file='%s'/></mujoco>", strrchr(path, '/') + 1);
  fclose(file);
  TriboScene* scene = NULL;
  CHECK_FAILS(tribo_scene_load(path, NULL, &scene), TRIBO_INVALID, "is included a second time");
  snprintf(text, sizeof text, "%s:1: ", path);
  assert_non_null(strstr(tribo_last_error(), text));
  unlink(path);
  free(path);
  // elements in elements in elements
  enum { DEPTH = 100000 };
  char* deep = malloc(6 * DEPTH + 32);
  assert_non_null(deep);
  size_t n = (size_t)sprintf(deep, "<mujoco><worldbody>");
  for (int i = 0; i < DEPTH; ++i) {
    memcpy(deep + n, "<body>", 6);
    n += 6;
  }
  deep[n] = '\0';
  CHECK_FAILS(load(deep, NULL, &scene), TRIBO_INVALID, ".xml:1:");
  free(deep);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cameras_go_with_their_bodies),
      cmocka_unit_test(textures_come_with_materials),
      cmocka_unit_test(bodies_show_what_mujoco_shows),
      cmocka_unit_test(several_joints_become_a_chain),
      cmocka_unit_test(replicas_are_numbered),
      cmocka_unit_test(replicas_keep_their_tendons),
      cmocka_unit_test(models_are_attached),
      cmocka_unit_test(contacts_follow_the_bits),
      cmocka_unit_test(keyframes_are_states),
      cmocka_unit_test(force_sensors_feel_what_hangs_below),
      cmocka_unit_test(softness_is_that_of_the_file),
      cmocka_unit_test(height_fields_come_from_files),
      cmocka_unit_test(what_cannot_move_is_not_pushed),
      cmocka_unit_test(margins_hold_apart_and_surfaces_carry),
      cmocka_unit_test(joints_follow_curves),
      cmocka_unit_test(what_is_left_out_is_said),
      cmocka_unit_test(meshes_for_the_eye_may_be_missing),
      cmocka_unit_test(wrong_files_are_refused_with_a_place),
      cmocka_unit_test(circles_and_depth_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
