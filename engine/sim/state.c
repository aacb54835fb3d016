// Saved states: one flat buffer that holds all a simulation needs to go on with the same bits.
//
//   header | q | v | activations | warm entries | closures' memory | ledgers of energy | absent bodies | sleepers |
//   for how long bodies have been slow
#include "data_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "math3.h"

enum { STATE_VERSION = 8, LARGEST_STATE = 1 << 30 };
static const char magic[8] = "TRIBOST";

typedef struct Header {
  char magic[8];
  uint32_t version, entry_size;
  uint64_t fingerprint;  // of the model
  uint64_t steps;
  double time, warm_dt;
  double balance, balance_scale;  // as in BalanceWork
  int32_t pace, steps_at_pace;    // likewise
  int32_t nq, nv, nwarm, nact, nabsent, nasleep, nrest, nloop, nledger, zero;
  uint64_t hash;  // of everything behind the header
} Header;

// A body that sleeps, and what acts on it.
typedef struct Sleeper {
  int64_t body;
  double force[12];
} Sleeper;

struct TriboState {
  char* bytes;
  size_t used;
};

TriboStatus tribo_state_create(TriboState** out) {
  TRIBO_REQUIRE(out);
  *out = tribo_alloc(1, sizeof **out);
  return *out == NULL ? tribo_no_memory("for a state") : TRIBO_OK;
}

void tribo_state_destroy(TriboState* state) {
  if (state != NULL) {
    tribo_free(state->bytes);
    tribo_free(state);
  }
}

static size_t payload_size(const Header* h) {
  return ((size_t)h->nq + (size_t)h->nv + (size_t)h->nact) * sizeof(double) + (size_t)h->nwarm * sizeof(WarmEntry) +
         (size_t)h->nloop * sizeof(TriboLoopMemory) + (size_t)h->nledger * sizeof(EnergyLedger) +
         (size_t)h->nabsent * sizeof(int32_t) + (size_t)h->nasleep * sizeof(Sleeper) +
         (size_t)h->nrest * sizeof(int32_t);
}

static void put(char** at, const void* from, size_t bytes) {
  if (bytes > 0) {
    memcpy(*at, from, bytes);
  }
  *at += bytes;
}

static void take(const char** at, void* to, size_t bytes) {
  if (bytes > 0) {
    memcpy(to, *at, bytes);
  }
  *at += bytes;
}

// Who is not there, who sleeps, and for how long the others have been slow.
static void put_bodies(const TriboModel* model, const TriboData* data, char** at) {
  if (data->nabsent > 0) {
    for (int32_t i = 0; i < model->mechanism.nfree; ++i) {
      if (data->absent[i]) {
        put(at, &i, sizeof i);
      }
    }
  }
  if (data->sleep.nasleep > 0) {
    for (int i = 0; i < model->mechanism.nfree; ++i) {
      if (data->sleep.asleep[i]) {
        Sleeper sleeper = {.body = i};
        memcpy(sleeper.force, data->sleep.force + 12 * i, sizeof sleeper.force);
        put(at, &sleeper, sizeof sleeper);
      }
    }
  }
  if (model->world.sleep > 0) {
    for (int i = 0; i < model->mechanism.nfree; ++i) {
      const int32_t rest = data->sleep.rest_steps[i];
      put(at, &rest, sizeof rest);
    }
  }
}

TriboStatus tribo_state_save(const TriboModel* model, const TriboData* data, TriboState* state) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_state_save"));
  TRIBO_REQUIRE(state);
  Header header = {.version = STATE_VERSION,
                   .entry_size = sizeof(WarmEntry),
                   .fingerprint = model->fingerprint,
                   .steps = data->steps,
                   .time = data->time,
                   .warm_dt = data->warm_dt,
                   .balance = data->balance.total,
                   .balance_scale = data->balance.scale,
                   .pace = data->balance.pace,
                   .steps_at_pace = data->balance.steps_at_pace,
                   .nq = model->nq,
                   .nv = model->nv,
                   .nact = model->actuation.nactuator,
                   .nwarm = data->now.nwarm,
                   .nloop = model->nclosure,
                   .nledger = data->balance.nblock,
                   .nabsent = data->nabsent,
                   .nasleep = data->sleep.nasleep,
                   .nrest = model->world.sleep > 0 ? model->mechanism.nfree : 0};
  const size_t payload = payload_size(&header);
  TRIBO_TRY(TRIBO_RESERVE(&state->bytes, sizeof header + payload));
  state->used = sizeof header + payload;
  char* at = state->bytes + sizeof header;
  put(&at, data->now.q, (size_t)model->nq * sizeof *data->now.q);
  put(&at, data->now.v, (size_t)model->nv * sizeof *data->now.v);
  put(&at, data->act, (size_t)model->actuation.nactuator * sizeof *data->act);
  put(&at, data->now.warm, (size_t)data->now.nwarm * sizeof *data->now.warm);
  put(&at, data->now.loops, (size_t)model->nclosure * sizeof *data->now.loops);
  put(&at, data->now.ledgers, (size_t)data->balance.nblock * sizeof *data->now.ledgers);
  put_bodies(model, data, &at);
  header.hash = tribo_hash(TRIBO_HASH_START, state->bytes + sizeof header, payload);
  memcpy(header.magic, magic, sizeof magic);
  memcpy(state->bytes, &header, sizeof header);
  return TRIBO_OK;
}

// The header of a state, or why these bytes are none.
static TriboStatus read_header(const TriboState* state, const char* who, Header* header) {
  if (state->used < sizeof *header) {
    return tribo_fail(TRIBO_INVALID, "%s: the state is empty or cut short (%zu bytes)", who, state->used);
  }
  memcpy(header, state->bytes, sizeof *header);
  if (memcmp(header->magic, magic, sizeof magic) != 0) {
    return tribo_fail(TRIBO_INVALID, "%s: this is not a Tribo state", who);
  }
  if (header->version != STATE_VERSION || header->entry_size != sizeof(WarmEntry)) {
    return tribo_fail(TRIBO_UNSUPPORTED, "%s: state version %u; this library reads version %d", who, header->version,
                      STATE_VERSION);
  }
  if (header->nq < 0 || header->nv < 0 || header->nwarm < 0 || header->nact < 0 || header->nabsent < 0 ||
      header->nasleep < 0 || header->pace < 0 || header->pace > TRIBO_PACE_MAX || header->nrest < 0 ||
      header->nloop < 0 || header->nledger < 0 || state->used - sizeof *header != payload_size(header)) {
    return tribo_fail(TRIBO_INVALID, "%s: the state is cut short or its sizes are wrong", who);
  }
  if (tribo_hash(TRIBO_HASH_START, state->bytes + sizeof *header, state->used - sizeof *header) != header->hash) {
    return tribo_fail(TRIBO_INVALID, "%s: the state is damaged (its checksum differs)", who);
  }
  return TRIBO_OK;
}

// Which bodies are absent or asleep, and how long they have been at rest, from a saved state.
static void take_bodies(const TriboModel* model, TriboData* data, const Header* header, const char** at) {
  memset(data->absent, 0, (size_t)model->nbody);
  data->nabsent = 0;
  for (int i = 0; i < header->nabsent; ++i) {
    int32_t body;
    take(at, &body, sizeof body);
    if (body >= 0 && body < model->mechanism.nfree && !data->absent[body]) {
      data->absent[body] = 1;
      data->nabsent++;
    }
  }
  // a world in which nobody sleeps wakes them
  tribo_sleep_wake_all(model, data);
  for (int i = 0; i < header->nasleep; ++i) {
    Sleeper sleeper;
    take(at, &sleeper, sizeof sleeper);
    const int64_t body = sleeper.body;
    if (model->world.sleep > 0 && body >= 0 && body < model->mechanism.nfree && !data->sleep.asleep[body]) {
      data->sleep.asleep[body] = 1;
      data->sleep.nasleep++;
      memcpy(data->sleep.force + 12 * body, sleeper.force, sizeof sleeper.force);
    }
  }
  for (int i = 0; i < header->nrest && i < model->mechanism.nfree; ++i) {
    int32_t rest;
    take(at, &rest, sizeof rest);
    data->sleep.rest_steps[i] = rest > 0 ? rest : 0;
  }
}

// What is remembered of constraints speaks of this model.
static TriboStatus check_warm(const TriboModel* model, const char* entries, int count) {
  for (int i = 0; i < count; ++i) {
    WarmEntry e;
    memcpy(&e, entries + (size_t)i * sizeof e, sizeof e);
    const int contact = e.key.kind == TRIBO_ROW_CONTACT;
    if (e.dim < 1 || e.dim > 6 || e.place >= 4 * 65536 ||
        (contact &&
         (e.key.a < 0 || e.key.a >= model->geometry.ngeom || e.key.b < 0 || e.key.b >= model->geometry.ngeom))) {
      return tribo_fail(TRIBO_INVALID,
                        "tribo_state_restore: constraint %d has %d rows (must be 1 … 6), shapes %d and %d (0 … %d) or "
                        "place %u (0 … 262143)",
                        i, e.dim, e.key.a, e.key.b, model->geometry.ngeom - 1, e.place);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_state_restore(const TriboModel* model, TriboData* data, const TriboState* state) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_state_restore"));
  TRIBO_REQUIRE(state);
  Header header = {0};
  TRIBO_TRY(read_header(state, "tribo_state_restore", &header));
  if (header.fingerprint != model->fingerprint || header.nq != model->nq || header.nv != model->nv ||
      header.nact != model->actuation.nactuator || header.nloop != model->nclosure ||
      header.nledger != data->balance.nblock) {
    return tribo_fail(TRIBO_INVALID,
                      "tribo_state_restore: the state belongs to another model (nq %d, nv %d; this one has %d, %d)",
                      header.nq, header.nv, model->nq, model->nv);
  }
  const char* at = state->bytes + sizeof header;
  TRIBO_TRY(check_warm(model, at + ((size_t)header.nq + (size_t)header.nv + (size_t)header.nact) * sizeof(double),
                       header.nwarm));
  TRIBO_TRY(TRIBO_RESERVE(&data->now.warm, header.nwarm));
  take(&at, data->now.q, (size_t)model->nq * sizeof *data->now.q);
  take(&at, data->now.v, (size_t)model->nv * sizeof *data->now.v);
  take(&at, data->act, (size_t)model->actuation.nactuator * sizeof *data->act);
  take(&at, data->now.warm, (size_t)header.nwarm * sizeof *data->now.warm);
  take(&at, data->now.loops, (size_t)header.nloop * sizeof *data->now.loops);
  take(&at, data->now.ledgers, (size_t)header.nledger * sizeof *data->now.ledgers);
  take_bodies(model, data, &header, &at);
  data->now.nwarm = header.nwarm;
  data->warm_dt = header.warm_dt;
  data->steps = header.steps;
  data->time = header.time;
  data->balance.total = header.balance;
  data->balance.scale = header.balance_scale;
  data->balance.pace = header.pace;
  data->balance.steps_at_pace = header.steps_at_pace;
  data->now.has_bodies = 0;
  data->result.nview = 0;
  data->solve.islands.count = 0;
  data->view.is_current = 0;
  tribo_events_begin(data);
  return TRIBO_OK;
}

// ---- states by name

static int find_named(const TriboData* data, const char* name) {
  for (int i = 0; i < data->nnamed; ++i) {
    if (strcmp(data->named[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

TriboStatus tribo_data_snapshot(const TriboModel* model, TriboData* data, const char* name) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_snapshot"));
  TRIBO_REQUIRE(name);
  int at = find_named(data, name);
  if (at < 0) {
    TRIBO_TRY(TRIBO_APPEND(&data->named, data->nnamed, 1));
    NamedState fresh = {.name = tribo_strdup(name)};
    TriboStatus status =
        fresh.name == NULL ? tribo_no_memory("for the state '%.40s'", name) : tribo_state_create(&fresh.state);
    if (status != TRIBO_OK) {
      tribo_free(fresh.name);
      return status;
    }
    at = data->nnamed++;
    data->named[at] = fresh;
  }
  return tribo_state_save(model, data, data->named[at].state);
}

TriboStatus tribo_data_restore_snapshot(const TriboModel* model, TriboData* data, const char* name) {
  TRIBO_TRY(tribo_data_check(model, data, "tribo_data_restore_snapshot"));
  TRIBO_REQUIRE(name);
  const int at = find_named(data, name);
  if (at < 0) {
    for (int i = 0; i < model->initial.nstate; ++i) {
      if (strcmp(model->initial.states[i].name, name) == 0) {
        tribo_data_begin(model, data, &model->initial.states[i]);
        return TRIBO_OK;
      }
    }
  }
  if (at < 0) {
    return tribo_fail(TRIBO_NOT_FOUND,
                      "tribo_data_restore_snapshot: no state was kept as '%.80s', and none of the scene is called so",
                      name);
  }
  return tribo_state_restore(model, data, data->named[at].state);
}

// ---- files

TriboStatus tribo_state_write(const TriboState* state, const char* path) {
  TRIBO_REQUIRE(state);
  TRIBO_REQUIRE(path);
  Header header = {0};
  TRIBO_TRY(read_header(state, "tribo_state_write", &header));
  FILE* file = fopen(path, "wb");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be written: %s", path, strerror(errno));
  }
  int bad = fwrite(state->bytes, 1, state->used, file) != state->used;
  bad |= fclose(file) != 0;
  return bad ? tribo_fail(TRIBO_IO, "%s: writing failed: %s", path, strerror(errno)) : TRIBO_OK;
}

TriboStatus tribo_state_read(const char* path, TriboState* state) {
  TRIBO_REQUIRE(path);
  TRIBO_REQUIRE(state);
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  TriboStatus status = TRIBO_OK;
  TriboState fresh = {0};
  char chunk[4096];
  for (size_t n; status == TRIBO_OK && (n = fread(chunk, 1, sizeof chunk, file)) > 0;) {
    status = fresh.used + n > LARGEST_STATE ? tribo_fail(TRIBO_INVALID, "%s: larger than 1 GiB", path)
                                            : TRIBO_APPEND(&fresh.bytes, fresh.used, n);
    if (status == TRIBO_OK) {
      memcpy(fresh.bytes + fresh.used, chunk, n);
      fresh.used += n;
    }
  }
  fclose(file);
  Header header = {0};
  status = status == TRIBO_OK ? read_header(&fresh, path, &header) : status;
  if (status != TRIBO_OK) {
    tribo_free(fresh.bytes);
    return status;
  }
  tribo_free(state->bytes);
  *state = fresh;
  return TRIBO_OK;
}

// ---- states of the scene

void tribo_data_begin(const TriboModel* model, TriboData* data, const ModelState* state) {
  tribo_data_reset(model, data);
  memcpy(data->now.q, state->q, (size_t)model->nq * sizeof *data->now.q);
  memcpy(data->now.v, state->v, (size_t)model->nv * sizeof *data->now.v);
  memcpy(data->input.ctrl, state->ctrl, (size_t)model->actuation.nactuator * sizeof *data->input.ctrl);
  memcpy(data->act, state->act, (size_t)model->actuation.nactuator * sizeof *data->act);
  data->steps = (uint64_t)round(state->time / model->world.dt);
  data->time = (double)data->steps * model->world.dt;
}
