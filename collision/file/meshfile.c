// Hulls from mesh files. What a file can do to its parser is bounded before the parser sees it: only the formats we
// name, files of sensible size, and COLLADA number lists that hold numbers (its parser never returns from others).
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "assimp_shim.h"
#include "components.h"
#include "memory.h"
#include "status.h"
#include "text.h"

enum { MOST_BYTES = 256 * 1024 * 1024 };

static TriboStatus check_file(const char* path, const double scale[3], size_t* size) {
  struct stat info;
  if (path == NULL || scale == NULL) {
    return tribo_fail(TRIBO_INVALID, "tribo_col_hull_load: %s is NULL", path == NULL ? "path" : "scale");
  }
  if (stat(path, &info) != 0) {
    return tribo_fail(errno == ENOENT ? TRIBO_NOT_FOUND : TRIBO_IO, "%s: %s", path, strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return tribo_fail(TRIBO_INVALID, "%s: not a regular file", path);
  }
  if (info.st_size == 0 || info.st_size > MOST_BYTES) {
    return tribo_fail(TRIBO_INVALID, "%s: %lld bytes, a mesh file has 1 … %d", path, (long long)info.st_size,
                      MOST_BYTES);
  }
  for (int i = 0; i < 3; ++i) {
    if (!(fabs(scale[i]) >= 1e-9 && fabs(scale[i]) <= 1e9)) {
      return tribo_fail(TRIBO_INVALID, "%s: scale[%d] is %g, its size must be within 1e-9 … 1e9", path, i, scale[i]);
    }
  }
  *size = (size_t)info.st_size;
  return TRIBO_OK;
}

// The list of numbers in the element that starts at text (after its '<'): 1 whole ones, 2 any, 0 none.
static int number_list_kind(const char* text, size_t left) {
  static const char* const whole[] = {"p", "vcount", "v", "h"};
  static const char* const real[] = {"float_array", "int_array", "matrix", "translate", "rotate", "scale", "lookat"};
  size_t length = 0;
  while (length < left && (isalnum((unsigned char)text[length]) || text[length] == '_')) {
    length++;
  }
  for (size_t i = 0; i < sizeof whole / sizeof *whole; ++i) {
    if (strlen(whole[i]) == length && strncmp(text, whole[i], length) == 0) {
      return 1;
    }
  }
  for (size_t i = 0; i < sizeof real / sizeof *real; ++i) {
    if (strlen(real[i]) == length && strncmp(text, real[i], length) == 0) {
      return 2;
    }
  }
  return 0;
}

// 0, or the number of the line on which a list of numbers holds something else.
static int bad_number_line(const char* text, size_t size) {
  int line = 1, kind = 0;  // what the text after the current tag must be
  enum { TEXT, TAG } in = TEXT;
  for (size_t i = 0; i < size; ++i) {
    char c = text[i];
    line += c == '\n';
    if (in == TEXT && c == '<') {
      in = TAG;
      kind = number_list_kind(text + i + 1, size - i - 1);
    } else if (in == TAG && c == '>') {
      in = TEXT;
      kind = text[i - 1] == '/' ? 0 : kind;
    } else if (in == TEXT && kind != 0 &&
               (c == '\0' || strchr(kind == 1 ? "0123456789 \t\r\n" : "0123456789+-.eEnNaAiIfF \t\r\n", c) == NULL)) {
      return line;
    }
  }
  return 0;
}

static TriboStatus check_collada(const char* path, size_t size) {
  FILE* file = fopen(path, "rb");
  char* text = tribo_alloc(size, 1);
  size_t got = file != NULL && text != NULL ? fread(text, 1, size, file) : 0;
  int line = bad_number_line(text, got);
  if (file != NULL) {
    fclose(file);
  }
  tribo_free(text);
  if (text == NULL) {
    return tribo_fail(TRIBO_NOMEM, "%s: no memory for %zu bytes", path, size);
  }
  if (got != size) {
    return tribo_fail(TRIBO_IO, "%s: only %zu of %zu bytes could be read", path, got, size);
  }
  return line == 0 ? TRIBO_OK : tribo_fail(TRIBO_INVALID, "%s:%d: a list of numbers holds something else", path, line);
}

static TriboStatus check_mesh(const char* path, const double scale[3]) {
  size_t size = 0;
  TRIBO_TRY(check_file(path, scale, &size));
  if (!tribo_text_ends_in(path, ".stl") && !tribo_text_ends_in(path, ".obj") && !tribo_text_ends_in(path, ".dae")) {
    return tribo_fail(TRIBO_UNSUPPORTED, "%s: a mesh file ends in .stl, .obj or .dae", path);
  }
  return tribo_text_ends_in(path, ".dae") ? check_collada(path, size) : TRIBO_OK;
}

// The vertices and triangles of a file that has passed all checks; triangles NULL: not wanted. To be freed also on
// failure.
static TriboStatus read_mesh(const char* path, const double scale[3], double** points, int* npoint, int** triangles,
                             int* ntriangle) {
  TriboCoalMesh* mesh = NULL;
  TRIBO_TRY(check_mesh(path, scale));
  TRIBO_TRY(tribo_coal_mesh_load(path, scale, &mesh));
  tribo_coal_mesh_size(mesh, npoint, ntriangle);
  *points = tribo_alloc(3 * (size_t)*npoint, sizeof **points);
  if (triangles != NULL) {
    *triangles = tribo_alloc(3 * (size_t)*ntriangle, sizeof **triangles);
  }
  int full = *points != NULL && (triangles == NULL || *triangles != NULL);
  if (full) {
    tribo_coal_mesh_copy(mesh, *points, triangles != NULL ? *triangles : NULL);
  }
  tribo_coal_mesh_destroy(mesh);
  return full ? TRIBO_OK : tribo_fail(TRIBO_NOMEM, "%s: no memory for %d vertices", path, *npoint);
}

TriboStatus tribo_col_hull_load(const char* path, const double scale[3], TriboHull** out) {
  double* points = NULL;
  int npoint = 0, ntriangle = 0;
  TriboStatus status = read_mesh(path, scale, &points, &npoint, NULL, &ntriangle);
  if (status == TRIBO_OK) {
    status = tribo_col_hull_create(points, npoint, out);
    if (status != TRIBO_OK) {
      tribo_fail_prefix("%s: ", path);
    }
  }
  tribo_free(points);
  return status;
}

TriboStatus tribo_col_mesh_load(const char* path, const double scale[3], double** points, int* npoint, int** triangles,
                                int* ntriangle) {
  *points = NULL, *triangles = NULL;
  TriboStatus status = read_mesh(path, scale, points, npoint, triangles, ntriangle);
  if (status != TRIBO_OK) {
    tribo_free(*points);
    tribo_free(*triangles);
    *points = NULL, *triangles = NULL;
  }
  return status;
}

TriboStatus tribo_col_textured_mesh_load(const char* path, const double scale[3], TriboTexturedMesh** out) {
  TRIBO_TRY(check_mesh(path, scale));
  return tribo_assimp_textured_mesh_load(path, scale, out);
}

TriboStatus tribo_col_mesh_components(const char* path, const double scale[3], double** points, int** first,
                                      int* npiece) {
  double* raw = NULL;
  int *triangles = NULL, npoint = 0, ntriangle = 0;
  *points = NULL, *first = NULL, *npiece = 0;
  TriboStatus status = read_mesh(path, scale, &raw, &npoint, &triangles, &ntriangle);
  if (status == TRIBO_OK) {
    *points = tribo_alloc(3 * (size_t)npoint, sizeof **points);
    *first = tribo_alloc((size_t)npoint + 2, sizeof **first);
    status = *points != NULL && *first != NULL
                 ? tribo_col_components(raw, npoint, triangles, ntriangle, *points, *first, npiece)
                 : tribo_fail(TRIBO_NOMEM, "%s: no memory for %d vertices", path, npoint);
  }
  if (status != TRIBO_OK) {
    tribo_free(*points);
    tribo_free(*first);
    *points = NULL, *first = NULL;
  }
  tribo_free(raw);
  tribo_free(triangles);
  return status;
}
