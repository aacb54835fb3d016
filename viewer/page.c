// One HTML page that plays a motion in a browser: page.html with the viewer's own shaders and the frames in it. The
// numbers are little-endian words of four bytes, deflated, in base64:
//
//   5 counts: meshes, vertices, indices, frames, textures
//   22 words: frames per second, eye (3), up (3), fov, where the sky is (3), its colours (9) and its texture, number of
//             the plane's mesh
//   meshes (5 each), vertices (11 each), indices, textures: width, height, pixels as bytes r g b a
//   frames: how many instances, then 16 words for each: mesh | overlay << 16, position (3), quaternion (4), scale (4),
//           colour as bytes r g b a, texture | mapping << 16, repeat (2)
//
// Positions are relative to the camera's target.
#include <errno.h>
#include <stdio.h>
#include <zlib.h>

#include "list.h"
#include "shaders.h"

extern const char tribo_view_page_text[];

struct TriboPage {
  FILE* file;
  char *path, *title;
  double origin[3];
  uint32_t* words;
  int nword, capacity;
};

static TriboStatus put(TriboPage* page, const void* words, int n) {
  VIEW_TRY(tribo_view_reserve((void**)&page->words, &page->capacity, page->nword + n, sizeof *page->words));
  memcpy(page->words + page->nword, words, (size_t)n * sizeof *page->words);
  page->nword += n;
  return TRIBO_OK;
}

static TriboStatus put_int(TriboPage* page, int value) {
  return put(page, &(uint32_t){(uint32_t)value}, 1);
}

static TriboStatus put_reals(TriboPage* page, const double* values, int n) {
  TriboStatus status = TRIBO_OK;
  for (int i = 0; i < n && status == TRIBO_OK; ++i) {
    status = put(page, &(float){(float)values[i]}, 1);
  }
  return status;
}

static TriboStatus put_meshes(TriboPage* page, const TriboDrawList* list) {
  int nmesh, nvertex, nindex;
  const TriboDrawMesh* meshes = tribo_view_list_meshes(list, &nmesh);
  const TriboDrawVertex* vertices = tribo_view_list_vertices(list, &nvertex);
  const unsigned* indices = tribo_view_list_indices(list, &nindex);
  for (int i = 0; i < nmesh; ++i) {
    const int numbers[5] = {meshes[i].first_vertex, meshes[i].nvertex, meshes[i].first_index, meshes[i].nindex,
                            meshes[i].open};
    VIEW_TRY(put(page, numbers, 5));
  }
  VIEW_TRY(put(page, vertices, 11 * nvertex));
  return put(page, indices, nindex);
}

static TriboStatus put_textures(TriboPage* page, const TriboDrawList* list) {
  int n;
  const TriboTexture* textures = tribo_view_list_textures(list, &n);
  for (int i = 0; i < n; ++i) {
    VIEW_TRY(put_int(page, textures[i].width));
    VIEW_TRY(put_int(page, textures[i].height));
    VIEW_TRY(put(page, textures[i].rgba, textures[i].width * textures[i].height));
  }
  return TRIBO_OK;
}

static TriboStatus begin(TriboPage* page, const TriboDrawList* list, const TriboCameraDef* camera, double fps) {
  int counts[5] = {0};
  double eye[3];
  const TriboDrawSky* sky = tribo_view_list_sky(list);
  tribo_view_list_meshes(list, &counts[0]);
  tribo_view_list_vertices(list, &counts[1]);
  tribo_view_list_indices(list, &counts[2]);
  tribo_view_list_textures(list, &counts[4]);
  for (int i = 0; i < 3; ++i) {
    eye[i] = camera->eye[i] - camera->target[i];
  }
  VIEW_TRY(put(page, counts, 5));
  VIEW_TRY(put_reals(page, &fps, 1));
  VIEW_TRY(put_reals(page, eye, 3));
  VIEW_TRY(put_reals(page, camera->up, 3));
  VIEW_TRY(put_reals(page, &camera->fov, 1));
  VIEW_TRY(put_reals(page, tribo_view_list_up(list), 3));
  VIEW_TRY(put(page, sky->zenith, 3));
  VIEW_TRY(put(page, sky->horizon, 3));
  VIEW_TRY(put(page, sky->nadir, 3));
  VIEW_TRY(put_int(page, sky->texture));
  VIEW_TRY(put_int(page, TRIBO_MESH_PLANE));
  VIEW_TRY(put_meshes(page, list));
  return put_textures(page, list);
}

static void free_page(TriboPage* page) {
  free(page->path);
  free(page->title);
  free(page->words);
  free(page);
}

TriboStatus tribo_view_page_open(const char* path, const char* title, const TriboDrawList* list,
                                 const TriboCameraDef* camera, double fps, TriboPage** out) {
  _Static_assert(sizeof(TriboDrawVertex) == 11 * sizeof(uint32_t), "a vertex has eleven words");
  TriboPage* page = calloc(1, sizeof *page);
  if (page == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a page");
  }
  page->path = strdup(path);
  page->title = strdup(title);
  memcpy(page->origin, camera->target, sizeof page->origin);
  TriboStatus status = page->path == NULL || page->title == NULL ? tribo_view_fail(TRIBO_NOMEM, "no memory for a page")
                                                                 : begin(page, list, camera, fps);
  if (status == TRIBO_OK) {
    page->file = fopen(path, "w");
    status =
        page->file != NULL ? TRIBO_OK : tribo_view_fail(TRIBO_IO, "%s: cannot be written: %s", path, strerror(errno));
  }
  if (status != TRIBO_OK) {
    free_page(page);
    return status;
  }
  *out = page;
  return TRIBO_OK;
}

TriboStatus tribo_view_page_add(TriboPage* page, const TriboDrawList* list) {
  int n;
  const TriboDrawInstance* instances = tribo_view_list_instances(list, &n);
  page->words[3]++;
  VIEW_TRY(put_int(page, n));
  for (int i = 0; i < n; ++i) {
    const TriboDrawInstance* instance = &instances[i];
    uint32_t color = 0;
    double at[3];
    for (int k = 0; k < 3; ++k) {
      at[k] = instance->position[k] - page->origin[k];
    }
    for (int k = 0; k < 4; ++k) {
      color |= (uint32_t)(255 * fminf(fmaxf(instance->color[k], 0), 1) + 0.5f) << (8 * k);
    }
    VIEW_TRY(put_int(page, instance->mesh | instance->overlay << 16));
    VIEW_TRY(put_reals(page, at, 3));
    VIEW_TRY(put_reals(page, instance->quaternion, 4));
    VIEW_TRY(put(page, instance->scale, 4));
    VIEW_TRY(put(page, &color, 1));
    VIEW_TRY(put_int(page, instance->texture | (int)instance->mapping << 16));
    VIEW_TRY(put(page, instance->repeat, 2));
  }
  return TRIBO_OK;
}

// ---- writing

// A string of JavaScript.
static void write_quoted(FILE* file, const char* text) {
  fputc('"', file);
  for (; *text != '\0'; ++text) {
    if (*text == '\n') {
      fputs("\\n", file);
    } else {
      fputs(*text == '"' || *text == '\\' ? "\\" : "", file);
      fputc(*text, file);
    }
  }
  fputc('"', file);
}

// Text of HTML.
static void write_escaped(FILE* file, const char* text) {
  for (; *text != '\0'; ++text) {
    if (*text == '<' || *text == '&') {
      fputs(*text == '<' ? "&lt;" : "&amp;", file);
    } else {
      fputc(*text, file);
    }
  }
}

static void write_shaders(FILE* file) {
  static const struct {
    const char *name, *text;
  } all[] = {{"head", tribo_view_glsl_head},
             {"light", tribo_view_glsl_light},
             {"plain", tribo_view_glsl_plain},
             {"painted", tribo_view_glsl_painted},
             {"body_vertex", tribo_view_glsl_body_vertex},
             {"body_fragment", tribo_view_glsl_body_fragment},
             {"plane_vertex", tribo_view_glsl_plane_vertex},
             {"plane_fragment", tribo_view_glsl_plane_fragment},
             {"shadow_vertex", tribo_view_glsl_shadow_vertex},
             {"shadow_fragment", tribo_view_glsl_shadow_fragment},
             {"sky_vertex", tribo_view_glsl_sky_vertex},
             {"sky_fragment", tribo_view_glsl_sky_fragment}};
  fputs("{", file);
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    fprintf(file, "%s\n  %s: ", i > 0 ? "," : "", all[i].name);
    write_quoted(file, all[i].text);
  }
  fputs("}", file);
}

// The page with what belongs at its marks.
static void write_page(const TriboPage* page, const unsigned char* packed, size_t size) {
  const char* at = tribo_view_page_text;
  while (*at != '\0') {
    const size_t n = strcspn(at, "@");
    fwrite(at, 1, n, page->file);
    at += n;
    if (strncmp(at, "@title@", 7) == 0) {
      write_escaped(page->file, page->title);
      at += 7;
    } else if (strncmp(at, "@shaders@", 9) == 0) {
      write_shaders(page->file);
      at += 9;
    } else if (strncmp(at, "@data@", 6) == 0) {
      tribo_view_write_base64(page->file, packed, size);
      at += 6;
    } else if (*at != '\0') {
      fputc(*at++, page->file);
    }
  }
}

TriboStatus tribo_view_page_close(TriboPage* page) {
  const uLong raw = (uLong)page->nword * sizeof *page->words;
  uLongf size = compressBound(raw);
  unsigned char* packed = malloc(size);
  TriboStatus status = TRIBO_OK;
  if (packed == NULL || compress2(packed, &size, (const Bytef*)page->words, raw, 9) != Z_OK) {
    status = tribo_view_fail(TRIBO_NOMEM, "%s: no memory to pack %lu bytes", page->path, raw);
  } else {
    write_page(page, packed, size);
  }
  int bad = ferror(page->file);
  bad |= fclose(page->file) != 0;
  if (status == TRIBO_OK && bad) {
    status = tribo_view_fail(TRIBO_IO, "%s: writing failed: %s", page->path, strerror(errno));
  }
  free(packed);
  free_page(page);
  return status;
}
