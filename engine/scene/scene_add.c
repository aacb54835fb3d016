// The checks that all calls adding to a scene share.
#include "scene_add.h"

#include <math.h>
#include <string.h>

TriboStatus tribo_check_finite(const char* who, const char* field, const double* x, int n) {
  for (int i = 0; i < n; ++i) {
    if (!isfinite(x[i])) {
      return tribo_fail(TRIBO_INVALID, "%s: %s[%d] = %g must be finite", who, field, i, x[i]);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_check_range(const char* who, const char* field, double x, double min, double max) {
  if (!(x >= min && x <= max)) {
    return tribo_fail(TRIBO_INVALID, "%s: %s = %g is outside the accepted range [%g, %g]", who, field, x, min, max);
  }
  return TRIBO_OK;
}

TriboStatus tribo_check_quaternion(const char* who, const double q[4]) {
  TRIBO_TRY(tribo_check_finite(who, "quaternion", q, 4));
  double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!(n > 0.5 && n < 2)) {
    return tribo_fail(TRIBO_INVALID, "%s: quaternion has length %g; it must be a rotation (length 1)", who, n);
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_take_name(TriboScene* scene, TriboNames* names, const char* who, const char* name, int n,
                                  const char** out) {
  char* copy = name != NULL ? tribo_pool_strdup(&scene->pool, name) : tribo_pool_format(&scene->pool, "%s%d", who, n);
  if (copy == NULL) {
    return tribo_no_memory("for the scene");
  }
  if (copy[0] == '\0' || strlen(copy) > 80) {
    return tribo_fail(TRIBO_INVALID, "%s: name '%.90s' must have 1 to 80 characters", who, copy);
  }
  if (tribo_names_find(names, copy) >= 0) {
    return tribo_fail(TRIBO_INVALID, "%s: the name '%s' is taken", who, copy);
  }
  TRIBO_TRY(tribo_names_add(names, copy, n));
  *out = copy;
  return TRIBO_OK;
}

TriboStatus tribo_not_found(const TriboNames* names, const char* what, const char* name) {
  const char* near = tribo_names_nearest(names, name);
  return tribo_fail(TRIBO_NOT_FOUND, "there is no %s '%s'%s%s%s", what, name, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

TriboStatus tribo_check_softness(const char* who, const double solref[2], const double solimp[5]) {
  TRIBO_TRY(tribo_check_finite(who, "solref", solref, 2));
  if (solref[0] != 0 && !(solref[0] > 0 && solref[1] > 0) && !(solref[0] < 0 && solref[1] <= 0)) {
    return tribo_fail(TRIBO_INVALID, "%s: solref = [%g %g]; accepted are two numbers above 0, or below", who, solref[0],
                      solref[1]);
  }
  const double* d = solimp;
  if (solref[0] != 0 && !(d[0] > 0 && d[0] < 1 && d[1] > 0 && d[1] < 1 && d[2] >= 0 && d[2] < 1e6 && d[3] >= 0 &&
                          d[3] <= 1 && d[4] >= 1 && d[4] <= 100)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: solimp = [%g %g %g %g %g]; accepted are impedances in (0, 1), a width ≥ 0, a midpoint in "
                      "0 … 1 and a power in 1 … 100",
                      who, d[0], d[1], d[2], d[3], d[4]);
  }
  return TRIBO_OK;
}
