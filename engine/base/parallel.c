// Threads (parallel.h): sleeping workers, and the teams that they join.
//
// Who wants helpers takes idle workers and a team from their stacks and wakes them. A worker that wakes up enrols, or
// finds that the team is closed and goes back to sleep: a loop closes when its items are gone, other teams after some
// microseconds. The team is given back by the last who knows of it.
//
// A gate is a counter that others wait to change: spinning, then asleep under the gate's lock. Who goes to sleep is
// counted before it looks at the counter for the last time, so that either it sees the change or it is seen.
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "timer.h"

enum {
  MOST_WORKERS = 255,
  MOST_TEAMS = 64,
  MOST_SPINS = 2000,  // 20 to 50 µs
  LEAST_SPINS = 8
};

typedef struct Gate {
  atomic_uint generation;
  atomic_int sleepers;
  pthread_mutex_t lock;
  pthread_cond_t opened;
} Gate;

struct TriboTeam {
  Gate gate;
  atomic_int enrolled;  // workers but for the caller, and whether it is CLOSED
  atomic_int size;      // with the caller; 0 until it is closed
  atomic_int arrived;   // at the barrier
  atomic_int known_to;  // those who still have its address
  int starts_at_once;   // a loop
  int is_held_up;
  double at_work_since;  // worker 0
  TriboTeamFn* fn;
  void* context;
  struct TriboTeam* next;
};
enum { CLOSED = 1 << 20, MOST_REFUSALS = 255 };
static const double HELD_UP = 1e-4;  // [s] beyond what a thread may take to come

typedef struct Worker {
  Gate gate;        // counts the jobs up
  TriboTeam* team;  // of the present job
  struct Worker* next;
} Worker;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static Worker workers[MOST_WORKERS];
static TriboTeam teams[MOST_TEAMS];
static Worker* idle_workers;
static TriboTeam* idle_teams;
static int worker_count, team_count;
static int watches_forks;
static atomic_int refusals, last_refusals;    // teams that are still refused; how many were, the last time
static _Thread_local int spins = MOST_SPINS;  // before this thread goes to sleep

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static void gate_make(Gate* gate) {
  pthread_mutex_init(&gate->lock, NULL);
  pthread_cond_init(&gate->opened, NULL);
}

static void gate_open(Gate* gate) {
  atomic_fetch_add(&gate->generation, 1);
  if (atomic_load(&gate->sleepers) > 0) {
    pthread_mutex_lock(&gate->lock);
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
  }
}

// Waits until the gate has gone on from `generation`.
static void gate_wait(Gate* gate, unsigned generation) {
  for (int i = 0; i < spins; ++i) {
    if (atomic_load_explicit(&gate->generation, memory_order_acquire) != generation) {
      spins = 2 * spins < MOST_SPINS ? 2 * spins : MOST_SPINS;
      return;
    }
    relax();
  }
  pthread_mutex_lock(&gate->lock);
  atomic_fetch_add(&gate->sleepers, 1);
  while (atomic_load(&gate->generation) == generation) {
    pthread_cond_wait(&gate->opened, &gate->lock);
  }
  atomic_fetch_sub(&gate->sleepers, 1);
  pthread_mutex_unlock(&gate->lock);
  spins = spins / 2 > LEAST_SPINS ? spins / 2 : LEAST_SPINS;
}

// ---- workers

// The last one who knows of a team gives it back.
static void forget_team(TriboTeam* team) {
  if (atomic_fetch_sub(&team->known_to, 1) == 1) {
    pthread_mutex_lock(&pool_lock);
    team->next = idle_teams;
    idle_teams = team;
    pthread_mutex_unlock(&pool_lock);
  }
}

// The worker's number in the team, 0 when it is too late.
static int enrol(TriboTeam* team) {
  int count = atomic_load(&team->enrolled);
  while (count < CLOSED) {
    if (atomic_compare_exchange_weak(&team->enrolled, &count, count + 1)) {
      return count + 1;
    }
  }
  return 0;
}

// Comes to the end and does not wait for the others; 1: all are there.
static int arrive(TriboTeam* team) {
  const int all = atomic_fetch_add(&team->arrived, 1) + 1 == atomic_load(&team->size);
  if (all) {
    atomic_store(&team->arrived, 0);
    gate_open(&team->gate);
  }
  return all;
}

static void join(TriboTeam* team) {
  const unsigned generation = atomic_load(&team->gate.generation);
  const int number = enrol(team);
  if (number > 0) {
    if (!team->starts_at_once) {
      gate_wait(&team->gate, generation);
    }
    team->fn(team, number, team->context);
    arrive(team);
  }
  forget_team(team);
}

static void* work(void* argument) {
  Worker* self = argument;
  for (unsigned job = 0;; ++job) {
    gate_wait(&self->gate, job);
    join(self->team);
    pthread_mutex_lock(&pool_lock);
    self->next = idle_workers;
    idle_workers = self;
    pthread_mutex_unlock(&pool_lock);
  }
  return NULL;
}

// Threads do not live on in a child of fork.
static void forget_all(void) {
  pthread_mutex_init(&pool_lock, NULL);
  idle_workers = NULL;
  idle_teams = NULL;
  worker_count = team_count = 0;
}

// (under the pool's lock, as what follows)
static Worker* take_worker(void) {
  Worker* worker = idle_workers;
  if (worker != NULL) {
    idle_workers = worker->next;
    return worker;
  }
  if (worker_count == MOST_WORKERS) {
    return NULL;
  }
  if (!watches_forks) {
    watches_forks = pthread_atfork(NULL, NULL, forget_all) == 0;
  }
  pthread_t thread;
  worker = &workers[worker_count];
  *worker = (Worker){0};
  gate_make(&worker->gate);
  if (pthread_create(&thread, NULL, work, worker) != 0) {
    return NULL;
  }
  pthread_detach(thread);
  worker_count++;
  return worker;
}

static TriboTeam* take_team(void) {
  TriboTeam* team = idle_teams;
  if (team != NULL) {
    idle_teams = team->next;
    return team;
  }
  if (team_count == MOST_TEAMS) {
    return NULL;
  }
  team = &teams[team_count++];
  *team = (TriboTeam){0};
  gate_make(&team->gate);
  return team;
}

// ---- teams

int tribo_team_size(const TriboTeam* team) {
  return atomic_load_explicit(&team->size, memory_order_relaxed);
}

int tribo_team_is_held_up(const TriboTeam* team) {
  return team->is_held_up;
}

void tribo_team_wait(TriboTeam* team, int worker) {
  if (tribo_team_size(team) == 1) {
    return;
  }
  const double came = worker == 0 ? tribo_now() : 0;
  const unsigned generation = atomic_load(&team->gate.generation);
  if (!arrive(team)) {
    gate_wait(&team->gate, generation);
  }
  if (worker == 0) {
    const double left = tribo_now();
    team->is_held_up |= left - came > HELD_UP + 2 * (came - team->at_work_since);
    team->at_work_since = left;
  }
}

// Whether a team is refused, since the last ones were held up.
static int is_refused(void) {
  return atomic_load(&refusals) > 0 && atomic_fetch_sub(&refusals, 1) > 0;
}

// After a team that was held up, twice as many are refused as the last time.
static void remember(int is_held_up) {
  const int next = is_held_up ? 2 * atomic_load(&last_refusals) + 1 : 0;
  atomic_store(&last_refusals, next < MOST_REFUSALS ? next : MOST_REFUSALS);
  atomic_store(&refusals, atomic_load(&last_refusals));
}

// A team of its own and up to `helpers` idle workers, chained; NULL when there are none.
static TriboTeam* gather(int helpers, Worker** chosen, int* count) {
  *chosen = NULL;
  *count = 0;
  pthread_mutex_lock(&pool_lock);
  TriboTeam* team = helpers > 0 ? take_team() : NULL;
  while (team != NULL && *count < helpers) {
    Worker* worker = take_worker();
    if (worker == NULL) {
      break;
    }
    worker->next = *chosen;
    *chosen = worker;
    ++*count;
  }
  pthread_mutex_unlock(&pool_lock);
  return team;
}

// Nobody enrols any more.
static void close_team(TriboTeam* team) {
  atomic_store(&team->size, 1 + atomic_fetch_or(&team->enrolled, CLOSED));
}

// Calls fn on up to `threads` workers: those of a loop begin when they wake up, those of a team together.
static void run(int threads, int is_loop, TriboTeamFn* fn, void* context) {
  Worker* chosen;
  int helpers;
  const int most = is_loop || threads <= 1 || !is_refused() ? threads : 1;
  TriboTeam *team = gather(most - 1, &chosen, &helpers), alone = {.size = 1};
  if (team == NULL) {
    fn(&alone, 0, context);
    return;
  }
  team->fn = fn;
  team->context = context;
  team->starts_at_once = is_loop;
  team->is_held_up = 0;
  atomic_store(&team->size, 0);
  atomic_store(&team->arrived, 0);
  atomic_store(&team->known_to, 1 + helpers);
  atomic_store(&team->enrolled, 0);
  // (a worker that is too late may soon be another's: its successor is read first)
  for (Worker *w = chosen, *next; w != NULL; w = next) {
    next = w->next;
    w->team = team;
    gate_open(&w->gate);
  }
  if (is_loop) {
    fn(team, 0, context);
    close_team(team);
  } else {
    for (int i = 0; i < MOST_SPINS && atomic_load(&team->enrolled) < helpers; ++i) {
      relax();
    }
    close_team(team);
    gate_open(&team->gate);
    team->at_work_since = tribo_now();
    fn(team, 0, context);
    remember(team->is_held_up);
  }
  // (the generation is read before the others may all have come)
  const unsigned generation = atomic_load(&team->gate.generation);
  if (!arrive(team)) {
    gate_wait(&team->gate, generation);
  }
  forget_team(team);
}

void tribo_team_run(int threads, TriboTeamFn* fn, void* context) {
  run(threads, 0, fn, context);
}

// ---- loops

typedef struct Loop {
  TriboParallelFn* fn;
  void* context;
  int count;
  atomic_int next;
} Loop;

// items differ much in cost (islands), so workers take the next one; results are per item, hence independent of it
static void take_items(TriboTeam* team, int worker, void* context) {
  Loop* loop = context;
  (void)team;
  for (int i = atomic_fetch_add(&loop->next, 1); i < loop->count; i = atomic_fetch_add(&loop->next, 1)) {
    loop->fn(i, worker, loop->context);
  }
}

void tribo_parallel_for(int count, int threads, TriboParallelFn* fn, void* context) {
  if (threads <= 1 || count <= 1) {
    for (int i = 0; i < count; ++i) {
      fn(i, 0, context);
    }
    return;
  }
  Loop loop = {.fn = fn, .context = context, .count = count};
  run(threads < count ? threads : count, 1, take_items, &loop);
}
