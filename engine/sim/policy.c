// What happens when an answer is not good enough: the one place that decides what is tried again, and when it ends.
//
//   what is not good enough                       what is tried again                      how often
//   ------------------------------------------------------------------------------------------------------------------
//   the motion left the margin, or a dropped      the solve, with the contacts that        REDETECTIONS; each adds
//   point penetrates in the next state            were found there                         pairs
//   a closure is open in the next state           the solve, with g that shuts it          while it shuts (loops.c)
//   the law does not hold to `accept`             the part, in halves                      `halvings`, auto alone
//   energy, momentum, divergence, open loops      the part, in halves                      down to dt/2^PACE_MAX
//   rows contradict each other                    nothing: shorter steps ask for the same
//
// The contact law's own second tries are the solver's (solvers/policy/auto.c). Everything here ends when the wall time
// of `step_budget` is over, or when the step has spent EFFORT times the floating-point operations that one solve of all
// its islands may take: operations are the same on every run, and so are the bits. Then the answer at hand is used, and
// the step says what does not hold.
#include <math.h>

#include "data_impl.h"
#include "timer.h"

enum { REDETECTIONS = 8 };
// Of 3000 steps of a wall of masses 1 : 1e4 that falls, on average over seven runs, 1 leaves 26 uncertified, 2 leaves
// 17, 4 leaves 11, as no end does.
static const double EFFORT = 4;

double tribo_policy_deadline(const TriboWorldDef* world) {
  return world->step_budget > 0 ? tribo_now() + world->step_budget : 0;
}

static int has_time(const StepStart* start) {
  return start->deadline <= 0 || tribo_now() < start->deadline;
}

// Whether a step that has spent so many operations may go on trying.
static int may_go_on(const TriboData* data, const StepStart* start, double effort) {
  return has_time(start) && !(effort > EFFORT * data->solve.most_effort);
}

int tribo_policy_may_redetect(const TriboData* data, const StepStart* start, const TriboStepInfo* part) {
  return part->redetections < REDETECTIONS && may_go_on(data, start, part->effort);
}

int tribo_policy_may_close_again(const TriboData* data, const StepStart* start, const TriboStepInfo* part) {
  return part->relaxed == 0 && may_go_on(data, start, part->effort);
}

int tribo_policy_is_of_motion(TriboReason reason) {
  return reason == TRIBO_REASON_ENERGY || reason == TRIBO_REASON_MOMENTUM || reason == TRIBO_REASON_DIVERGENCE;
}

int tribo_policy_may_divide(const TriboData* data, const StepStart* start, const StepDivision* at,
                            const TriboStepInfo* part, const TriboStepInfo* step) {
  const TriboWorldDef* world = &data->model->world;
  if (part->certified || part->reason == TRIBO_REASON_CONTRADICTION) {
    return 0;
  }
  // errors of the motion go with the third power of a part
  if (tribo_policy_is_of_motion(part->reason) || part->reason == TRIBO_REASON_LOOPS) {
    return at->fraction > ldexp(1, -TRIBO_PACE_MAX) && has_time(start);
  }
  // who chose a solver other than auto wants to see what that one does
  return data->solve.is_auto && at->fraction > ldexp(at->first, -world->halvings) &&
         may_go_on(data, start, step->effort);
}

// Half as long where a mechanism in flight was too fast for this step, twice as long after so many steps without that:
// parts that are halved and doubled from step to step would spoil what a symplectic step keeps (balance.c). The longest
// memory of the balance is a thousand steps, too.
void tribo_policy_choose_pace(BalanceWork* work, int is_too_fast) {
  enum { STEADY = 1000 };
  work->next_pace = work->pace;
  work->next_steps_at_pace = is_too_fast || work->pace == 0 ? 0 : work->steps_at_pace + 1;
  if (is_too_fast && work->pace < TRIBO_PACE_MAX) {
    work->next_pace++;
  } else if (work->next_steps_at_pace > STEADY) {
    work->next_pace--;
    work->next_steps_at_pace = 0;
  }
}
