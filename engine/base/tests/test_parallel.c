// Every index is done once, for any number of workers; teams go through their stages together; nobody waits for a
// thread that does not come.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"
#include "parallel.h"

static void square(int index, int worker, void* context) {
  assert_true(worker >= 0 && worker < 8);
  ((long*)context)[index] = (long)index * index;
}

static void every_item_once_for_any_thread_count(void** state) {
  (void)state;
  for (int again = 0; again < 50; ++again) {
    for (int threads = 0; threads <= 8; ++threads) {
      long result[1000] = {0};
      tribo_parallel_for(1000, threads, square, result);
      for (int i = 0; i < 1000; ++i) {
        assert_int_equal(result[i], (long)i * i);
      }
    }
  }
}

// Every stage adds up what all workers have written in the one before.
enum { ITEMS = 200, STAGES = 400 };
typedef struct Stages {
  long value[2][ITEMS];
  int size;
} Stages;

static void go_through(TriboTeam* team, int worker, void* context) {
  Stages* s = context;
  int first, last;
  first = ITEMS * worker / tribo_team_size(team);
  last = ITEMS * (worker + 1) / tribo_team_size(team);
  if (worker == 0) {
    s->size = tribo_team_size(team);
  }
  for (int stage = 0; stage < STAGES; ++stage) {
    const long* from = s->value[stage % 2];
    for (int i = first; i < last; ++i) {
      s->value[1 - stage % 2][i] = (from[i] + from[(i + 77) % ITEMS] + i) % 1000003;
    }
    tribo_team_wait(team, worker);
  }
}

static void teams_stay_together(void** state) {
  (void)state;
  static Stages alone, together;
  int most = 0;
  for (int threads = 1; threads <= 8; ++threads) {
    for (int again = 0; again < 10; ++again) {
      Stages* s = threads == 1 ? &alone : &together;
      memset(s, 0, sizeof *s);
      s->value[0][5] = 1;
      tribo_team_run(threads, go_through, s);
      assert_true(s->size >= 1 && s->size <= threads);
      most = s->size > most ? s->size : most;
      assert_memory_equal(s->value, alone.value, sizeof alone.value);
    }
  }
  print_message("largest team %d\n", most);
}

// Callers on threads of their own, and teams inside loops, share the workers.
static void nested(int index, int worker, void* context) {
  static _Thread_local Stages s;
  (void)worker;
  memset(&s, 0, sizeof s);
  s.value[0][5] = 1;
  tribo_team_run(3, go_through, &s);
  ((long*)context)[index] = s.value[0][17];
}

static void* call(void* context) {
  tribo_parallel_for(20, 3, nested, context);
  return NULL;
}

static void many_callers_at_once(void** state) {
  (void)state;
  enum { CALLERS = 6 };
  pthread_t thread[CALLERS];
  static long result[CALLERS][20];
  for (int i = 0; i < CALLERS; ++i) {
    assert_int_equal(pthread_create(&thread[i], NULL, call, result[i]), 0);
  }
  for (int i = 0; i < CALLERS; ++i) {
    pthread_join(thread[i], NULL);
    for (int k = 0; k < 20; ++k) {
      assert_int_equal(result[i][k], result[0][0]);
    }
  }
}

// (the thread sanitizer has no threads after a fork)
static void a_fork_has_its_own(void** state) {
  (void)state;
#if defined(__SANITIZE_THREAD__)
  skip();
#endif
  long result[1000] = {0};
  tribo_parallel_for(1000, 4, square, result);
  const pid_t child = fork();
  if (child == 0) {
    long own[1000] = {0};
    tribo_parallel_for(1000, 4, square, own);
    _exit(own[999] == 999 * 999 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_item_once_for_any_thread_count),
      cmocka_unit_test(teams_stay_together),
      cmocka_unit_test(many_callers_at_once),
      cmocka_unit_test(a_fork_has_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
