// Tendons, actuators and the medium against closed forms.
#include "scenes.h"

static void run(const TriboModel* model, TriboData* data, int steps) {
  for (int i = 0; i < steps; ++i) {
    CHECK_OK(tribo_step(model, data, NULL));
  }
}

static const double* view(const TriboModel* model, TriboData* data, TriboField field) {
  TriboView v;
  CHECK_OK(tribo_data_view(model, data, field, &v));
  return v.values;
}

#define RAILS                                                                                  \
  "bodies:\n"                                                                                  \
  "  - {name: a, mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"                      \
  "  - {name: b, mass: 3, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], position: [0, 4, 0]}\n" \
  "joints:\n"                                                                                  \
  "  - {name: ra, kind: prismatic, parent: world, child: a, axis: [1, 0, 0], position: 3}\n"   \
  "  - {name: rb, kind: prismatic, parent: world, child: b, axis: [1, 0, 0]}\n"

// length 2 q_a − q_b, force −k(l − rest) − d l̇ times the coefficients
static void a_tendon_of_joints_pulls_by_its_coefficients(void** state) {
  (void)state;
  TriboModel* model = model_of("world: {gravity: [0, 0, 0]}\n" RAILS
                               "tendons: [{name: t, joints: {ra: 2, rb: -1}, stiffness: 10, damping: 4, rest: 1}]\n");
  TriboData* data = data_of(model);
  const double q[2] = {3, 0.5}, v[2] = {0.25, -1};
  CHECK_OK(tribo_data_set_state(model, data, q, v));
  CHECK_NEAR(view(model, data, TRIBO_FIELD_TENDON)[0], 5.5, 1e-15);
  double passive[2];
  const TriboTerms terms = {.passive = passive};
  CHECK_OK(tribo_data_terms(model, data, &terms));
  const double force = -10 * 4.5 - 4 * 1.5;
  CHECK_NEAR(passive[0], 2 * force, 1e-12);
  CHECK_NEAR(passive[1], -force, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// a string from a point of a to one of b: its generalized forces are those of the gradient of its energy
static void a_string_pulls_along_itself(void** state) {
  (void)state;
  TriboModel* model = model_of("world: {gravity: [0, 0, 0]}\n" RAILS
                               "tendons:\n"
                               "  - name: t\n"
                               "    points: [{body: a, at: [1, 0, 0]}, {at: [0, 2, 1]}, {body: b, at: [0, 0, 1]}]\n"
                               "    stiffness: 7\n"
                               "    rest: 2\n");
  TriboData* data = data_of(model);
  const double v[2] = {0};
  double energy[2], passive[2];
  for (int k = 0; k < 2; ++k) {
    double q[2] = {0.7, -0.3};
    const double h = 1e-5;
    for (int s = 0; s < 2; ++s) {
      q[k] += s == 0 ? -h : 2 * h;
      CHECK_OK(tribo_data_set_state(model, data, q, v));
      const double length = view(model, data, TRIBO_FIELD_TENDON)[0];
      // measured by hand: the two stretches of the string
      CHECK_NEAR(length, sqrt((q[0] + 1) * (q[0] + 1) + 5) + sqrt(q[1] * q[1] + 4), 1e-14);
      energy[s] = 0.5 * 7 * (length - 2) * (length - 2);
    }
    q[k] -= h;
    CHECK_OK(tribo_data_set_state(model, data, q, v));
    const TriboTerms terms = {.passive = passive};
    CHECK_OK(tribo_data_terms(model, data, &terms));
    CHECK_NEAR(passive[k], -(energy[1] - energy[0]) / (2 * h), 1e-8);
  }
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Strings from (−2, 0) to (2, 0) around what is in their way: a circle of radius 1 (straight parts √3, the arc of 60°),
// the same climbing by 3 on a cylinder, the far way for a side point across, and bent over the rim of a ring.
static void strings_go_around(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "bodies: [{name: a, sphere: 1, position: [0, 0, 9]}]\n"
      "tendons:\n"
      "  - points: [{at: [-2, 0, 0], around: {kind: sphere, radius: 1}}, {at: [2, 0, 0]}]\n"
      "  - points: [{at: [-2, 0, 0], around: {kind: cylinder, radius: 1}}, {at: [2, 0, 3]}]\n"
      "  - points: [{at: [-2, 3, 0], around: {kind: sphere, radius: 1}}, {at: [2, 3, 0]}]\n"
      "  - points: [{at: [-2, 0, 1], around: {radius: 1, side: [0, 0, -3]}}, {at: [2, 0, 1]}]\n"
      "  - points: [{at: [-2, 0, 3], around: {radius: 1, side: [0, 0, 0.5]}}, {at: [2, 0, 3]}]\n"
      "  - points: [{at: [-2, 0, 0], around: {radius: 1, side: [0, 0, 0.5]}}, {at: [2, 0, 0]}]\n");
  TriboData* data = data_of(model);
  const double* length = view(model, data, TRIBO_FIELD_TENDON);
  const double flat = 2 * sqrt(3) + acos(-1) / 3;
  const double between = 2 * atan(2.0), tangent = acos(1 / sqrt(5));
  CHECK_NEAR(length[0], flat, 1e-14);
  CHECK_NEAR(length[1], sqrt(flat * flat + 9), 1e-14);
  CHECK_NEAR(length[2], 4, 1e-15);
  CHECK_NEAR(length[3], 2 * 2 + 2 * acos(-1) - between - 2 * tangent, 1e-14);
  CHECK_NEAR(length[4], 2 * sqrt(8), 1e-14);
  CHECK_NEAR(length[5], 4, 1e-15);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// The generalized forces of strings that go around moving bodies are the slopes of their energy; their speeds those of
// their lengths.
static void strings_around_bodies_pull_by_the_slope_of_their_length(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies:\n"
      "  - {name: a, mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}\n"
      "  - {name: b, mass: 3, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], position: [0, 4, 0]}\n"
      "  - {name: c, mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], position: [0, 5, 1]}\n"
      "joints:\n"
      "  - {name: ra, kind: prismatic, parent: world, child: a, axis: [1, 0, 0]}\n"
      "  - {name: rb, kind: prismatic, parent: world, child: b, axis: [1, 0, 0]}\n"
      "  - {name: rc, kind: revolute, parent: b, child: c, axis: [0.3, 1, 0.2], anchor: [0, 4, 1]}\n"
      "tendons:\n"
      "  - points: [{at: [-2, 3, 0.2], around: {kind: cylinder, radius: 0.6, body: b, quaternion: [0.3, 0.1, 0, 1]}},"
      " {body: c, at: [2, 0.5, 0]}]\n"
      "    stiffness: 3\n    rest: 1\n"
      "  - points: [{body: a, at: [0, 3, 2], around: {radius: 0.7, body: c, side_body: c, side: [0.1, 0.2, 0]}},"
      " {at: [1, 6, 2]}]\n"
      "    stiffness: 5\n    rest: 1\n"
      "  - points: [{at: [-2, 3, 0.2]}, {body: c, at: [2, 0.5, 0]}]\n"
      "  - points: [{body: a, at: [0, 3, 2]}, {at: [1, 6, 2]}]\n");
  TriboData* data = data_of(model);
  const double h = 1e-5, q0[3] = {0.7, -0.3, 0.4}, v[3] = {0};
  double energy[2], passive[3];
  const TriboTerms terms = {.passive = passive};
  for (int k = 0; k < 3; ++k) {
    for (int s = 0; s < 2; ++s) {
      double q[3] = {q0[0], q0[1], q0[2]};
      q[k] += s == 0 ? -h : h;
      CHECK_OK(tribo_data_set_state(model, data, q, v));
      const double* length = view(model, data, TRIBO_FIELD_TENDON);
      energy[s] = 0.5 * 3 * (length[0] - 1) * (length[0] - 1) + 0.5 * 5 * (length[1] - 1) * (length[1] - 1);
    }
    CHECK_OK(tribo_data_set_state(model, data, q0, v));
    CHECK_OK(tribo_data_terms(model, data, &terms));
    CHECK_NEAR(passive[k], -(energy[1] - energy[0]) / (2 * h), 1e-7);
  }
  // neither of them is straight
  const double* length = view(model, data, TRIBO_FIELD_TENDON);
  CHECK_LE(length[2] + 0.01, length[0]);
  CHECK_LE(length[3] + 0.01, length[1]);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A ball on a string of 1 m falls until the string is taut, then swings; the string gets no longer.
static void a_string_holds_at_its_length(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {dt: 0.002}\n"
      "bodies: [{name: a, sphere: 0.1, mass: 2, position: [0.6, 0, 0]}]\n"
      "tendons: [{name: t, points: [{at: [0, 0, 0]}, {body: a, at: [0, 0, 0.1]}], upper: 1}]\n");
  TriboData* data = data_of(model);
  double longest = 0, highest = -1;
  for (int i = 0; i < 3000; ++i) {
    run(model, data, 1);
    longest = fmax(longest, view(model, data, TRIBO_FIELD_TENDON)[0]);
    highest = i > 1500 ? fmax(highest, scene_value(model, data, "position.z", "a")) : highest;
  }
  // a step goes straight where the string goes round: (h v)²/(2 erp) at most
  CHECK_NEAR(longest, 1, 3e-3);
  CHECK_LE(highest, 0);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A tendon of two joints at its limit passes a push on: with 2 q_a − q_b held, a and b move as one, ä = f/(m_a + 4
// m_b).
static void a_tendon_of_joints_is_limited(void** state) {
  (void)state;
  TriboModel* model = model_of("world: {gravity: [0, 0, 0], scheme: euler}\n" RAILS
                               "tendons: [{name: t, joints: {ra: 2, rb: -1}, upper: 6}]\n"
                               "forces: [{joint: ra, effort: 7}]\n");
  TriboData* data = data_of(model);
  run(model, data, 1000);
  const double a = 7.0 / (2 + 4 * 3);
  CHECK_NEAR(scene_value(model, data, "v", "ra"), a, 1e-9);
  CHECK_NEAR(scene_value(model, data, "v", "rb"), 2 * a, 1e-9);
  CHECK_NEAR(view(model, data, TRIBO_FIELD_TENDON)[0], 6, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// (g·(1, l, l̇)) u + b·(1, l, l̇) with l = gear q, cut off; a filter comes after its control
static void actuators_push_by_gain_and_bias(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0], dt: 0.01}\n" RAILS
      "actuators:\n"
      "  - {name: x, joint: ra, gear: 2, gain: [3, 0.5, 0.1], bias: [1, -2, -0.3], ctrl_max: 4}\n"
      "  - {name: y, joint: rb, gain: [5, 0, 0], activation: exact, time_constant: 0.2, force_max: 2, ctrl: 1}\n");
  TriboData* data = data_of(model);
  const double q[2] = {3, 0.5}, v[2] = {0.25, -1};
  CHECK_OK(tribo_data_set_state(model, data, q, v));
  CHECK_OK(tribo_data_set_ctrl(model, data, 0, 100));
  CHECK_FAILS(tribo_data_set_ctrl(model, data, 2, 0), TRIBO_INVALID, "0 … 1");
  const double force = (3 + 0.5 * 6 + 0.1 * 0.5) * 4 + 1 - 2 * 6 - 0.3 * 0.5;
  double tau[2];
  const TriboTerms terms = {.actuation = tau};
  CHECK_OK(tribo_data_terms(model, data, &terms));
  CHECK_NEAR(view(model, data, TRIBO_FIELD_ACTUATION)[0], force, 1e-12);
  CHECK_NEAR(tau[0], 2 * force, 1e-12);
  CHECK_NEAR(tau[1], 0, 0);
  run(model, data, 10);
  const double act = 1 - exp(-0.1 / 0.2);
  CHECK_NEAR(view(model, data, TRIBO_FIELD_ACT)[1], act, 1e-14);
  CHECK_NEAR(view(model, data, TRIBO_FIELD_ACTUATION)[1], fmin(5 * act, 2), 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A saved state carries the activations: the rest of the run has the same bits.
static double pulled(const TriboModel* model, TriboData* data, double q, double v, double activation) {
  const double at[2] = {q, 0}, rate[2] = {v, 0};
  double effort[2];
  const TriboTerms terms = {.actuation = effort};
  CHECK_OK(tribo_data_set_state(model, data, at, rate));
  CHECK_OK(tribo_data_set_ctrl(model, data, 0, activation));
  CHECK_OK(tribo_data_terms(model, data, &terms));
  return effort[0];
}

// With lengths in optimal ones: the corners of the curves of length and speed. (MuJoCo's own numbers: conform.py.)
static void muscles_pull_by_their_curves(void** state) {
  (void)state;
  TriboModel* model =
      model_of("world: {gravity: [0, 0, 0]}\n" RAILS
               "actuators: [{joint: ra, muscle: true, muscle_peak: 100, muscle_lengths: [0.75, 1.05]}]\n");
  TriboData* data = data_of(model);
  CHECK_NEAR(pulled(model, data, 1, 0, 0.5), -50, 1e-12);
  CHECK_NEAR(pulled(model, data, 0.75, 0, 1), -50, 1e-12);
  CHECK_NEAR(pulled(model, data, 0.4, 0, 1), 0, 0);
  CHECK_NEAR(pulled(model, data, 1, -1.5, 1), 0, 1e-12);
  CHECK_NEAR(pulled(model, data, 1, -0.75, 1), -25, 1e-12);
  CHECK_NEAR(pulled(model, data, 1, 9, 1), -120, 1e-12);
  CHECK_NEAR(pulled(model, data, 1.3, 0, 0), -65, 1e-12);
  CHECK_NEAR(pulled(model, data, 1.6, 0, 1), -195, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A peak from the mass that is pulled, lengths from limits of joints, and an activation that rises within a step by
// h u/(½ τ).
static void muscles_find_what_is_not_given(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0], dt: 0.001}\n"
      "bodies: [{name: a, mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}]\n"
      "joints: [{name: ra, kind: revolute, parent: world, child: a, axis: [0, 0, 1], lower: 0.2, upper: 1.5,"
      " position: 0.5}]\n"
      "tendons: [{name: t, points: [{at: [1, 0, 0]}, {body: a, at: [1, 0, 0]}]}]\n"
      "actuators: [{tendon: t, muscle: true, activation: muscle, time_constant: 0.01, ctrl: 1}]\n");
  TriboData* data = data_of(model);
  run(model, data, 1);
  TriboView act, force;
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_ACT, &act));
  CHECK_NEAR(act.values[0], 0.001 / (0.5 * 0.01), 1e-12);
  // the chord 2 sin(q/2) has the slope cos(q/2), and the inertia is 1
  const double q = 0.5, lengths[2] = {2 * sin(0.1), 2 * sin(0.75)}, unit = (lengths[1] - lengths[0]) / 0.3;
  const double L = 0.75 + (2 * sin(q / 2) - lengths[0]) / unit, x = (L - 0.5) / 0.5;
  const double peak = 200 / cos(q / 2), bump = x <= 0.5 ? 2 * x * x : 1 - 2 * (1 - x) * (1 - x);
  const double none[1] = {0}, at[1] = {q};
  CHECK_OK(tribo_data_set_state(model, data, at, none));
  CHECK_OK(tribo_data_set_act(model, data, 0, 1));
  double effort[1];
  const TriboTerms terms = {.actuation = effort};
  CHECK_OK(tribo_data_terms(model, data, &terms));
  CHECK_OK(tribo_data_view(model, data, TRIBO_FIELD_ACTUATION, &force));
  CHECK_NEAR(force.values[0], -peak * bump, 1e-9 * peak);
  CHECK_NEAR(effort[0], -200 * bump, 1e-9 * 200);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// What lifts a pendulum of 2 kg at 0.5 m is the effort 2 g 0.5 cos q: passive, or the joint's own within its bounds.
static void joints_lift_what_they_carry(void** state) {
  (void)state;
  static const char* const laws[] = {"", ", actuator_gravity_compensation: true",
                                     ", actuator_gravity_compensation: true, effort: 3"};
  const double q[1] = {0.4}, v[1] = {0}, whole = 2 * 9.81 * 0.5 * cos(0.4);
  const double wanted[3][2] = {{whole, 0}, {0, whole}, {0, 3}};
  for (int i = 0; i < 3; ++i) {
    char text[400];
    snprintf(text, sizeof text,
             "bodies: [{name: a, mass: 2, com: [0.5, 0, 0], inertia: [1, 1, 1, 0, 0, 0], gravity_compensation: 1}]\n"
             "joints: [{name: j, kind: revolute, parent: world, child: a, axis: [0, -1, 0]%s}]\n",
             laws[i]);
    TriboModel* model = model_of(text);
    TriboData* data = data_of(model);
    CHECK_OK(tribo_data_set_state(model, data, q, v));
    double passive[1], effort[1];
    const TriboTerms terms = {.passive = passive, .actuation = effort};
    CHECK_OK(tribo_data_terms(model, data, &terms));
    CHECK_NEAR(passive[0], wanted[i][0], 1e-12);
    CHECK_NEAR(effort[0], wanted[i][1], 1e-12);
    tribo_data_destroy(data);
    tribo_model_destroy(model);
  }
}

// A crank of 0.3 m and a rod of 1 m: the slider is at 0.3 cos q − √(1 − 0.09 sin² q), and a force on it is the slope of
// that, times the force, on the crank.
static void cranks_drive_sliders(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies: [{name: a, mass: 2, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0]}]\n"
      "joints: [{name: j, kind: revolute, parent: world, child: a, axis: [0, 0, 1]}]\n"
      "actuators: [{body: a, point: [0.3, 0, 0], crank_length: 1, slider_axis: [1, 0, 0], gear: 2, gain: [0, 0, 0], "
      "bias: [5, 3, "
      "7]}]"
      "\n");
  TriboData* data = data_of(model);
  const double q[1] = {0.7}, v[1] = {1.5}, root = sqrt(1 - 0.09 * sin(0.7) * sin(0.7));
  const double l = 0.3 * cos(0.7) - root, slope = -0.3 * sin(0.7) + 0.09 * sin(0.7) * cos(0.7) / root;
  CHECK_OK(tribo_data_set_state(model, data, q, v));
  double effort[1];
  const TriboTerms terms = {.actuation = effort};
  CHECK_OK(tribo_data_terms(model, data, &terms));
  CHECK_NEAR(effort[0], 2 * slope * (5 + 3 * 2 * l + 7 * 2 * slope * 1.5), 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// Two actuators that want 12 and 4 together on a tendon of at most 8 pull with 6 and 2.
static void tendons_bound_what_pulls_them(void** state) {
  (void)state;
  TriboModel* model = model_of("world: {gravity: [0, 0, 0]}\n" RAILS
                               "tendons: [{name: t, joints: {ra: 2, rb: -1}, force_max: 8}]\n"
                               "actuators: [{tendon: t, ctrl: 12}, {tendon: t, ctrl: 4}]\n");
  TriboData* data = data_of(model);
  double effort[2];
  const TriboTerms terms = {.actuation = effort};
  CHECK_OK(tribo_data_terms(model, data, &terms));
  CHECK_NEAR(effort[0], 16, 1e-12);
  CHECK_NEAR(effort[1], -8, 1e-12);
  CHECK_NEAR(view(model, data, TRIBO_FIELD_ACTUATION)[0], 6, 1e-12);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

static void activations_are_state(void** state) {
  (void)state;
  TriboModel* model = model_of("world: {gravity: [0, 0, 0], dt: 0.01}\n" RAILS
                               "actuators: [{joint: rb, activation: integrator, ctrl: 1}]\n");
  TriboData* data = data_of(model);
  TriboState* saved;
  CHECK_OK(tribo_state_create(&saved));
  run(model, data, 7);
  CHECK_OK(tribo_state_save(model, data, saved));
  run(model, data, 7);
  const uint64_t end = tribo_data_hash(model, data);
  CHECK_NEAR(view(model, data, TRIBO_FIELD_ACT)[0], 0.14, 1e-15);
  tribo_data_reset(model, data);
  CHECK_OK(tribo_state_restore(model, data, saved));
  run(model, data, 7);
  assert_true(tribo_data_hash(model, data) == end);
  tribo_state_destroy(saved);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A box falls in a medium: its end speed is that at which drag bears its weight.
static void a_box_reaches_its_end_speed(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {density: 1.2, viscosity: 0.01, dt: 0.002, wind: [0, 0, 0.5]}\n"
      "bodies: [{name: a, box: [0.4, 0.3, 0.2], mass: 0.1, position: [0, 0, 100]}]\n");
  TriboData* data = data_of(model);
  run(model, data, 4000);
  const double v = -scene_value(model, data, "velocity.z", "a") + 0.5, pi = 3.14159265358979323846;
  CHECK_NEAR(0.5 * 1.2 * 0.12 * v * v + 3 * pi * 0.01 * 0.3 * v, 0.1 * 9.81, 1e-9);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

// A spherical joint with a spring swings about an axis of its inertia as a plain torsion spring does.
static void a_ball_with_a_spring_swings(void** state) {
  (void)state;
  TriboModel* model = model_of(
      "world: {gravity: [0, 0, 0]}\n"
      "bodies: [{name: a, mass: 1, com: [0, 0, 0], inertia: [2, 3, 4, 0, 0, 0]}]\n"
      "joints: [{name: j, kind: spherical, parent: world, child: a, stiffness: 8}]\n");
  TriboData* data = data_of(model);
  const double q[4] = {sin(0.2), 0, 0, cos(0.2)}, v[3] = {0};
  CHECK_OK(tribo_data_set_state(model, data, q, v));
  const double energy = 0.5 * 8 * 0.4 * 0.4;
  CHECK_NEAR(scene_value(model, data, "energy", NULL), energy, 1e-14);
  run(model, data, 1000);
  const double* now = view(model, data, TRIBO_FIELD_Q);
  CHECK_NEAR(2 * atan2(now[0], now[3]), 0.4 * cos(2 * 1.0), 1e-6);
  CHECK_NEAR(scene_value(model, data, "energy", NULL), energy, 1e-6);
  tribo_data_destroy(data);
  tribo_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tendon_of_joints_pulls_by_its_coefficients),
      cmocka_unit_test(a_string_pulls_along_itself),
      cmocka_unit_test(strings_go_around),
      cmocka_unit_test(strings_around_bodies_pull_by_the_slope_of_their_length),
      cmocka_unit_test(a_string_holds_at_its_length),
      cmocka_unit_test(a_tendon_of_joints_is_limited),
      cmocka_unit_test(actuators_push_by_gain_and_bias),
      cmocka_unit_test(muscles_pull_by_their_curves),
      cmocka_unit_test(muscles_find_what_is_not_given),
      cmocka_unit_test(joints_lift_what_they_carry),
      cmocka_unit_test(cranks_drive_sliders),
      cmocka_unit_test(tendons_bound_what_pulls_them),
      cmocka_unit_test(activations_are_state),
      cmocka_unit_test(a_box_reaches_its_end_speed),
      cmocka_unit_test(a_ball_with_a_spring_swings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
