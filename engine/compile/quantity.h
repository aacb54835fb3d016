// Quantities: the numbers of a simulation that recorders and expectations name. The table is here, with the look-up by
// name; observe/quantity_values.c computes them.
#pragma once

#include <tribo/tribo.h>

// X(id, name, of, unit, doc)
#define QUANTITIES(X)                                                                                                  \
  X(TIME, "time", "world", "s", "simulated time")                                                                      \
  X(ENERGY, "energy", "world", "J", "kinetic plus potential energy")                                                   \
  X(KINETIC, "kinetic", "world", "J", "kinetic energy")                                                                \
  X(POTENTIAL, "potential", "world", "J", "potential energy, zero at the origin")                                      \
  X(MOMENTUM_X, "momentum.x", "world", "kg m/s", "linear momentum")                                                    \
  X(MOMENTUM_Y, "momentum.y", "world", "kg m/s", "linear momentum")                                                    \
  X(MOMENTUM_Z, "momentum.z", "world", "kg m/s", "linear momentum")                                                    \
  X(ANGULAR_X, "angular_momentum.x", "world", "kg m²/s", "angular momentum about the origin")                          \
  X(ANGULAR_Y, "angular_momentum.y", "world", "kg m²/s", "angular momentum about the origin")                          \
  X(ANGULAR_Z, "angular_momentum.z", "world", "kg m²/s", "angular momentum about the origin")                          \
  X(COM_X, "com.x", "world", "m", "centre of mass of everything that moves")                                           \
  X(COM_Y, "com.y", "world", "m", "centre of mass of everything that moves")                                           \
  X(COM_Z, "com.z", "world", "m", "centre of mass of everything that moves")                                           \
  X(SPEED_MAX, "speed_max", "world", "m/s", "fastest centre of mass")                                                  \
  X(SPEED_RMS, "speed_rms", "world", "m/s", "root mean square speed of the centres of mass")                           \
  X(HEIGHT_MIN, "height_min", "world", "m", "lowest body origin along z")                                              \
  X(CONTACTS, "contacts", "world", "", "contact points of the last step")                                              \
  X(CONTACT_FORCE, "contact_force", "world", "N", "sum of the normal forces of the last step")                         \
  X(PENETRATION, "penetration", "world", "m", "deepest overlap the last step began with")                              \
  X(OPENING, "opening", "world", "m, rad", "how far the worst closure is open after the last step")                    \
  X(ASLEEP, "asleep", "world", "", "bodies that sleep after the last step")                                            \
  X(ITERATIONS, "iterations", "world", "", "solver iterations of the last step")                                       \
  X(RELAXATION, "relaxation", "world", "m", "change of gaps or angles that contradicted each other in the last step")  \
  X(SUBSTEPS, "substeps", "world", "", "substeps of the last step, 1 unless it was hard")                              \
  X(CERTIFIED, "certified", "world", "", "1 when the last step was certified")                                         \
  X(LEVEL, "level", "world", "",                                                                                       \
    "how exactly the last step keeps the law of contact: 0 exact, 1 fine, 2 held, 3 open")                             \
  X(UNCERTIFIED, "uncertified", "world", "",                                                                           \
    "why the last step was not certified: 0 it was, 1 contact law, 2 loops open, 3 energy, 4 momentum, 5 divergence, " \
    "6 contradiction")                                                                                                 \
  X(BALANCE, "balance", "world", "J", "energy that nothing explains, gained in the last step")                         \
  X(BALANCE_RELATIVE, "balance_relative", "world", "", "the same over the kinetic energy of late")                     \
  X(ENERGY_ERROR, "energy_error", "world", "J", "sum of `balance` over all steps so far")                              \
  X(MOMENTUM_ERROR, "momentum_error", "world", "",                                                                     \
    "momentum that nothing from outside explains, relative, of the worst body or tree in the last step")               \
  X(PUSH_OUT_WORK, "push_out_work", "world", "J", "of contacts and limits that pushed apart, in the last step")        \
  X(RESIDUAL_PEN, "residual.pen", "world", "m, rad", "largest of penetration, limit violation and opening")            \
  X(RESIDUAL_NAT, "residual.nat", "world", "m/s", "natural-map residual of the last step")                             \
  X(RESIDUAL_PRIM, "residual.prim", "world", "N s", "distance of the impulses to their cones")                         \
  X(RESIDUAL_DUAL, "residual.dual", "world", "m/s", "distance of the velocities to the dual cones")                    \
  X(RESIDUAL_COMP, "residual.comp", "world", "J", "complementarity of the last step")                                  \
  X(PLAN_ERROR, "plan_error", "world", "m/s, rad/s",                                                                   \
    "of controllers of tasks: largest difference between the velocities planned and those after the last step")        \
  X(QPCC_MODES, "qpcc.modes", "world", "",                                                                             \
    "contacts as planned in the last step, a digit each, the first nine: 1 break, 2 slide, 3 stick")                   \
  X(QPCC_PROGRAMS, "qpcc.programs", "world", "", "quadratic programs of the plan of the last step")                    \
  X(QPCC_OUTCOME, "qpcc.outcome", "world", "",                                                                         \
    "worst plan of the last step: 0 solved, 1 local, 2 max_iter, 3 max_time, 4 infeasible")                            \
  X(QPCC_NAT, "qpcc.nat", "world", "m/s", "natural-map residual of the plan of the last step")                         \
  X(QPCC_TIME, "qpcc.time", "world", "s", "wall time of the plans of the last step")                                   \
  X(POSITION_X, "position.x", "body", "m", "body origin")                                                              \
  X(POSITION_Y, "position.y", "body", "m", "body origin")                                                              \
  X(POSITION_Z, "position.z", "body", "m", "body origin")                                                              \
  X(QUATERNION_X, "quaternion.x", "body", "", "orientation")                                                           \
  X(QUATERNION_Y, "quaternion.y", "body", "", "orientation")                                                           \
  X(QUATERNION_Z, "quaternion.z", "body", "", "orientation")                                                           \
  X(QUATERNION_W, "quaternion.w", "body", "", "orientation")                                                           \
  X(TILT, "tilt", "body", "rad", "angle between the body's z axis and the world's")                                    \
  X(TURN, "turn", "body", "rad", "rotation about the body's z axis, −π … π; expectations count it on")                 \
  X(VELOCITY_X, "velocity.x", "body", "m/s", "velocity of the centre of mass")                                         \
  X(VELOCITY_Y, "velocity.y", "body", "m/s", "velocity of the centre of mass")                                         \
  X(VELOCITY_Z, "velocity.z", "body", "m/s", "velocity of the centre of mass")                                         \
  X(SPEED, "speed", "body", "m/s", "length of the velocity")                                                           \
  X(OMEGA_X, "omega.x", "body", "rad/s", "angular velocity, world axes")                                               \
  X(OMEGA_Y, "omega.y", "body", "rad/s", "angular velocity, world axes")                                               \
  X(OMEGA_Z, "omega.z", "body", "rad/s", "angular velocity, world axes")                                               \
  X(SPIN, "spin", "body", "rad/s", "length of the angular velocity")                                                   \
  X(BODY_ASLEEP, "asleep", "body", "", "1 when it sleeps")                                                             \
  X(FORCE_X, "contact_force.x", "body", "N", "sum of the contact forces on the body in the last step")                 \
  X(FORCE_Y, "contact_force.y", "body", "N", "sum of the contact forces on the body in the last step")                 \
  X(FORCE_Z, "contact_force.z", "body", "N", "sum of the contact forces on the body in the last step")                 \
  X(JOINT_Q, "q", "joint", "rad, m", "position of a one-dof joint")                                                    \
  X(JOINT_V, "v", "joint", "rad/s, m/s", "velocity of a one-dof joint")                                                \
  X(JOINT_EFFORT, "effort", "joint", "N m, N", "of its motors, controllers and actuators in the last step")            \
  X(CLOSURE_FORCE, "force", "closure", "N", "size of the force it carried in the last step")                           \
  X(CLOSURE_TORQUE, "torque", "closure", "N m", "size of the torque it carried in the last step")                      \
  X(TASK_ERROR, "task.error", "task", "m, rad, N", "distance from what a task wants, after the last step")             \
  X(TASK_FORCE, "task.force", "task", "N", "of a task force: sum of the normal forces in the last step")               \
  X(TASK_WANTED, "task.wanted", "task", "N", "of a task force: what was wanted in the last step")                      \
  X(READING, "reading", "sensor", "", "the first number of a sensor")                                                  \
  X(READING_X, "reading.x", "sensor", "", "the first number of a sensor")                                              \
  X(READING_Y, "reading.y", "sensor", "", "the second")                                                                \
  X(READING_Z, "reading.z", "sensor", "", "the third")                                                                 \
  X(READING_W, "reading.w", "sensor", "", "the fourth")

enum {
#define X(id, name, of, unit, doc) Q_##id,
  QUANTITIES(X)
#undef X
      Q_COUNT
};

// "speed_max" or "cube3: position.z"
TriboStatus tribo_quantity_parse(const TriboModel* model, const char* text, TriboQuantity* out);
// Which number of a sensor a quantity of the kind READING… is, 0 … 3.
static inline int tribo_quantity_component(int kind) {
  return kind <= Q_READING_X ? 0 : kind - Q_READING_X;
}
