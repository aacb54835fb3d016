// Sleep: free bodies that have come to rest together are left out of the steps until something reaches them.
//
// Bodies that constraints couple fall asleep together, when each has been slower than `sleep_speed` for `sleep`
// seconds: the speed is √(2T/m), the root mean square over the body's matter. Their velocity becomes zero, which only
// takes energy, and from then on their state stays bit for bit. They make no contacts among themselves or with what is
// fixed, so that the problem does not know them; the impulses of those contacts are kept with the warm start, and with
// them who leans on whom. Whoever wakes wakes all that are joined by such contacts:
//
//   - a contact with a body that is awake, found before the step is solved or while it is (see contacts.c);
//   - forces that change by more than what could make sleep_speed in `sleep` seconds;
//   - the user: tribo_data_wake, and all calls that place, add or remove bodies.
//
// What has joints, limits or closures about it never sleeps, nor what touches it. A step works on a copy of who sleeps,
// so that one that fails wakes nobody.
#include "data_impl.h"

#include <string.h>

#include "math3.h"

enum { AWAKE, ASLEEP, WAKING };

// Body of a shape of a warm entry, −1 for the fixed.
static int body_of(const TriboModel* model, int shape) {
  return model->geometry.shapes[shape].body;
}

// Wakes the bodies marked WAKING and all that contacts of the memory join to them. Returns how many.
static int wake_marked(const TriboModel* model, unsigned char* asleep, const WarmEntry* warm, int nwarm) {
  for (int more = 1; more;) {
    more = 0;
    for (int i = 0; i < nwarm; ++i) {
      const int a = warm[i].key.kind == TRIBO_ROW_CONTACT ? body_of(model, warm[i].key.a) : -1;
      const int b = warm[i].key.kind == TRIBO_ROW_CONTACT ? body_of(model, warm[i].key.b) : -1;
      if (a >= 0 && b >= 0 && asleep[a] + asleep[b] == ASLEEP + WAKING) {
        asleep[a] = asleep[b] = WAKING;
        more = 1;
      }
    }
  }
  int woken = 0;
  for (int i = 0; i < model->mechanism.nfree; ++i) {
    woken += asleep[i] == WAKING;
    asleep[i] = asleep[i] == WAKING ? AWAKE : asleep[i];
  }
  return woken;
}

// ---- within a step

void tribo_sleep_begin(TriboData* data) {
  data->sleep.nasleep_in_step = data->sleep.nasleep;
  if (data->sleep.nasleep > 0) {
    memcpy(data->sleep.asleep_in_step, data->sleep.asleep, (size_t)data->model->nbody);
  }
  for (int b = 0; b < data->balance.nblock; ++b) {
    data->overlaps.blocks[b].is_moved = 0;
  }
}

static void wake_asleep_in_step(const TriboModel* model, TriboData* data, const StepStart* start) {
  const int woken = wake_marked(model, data->sleep.asleep_in_step, start->warm, start->nwarm);
  data->sleep.nasleep_in_step -= woken;
  data->sleep.has_woken |= woken > 0;
}

// Forces on a body as it sleeps: of the world, and along its own coordinates.
static void forces_on(const TriboModel* model, const TriboData* data, int body, double out[12]) {
  memcpy(out, data->forces.wrench + 6 * body, 6 * sizeof *out);
  memcpy(out + 6, data->forces.tau + model->mechanism.bodies[body].v_at, 6 * sizeof *out);
}

// How long a gyration's arm is [m].
static double arm_of(const TriboBodyInfo* body) {
  return sqrt((body->inertia[0] + body->inertia[1] + body->inertia[2]) / (2 * body->mass));
}

void tribo_sleep_wake_by_force(const TriboModel* model, TriboData* data, const StepStart* start) {
  for (int i = 0; i < model->mechanism.nfree && data->sleep.nasleep_in_step > 0; ++i) {
    if (!data->sleep.asleep_in_step[i]) {
      continue;
    }
    const TriboBodyInfo* body = &model->mechanism.bodies[i];
    const double *was = data->sleep.force + 12 * i, most = body->mass * model->world.sleep_speed / model->world.sleep;
    double now[12], push[4] = {0};
    forces_on(model, data, i, now);
    for (int k = 0; k < 12; ++k) {
      push[k / 3] = fmax(push[k / 3], fabs(now[k] - was[k]));
    }
    const double arm = arm_of(body);
    if (fmax(push[0], push[2]) > most || fmax(push[1], push[3]) > most * arm) {
      data->sleep.asleep_in_step[i] = WAKING;
    }
  }
  if (data->sleep.nasleep_in_step > 0) {
    wake_asleep_in_step(model, data, start);
  }
  // who sleeps on carries his weight himself, so that his free motion is none
  if (data->sleep.nasleep_in_step > 0) {
    for (int i = 0; i < model->mechanism.nfree; ++i) {
      if (data->sleep.asleep_in_step[i]) {
        double* w = data->forces.wrench + 6 * i;
        memset(w, 0, 6 * sizeof *w);
        memset(data->forces.tau + model->mechanism.bodies[i].v_at, 0, 6 * sizeof *data->forces.tau);
        tribo_axpy3(w, w, -model->mechanism.bodies[i].mass, model->world.gravity);
      }
    }
  }
  data->sleep.has_woken = 0;  // forces come before all that depends on who sleeps
}

void tribo_sleep_wake_by_contact(const TriboModel* model, TriboData* data, const StepStart* start,
                                 const TriboContact* contacts, int count) {
  if (data->sleep.nasleep_in_step > 0) {
    for (int i = 0; i < count; ++i) {
      const int a = contacts[i].body_a, b = contacts[i].body_b;
      if (a >= 0 && b >= 0) {
        // (a sleeper is only ever shown contacts with those awake)
        data->sleep.asleep_in_step[a] =
            data->sleep.asleep_in_step[a] == ASLEEP ? WAKING : data->sleep.asleep_in_step[a];
        data->sleep.asleep_in_step[b] =
            data->sleep.asleep_in_step[b] == ASLEEP ? WAKING : data->sleep.asleep_in_step[b];
      }
    }
  }
  if (data->sleep.nasleep_in_step > 0) {
    wake_asleep_in_step(model, data, start);
  }
}

int tribo_sleep_is_frozen(const TriboModel* model, const TriboData* data, const WarmEntry* e) {
  if (data->sleep.nasleep_in_step == 0 || e->key.kind != TRIBO_ROW_CONTACT) {
    return 0;
  }
  const int a = body_of(model, e->key.a), b = body_of(model, e->key.b);
  return (a < 0 || data->sleep.asleep_in_step[a]) && (b < 0 || data->sleep.asleep_in_step[b]);
}

// ---- at its end

// √(2T/m)
static double speed_of(const TriboBodyInfo* body, const double v[6]) {
  const double *I = body->inertia, *w = v + 3;
  const double turning = I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2] +
                         2 * (I[3] * w[0] * w[1] + I[4] * w[0] * w[2] + I[5] * w[1] * w[2]);
  return sqrt(tribo_dot3(v, v) + turning / body->mass);
}

// Which islands have been slow for long enough, with nothing in them that cannot sleep.
static void find_resting(const TriboModel* model, TriboData* data, int long_enough) {
  const Islands* is = &data->solve.islands;
  memset(data->sleep.is_slow, 1, (size_t)is->count);
  if (is->count > 0) {
    for (int i = 0; i < model->nbody; ++i) {
      const int island = is->island_of_block[model->mechanism.bodies[i].block];
      if (island >= 0 && (i >= model->mechanism.nfree || data->sleep.rest_steps[i] < long_enough)) {
        data->sleep.is_slow[island] = 0;
      }
    }
  }
  for (int c = 0; c < data->result.problem.ncone; ++c) {
    if (data->result.rows[c].kind != TRIBO_ROW_CONTACT) {
      data->sleep.is_slow[is->island_of_cone[c]] = 0;
    }
  }
}

void tribo_sleep_end(const TriboModel* model, TriboData* data) {
  if (model->world.sleep == 0) {
    return;
  }
  const double steps = ceil(model->world.sleep / model->world.dt);
  const int long_enough = steps < 1e9 ? (int)steps : 1000000000;
  for (int i = 0; i < model->mechanism.nfree; ++i) {
    const TriboBodyInfo* body = &model->mechanism.bodies[i];
    const int dozes = data->sleep.nasleep_in_step > 0 && data->sleep.asleep_in_step[i];
    const int slow = !dozes && !data->absent[i] && !data->overlaps.blocks[body->block].is_moved &&
                     speed_of(body, data->next.v + body->v_at) <= model->world.sleep_speed;
    data->sleep.rest_steps[i] = !slow                                     ? 0
                                : data->sleep.rest_steps[i] < long_enough ? data->sleep.rest_steps[i] + 1
                                                                          : long_enough;
  }
  find_resting(model, data, long_enough);
  data->sleep.nasleep = 0;
  for (int i = 0; i < model->mechanism.nfree; ++i) {
    const TriboBodyInfo* body = &model->mechanism.bodies[i];
    const int dozes = data->sleep.nasleep_in_step > 0 && data->sleep.asleep_in_step[i];
    const int island = data->solve.islands.count > 0 ? data->solve.islands.island_of_block[body->block] : -1;
    const int falls = !dozes && data->sleep.rest_steps[i] >= long_enough && (island < 0 || data->sleep.is_slow[island]);
    if (falls) {
      memset(data->next.v + body->v_at, 0, 6 * sizeof *data->next.v);
      data->next.has_bodies = 0;
      forces_on(model, data, i, data->sleep.force + 12 * i);
    }
    data->sleep.asleep[i] = dozes || falls;
    data->sleep.nasleep += data->sleep.asleep[i];
  }
}

// ---- for the user

void tribo_sleep_wake(const TriboModel* model, TriboData* data, int body) {
  data->sleep.rest_steps[body] = 0;
  if (data->sleep.asleep[body]) {
    data->sleep.asleep[body] = WAKING;
    data->sleep.nasleep -= wake_marked(model, data->sleep.asleep, data->now.warm, data->now.nwarm);
  }
}

void tribo_sleep_wake_all(const TriboModel* model, TriboData* data) {
  memset(data->sleep.asleep, 0, (size_t)model->nbody);
  memset(data->sleep.rest_steps, 0, (size_t)model->nbody * sizeof *data->sleep.rest_steps);
  data->sleep.nasleep = 0;
}

TriboStatus tribo_data_wake(const TriboModel* model, TriboData* data, int body) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_wake"));
  if (body < 0 || body >= model->nbody) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_wake: body = %d; accepted are 0 … %d", body, model->nbody - 1);
  }
  tribo_sleep_wake(model, data, body);
  return TRIBO_OK;
}

TriboStatus tribo_data_asleep(const TriboModel* model, const TriboData* data, int body, int* asleep) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_asleep"));
  TRIBO_REQUIRE(asleep);
  if (body < 0 || body >= model->nbody) {
    return tribo_fail(TRIBO_INVALID, "tribo_data_asleep: body = %d; accepted are 0 … %d", body, model->nbody - 1);
  }
  *asleep = data->sleep.asleep[body];
  return TRIBO_OK;
}
