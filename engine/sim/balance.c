// The balance of a step: energy and momentum that nothing explains, from the states at its ends, the forces, and the
// impulses with their rows. The stepper has no say in it: states are evaluated by their own kinematics.
//
// What explains a change of energy E = T + U (weight, springs of joints), with the displacement Δ = q⁺ ⊖ q:
//
//     generalized forces    τ·Δ      (a drive's damping, whose force at v is in τ: −resist (Δ/h − v)·Δ)
//     wrenches              F·Δx of the centre of mass, and torque · rotation vector
//     dampers of joints     −d Δ²/h, in smooth trees −d (Δ/h + (θ − ½)(v⁺ − v)) Δ (tree_motion.c), of a tree
//                           together; what they would give within a step that is too long for them is unexplained
//     rows                  λ·J(q) u, with u the velocity at which impulses act: ½(v + v_a) where they kick (below),
//                           Δ/h in flight, ½(v + v⁺) at impacts inside a step
//
// Closures that are ties do no work, and what they tie is judged as one: energy from them is unexplained. What is left
// is the `balance` B = ΔE − ΣW, of each part that moves by itself: a free body, a tree, or what closures tie.
//
// What B may be follows from how a part was carried.
//
// Smooth: half of the forces at each end, a drift between them. The map is symplectic and symmetric, and keeps a nearby
// Ẽ = E + h²E₂ + …, so that B = h²(E₂(q,v) − E₂(q⁺,v⁺)): third order in a step, and its sum stays of second order. Free
// bodies without torque: 0. How large it can be: a link's work is momentum · mean velocity, and ½(V + V⁺) misses the
// mean velocity of a motion that turns by φ in the step by at most (φ²|V| + φ|ΔV|)/12 (the trapezoidal rule, V̈ ≤ ω²V +
// ωV̇). It meets the impulses of inertia, forces and rows. These balance, so none is larger than the others together:
// change of velocity, turning of momentum, known forces, |ΔV| + φ|V| + h|F|. Norms are those of kinetic energy, |V|² =
// 2T; |F| that of M⁻¹, √M|g| of the weight. With the works W of the forces, which follow arcs of angle φ as chords,
//
//     |B| ≤ φ ((φ|V| + |ΔV|)(φ|V| + |ΔV| + h|F|) + φ Σ|W|).                                              (1)
//
// The rule says 1/12 where (1) has 1. Measured: 1.4/12 in flight (chains of 2 … 6 links, masses to 1000 : 1, h|ω| to 1
// and beyond), 6.9/12 where closures tie light links.
//
// Contacts that last are as smooth: half of their impulses acts at either end, and j, with rows that are the mean of
// both, works along the mean of v and v⁺, or of a tree along Δ/h.
//
// Kicked: all forces F and impulses j at the start, q; then a drift without any. A drift leads from v_a to v⁺ with the
// mean velocity w = Δ/h, and is symmetric: v_a = 2w − v⁺ up to (1). (A free body goes on with v⁺; its v_a is that of
// its momentum where the step began.) The kick changes T by exactly (hF + j)·½(v + v_a), but F works along hw. So
//
//     B = hF·(½(v + v_a) − w) + (1) = −½ hF·Δv + (1):                                                   (2)
//
// a block that slides down a slope loses ½ h mg·Δv in each step. This is Moreau's first order; it is a loss where the
// forces win and a gain where they are overcome, so it sums up to ½h of a bounded quantity. B may be (2) where that is
// a gain. A tie that acts together with contacts acts at q too: its rows' J(q)(v + v_a)/2, 0 at q but for the turning
// of J in the step, are of the same order and count alike. So does what dampers of such trees do besides: lag_of.
//
// Divided by an impact after a fraction s of the step: flight, jump, flight. v at the jump is known up to the flight's
// change a of velocity, so j works to within ½|j·a| ≤ ½ h|F|(|ΔV| + |j|), and F to within its own work.
//
// Passes of the drift stop at 1e-9 of the velocities at worst, in the metric of the mass: no more can be asked than
// that fraction of all energies that change hands. Δ, the difference of two places, is known to rounding.
//
// A bound of order h³ still says nothing where the step is far too long. The motion counts as resolved where (1) is at
// most RESOLVED of the kinetic energy: that is where a link turns by some 0.3 rad in a step. Beyond, the step is
// divided. Only gains are judged: an unexplained loss is told.
//
// Mechanisms are judged more closely. Where a loop passes near a dead point, light links are flung about within a step
// or two, and E₂ has a peak there of many times what the motion has else: at 1 ms, 3 of 20 J were lost in one step and
// 7 found in the next, both within 1 % only by luck. What the symplectic step would give back it does not where the
// peak falls between two steps, or where one of them is divided. So in flight |B| of what closures tie, gains and
// losses, may be MECHANISM of the kinetic energy; where it is a loss, with what dampers take besides, and with λ·Jv,
// since velocities after a kick do not fit the closures (J v ≠ 0) before the next step in flight makes them. Else the
// step is divided, and the steps after it keep to the shorter parts for a while (step.c): each change of the length of
// parts at a place where E₂ ≠ 0 costs h²E₂ for good. Measured on a figure of 38 bodies with loops, 10 kg to 10 g, that
// falls by 40 J in 5 s at 1 ms: energy moved by 3.6e-3 of that with MECHANISM = 1e-3, by 7.4e-4 with 1e-4, by 6.0e-4
// with 5e-5; without, by 20 %, and by all orders of magnitude where links weigh 1 g.
//
// Momentum of what floats, about a point o of its own, so that no digits are lost far from the origin:
//
//     ΔP = h(Mg + ΣF) + Σf,     ΔL = h Σ(x − o)×F + Σ torques + Σ(r − o)×f,     x at q (kicked), the mean of both ends.
//
// The columns J of a floating root span all its twists, so the six numbers of Jᵀλ there are force and moment of all
// rows. Linear momentum is kept to rounding whatever h. So is angular momentum, but for impacts inside a step, whose
// impulses act at q while the body is a part of Δx on: |Δx||f|, and for torques on bodies that turn: φ h|τ|. Measured:
// 1e-14.
#include "data_impl.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "math3.h"
#include "small_dense.h"

// How much of the kinetic energy (1) may be; how much of it |B| may be of what closures tie.
static const double RESOLVED = 0.01, MECHANISM = 5e-5;
// What passes leave, as a fraction of energy; what is left of linear and angular momentum, as a fraction of the parts'.
static const double PASSES_LEAVE = 1e-9, LINEAR = 1e-11, ANGULAR = 1e-9;

// What is summed over a part. Places are those relative to o.
typedef struct Part {
  double kinetic[2];   // at the start, at the end [J]
  double balance;      // [J]
  double works;        // Σ|W| [J]
  double first_order;  // (2) [J]
  double lead;         // ½ h F·Δv [J]
  double lag;          // what dampers of ties add to (2) [J]
  double exchanged;    // work of rows [J]
  double ties;         // rows of ties in (2) [J]
  double change;       // |ΔV|² [J]
  double lost;         // what dampers take, and ties whose velocities do not fit at the start [J]
  double forced;       // h|F| without weight [√J]
  double fastest;      // |ω|² [rad²/s²]
  double mass, o[3];
  double loads, reach;           // Σ of the sizes of impulses along coordinates; 1 and the largest coordinate
  double linear[3], angular[3];  // change of momentum less what explains it [N·s, N·m·s]
  double spread;                 // Σ m|x|² + tr I/2 [kg·m²]
  double impulses, torques;      // Σ of the sizes of what acts [N·s, N·m·s]
  double angular_room;           // what the order allows besides [N·m·s]
  int is_kicked, has_impact;
} Part;

// One step as the balance sees it.
typedef struct Step {
  const TriboModel* model;
  TriboData* data;
  const TriboSystemInfo* info;
  const TriboStepOptions* options;
  const MotionState *from, *to;
  const double *q, *v, *v_next;
  const TriboPose* poses;  // of links, at q; those at the end are in the data
  double gravity;          // its size [m/s²]
} Step;

static TriboBlockMotion motion_of(const Step* s, const BalanceBlock* block) {
  return tribo_dyn_block_motion(s->model->mechanism.system, s->data->dynamics, s->options, block->block);
}

static const TriboTreeInfo* tree_of(const TriboModel* model, const BalanceBlock* block) {
  return tribo_dyn_tree_info(model->mechanism.trees[block->tree].tree);
}

// The rotation from R to R⁺ as a vector in the world.
static void turn_between(const double R[9], const double R_next[9], double out[3]) {
  double E[9];
  tribo_mul33t(E, R_next, R);
  const double twice[3] = {E[7] - E[5], E[2] - E[6], E[3] - E[1]};
  const double sine = 0.5 * tribo_norm3(twice), cosine = 0.5 * (E[0] + E[4] + E[8] - 1);
  const double angle = atan2(sine, cosine);
  tribo_scale3(out, sine > 1e-9 ? 0.5 * angle / sine : 0.5, twice);
}

// Δ of a root that floats: its way in the mean of its axes, and its turn in its axes.
static void root_delta(const Step* s, int body, int at) {
  const TriboPose *pose = &s->poses[body], *next = &s->data->balance.poses[body];
  double *delta = s->data->balance.delta + at, way[3], turn[3], along[3], ahead[3];
  tribo_sub3(way, next->p, pose->p);
  turn_between(pose->R, next->R, turn);
  tribo_mul33tv(along, pose->R, way);
  tribo_mul33tv(ahead, next->R, way);
  for (int k = 0; k < 3; ++k) {
    delta[k] = 0.5 * (along[k] + ahead[k]);
  }
  tribo_mul33tv(delta + 3, pose->R, turn);
}

// Δ of a tree whose joints have one coordinate each, or let it float. Returns 0 where others do not.
static int find_plain_delta(const Step* s, const BalanceBlock* block) {
  const TriboTreeInfo* info = tree_of(s->model, block);
  const double *q = s->q + block->q_at, *q_next = s->data->next.q + block->q_at;
  for (int k = 0; k < info->nlink; ++k) {
    const TriboLinkInfo* link = info->links + k;
    if (link->kind == TRIBO_JOINT_REVOLUTE || link->kind == TRIBO_JOINT_PRISMATIC) {
      s->data->balance.delta[block->v_at + link->v_at] = q_next[link->q_at] - q[link->q_at];
    } else if (link->kind == TRIBO_JOINT_FREE) {
      root_delta(s, s->model->mechanism.trees[block->tree].first_body + k, block->v_at + link->v_at);
    } else if (link->nv > 0) {
      return 0;
    }
  }
  return 1;
}

// Δ of all trees; of those with other joints by the dynamics, for all at once.
static TriboStatus find_delta(const Step* s) {
  BalanceWork* work = &s->data->balance;
  int is_known = 1;
  for (int i = 0; i < work->nblock; ++i) {
    is_known &= work->blocks[i].tree < 0 || find_plain_delta(s, &work->blocks[i]);
  }
  return is_known
             ? TRIBO_OK
             : tribo_dyn_difference(s->model->mechanism.system, s->data->dynamics, s->q, s->data->next.q, work->delta);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

// The velocity at which impulses on a block work.
static void set_mean(const Step* s, const BalanceBlock* block) {
  BalanceWork* work = &s->data->balance;
  const double *v = s->v + block->v_at, *next = s->v_next + block->v_at, *delta = work->delta + block->v_at;
  double* mean = work->mean + block->v_at;
  const TriboBlockMotion motion = motion_of(s, block);
  for (int k = 0; k < block->nv; ++k) {
    mean[k] = 0.5 * (v[k] + next[k]);
    if (block->tree >= 0 && motion != TRIBO_MOTION_IMPACT) {
      const double rate = delta[k] / s->options->h;
      mean[k] = motion == TRIBO_MOTION_SMOOTH ? rate : 0.5 * v[k] + rate - 0.5 * next[k];
    }
  }
  if (block->tree >= 0 && block->root >= 0 && motion == TRIBO_MOTION_SMOOTH) {
    // a force on a root stays what it was in the world, along its axes at the start
    double way[3];
    tribo_sub3(way, work->poses[block->root].p, s->poses[block->root].p);
    tribo_mul33tv(mean + (block->root_v - block->v_at), s->poses[block->root].R, way);
    tribo_scale3(mean + (block->root_v - block->v_at), 1 / s->options->h, mean + (block->root_v - block->v_at));
  }
  if (block->tree < 0) {
    // angular velocities in the axes of the start; after a kick that of its momentum, before it begins to turn
    const TriboProblem* p = &s->data->result.problem;
    const double *R = s->from->bodies[block->first].R, *minv = p->minv + p->block_at[block->block] + 3 * 6 + 3;
    const int is_kicked = motion == TRIBO_MOTION_KICKED;
    double after[3];
    tribo_mul33tv(after, R, is_kicked ? s->to->bodies[block->first].l : s->to->bodies[block->first].w);
    for (int k = 0; k < 3; ++k) {
      mean[3 + k] = 0.5 * (v[3 + k] + (is_kicked ? tribo_dot(minv + 6 * k, after, 3) : after[k]));
    }
  }
}

// impulse (n) += Jᵀλ of a contact with three rows. Returns the speed of the last one.
static inline double add_three(int n, const double* J, const double lambda[3], const double* mean, double* impulse) {
  const double *second = J + n, *normal = J + 2 * n;
  double speed = 0;
  for (int k = 0; k < n; ++k) {
    impulse[k] += lambda[0] * J[k] + lambda[1] * second[k] + lambda[2] * normal[k];
    speed += normal[k] * mean[k];
  }
  return speed;
}

// Jᵀλ of cone c goes to the impulses of its blocks. Returns the work of its last row alone.
static double add_impulse(const Step* s, const TriboProblem* p, int c) {
  BalanceWork* work = &s->data->balance;
  const int dim = p->cones[c].dim;
  const double* lambda = s->data->result.lambda + p->cones[c].row;
  const double size = tribo_max_abs(lambda, dim);
  double speed = 0;
  if (size == 0) {
    return 0;
  }
  for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
    const int at = s->info->block_v[p->term_block[t]], n = s->info->block_dim[p->term_block[t]];
    const double *J = p->jac + p->term_at[t], *mean = work->mean + at;
    double* impulse = work->impulse + at;
    work->size[p->term_block[t]] += size;
    if (dim == 3) {
      // (where n is known, the loop has no end to test)
      speed += n == 6 ? add_three(6, J, lambda, mean, impulse) : add_three(n, J, lambda, mean, impulse);
      continue;
    }
    for (int r = 0; r < dim; ++r) {
      tribo_add_scaled(n, lambda[r], J + r * n, impulse);
    }
    speed += tribo_dot(J + (dim - 1) * n, mean, n);
  }
  return lambda[dim - 1] * speed;
}

// λ·J at velocities v (nv) of all rows of cone c.
static double work_of(const Step* s, const TriboProblem* p, int c, const double* v) {
  const double* lambda = s->data->result.lambda + p->cones[c].row;
  double sum = 0;
  for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
    const int at = s->info->block_v[p->term_block[t]], n = s->info->block_dim[p->term_block[t]];
    for (int r = 0; r < p->cones[c].dim; ++r) {
      sum += lambda[r] * tribo_dot(p->jac + p->term_at[t] + r * n, v + at, n);
    }
  }
  return sum;
}

// Impulses of all rows by block, what ties among them do, and the work of those that push apart.
static double sum_rows(const Step* s) {
  BalanceWork* work = &s->data->balance;
  const TriboProblem* p = &s->data->result.problem;
  double push_out = 0;
  memset(work->impulse, 0, (size_t)s->model->nv * sizeof *work->impulse);
  memset(work->tied, 0, (size_t)s->info->nblock * sizeof *work->tied);
  memset(work->fitted, 0, (size_t)s->info->nblock * sizeof *work->fitted);
  memset(work->size, 0, (size_t)s->info->nblock * sizeof *work->size);
  for (int i = 0; i < work->nblock; ++i) {
    set_mean(s, &work->blocks[i]);
  }
  for (int c = 0; c < p->ncone; ++c) {
    const TriboRowInfo* row = &s->data->result.rows[c];
    const double normal = add_impulse(s, p, c);
    if (row->kind == TRIBO_ROW_CONTACT || row->kind == TRIBO_ROW_LIMIT || row->kind == TRIBO_ROW_BOUND) {
      push_out += fmax(0, normal);
    } else if (row->kind == TRIBO_ROW_CLOSURE && !tribo_dyn_closure_gives_way(s->model->mechanism.system, row->index)) {
      const int block = p->term_block[p->term_first[c]];
      work->tied[block] += work_of(s, p, c, work->mean);
      work->fitted[block] += fabs(work_of(s, p, c, s->v));
    }
  }
  return push_out;
}

// ---- what acts on a part -------------------------------------------------------------------------------------------

// An outer impulse that acts at the place x at the start, and x_next at the end of a step; as much of it at the start
// as `fraction` says.
static void push(Part* part, double fraction, const double f[3], const double x[3], const double x_next[3]) {
  double arm[3], end[3], moment[3];
  tribo_sub3(arm, x, part->o);
  tribo_sub3(end, x_next, x);
  tribo_axpy3(arm, arm, 1 - fraction, end);
  tribo_cross3(moment, arm, f);
  tribo_sub3(part->linear, part->linear, f);
  tribo_sub3(part->angular, part->angular, moment);
  part->impulses += tribo_norm3(f);
  part->torques += tribo_norm3(moment);
  part->angular_room += part->has_impact ? tribo_norm3(end) * tribo_norm3(f) : 0;
}

static void twist_part(Part* part, const double t[3]) {
  tribo_sub3(part->angular, part->angular, t);
  part->torques += tribo_norm3(t);
}

// What weight needs of the bodies of a block, relative to o.
typedef struct Moments {
  double mass, place[3], place_next[3];  // M, Σ m x at the start and at the end [kg, kg·m]
  double gained[3];                      // linear momentum [N·s]
} Moments;

// ½ h F·Δv of a force, by which a kick leads.
static void add_lead(Part* part, double lead) {
  part->lead += lead;
  part->first_order -= part->is_kicked ? lead : 0;
}

// A body's change of motion.
static void add_body(const BalanceBody* body, const BodyMotion* m, const BodyMotion* next, Part* part, Moments* sum) {
  const double mass = body->mass;
  double du[3], dw[3], dl[3], arm[3], arm_next[3], orbit[3], orbit_next[3];
  tribo_sub3(arm, m->x, part->o);
  tribo_sub3(arm_next, next->x, part->o);
  tribo_sub3(du, next->u, m->u);
  tribo_sub3(dw, next->w, m->w);
  tribo_sub3(dl, next->l, m->l);
  tribo_cross3(orbit, arm, m->u);
  tribo_cross3(orbit_next, arm_next, next->u);
  for (int i = 0; i < 3; ++i) {
    sum->place[i] += mass * arm[i];
    sum->place_next[i] += mass * arm_next[i];
    sum->gained[i] += mass * du[i];
    part->angular[i] += mass * (orbit_next[i] - orbit[i]) + dl[i];
  }
  // (dω·I dω, but for the turning of I)
  part->change += mass * tribo_dot3(du, du) + sqrt(tribo_dot3(dw, dw) * tribo_dot3(dl, dl));
  part->fastest = fmax(part->fastest, fmax(tribo_dot3(m->w, m->w), tribo_dot3(next->w, next->w)));
  sum->mass += mass;
  part->spread += mass * tribo_dot3(arm, arm) + 0.5 * (body->inertia[0] + body->inertia[4] + body->inertia[8]);
}

// φ, so far.
static double turn_of(const Step* s, const Part* part) {
  return s->options->h * sqrt(part->fastest);
}

// The bodies of a block, and their weight.
static void add_bodies(const Step* s, const BalanceBlock* block, double fraction, Part* part) {
  const double h = s->options->h, *g = s->options->gravity;
  double rise[3], arm[3], torque[3];
  Moments sum = {0};
  for (int i = block->first; i < block->first + block->count; ++i) {
    add_body(&s->data->balance.bodies[i], &s->from->bodies[i], &s->to->bodies[i], part, &sum);
  }
  tribo_sub3(rise, sum.place_next, sum.place);
  tribo_axpy3(arm, sum.place, 1 - fraction, rise);
  tribo_cross3(torque, arm, g);
  part->mass += sum.mass;
  part->balance -= tribo_dot3(g, rise);
  add_lead(part, 0.5 * h * tribo_dot3(g, sum.gained));
  for (int i = 0; i < 3; ++i) {
    part->linear[i] += sum.gained[i] - h * sum.mass * g[i];
    part->angular[i] -= h * torque[i];
  }
  part->impulses += h * sum.mass * s->gravity;
  part->loads += h * sum.mass * s->gravity;
  part->torques += h * tribo_norm3(torque);
  part->angular_room += part->has_impact ? h * s->gravity * tribo_norm3(rise) : 0;
}

// Velocity of a point that moves with a body.
static void point_velocity(const BodyMotion* m, const double x[3], double out[3]) {
  double arm[3];
  tribo_sub3(arm, x, m->x);
  tribo_cross3(out, m->w, arm);
  tribo_add3(out, out, m->u);
}

// The index of the body that a link moves with, −1: of none that has mass.
static int carrier_of(const Step* s, const BalanceBlock* block, int body) {
  int moved = body;
  if (block->tree >= 0) {
    const int first = s->model->mechanism.trees[block->tree].first_body;
    moved = first + tree_of(s->model, block)->links[body - first].carrier;
  }
  for (int i = block->first; i < block->first + block->count; ++i) {
    if (s->data->balance.bodies[i].body == moved) {
      return i;
    }
  }
  return -1;
}

// Force and torque on the centre of mass of a body of the model.
static void add_wrench(const Step* s, const BalanceBlock* block, int body, double fraction, Part* part) {
  const double *w = s->data->forces.wrench + 6 * body, h = s->options->h;
  const TriboPose *pose = &s->poses[body], *next = &s->data->balance.poses[body];
  const int carrier = carrier_of(s, block, body);
  double x[3], x_next[3], dx[3], turn[3], f[3], t[3];
  if (block->tree < 0) {
    tribo_copy3(x, s->from->bodies[carrier].x);
    tribo_copy3(x_next, s->to->bodies[carrier].x);
    turn_between(s->from->bodies[carrier].R, s->to->bodies[carrier].R, turn);
  } else {
    tribo_body_com(s->model, body, pose, x);
    tribo_body_com(s->model, body, next, x_next);
    turn_between(pose->R, next->R, turn);
  }
  tribo_sub3(dx, x_next, x);
  tribo_scale3(f, h, w);
  tribo_scale3(t, h, w + 3);
  const double done = (tribo_dot3(f, dx) + tribo_dot3(t, turn)) / h;
  part->balance -= done;
  part->works += fabs(done) + turn_of(s, part) * tribo_norm3(t);
  part->forced += part->mass > 0 ? tribo_norm3(f) / sqrt(part->mass) : 0;
  if (carrier >= 0) {
    const BodyMotion *m = &s->from->bodies[carrier], *m_next = &s->to->bodies[carrier];
    double u[3], u_next[3];
    point_velocity(m, x, u);
    point_velocity(m_next, x_next, u_next);
    add_lead(part, 0.5 * (tribo_dot3(f, u_next) - tribo_dot3(f, u) + tribo_dot3(t, m_next->w) - tribo_dot3(t, m->w)));
  }
  if (block->is_closed) {
    push(part, fraction, f, x, x_next);
    twist_part(part, t);
    part->angular_room += turn_of(s, part) * tribo_norm3(t);
  }
}

// Efforts, dampers and springs of the joints of a tree.
static void add_joints(const Step* s, const BalanceBlock* block, Part* part) {
  const TriboTreeInfo* info = tree_of(s->model, block);
  const double *delta = s->data->balance.delta + block->v_at, *tau = s->data->forces.tau + block->v_at,
               *resist = s->options->resist + block->v_at, *v = s->v + block->v_at, *next = s->v_next + block->v_at;
  const double h = s->options->h;
  const double *q_next = s->data->next.q + block->q_at,
               *minv = s->data->result.problem.minv + s->data->result.problem.block_at[block->block];
  const double leaning =
      motion_of(s, block) == TRIBO_MOTION_SMOOTH ? tribo_dyn_tree_theta(s->data->dynamics, block->tree) - 0.5 : 0;
  double *spring = s->data->balance.force, taken = 0;  // what dampers take [J]
  memset(spring, 0, (size_t)block->nv * sizeof *spring);
  const double before = tribo_dyn_springs(s->model->mechanism.system, block->tree, s->q + block->q_at, spring);
  const double after = tribo_dyn_springs(s->model->mechanism.system, block->tree, q_next, spring);
  part->balance += after - before;
  part->works += fabs(after - before);
  for (int k = 0; k < block->nv; ++k) {
    const double dv = next[k] - v[k], rate = delta[k] / h + leaning * dv;
    const double force = tau[k] + resist[k] * (v[k] - rate) - info->damping[k] * rate;
    const double known = force + 0.5 * spring[k];
    part->loads += h * fabs(known);
    part->balance -= (tau[k] + resist[k] * v[k]) * delta[k];
    part->works += fabs(force * delta[k]);
    taken += (info->damping[k] + resist[k]) * rate * delta[k];
    // (by Cauchy: |hF| ≤ Σ h|F_k| √M⁻¹_kk)
    part->forced += known != 0 ? h * fabs(known) * sqrt(minv[k * (block->nv + 1)]) : 0;
    part->change += info->armature[k] * dv * dv;
    add_lead(part, 0.5 * h * known * dv);
  }
  part->balance += fmax(0, taken);
  part->lost += fmax(0, taken);
}

// Where the velocities of what floats are counted: the frame of a root, or a free body at its centre of mass.
static void find_root(const Step* s, const BalanceBlock* block, int at_end, const double** R, const double** x) {
  const BodyMotion* m = &(at_end ? s->to : s->from)->bodies[block->first];
  const TriboPose* pose = (at_end ? s->data->balance.poses : s->poses) + block->root;
  *R = block->tree < 0 ? m->R : pose->R;
  *x = block->tree < 0 ? m->x : pose->p;
}

// Effort along the coordinates of what floats: on a free body the force in world axes and the torque in its own, on a
// root both in its own.
static void add_root_effort(const Step* s, const BalanceBlock* block, double fraction, Part* part) {
  const double* tau = s->data->forces.tau + block->root_v;
  const double h = s->options->h;
  if (tribo_max_abs(tau, 6) == 0) {
    return;
  }
  for (int k = 0; k < 2; ++k) {
    const double part_of = h * (k == 0 ? fraction : 1 - fraction), *R, *x;
    double f[3], t[3];
    find_root(s, block, k, &R, &x);
    tribo_mul33v(t, R, tau + 3);
    tribo_mul33v(f, R, tau);
    tribo_scale3(f, part_of, block->tree < 0 ? tau : f);
    tribo_scale3(t, part_of, t);
    push(part, 1, f, x, x);
    twist_part(part, t);
    part->angular_room += turn_of(s, part) * tribo_norm3(t);
  }
}

// Efforts on a free body.
static void add_free_effort(const Step* s, const BalanceBlock* block, Part* part) {
  const double *tau = s->data->forces.tau + block->v_at, h = s->options->h;
  if (tribo_max_abs(tau, 6) == 0) {
    return;
  }
  const BodyMotion *m = &s->from->bodies[block->first], *next = &s->to->bodies[block->first];
  double dx[3], du[3], dw[3], turn[3], torque[3];
  tribo_sub3(dx, next->x, m->x);
  tribo_sub3(du, next->u, m->u);
  tribo_sub3(dw, next->w, m->w);
  turn_between(m->R, next->R, turn);
  tribo_mul33v(torque, m->R, tau + 3);
  const double done = tribo_dot3(tau, dx) + tribo_dot3(torque, turn);
  part->balance -= done;
  part->works += fabs(done) + turn_of(s, part) * h * tribo_norm3(torque);
  part->forced += h * tribo_norm3(tau) / sqrt(part->mass);
  add_lead(part, 0.5 * h * (tribo_dot3(tau, du) + tribo_dot3(torque, dw)));
}

// Dampers and springs of a tree that closures tie act at the velocity before the impulses where these come as a
// surprise, and meet M alone: what they would do besides, per change of velocity.
static double lag_of(const Step* s, const BalanceBlock* block, int k) {
  const TriboTreeInfo* info = tree_of(s->model, block);
  const double h = s->options->h, resist = s->options->resist[block->v_at + k];
  return h * (info->damping[k] + resist) + 0.5 * h * h * info->stiffness[k];
}

// Impulses of the rows on a block.
static void add_rows(const Step* s, const BalanceBlock* block, Part* part) {
  const BalanceWork* work = &s->data->balance;
  const TriboProblem* p = &s->data->result.problem;
  const double *j = work->impulse + block->v_at, tied = work->tied[block->block];
  const double done = tribo_dot(j, work->mean + block->v_at, block->nv) - tied;
  part->balance -= done;
  part->exchanged += done;
  part->works += fabs(done);
  part->lost += work->fitted[block->block];
  part->ties += part->is_kicked || part->has_impact ? tied : 0;
  for (int i = 0; i < block->nv; ++i) {
    part->loads += fabs(j[i]);
  }
  if (block->tree >= 0 && part->is_kicked &&
      tribo_dyn_block_lags(s->model->mechanism.system, s->data->dynamics, block->block)) {
    const double* minv = p->minv + p->block_at[block->block];
    for (int i = 0; i < block->nv; ++i) {
      const double change = tribo_dot(minv + i * block->nv, j, block->nv);
      part->lag += lag_of(s, block, i) * change * work->mean[block->v_at + i];
    }
    part->first_order += part->lag;
  }
  if (block->is_closed) {
    const double *root = work->impulse + block->root_v, *R, *x, *R_next, *x_next;
    find_root(s, block, 0, &R, &x);
    find_root(s, block, 1, &R_next, &x_next);
    double f[3], t[3];
    tribo_mul33v(f, R, root);
    tribo_mul33v(t, R, root + 3);
    // (in a smooth step half of it acts at either end, with the same torque about where the body is; what is tied is
    // balanced by the impulses where they act)
    const int lasts = block->tie < 0 && motion_of(s, block) == TRIBO_MOTION_SMOOTH;
    push(part, lasts ? 0.5 : 1, block->tree < 0 ? root : f, x, x_next);
    part->impulses += work->size[block->block];
    twist_part(part, t);
    part->angular_room += part->has_impact ? turn_of(s, part) * tribo_norm3(t) : 0;
  }
}

// Bodies that are not there, or sleep, stay where they are: their weight is carried for them.
static int is_still(const Step* s, const BalanceBlock* block) {
  const TriboData* data = s->data;
  const int body = block->block;
  return block->tree < 0 &&
         (data->absent[body] || (data->sleep.nasleep_in_step > 0 && data->sleep.asleep_in_step[body]));
}

// ---- parts ---------------------------------------------------------------------------------------------------------

// All of one block into its part.
static void add_block(const Step* s, int index, Part* part) {
  const BalanceWork* work = &s->data->balance;
  const BalanceBlock* block = &work->blocks[index];
  const TriboBlockMotion motion = motion_of(s, block);
  const double fraction = motion == TRIBO_MOTION_KICKED ? 1 : 0.5;
  part->is_kicked = motion == TRIBO_MOTION_KICKED;
  part->has_impact |= motion == TRIBO_MOTION_IMPACT;
  part->kinetic[0] += s->from->kinetic[index];
  part->kinetic[1] += s->to->kinetic[index];
  part->balance += s->to->kinetic[index] - s->from->kinetic[index];
  part->reach = fmax(part->reach, 1 + tribo_max_abs(s->q + block->q_at, block->nq));
  add_bodies(s, block, fraction, part);
  const int first = block->tree < 0 ? block->block : s->model->mechanism.trees[block->tree].first_body;
  const int count = block->tree < 0 ? 1 : tree_of(s->model, block)->nlink;
  const double* wrench = s->data->forces.wrench + 6 * first;
  for (int i = 0; i < count; ++i, wrench += 6) {
    const int acts =
        (wrench[0] != 0) | (wrench[1] != 0) | (wrench[2] != 0) | (wrench[3] != 0) | (wrench[4] != 0) | (wrench[5] != 0);
    if (acts && s->info->body_block[first + i] >= 0) {
      add_wrench(s, block, first + i, fraction, part);
    }
  }
  if (block->tree < 0) {
    add_free_effort(s, block, part);
  } else {
    add_joints(s, block, part);
  }
  if (block->is_closed) {
    add_root_effort(s, block, fraction, part);
  }
  if (s->data->result.problem.nrow > 0) {
    add_rows(s, block, part);
  }
}

// The most that a part may gain unexplained: (1), (2) and what an impact adds, of the derivation above.
static double most_gain(const Step* s, const Part* p, double resolved, double opening) {
  const double h = s->options->h, turn = turn_of(s, p), T = fmax(p->kinetic[0], p->kinetic[1]);
  const double change = sqrt(p->change), forces = h * s->gravity * sqrt(p->mass) + p->forced;
  const double turned = turn * sqrt(2 * T) + change;
  const double order = turn * (turned * (turned + forces) + turn * p->works);
  const double impact = p->has_impact ? 0.5 * forces * (change + forces) + p->works : 0;
  // (Δ is the difference of coordinates; what one step leaves open the next one undoes, against what acts)
  const double rounding = PASSES_LEAVE * (2 * T + p->works + p->change + forces * forces) +
                          (16 * DBL_EPSILON * p->reach + opening) * p->loads / h;
  return fmax(0, p->first_order + fmax(0, p->ties)) + fmin(order, resolved * (T + 0.5 * forces * forces)) + impact +
         rounding;
}

// The part's ledger after this step; whether that is too much.
static int keep_ledger(const Step* s, const BalanceBlock* block, const Part* p, EnergyLedger* to) {
  const ptrdiff_t at = block - s->data->balance.blocks;
  const double forces = s->options->h * s->gravity * sqrt(p->mass) + p->forced;
  // (what a kick or an impact gives by its order, where rows take or hand on as much, is no gain; nor what dampers of
  // ties do)
  const double given = p->has_impact ? fmax(0, p->balance) : p->first_order - p->lag;
  const double kept = given - tribo_clamp(given, 0, fabs(p->exchanged));
  const EnergyLedger step = {.gained = p->balance - p->ties - p->lag + kept - given,
                             .kicked = kept,
                             .lead = p->lead,
                             .size = fmax(p->kinetic[0], p->kinetic[1]) + forces * forces};
  return tribo_ledger_add(s->from->ledgers + at, s->options->h / s->model->world.dt, &step, to);
}

// What a part adds to the report of the step.
static void judge(const Step* s, const BalanceBlock* block, const Part* p, TriboStepInfo* info) {
  TriboReason reason = TRIBO_REASON_NONE;
  info->balance += p->balance;
  const double opening = block->tie >= 0 ? info->opening + s->options->shut : 0;
  const int is_mechanism = block->tie >= 0 && !p->is_kicked && !p->has_impact;
  const double most = most_gain(s, p, is_mechanism ? MECHANISM : RESOLVED, opening);
  const int too_much = p->balance > most || (is_mechanism && -p->balance > most + p->lost);
  EnergyLedger* ledger = s->data->next.ledgers + (block - s->data->balance.blocks);
  const int is_variational = s->options->scheme == TRIBO_SCHEME_VARIATIONAL;
  const int adds_up = keep_ledger(s, block, p, ledger);
  if (too_much || adds_up) {
    s->data->balance.is_too_fast |= is_variational && (is_mechanism || adds_up);
    reason = TRIBO_REASON_ENERGY;
    // (told once: where the step is not divided, it begins anew)
    *ledger = (EnergyLedger){.size = ledger->size};
  }
  const double moving = sqrt(2 * p->kinetic[0]) + sqrt(2 * p->kinetic[1]);
  const double size = sqrt(p->mass) * moving + p->impulses;
  if (block->is_closed && size > 0) {
    // (Σ m|u| ≤ √(M Σ m u²), and likewise for moments)
    const double angular_size = sqrt(p->spread) * (moving + p->impulses / sqrt(p->mass)) + p->torques;
    const double linear = tribo_norm3(p->linear), angular = fmax(0, tribo_norm3(p->angular) - p->angular_room);
    info->momentum_error = fmax(info->momentum_error, fmax(linear / size, angular / angular_size));
    if (linear > LINEAR * size || angular > ANGULAR * angular_size) {
      reason = reason == TRIBO_REASON_NONE ? TRIBO_REASON_MOMENTUM : reason;
    }
  }
  // the law of contact comes first: without it nothing else is well known
  if (reason != TRIBO_REASON_NONE && is_variational && info->certified) {
    const char* name = s->model->mechanism.bodies[s->data->balance.bodies[block->first].body].name;
    info->certified = 0;
    info->reason = reason;
    snprintf(info->worst, sizeof info->worst, "%s", name);
  }
}

TriboStatus tribo_balance_part(const TriboModel* model, TriboData* data, const StepStart* start,
                               const TriboStepOptions* options, TriboStepInfo* info) {
  BalanceWork* work = &data->balance;
  const Step s = {.model = model,
                  .data = data,
                  .info = tribo_dyn_system_info(model->mechanism.system),
                  .options = options,
                  .from = start->state,
                  .to = &data->next,
                  .q = start->q,
                  .v = start->v,
                  .v_next = data->next.v,
                  .poses = tribo_dyn_poses(data->dynamics),
                  .gravity = tribo_norm3(options->gravity)};
  if (!start->state->has_bodies) {
    TRIBO_TRY(tribo_balance_evaluate(model, data, start->q, start->v, start->state));
  }
  TRIBO_TRY(tribo_balance_evaluate(model, data, data->next.q, data->next.v, &data->next));
  if (model->mechanism.ntree > 0) {
    TRIBO_TRY(find_delta(&s));
  }
  if (data->result.problem.nrow > 0) {
    info->push_out_work = sum_rows(&s);
  }
  double kinetic[2] = {0}, fallen = 0;
  work->is_too_fast = 0;
  for (int i = 0; i < work->nblock;) {
    const int first = i, tie = work->blocks[i].tie;
    Part part = {0};
    tribo_copy3(part.o, s.from->bodies[work->blocks[i].first].x);
    do {
      if (!is_still(&s, &work->blocks[i])) {
        add_block(&s, i, &part);
      }
      i++;
    } while (tie >= 0 && i < work->nblock && work->blocks[i].tie == tie);
    judge(&s, &work->blocks[first], &part, info);
    kinetic[0] += part.kinetic[0];
    kinetic[1] += part.kinetic[1];
    fallen += 0.5 * part.mass * options->h * options->h * tribo_dot3(options->gravity, options->gravity);
  }
  // (what stands still is measured by what it would fall in the step)
  work->part_kinetic = fmax(fallen, fmax(kinetic[0], kinetic[1]));
  return TRIBO_OK;
}
