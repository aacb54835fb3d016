// Writing a tree of distance fields as YAML, on one line.
#include "yaml_save.h"

#include <tribo/math.h>

static void put_list(FILE* f, const char* key, const double* x, int n) {
  fprintf(f, "%s: %s", key, n > 1 ? "[" : "");
  for (int i = 0; i < n; ++i) {
    fputs(i > 0 ? ", " : "", f);
    tribo_yaml_put_number(f, x[i]);
  }
  fputs(n > 1 ? "]" : "", f);
}

// `, key: x` where it is not 0.
static void put_some(FILE* f, const char* key, double x) {
  if (x != 0) {
    fputs(", ", f);
    put_list(f, key, &x, 1);
  }
}

static void put_part(FILE* f, const TriboSdfDef* def);

static void put_parts(FILE* f, const char* key, const TriboSdfDef* def) {
  fprintf(f, "%s: [", key);
  for (int i = 0; i < def->npart; ++i) {
    fputs(i > 0 ? ", " : "", f);
    put_part(f, &def->parts[i]);
  }
  fputc(']', f);
}

static void put_thread(FILE* f, const TriboSdfDef* def) {
  fputs("thread: {", f);
  put_list(f, "diameter", &def->size[0], 1);
  put_some(f, "pitch", def->pitch);
  put_some(f, "length", def->size[1]);
  put_some(f, "clearance", def->clearance);
  put_some(f, "across", def->across);
  fprintf(f, ", starts: %d%s}", def->starts, def->left_hand ? ", left_hand: true" : "");
}

static void put_revolved(FILE* f, const TriboSdfDef* def) {
  fputs("revolved: {points: [", f);
  for (int i = 0; i < def->nprofile; ++i) {
    fputs(i > 0 ? ", [" : "[", f);
    tribo_yaml_put_number(f, def->profile[2 * i]);
    fputs(", ", f);
    tribo_yaml_put_number(f, def->profile[2 * i + 1]);
    fputc(']', f);
  }
  fputs("]", f);
  put_some(f, "pad", def->pad);
  fputc('}', f);
}

static void put_plane(FILE* f, const TriboSdfDef* def) {
  double R[9];
  tribo_quat_to_mat(R, def->quaternion);
  const double normal[3] = {R[2], R[5], R[8]};
  put_list(f, "plane", normal, 3);
}

void tribo_yaml_put_sdf(FILE* f, const TriboSdfDef* def) {
  switch (def->kind) {
    case TRIBO_SDF_SPHERE: put_list(f, "sphere", def->size, 1); break;
    case TRIBO_SDF_BOX: put_list(f, "box", def->size, 3); break;
    case TRIBO_SDF_CAPSULE: put_list(f, "capsule", def->size, 2); break;
    case TRIBO_SDF_CYLINDER: put_list(f, "cylinder", def->size, 2); break;
    case TRIBO_SDF_CONE: put_list(f, "cone", def->size, 2); break;
    case TRIBO_SDF_ELLIPSOID: put_list(f, "ellipsoid", def->size, 3); break;
    case TRIBO_SDF_PLANE: put_plane(f, def); break;
    case TRIBO_SDF_PRISM:
      fprintf(f, "prism: {sides: %d", def->sides);
      put_some(f, "across", def->size[0]);
      put_some(f, "length", def->size[1]);
      put_some(f, "round", def->round);
      fputc('}', f);
      break;
    case TRIBO_SDF_THREAD: put_thread(f, def); break;
    case TRIBO_SDF_REVOLVED: put_revolved(f, def); break;
    case TRIBO_SDF_UNION: put_parts(f, "union", def); break;
    case TRIBO_SDF_INTERSECTION: put_parts(f, "intersection", def); break;
    case TRIBO_SDF_SUBTRACT: put_parts(f, "subtract", def); break;
    case TRIBO_SDF_OFFSET:
      fputs("offset: {of: ", f);
      put_part(f, def->parts);
      put_some(f, "by", def->by);
      fputc('}', f);
      break;
    default: break;
  }
}

static void put_part(FILE* f, const TriboSdfDef* def) {
  fputc('{', f);
  tribo_yaml_put_sdf(f, def);
  if (def->kind == TRIBO_SDF_BOX || def->kind == TRIBO_SDF_CYLINDER) {
    put_some(f, "round", def->round);
  }
  fputs(", ", f);
  put_list(f, "position", def->position, 3);
  if (def->kind != TRIBO_SDF_PLANE) {
    fputs(", ", f);
    put_list(f, "quaternion", def->quaternion, 4);
  }
  fputc('}', f);
}
