// MuJoCo leaves its coordinates of every step in a file. They are turned into ours and set in a data of the scene's own
// model, where a judge looks at them: so a quantity means the same for both, and what MuJoCo says of itself counts for
// nothing. Facts of a step (forces, residuals, what is certified) are not in a state, and neither are sensors: those
// MuJoCo does not get.
//
// Both hold the same coordinates in the same order, joint by joint as the bodies come, but for floating ones:
//
//     free body      ours:   centre of mass c, quaternion (x y z w); ċ in the world, ω in the body
//     floating root  ours:   origin p, quaternion (x y z w); ṗ and ω in the body
//     both           MuJoCo: origin p, quaternion (w x y z); ṗ in the world, ω in the body
//     continuous     ours:   (cos q, sin q);   MuJoCo: q from the start on
//
// with c = p + R l, ċ = ṗ + R (ω × l), l the centre of mass in the body. The first state that comes back must be the
// one that was sent.
#include "lab_peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_scenes.h"

enum { PATH = 3000, REFUSED = 2, DIVERGED = 3 };  // as tribo-mujoco ends

static const char* const settings[LAB_PEERS] = {"default", "rk4"};
const char* const lab_peer_names[LAB_PEERS] = {"mujoco", "mujoco_rk4"};

// ---- coordinates

typedef struct Coordinates {
  double *q, *v;
} Coordinates;

// The coordinates of a body without a joint, or of a joint.
typedef struct Item {
  enum { FREE_BODY, FLOATING_ROOT, TURNING, SINGLE } kind;
  const double* com;     // of its body, in the body [m]
  int q, v, qpos, qvel;  // where they are, ours and MuJoCo's
} Item;

// All of them in MuJoCo's order: that of bench_mjcf.c, which writes bodies as they come, each with its joints. Returns
// how many there are; *nqpos: MuJoCo's coordinates.
static int list_items(const TriboModel* model, Item* items, int* nqpos) {
  const TriboModelSize n = tribo_model_size(model);
  int count = 0, nqvel = *nqpos = 0;
  for (int b = 0; b < n.nbody; ++b) {
    const TriboBodyInfo* body = tribo_model_body(model, b);
    if (b < n.nfree) {
      items[count++] = (Item){FREE_BODY, body->com, body->q_at, body->v_at, *nqpos, nqvel};
      *nqpos += 7, nqvel += 6;
    }
    for (int i = 0; i < n.njoint; ++i) {
      const TriboJointInfo* joint = tribo_model_joint(model, i);
      if (joint->body == b) {
        const int kind = joint->nq == 7 ? FLOATING_ROOT : joint->nq == 2 ? TURNING : SINGLE;
        items[count++] = (Item){kind, body->com, joint->q_at, joint->v_at, *nqpos, nqvel};
        *nqpos += kind == FLOATING_ROOT ? 7 : 1, nqvel += kind == FLOATING_ROOT ? 6 : 1;
      }
    }
  }
  return count;
}

// R (ω × l), ω and l in the body.
static void whirl(const double R[9], const double w[3], const double l[3], double out[3]) {
  const double x[3] = {w[1] * l[2] - w[2] * l[1], w[2] * l[0] - w[0] * l[2], w[0] * l[1] - w[1] * l[0]};
  tribo_mul33v(out, R, x);
}

static void floating_to_ours(const Item* item, const double* qpos, const double* qvel, double* q, double* v) {
  const double unit[4] = {qpos[4], qpos[5], qpos[6], qpos[3]};
  double R[9], arm[3], along[3];
  tribo_quat_to_mat(R, unit);
  tribo_mul33v(arm, R, item->com);
  whirl(R, qvel + 3, item->com, along);
  const int is_root = item->kind == FLOATING_ROOT;
  for (int k = 0; k < 3; ++k) {
    q[k] = qpos[k] + (is_root ? 0 : arm[k]);
    v[k] = is_root ? R[k] * qvel[0] + R[3 + k] * qvel[1] + R[6 + k] * qvel[2] : qvel[k] + along[k];
    v[3 + k] = qvel[3 + k];
  }
  memcpy(q + 3, unit, sizeof unit);
}

static void floating_to_peer(const Item* item, const double* q, const double* v, double* qvel) {
  double R[9], along[3];
  tribo_quat_to_mat(R, q + 3);
  tribo_mul33v(qvel, R, v);
  whirl(R, v + 3, item->com, along);
  for (int k = 0; k < 3; ++k) {
    qvel[k] = item->kind == FLOATING_ROOT ? qvel[k] : v[k] - along[k];
    qvel[3 + k] = v[3 + k];
  }
}

// MuJoCo's state as ours; start: ours at the beginning.
static void to_ours(const Item* items, int count, const Coordinates* start, const Coordinates* peer,
                    const Coordinates* out) {
  for (int i = 0; i < count; ++i) {
    const Item* item = &items[i];
    const double *qpos = peer->q + item->qpos, *qvel = peer->v + item->qvel, *from = start->q + item->q;
    double *q = out->q + item->q, *v = out->v + item->v;
    switch (item->kind) {
      case FREE_BODY:
      case FLOATING_ROOT: floating_to_ours(item, qpos, qvel, q, v); break;
      case TURNING:
        // (it begins at any turn with 0)
        q[0] = from[0] * cos(*qpos) - from[1] * sin(*qpos);
        q[1] = from[1] * cos(*qpos) + from[0] * sin(*qpos);
        v[0] = *qvel;
        break;
      case SINGLE: q[0] = *qpos, v[0] = *qvel; break;
    }
  }
}

// Our velocities as MuJoCo's.
static void to_peer(const Item* items, int count, const Coordinates* ours, double* qvel) {
  for (int i = 0; i < count; ++i) {
    const Item* item = &items[i];
    if (item->kind == FREE_BODY || item->kind == FLOATING_ROOT) {
      floating_to_peer(item, ours->q + item->q, ours->v + item->v, qvel + item->qvel);
    } else {
      qvel[item->qvel] = ours->v[item->v];
    }
  }
}

// ---- judging

// Whether a fact is about a state, so that it can be seen in MuJoCo's: "block: position.x, at the end".
static int is_of_state(const char* fact) {
  static const char* const known[] = {"energy", "kinetic",   "potential",  "momentum", "angular_momentum",
                                      "com",    "speed_max", "speed_rms",  "position", "quaternion",
                                      "tilt",   "velocity",  "speed",      "omega",    "spin",
                                      "q",      "v",         "height_min", "time"};
  const char* of = strstr(fact, ": ");
  const char* name = of != NULL ? of + 2 : fact;
  const size_t n = strcspn(name, ".,( ");
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (strlen(known[i]) == n && strncmp(known[i], name, n) == 0) {
      return 1;
    }
  }
  return 0;
}

static double apart(const double* a, const double* b, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    most = fmax(most, fabs(a[i] - b[i]) / (1 + fabs(b[i])));
  }
  return most;
}

typedef struct Trial {
  const TriboModel* model;
  long long steps;
  double begin;
  Item* items;  // (nitem)
  int nitem, nqpos;
  Coordinates start, now, peer;  // ours; ours; MuJoCo's, one after the other
  TriboData* data;               // where its states are looked at
  char folder[40];
} Trial;

// Looks at the states of a file. *given: the first one is where the scene begins.
static int judge(Trial* t, const char* path, PeerFact* facts, int* given) {
  const TriboModelSize n = tribo_model_size(t->model);
  const double dt = tribo_model_world(t->model)->dt;
  TriboJudge* judge = NULL;
  const size_t size = (size_t)t->nqpos + (size_t)n.nv;
  FILE* f = fopen(path, "rb");
  TriboStatus status = tribo_judge_create(t->model, &judge);
  int good = f != NULL;
  for (long long i = 0; good && *given && status == TRIBO_OK && i <= t->steps; ++i) {
    good = fread(t->peer.q, sizeof *t->peer.q, size, f) == size;
    if (good) {
      to_ours(t->items, t->nitem, &t->start, &t->peer, &t->now);
      *given = i > 0 || (apart(t->now.q, t->start.q, n.nq) < 1e-12 && apart(t->now.v, t->start.v, n.nv) < 1e-12);
      status = tribo_data_set_state(t->model, t->data, t->now.q, t->now.v);
      status = status == TRIBO_OK ? tribo_data_set_time(t->model, t->data, t->begin + (double)i * dt) : status;
      status = status == TRIBO_OK ? tribo_judge_observe(judge, t->data) : status;
    }
  }
  const int count = good && *given ? tribo_judge_count(judge) : 0;
  for (int i = 0; status == TRIBO_OK && i < count; ++i) {
    TriboVerdict v;
    status = tribo_judge_verdict(judge, i, &v);
    if (status == TRIBO_OK && is_of_state(v.quantity)) {
      facts[i] = (PeerFact){v.measured, v.error};
    }
  }
  if (f != NULL) {
    fclose(f);
  }
  tribo_judge_destroy(judge);
  return status != TRIBO_OK ? cli_complain(status)
         : good             ? EXIT_WELL
                            : cli_wrong("%s: MuJoCo's states are cut short", path);
}

// ---- the run

// MuJoCo with each of its settings on the file that was made for it.
static int run_settings(Trial* t, const char* path, const char* file, LabPeer* out) {
  char program[PATH], states[64], command[3 * PATH];
  if (!peer_find(program, sizeof program)) {
    return EXIT_INPUT;
  }
  snprintf(states, sizeof states, "%s/states", t->folder);
  int code = EXIT_WELL;
  for (int i = 0; code == EXIT_WELL && out->given && i < LAB_PEERS; ++i) {
    snprintf(command, sizeof command, "'%s' '%s' %s %.17g %lld 1 0 1e15 --states %s --key start > /dev/null", program,
             file, settings[i], tribo_model_world(t->model)->dt, t->steps, states);
    const int ended = system(command), told = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    if (told == EXIT_WELL) {
      code = judge(t, states, out->facts[i], &out->given);
    } else if (told == REFUSED) {
      fprintf(stderr, "tribo: --peers: MuJoCo does not take %s, for what it says above\n", path);
      out->given = 0;
    } else if (told == DIVERGED) {
      fprintf(stderr, "tribo: --peers: MuJoCo's motion diverges in %s (%s)\n", path, lab_peer_names[i]);
    } else {
      code = cli_wrong("--peers: MuJoCo failed on %s", path);
    }
  }
  unlink(states);
  return code;
}

// The scene's present state, ours and MuJoCo's velocities.
static TriboStatus set_out(Trial* t, const Simulation* sim, Sample* bodies, double* qvel) {
  const TriboModelSize n = tribo_model_size(t->model);
  TriboView q, v;
  TriboStatus status = tribo_data_create(t->model, &t->data);
  status = status == TRIBO_OK ? tribo_data_view(t->model, sim->data, TRIBO_FIELD_Q, &q) : status;
  status = status == TRIBO_OK ? tribo_data_view(t->model, sim->data, TRIBO_FIELD_V, &v) : status;
  status = status == TRIBO_OK ? ruler_sample(t->model, sim->data, bodies) : status;
  if (status == TRIBO_OK) {
    memcpy(t->start.q, q.values, (size_t)n.nq * sizeof *t->start.q);
    memcpy(t->start.v, v.values, (size_t)n.nv * sizeof *t->start.v);
    to_peer(t->items, t->nitem, &t->start, qvel);
  }
  return status;
}

// From the scene's present state: its file, MuJoCo on it, what the judge says.
static int run_trial(Trial* t, const Simulation* sim, LabPeer* out) {
  const TriboModelSize n = tribo_model_size(t->model);
  const size_t nq = (size_t)n.nq, nv = (size_t)n.nv;
  double* memory = calloc(3 * nq + 4 * nv + 1, sizeof *memory);
  Sample* bodies = calloc((size_t)n.nbody + 1, sizeof *bodies);
  t->items = calloc((size_t)n.nfree + (size_t)n.njoint + 1, sizeof *t->items);
  int code = EXIT_INTERNAL;
  if (memory != NULL && bodies != NULL && t->items != NULL) {
    char file[64];
    double *to = memory, *qvel = memory + 3 * (nq + nv);
    t->nitem = list_items(t->model, t->items, &t->nqpos);
    t->start = (Coordinates){to, to + nq}, to += nq + nv;
    t->now = (Coordinates){to, to + nq}, to += nq + nv;
    t->peer = (Coordinates){to, to + t->nqpos};
    snprintf(file, sizeof file, "%s/model.xml", t->folder);
    const TriboStatus status = set_out(t, sim, bodies, qvel);
    const PeerRun run = {.path = sim->path, .start = bodies, .q = t->start.q, .qvel = qvel, .begin = t->begin};
    code = status != TRIBO_OK                 ? cli_complain(status)
           : mjcf_write(t->model, &run, file) ? run_settings(t, sim->path, file, out)
                                              : cli_wrong("%s: cannot be written", file);
    unlink(file);
    tribo_data_destroy(t->data);
  }
  free(t->items);
  free(memory);
  free(bodies);
  return code;
}

int lab_peer_run(const Simulation* sim, LabPeer* out) {
  Trial t = {
      .model = sim->model, .steps = sim->steps, .begin = tribo_data_time(sim->data), .folder = "/tmp/tribo-lab-XXXXXX"};
  *out = (LabPeer){.given = mjcf_knows_all(sim->model), .count = tribo_judge_count(sim->judge)};
  for (int i = 0; i < LAB_PEERS; ++i) {
    out->facts[i] = malloc(((size_t)out->count + 1) * sizeof *out->facts[i]);
    if (out->facts[i] == NULL) {
      return EXIT_INTERNAL;
    }
    for (int k = 0; k < out->count; ++k) {
      out->facts[i][k] = (PeerFact){NAN, NAN};
    }
  }
  if (!out->given) {
    return EXIT_WELL;
  }
  if (mkdtemp(t.folder) == NULL) {
    return cli_wrong("%s: no folder there for MuJoCo's states", t.folder);
  }
  const int code = run_trial(&t, sim, out);
  rmdir(t.folder);
  return code;
}

void lab_peer_free(LabPeer* peer) {
  for (int i = 0; i < LAB_PEERS; ++i) {
    free(peer->facts[i]);
    peer->facts[i] = NULL;
  }
}
