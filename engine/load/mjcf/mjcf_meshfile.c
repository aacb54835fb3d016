// Mesh files whose triangles count, because the mass of a body comes from them: OBJ and MuJoCo's own format are read
// here, so that points are the same floats and polygons the same triangles as MuJoCo's; STL, where there is only one
// way, by the collision room.
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collision.h"
#include "mjcf.h"
#include "text.h"

// MuJoCo's own binary format: four counts (points, normals, texture points, triangles), then the lists, all of 4 bytes.
static TriboStatus read_msh(const char* path, double** points, int* npoint, int** triangles, int* ntriangle) {
  int32_t n[4] = {0};
  long size = -1;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be read", path);
  }
  int good = fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 16 && fseek(file, 0, SEEK_SET) == 0 &&
             fread(n, sizeof n, 1, file) == 1;
  for (int i = 0; i < 4; ++i) {
    good = good && n[i] >= 0 && n[i] <= 1 << 26;
  }
  good = good && 16 + 4 * (3 * (long)n[0] + 3 * (long)n[1] + 2 * (long)n[2] + 3 * (long)n[3]) == size;
  float* raw = good ? tribo_alloc(3 * (size_t)n[0] + 1, sizeof *raw) : NULL;
  *points = good ? tribo_alloc(3 * (size_t)n[0] + 1, sizeof **points) : NULL;
  *triangles = good ? tribo_alloc(3 * (size_t)n[3] + 1, sizeof **triangles) : NULL;
  good = good && raw != NULL && *points != NULL && *triangles != NULL &&
         fread(raw, 12, (size_t)n[0], file) == (size_t)n[0] &&
         fseek(file, 4 * (3 * (long)n[1] + 2 * (long)n[2]), SEEK_CUR) == 0 &&
         fread(*triangles, 12, (size_t)n[3], file) == (size_t)n[3];
  for (int i = 0; good && i < 3 * n[0]; ++i) {
    (*points)[i] = (double)raw[i];
    good = isfinite((*points)[i]);
  }
  for (int i = 0; good && i < 3 * n[3]; ++i) {
    good = (*triangles)[i] >= 0 && (*triangles)[i] < n[0];
  }
  fclose(file);
  tribo_free(raw);
  *npoint = n[0];
  *ntriangle = n[3];
  return good ? TRIBO_OK : tribo_fail(TRIBO_INVALID, "%s: is no mesh in MuJoCo's format", path);
}

// ---- OBJ

typedef struct Obj {
  double* points;
  int* triangles;
  int npoint, ntriangle;
  int done;  // the first object with faces is complete: that is all that MuJoCo takes
} Obj;

static TriboStatus add_triangle(Obj* obj, int a, int b, int c) {
  TRIBO_TRY(TRIBO_APPEND(&obj->triangles, 3 * obj->ntriangle, 3));
  int* at = obj->triangles + 3 * obj->ntriangle++;
  at[0] = a, at[1] = b, at[2] = c;
  return TRIBO_OK;
}

static double square(const Obj* obj, int a, int b) {
  double d[3];
  tribo_sub3(d, obj->points + 3 * a, obj->points + 3 * b);
  return tribo_dot3(d, d);
}

// The two axes along which a polygon is seen: those across the largest part of the normal at its first proper corner.
static void find_axes(const Obj* obj, const int* corner, int n, int axes[2]) {
  axes[0] = 1, axes[1] = 2;
  for (int i = 0; i < n; ++i) {
    double e[2][3], c[3];
    for (int k = 0; k < 2; ++k) {
      tribo_sub3(e[k], obj->points + 3 * corner[(i + k + 1) % n], obj->points + 3 * corner[(i + k) % n]);
    }
    tribo_cross3(c, e[0], e[1]);
    const double x = fabs(c[0]), y = fabs(c[1]), z = fabs(c[2]);
    if (x > FLT_EPSILON || y > FLT_EPSILON || z > FLT_EPSILON) {
      if (!(x > y && x > z)) {
        axes[0] = 0;
        axes[1] = z > x && z > y ? 1 : 2;
      }
      return;
    }
  }
}

// Whether a point lies in a triangle: how often a ray from it leaves through a side.
static int is_inside(const float t[3][2], const float p[2]) {
  int inside = 0;
  for (int i = 0, j = 2; i < 3; j = i++) {
    if ((t[i][1] > p[1]) != (t[j][1] > p[1]) &&
        p[0] < (t[j][0] - t[i][0]) * (p[1] - t[i][1]) / (t[j][1] - t[i][1]) + t[i][0]) {
      inside = !inside;
    }
  }
  return inside;
}

// Cuts ears off a polygon, corner by corner, until a triangle is left: an ear bends as its first side turns about the
// origin, which is how MuJoCo's reader has it (in single precision), and has no other corner in it.
static TriboStatus cut_ears(Obj* obj, int* corner, int n) {
  int axes[2], at = 0;
  find_axes(obj, corner, n, axes);
#define SEEN(i) \
  { (float)obj->points[3 * corner[i] + axes[0]], (float)obj->points[3 * corner[i] + axes[1]] }
  for (int tries = n, before = n; n > 3 && tries > 0;) {
    tries = n == before ? tries - 1 : n;
    before = n;
    at %= n;
    const int i = at, j = (at + 1) % n, k = (at + 2) % n;
    const float t[3][2] = {SEEN(i), SEEN(j), SEEN(k)};
    const float bend = (t[1][0] - t[0][0]) * (t[2][1] - t[1][1]) - (t[1][1] - t[0][1]) * (t[2][0] - t[1][0]);
    int ear = bend * (t[0][0] * t[1][1] - t[0][1] * t[1][0]) >= 0;
    for (int other = 3; ear && other < n; ++other) {
      const float p[2] = SEEN((at + other) % n);
      ear = !is_inside(t, p);
    }
    if (!ear) {
      at++;
      continue;
    }
    TRIBO_TRY(add_triangle(obj, corner[i], corner[j], corner[k]));
    memmove(corner + j, corner + j + 1, (size_t)(n - j - 1) * sizeof *corner);
    n--;
  }
#undef SEEN
  return n == 3 ? add_triangle(obj, corner[0], corner[1], corner[2]) : TRIBO_OK;
}

// One of four corners is cut along its shorter diagonal.
static TriboStatus add_polygon(Obj* obj, int* corner, int n) {
  if (n != 4) {
    return n > 3 ? cut_ears(obj, corner, n) : n == 3 ? add_triangle(obj, corner[0], corner[1], corner[2]) : TRIBO_OK;
  }
  const int turn = !(square(obj, corner[0], corner[2]) < square(obj, corner[1], corner[3]));
  TRIBO_TRY(add_triangle(obj, corner[0], corner[1], corner[2 + turn]));
  return add_triangle(obj, corner[turn], corner[2], corner[3]);
}

static TriboStatus read_point(Obj* obj, const char* text) {
  TRIBO_TRY(TRIBO_APPEND(&obj->points, 3 * obj->npoint, 3));
  for (int k = 0; k < 3; ++k) {
    char* end;
    const double x = strtod(text, &end);
    if (end == text || !isfinite(x)) {
      return tribo_fail(TRIBO_INVALID, "a vertex without three finite numbers");
    }
    obj->points[3 * obj->npoint + k] = (double)(float)x;
    text = end;
  }
  obj->npoint++;
  return TRIBO_OK;
}

// Corners are "a", "a/b", "a//c" or "a/b/c", counted from 1, or from the end when below 0.
static TriboStatus read_face(Obj* obj, const char* text) {
  enum { MOST = 256 };
  int corner[MOST], n = 0;
  while (n < MOST) {
    char* end;
    const long index = strtol(text, &end, 10);
    if (end == text) {
      break;
    }
    corner[n] = (int)(index < 0 ? obj->npoint + index : index - 1);
    if (index < -obj->npoint || index > obj->npoint || index == 0) {
      return tribo_fail(TRIBO_INVALID, "a face with vertex %ld of %d", index, obj->npoint);
    }
    n++;
    text = end + strcspn(end, " \t\r\n");
  }
  return add_polygon(obj, corner, n);
}

static TriboStatus read_obj(FILE* file, Obj* obj, int* line) {
  char* text = NULL;
  size_t size = 0;
  TriboStatus status = TRIBO_OK;
  for (*line = 1; status == TRIBO_OK && getline(&text, &size, file) >= 0; ++*line) {
    const char* start = text + strspn(text, " \t");
    if (start[0] == 'v' && (start[1] == ' ' || start[1] == '\t')) {
      status =
          obj->npoint < 1 << 26 ? read_point(obj, start + 2) : tribo_fail(TRIBO_INVALID, "more than 2^26 vertices");
    } else if ((start[0] == 'o' || start[0] == 'g') && isspace((unsigned char)start[1])) {
      obj->done = obj->ntriangle > 0;
    } else if (start[0] == 'f' && (start[1] == ' ' || start[1] == '\t') && !obj->done) {
      status = obj->ntriangle < 1 << 26 ? read_face(obj, start + 2) : tribo_fail(TRIBO_INVALID, "more than 2^26 faces");
    }
  }
  free(text);
  return status;
}

static TriboStatus load_obj(const char* path, double** points, int* npoint, int** triangles, int* ntriangle) {
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    return tribo_fail(TRIBO_NOT_FOUND, "%s: cannot be read", path);
  }
  Obj obj = {.npoint = 0};
  int line;
  TriboStatus status = read_obj(file, &obj, &line);
  fclose(file);
  *points = obj.points;
  *triangles = obj.triangles;
  *npoint = obj.npoint;
  *ntriangle = obj.ntriangle;
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s:%d: ", path, line - 1);
  }
  return status;
}

// ---- by ending

int tribo_mjcf_is_msh(const char* path) {
  return tribo_text_ends_in(path, ".msh");
}

TriboStatus tribo_mjcf_mesh_file(const char* path, double** points, int* npoint, int** triangles, int* ntriangle) {
  static const double as_is[3] = {1, 1, 1};
  return tribo_mjcf_is_msh(path)            ? read_msh(path, points, npoint, triangles, ntriangle)
         : tribo_text_ends_in(path, ".obj") ? load_obj(path, points, npoint, triangles, ntriangle)
                                            : tribo_col_mesh_load(path, as_is, points, npoint, triangles, ntriangle);
}
