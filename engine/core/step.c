// One step, as the data sees it. Each stage has a timer; nothing of the state changes before the last line.
#include "drive.h"

#include <stdio.h>
#include <string.h>

#include "math3.h"
#include "parallel.h"
#include "timer.h"

// ---- stages

// The user's inputs plus the forces the scene schedules for this moment.
static TriboStatus gather_forces(const TriboModel* model, TriboData* data) {
  TRIBO_TRY(tribo_drive_bounds(model, data, data->tau_step, data->wrench_step));
  memcpy(data->tau_step, data->tau, (size_t)model->nv * sizeof *data->tau);
  memcpy(data->wrench_step, data->wrench, 6 * (size_t)model->nbody * sizeof *data->wrench);
  for (int i = 0; i < model->nforce; ++i) {
    const ModelForce* force = &model->forces[i];
    if (data->time < force->def.start || data->time >= force->def.end) {
      continue;
    }
    if (force->body < 0) {
      data->tau_step[force->v_at] += force->def.effort;
      continue;
    }
    double f[3], t[3];
    tribo_copy3(f, force->def.force);
    tribo_copy3(t, force->def.torque);
    if (force->def.local) {
      double R[9];
      TRIBO_TRY(tribo_data_kinematics(model, data));
      tribo_quat_to_mat(R, data->quaternion + 4 * force->body);
      tribo_mul33v(f, R, force->def.force);
      tribo_mul33v(t, R, force->def.torque);
    }
    double* w = data->wrench_step + 6 * force->body;
    tribo_add3(w, w, f);
    tribo_add3(w + 3, w + 3, t);
  }
  TRIBO_TRY(tribo_drive_passive(model, data, data->tau_step, data->wrench_step));
  return tribo_drive_actuators(model, data, data->tau_step, data->wrench_step);
}

static TriboStepOptions step_options(const TriboWorldDef* world, const TriboData* data) {
  TriboStepOptions o = {.h = world->dt,
                        .scheme = world->scheme,
                        .erp = world->erp,
                        .slop = world->slop,
                        .depen_max = world->depenetration_max,
                        .motors = data->motors,
                        .nmotor = data->model->nmotor,
                        .bounds = data->bounds,
                        .nbound = data->model->nbound};
  tribo_copy3(o.gravity, world->gravity);
  // below 2 g h a rebound is only what gravity adds in two steps: noise
  o.bounce_min = fmax(world->bounce_min, 2 * tribo_norm3(world->gravity) * world->dt);
  return o;
}

// A belt moves over its body: its surface has a velocity of its own, in the axes of the body.
static void add_surface(TriboContactLaw* law, const TriboShapeInfo* shape, const TriboPose* poses, double sign) {
  const double* s = shape->surface;
  if (s[0] != 0 || s[1] != 0 || s[2] != 0) {
    double world[3] = {s[0], s[1], s[2]};
    if (shape->body != TRIBO_WORLD) {
      tribo_mul33v(world, poses[shape->body].R, s);
    }
    tribo_axpy3(law->surface, law->surface, sign, world);
  }
}

static TriboStatus detect(const TriboModel* model, TriboData* data, TriboStepInfo* info) {
  TriboColQuery query = {.poses = tribo_dyn_poses(data->dynamics),
                         .twists = tribo_dyn_twists(data->dynamics),
                         .h = model->world.dt,
                         .margin = model->world.margin};
  TriboColStats stats = {0};
  TRIBO_TRY(tribo_col_detect(model->collision, data->collision, &query, &data->contacts, &data->ncontact, &stats));
  info->stage[TRIBO_STAGE_BROAD] = stats.broad_time;
  info->stage[TRIBO_STAGE_NARROW] = stats.narrow_time;
  info->pairs = stats.pairs;
  info->contacts = data->ncontact;
  // each contact's law, by the materials of its two shapes
  TRIBO_TRY(TRIBO_RESERVE(&data->laws, &data->law_capacity, data->ncontact));
  for (int i = 0; i < data->ncontact; ++i) {
    const TriboContact* c = &data->contacts[i];
    int a = model->shapes[c->geom_a].material, b = model->shapes[c->geom_b].material;
    data->laws[i] = model->laws[a * model->nmaterial + b];
    add_surface(&data->laws[i], &model->shapes[c->geom_b], query.poses, 1);
    add_surface(&data->laws[i], &model->shapes[c->geom_a], query.poses, -1);
    info->penetration = fmax(info->penetration, -c->gap);
  }
  return TRIBO_OK;
}

// When a rigid problem has no answer in reach: how much compliance each row gets instead, as a share of the mean
// diagonal of its block of G; and how bad, against the largest |g|, an answer must be for that.
static const double SOFTNESS = 1e-3, HOPELESS = 0.1;

// Rounding may excuse a residual up to here [m/s]: beyond, impulses are so large that the problem has no proper answer.
static const double FLOOR_LIMIT = 1e-6;

// R + SOFTNESS · d into the island's own R; returns the largest |g|.
static double soften(Islands* is, const TriboProblem* p, int island) {
  double* R = is->R + is->first_row[island];
  double scale = 0;
  for (int c = 0; c < p->ncone; ++c) {
    const TriboCone* cone = &p->cones[c];
    double trace = 0;
    for (int t = p->term_first[c]; t < p->term_first[c + 1]; ++t) {
      const int n = p->block_dim[p->term_block[t]];
      const double *minv = p->minv + p->block_at[p->term_block[t]], *jac = p->jac + p->term_at[t];
      for (int r = 0; r < cone->dim; ++r) {
        for (int i = 0; i < n; ++i) {
          for (int j = 0; j < n; ++j) {
            trace += jac[r * n + i] * minv[i * n + j] * jac[r * n + j];
          }
        }
      }
    }
    for (int r = cone->row; r < cone->row + cone->dim; ++r) {
      R[r] = (p->R != NULL ? p->R[r] : 0) + SOFTNESS * trace / cone->dim;
      scale = fmax(scale, fabs(p->g[r]));
    }
  }
  return scale;
}

typedef struct SolveContext {
  TriboData* data;
  double deadline;  // 0: none
} SolveContext;

static void solve_island(int i, int worker, void* context) {
  SolveContext* ctx = context;
  Islands* is = &ctx->data->islands;
  TriboSolver* solver = ctx->data->solvers[worker];
  TriboProblem problem = tribo_islands_problem(is, &ctx->data->problem, i);
  TriboWarmStart warm = {is->warm_lambda + is->first_row[i], is->warm_sigma + is->first_row[i],
                         is->known + is->first_cone[i]};
  TriboStatus status = TRIBO_OK;
  if (ctx->deadline > 0) {
    // a spent budget still buys the cheapest attempt
    status = tribo_solver_set(solver, "max_time", fmax(ctx->deadline - tribo_now(), 1e-6));
  }
  double* lambda = is->lambda + is->first_row[i];
  if (status == TRIBO_OK) {
    status = tribo_solver_solve(solver, &problem, &warm, lambda, &is->stats[i]);
  }
  is->soft[i] = 0;
  if (status == TRIBO_OK && !(is->stats[i].nat <= FLOOR_LIMIT) && is->stats[i].outcome != TRIBO_TIME_OUT) {
    // contradictory demands (a body squeezed between two walls) drive impulses to infinity: a little give bounds them
    const double nat = is->stats[i].nat;
    is->soft[i] = !(nat <= HOPELESS * soften(is, &problem, i));
    if (is->soft[i]) {
      problem.R = is->R + is->first_row[i];
      status = tribo_solver_solve(solver, &problem, NULL, lambda, &is->stats[i]);
      is->stats[i].outcome = TRIBO_INFEASIBLE;
    }
  }
  is->status[i] = status;
  if (status != TRIBO_OK) {
    strncpy(is->error[i], tribo_last_error(), sizeof is->error[i] - 1);
    is->error[i][sizeof is->error[i] - 1] = '\0';
  }
}

static TriboStatus solve(const TriboModel* model, TriboData* data, double begin, TriboStepInfo* info) {
  Islands* is = &data->islands;
  double budget = model->world.step_budget;
  SolveContext ctx = {data, budget > 0 ? begin + budget : 0};
  tribo_parallel_for(is->count, data->nsolver, solve_island, &ctx);
  for (int i = 0; i < is->count; ++i) {
    if (is->status[i] != TRIBO_OK) {
      return tribo_fail(is->status[i], "%s", is->error[i]);
    }
    const TriboSolveStats* s = &is->stats[i];
    info->iterations += s->iterations;
    info->factorisations += s->factorisations;
    info->rungs |= 1u << s->rung;
    info->softened += is->soft[i];
    info->outcome = s->outcome > info->outcome ? s->outcome : info->outcome;
  }
  tribo_islands_scatter(is, &data->problem, data->lambda);
  return TRIBO_OK;
}

// Closures: solve and advance again until they are shut in the next state, then make the velocities follow them.
static TriboStatus close_loops(const TriboModel* model, TriboData* data, const TriboStepOptions* options, double begin,
                               TriboStepInfo* info) {
  int again;
  info->passes = 1;
  if (model->nclosure == 0) {
    return TRIBO_OK;
  }
  TRIBO_TRY(tribo_dyn_close(model->system, data->dynamics, options, data->q_next, &info->opening, &again));
  for (; again; info->passes++) {
    tribo_islands_again(&data->islands, &data->problem);
    TRIBO_TRY(solve(model, data, begin, info));
    TRIBO_TRY(tribo_dyn_advance(model->system, data->dynamics, options, data->q, data->v, data->lambda, data->q_next,
                                data->v_next));
    TRIBO_TRY(tribo_dyn_close(model->system, data->dynamics, options, data->q_next, &info->opening, &again));
  }
  TriboProblem last;
  TriboSolveStats stats;
  TriboWarmStart start = {0};
  TRIBO_TRY(tribo_dyn_settle_assemble(model->system, data->dynamics, options, data->q_next, data->v_next, data->lambda,
                                      &last, &start.lambda));
  TRIBO_TRY(TRIBO_RESERVE(&data->settle, &data->settle_capacity, last.nrow));
  if (last.nrow > 0) {
    TRIBO_TRY(tribo_solver_solve(data->settler, &last, &start, data->settle, &stats));
    TRIBO_TRY(tribo_dyn_settle(model->system, data->dynamics, data->settle, data->v_next));
  }
  tribo_dyn_closure_impulses(model->system, data->dynamics, data->lambda, data->settle, data->closure_force);
  for (int i = 0; i < 6 * model->nclosure; ++i) {
    data->closure_force[i] /= options->h;
  }
  return TRIBO_OK;
}

// "cube1 – cube2", "elbow (upper limit)": the constraint a person would look for.
static void name_constraint(const TriboModel* model, const TriboData* data, int cone, char* text, size_t size) {
  const TriboRowInfo* row = &data->rows[cone];
  if (row->kind == TRIBO_ROW_CONTACT) {
    const TriboContact* c = &data->contacts[row->index];
    const char* names[2] = {model->shapes[c->geom_a].name, model->shapes[c->geom_b].name};
    const int bodies[2] = {c->body_a, c->body_b};
    for (int k = 0; k < 2; ++k) {
      names[k] = bodies[k] >= 0 ? model->bodies[bodies[k]].name : names[k];
    }
    snprintf(text, size, "%s – %s (point %u)", names[0], names[1], c->feature);
    return;
  }
  if (row->kind == TRIBO_ROW_CLOSURE) {
    snprintf(text, size, "%s", model->closures[row->index].name);
    return;
  }
  if (row->kind == TRIBO_ROW_BOUND) {
    snprintf(text, size, "%s (%s limit)", model->tendon_infos[row->index / 2].name, row->index % 2 ? "upper" : "lower");
    return;
  }
  int v = row->kind == TRIBO_ROW_LIMIT   ? row->index / 2
          : row->kind == TRIBO_ROW_MOTOR ? model->motors[row->index].v
                                         : row->index;
  const char* joint = "joint";
  for (int j = 0; j < model->njoint; ++j) {
    if (v >= model->joints[j].v_at && v < model->joints[j].v_at + model->joints[j].nv) {
      joint = model->joints[j].name;
    }
  }
  snprintf(text, size, "%s (%s)", joint,
           row->kind == TRIBO_ROW_FRICTION ? "friction"
           : row->kind == TRIBO_ROW_MOTOR  ? "motor"
           : row->index % 2                ? "upper limit"
                                           : "lower limit");
}

// Closures count as shut below this. [m, rad]
static const double SHUT = 1e-9;

// Residuals of the whole step from the raw problem; the solver has no say in it.
static TriboStatus certify(const TriboModel* model, TriboData* data, TriboStepInfo* info) {
  if (data->problem.ncone == 0) {
    info->certified = 1;
    info->residual.worst = -1;
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->judge_work, &data->judge_capacity, tribo_problem_workspace(&data->problem)));
  TRIBO_TRY(tribo_problem_residuals_in(&data->problem, data->lambda, data->sigma, data->judge_work, &info->residual));
  // the default scheme shuts closures; where it could not, the step is no good answer
  const int shut = info->opening <= SHUT || model->world.scheme == TRIBO_SCHEME_EULER;
  info->certified = shut && info->residual.nat <= fmax(model->world.tol, fmin(info->residual.floor, FLOOR_LIMIT));
  if (info->residual.worst >= 0) {
    name_constraint(model, data, info->residual.worst, info->worst, sizeof info->worst);
  }
  return TRIBO_OK;
}

// What the contacts looked like, for views and events.
static TriboStatus publish_contacts(const TriboModel* model, TriboData* data) {
  TRIBO_TRY(TRIBO_RESERVE(&data->views, &data->view_capacity, data->ncontact));
  data->nview = data->ncontact;
  for (int c = 0; c < data->problem.ncone; ++c) {
    const TriboRowInfo* row = &data->rows[c];
    if (row->kind != TRIBO_ROW_CONTACT) {
      continue;
    }
    const TriboContact* contact = &data->contacts[row->index];
    const TriboCone* cone = &data->problem.cones[c];
    const double* lambda = data->lambda + cone->row;
    TriboContactView* view = &data->views[row->index];
    *view = (TriboContactView){.body_a = contact->body_a,
                               .body_b = contact->body_b,
                               .shape_a = contact->geom_a,
                               .shape_b = contact->geom_b,
                               .gap = contact->gap,
                               .island = data->islands.island_of_cone[c]};
    tribo_copy3(view->point, contact->point);
    tribo_copy3(view->normal, contact->normal);
    double normal = lambda[cone->dim - 1], h = model->world.dt;
    tribo_scale3(view->force, normal / h, row->frame + 6);
    double ratio = 0;
    if (cone->kind == TRIBO_CONE_FRICTION) {
      tribo_axpy3(view->force, view->force, lambda[0] / h, row->frame);
      tribo_axpy3(view->force, view->force, lambda[1] / h, row->frame + 3);
      double limit = fmin(cone->mu[0], cone->mu[1]) * normal;
      ratio = limit > 0 ? hypot(lambda[0], lambda[1]) / limit : 1;
    }
    // on the cone's face it slides, inside it sticks
    view->mode = normal <= 0 ? TRIBO_CONTACT_OPEN : ratio < 1 - 1e-9 ? TRIBO_CONTACT_STICK : TRIBO_CONTACT_SLIDE;
  }
  return TRIBO_OK;
}

static void commit(const TriboModel* model, TriboData* data, const TriboStepInfo* info) {
#define SWAP(type, a, b) \
  do {                   \
    type swap_ = a;      \
    a = b;               \
    b = swap_;           \
  } while (0)
  SWAP(double*, data->q, data->q_next);
  SWAP(double*, data->v, data->v_next);
  SWAP(double*, data->act, data->act_next);
  SWAP(WarmEntry*, data->warm, data->warm_next);
  SWAP(size_t, data->warm_capacity, data->warm_next_capacity);
#undef SWAP
  data->nwarm = data->problem.ncone;
  data->warm_dt = model->world.dt;
  data->steps++;
  // time from the count, so that it does not drift by a rounding per step
  data->time = (double)data->steps * model->world.dt;
  data->kinematics_known = 0;
  data->info = *info;
  memset(data->wrench, 0, 6 * (size_t)model->nbody * sizeof *data->wrench);
}

// ---- the step

static TriboStatus run_stages(const TriboModel* model, TriboData* data, TriboStepInfo* info) {
  const TriboStepOptions options = step_options(&model->world, data);
  const double begin = tribo_now();
  double last = begin;
#define STAGE(id, call)                           \
  do {                                            \
    TRIBO_TRY(call);                              \
    double now_ = tribo_now();                    \
    info->stage[TRIBO_STAGE_##id] += now_ - last; \
    last = now_;                                  \
  } while (0)
  TRIBO_TRY(gather_forces(model, data));
  STAGE(DYNAMICS,
        tribo_dyn_update(model->system, data->dynamics, &options, data->q, data->v, data->tau_step, data->wrench_step));
  TRIBO_TRY(detect(model, data, info));
  last = tribo_now();
  STAGE(ROWS, tribo_dyn_assemble(model->system, data->dynamics, &options, data->q, data->v, data->contacts, data->laws,
                                 data->ncontact, &data->problem, &data->rows));
  info->rows = data->problem.nrow;
  TRIBO_TRY(TRIBO_RESERVE(&data->lambda, &data->lambda_capacity, info->rows));
  TRIBO_TRY(TRIBO_RESERVE(&data->sigma, &data->sigma_capacity, info->rows));
  TRIBO_TRY(tribo_islands_build(&data->islands, &data->problem));
  tribo_warm_match(data);
  STAGE(ISLANDS, TRIBO_OK);
  info->islands = data->islands.count;
  STAGE(SOLVE, solve(model, data, begin, info));
  STAGE(ADVANCE, tribo_dyn_advance(model->system, data->dynamics, &options, data->q, data->v, data->lambda,
                                   data->q_next, data->v_next));
  STAGE(LOOPS, close_loops(model, data, &options, begin, info));
  STAGE(CERTIFY, certify(model, data, info));
  TRIBO_TRY(publish_contacts(model, data));
  TRIBO_TRY(tribo_warm_renew(data));
#undef STAGE
  info->time = tribo_now() - begin;
  return TRIBO_OK;
}

TriboStatus tribo_step(const TriboModel* model, TriboData* data, TriboStepInfo* info) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_step"));
  uint64_t growths = tribo_growth_count();
  TriboStepInfo own = {0};
  own.outcome = TRIBO_SOLVED;
  own.residual.worst = -1;
  TriboStatus status = run_stages(model, data, &own);
  own.growths = tribo_growth_count() - growths;
  if (status == TRIBO_OK) {
    commit(model, data, &own);
  }
  if (info != NULL) {
    *info = own;
  }
  return status;
}
