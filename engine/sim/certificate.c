// What a step was like: how well its problem is solved, and what its contacts did.
#include "data_impl.h"

#include <stdio.h>
#include <string.h>

#include "math3.h"

// Pieces one behind the other, as many as fit. (Every step says its worst contact: a format would take longer than the
// rest of the report.)
static void join(char* text, size_t size, const char* const* parts, int count) {
  size_t n = 0;
  for (int i = 0; i < count; ++i) {
    const size_t length = strlen(parts[i]), room = size - 1 - n, used = length < room ? length : room;
    memcpy(text + n, parts[i], used);
    n += used;
  }
  text[n] = '\0';
}

// "cube1 – cube2", "elbow (upper limit)": the constraint a person would look for.
static void name_constraint(const TriboModel* model, TriboData* data, int cone, char* text, size_t size) {
  const TriboRowInfo* row = &data->result.rows[cone];
  if (row->kind == TRIBO_ROW_CONTACT) {
    const TriboContact* c = &data->contacts.list[row->index];
    if (data->result.worst_name[0] != '\0' && data->result.worst_a == c->geom_a && data->result.worst_b == c->geom_b &&
        data->result.worst_feature == c->feature) {
      memcpy(text, data->result.worst_name, size);
      return;
    }
    const char* names[2] = {model->geometry.shapes[c->geom_a].name, model->geometry.shapes[c->geom_b].name};
    const int bodies[2] = {c->body_a, c->body_b};
    for (int k = 0; k < 2; ++k) {
      names[k] = bodies[k] >= 0 ? model->mechanism.bodies[bodies[k]].name : names[k];
    }
    char digits[11] = {0}, *point = digits + 10;
    uint32_t rest = c->feature;
    do {
      *--point = (char)('0' + rest % 10);
      rest /= 10;
    } while (rest > 0);
    join(text, size, (const char*[]){names[0], " – ", names[1], " (point ", point, ")"}, 6);
    data->result.worst_a = c->geom_a, data->result.worst_b = c->geom_b, data->result.worst_feature = c->feature;
    memcpy(data->result.worst_name, text, size);
    return;
  }
  if (row->kind == TRIBO_ROW_CLOSURE) {
    join(text, size, &model->mechanism.closures[row->index].name, 1);
    return;
  }
  if (row->kind == TRIBO_ROW_BOUND) {
    snprintf(text, size, "%s (%s limit)", model->actuation.tendon_infos[row->index / 2].name,
             row->index % 2 ? "upper" : "lower");
    return;
  }
  int v = row->kind == TRIBO_ROW_LIMIT   ? row->index / 2
          : row->kind == TRIBO_ROW_MOTOR ? model->actuation.motors[row->index].v
                                         : row->index;
  const char* joint = "joint";
  for (int j = 0; j < model->njoint; ++j) {
    if (v >= model->mechanism.joints[j].v_at && v < model->mechanism.joints[j].v_at + model->mechanism.joints[j].nv) {
      joint = model->mechanism.joints[j].name;
    }
  }
  snprintf(text, size, "%s (%s)", joint,
           row->kind == TRIBO_ROW_FRICTION ? "friction"
           : row->kind == TRIBO_ROW_MOTOR  ? "motor"
           : row->index % 2                ? "upper limit"
                                           : "lower limit");
}

// Closures count as shut below this. Rows that depend on others to within a rounded drawing, 1e-5 of their size, open
// by so much of a motion: they count as shut below that of 0.1 m. [m, rad]
static const double SHUT = 1e-9, ROUNDED = 1e-6;

// Rows that contradict each other by less do so by rounding, or by faces that are not quite parallel. [m, rad]
static const double AGREED = 1e-7;

// How exactly the law of contact holds.
static TriboLevel level_of(const TriboWorldDef* world, const TriboResiduals* r) {
  // [m/s]; and what rounding excuses at most
  static const double FINE = 1e-8, EXCUSED = 1e-9;
  return r->nat <= fmax(world->tol, fmin(r->floor, EXCUSED)) ? TRIBO_LEVEL_EXACT
         : r->nat <= fmin(FINE, world->accept)               ? TRIBO_LEVEL_FINE
         : r->nat <= world->accept                           ? TRIBO_LEVEL_HELD
                                                             : TRIBO_LEVEL_OPEN;
}

// Residuals of the whole step from the raw problem; the solver has no say in it.
TriboStatus tribo_data_certify(const TriboModel* model, TriboData* data, TriboStepInfo* info) {
  info->level = TRIBO_LEVEL_EXACT;
  if (data->result.problem.ncone == 0) {
    info->certified = 1;
    info->residual.worst = -1;
    return TRIBO_OK;
  }
  TRIBO_TRY(TRIBO_RESERVE(&data->result.residual_work, tribo_problem_workspace(&data->result.problem)));
  TRIBO_TRY(tribo_problem_residuals_in(&data->result.problem, data->result.lambda, data->result.sigma,
                                       data->result.residual_work, &info->residual));
  // the default scheme shuts closures; where it could not, the step is no good answer
  const double kept = tribo_dyn_closures_kept_open(model->mechanism.system, data->dynamics);
  const int shut = (kept <= SHUT && info->opening <= ROUNDED) || model->world.scheme == TRIBO_SCHEME_EULER;
  info->level = level_of(&model->world, &info->residual);
  const int solved = info->level != TRIBO_LEVEL_OPEN;
  const int agree = info->relaxation <= AGREED;
  info->certified = shut && solved && agree;
  info->reason = !agree    ? TRIBO_REASON_CONTRADICTION
                 : !solved ? TRIBO_REASON_LAW
                 : !shut   ? TRIBO_REASON_LOOPS
                           : TRIBO_REASON_NONE;
  if (!agree && data->solve.most_relaxed >= 0) {
    name_constraint(model, data, data->solve.most_relaxed, info->worst, sizeof info->worst);
  } else if (info->residual.worst >= 0) {
    name_constraint(model, data, info->residual.worst, info->worst, sizeof info->worst);
  }
  return TRIBO_OK;
}

void tribo_contact_view(const TriboContact* contact, const TriboRowInfo* row, const TriboCone* cone,
                        const double* lambda, double h, TriboContactView* view) {
  *view = (TriboContactView){.body_a = contact->body_a,
                             .body_b = contact->body_b,
                             .shape_a = contact->geom_a,
                             .shape_b = contact->geom_b,
                             .gap = contact->gap,
                             .island = -1};
  tribo_copy3(view->point, contact->point);
  tribo_copy3(view->normal, contact->normal);
  double normal = lambda[cone->dim - 1];
  tribo_scale3(view->force, normal / h, row->frame + 6);
  double ratio = 0;
  if (cone->kind == TRIBO_CONE_FRICTION) {
    view->friction = fmin(cone->mu[0], cone->mu[1]);
    tribo_axpy3(view->force, view->force, lambda[0] / h, row->frame);
    tribo_axpy3(view->force, view->force, lambda[1] / h, row->frame + 3);
    const double *mu = cone->mu, limit = mu[0] * mu[1] * normal;
    const double x = mu[1] * lambda[0], y = mu[0] * lambda[1];
    ratio = limit > 0 ? sqrt(x * x + y * y) / limit : 1;
  }
  // on the cone's face it slides, inside it sticks
  view->mode = normal <= 0 ? TRIBO_CONTACT_OPEN : ratio < 1 - 1e-9 ? TRIBO_CONTACT_STICK : TRIBO_CONTACT_SLIDE;
}

// What the contacts looked like, for views and events.
TriboStatus tribo_data_publish(TriboData* data, double h) {
  TRIBO_TRY(TRIBO_RESERVE(&data->result.views, data->contacts.count));
  data->result.nview = data->contacts.count;
  for (int c = 0; c < data->result.problem.ncone; ++c) {
    const TriboRowInfo* row = &data->result.rows[c];
    if (row->kind == TRIBO_ROW_CONTACT) {
      const TriboCone* cone = &data->result.problem.cones[c];
      TriboContactView* view = &data->result.views[row->index];
      tribo_contact_view(&data->contacts.list[row->index], row, cone, data->result.lambda + cone->row, h, view);
      view->island = data->solve.islands.island_of_cone[c];
    }
  }
  return TRIBO_OK;
}
