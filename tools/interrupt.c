// One flag for the whole program, set by the handler of SIGINT. The watch begins and ends in the main thread; every
// thread may ask.
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;
static int depth;
static struct sigaction before;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

void interrupt_watch(void) {
  if (depth++ == 0) {
    interrupted = 0;
    const struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, &before);
  }
}

void interrupt_unwatch(void) {
  if (--depth == 0) {
    sigaction(SIGINT, &before, NULL);
  }
}

int interrupt_seen(void) {
  return interrupted;
}
