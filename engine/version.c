// Names of stages and versions.
#include <stdio.h>
#include <tribo/tribo.h>

#include "collision.h"
#include "dynamics.h"
#include "solvers.h"

const char* tribo_stage_name(TriboStage stage) {
  static const char* const names[] = {
#define X(id, name, doc) name,
      TRIBO_STAGES(X)
#undef X
  };
  return (int)stage >= 0 && stage < TRIBO_STAGE_COUNT ? names[stage] : "unknown stage";
}

const char* tribo_version(void) {
  return TRIBO_VERSION;
}

const char* tribo_version_libraries(void) {
  static _Thread_local char text[256];
  snprintf(text, sizeof text, "Pinocchio %s\nCoal %s\n%s", tribo_pin_version(), tribo_coal_version(),
           tribo_la_version());
  return text;
}
