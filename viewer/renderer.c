// From a draw list to a picture, with OpenGL 3.3 core. The stages of one picture:
//
//   sort        instances by stage and mesh, so that each mesh is drawn once per stage, whatever the number of bodies
//   shadow      the opaque bodies as the sun sees them, into a depth texture
//   sky, opaque bodies, planes, transparent bodies from back to front, overlays (first what is hidden, faintly)
//   resolve     four samples per pixel become one, in linear light
//
// Everything is drawn relative to the camera's target, so that single precision suffices far from the origin too.
#include <epoxy/gl.h>
#include <stdio.h>

#include "list.h"
#include "shaders.h"

enum { SHADOW_SIZE = 2048, SAMPLES = 4 };

// Instances are drawn in this order.
typedef enum Stage { STAGE_OPAQUE, STAGE_PLANE, STAGE_CLEAR, STAGE_OVERLAY, STAGE_COUNT } Stage;

typedef struct Sorted {
  Stage stage;
  int mesh, index;
  double distance;  // from the eye, for transparent ones
} Sorted;

// Consecutive instances of one mesh in one stage: one draw call.
typedef struct Batch {
  Stage stage;
  int mesh, first, count;
} Batch;

typedef struct GpuInstance {
  float at[4], quaternion[4], scale[4], color[4];
} GpuInstance;

struct TriboRenderer {
  GLuint array, vertices, indices, instances, block;
  GLuint body, plane, shadow, sky;  // programs
  GLint opacity;                    // of program body
  GLuint shadow_map, shadow_frame;
  GLuint frame, color, depth;       // several samples per pixel
  GLuint resolved, resolved_color;  // one
  int width, height;                // of the frames
  Sorted* sorted;
  Batch* batches;
  GpuInstance* upload;
  int nbatch, sorted_capacity, batch_capacity, upload_capacity;
  int calls;
  long long serial;  // of the meshes that were uploaded
};

// ---- programs

static TriboStatus compile(GLuint program, GLenum kind, const char* const parts[3]) {
  GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 3, parts, NULL);
  glCompileShader(shader);
  GLint good = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  char log[300] = "";
  if (!good) {
    glGetShaderInfoLog(shader, sizeof log, NULL, log);
  }
  glAttachShader(program, shader);
  glDeleteShader(shader);
  return good ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "a shader does not compile: %s", log);
}

static TriboStatus link(const char* vertex, const char* fragment, GLuint* out) {
  GLuint program = glCreateProgram();
  *out = program;
  VIEW_TRY(compile(program, GL_VERTEX_SHADER, (const char* const[]){tribo_view_glsl_head, "", vertex}));
  VIEW_TRY(compile(program, GL_FRAGMENT_SHADER,
                   (const char* const[]){tribo_view_glsl_head, tribo_view_glsl_light, fragment}));
  glLinkProgram(program);
  GLint good = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (!good) {
    char log[300] = "";
    glGetProgramInfoLog(program, sizeof log, NULL, log);
    return tribo_view_fail(TRIBO_INTERNAL, "a shader does not link: %s", log);
  }
  GLuint block = glGetUniformBlockIndex(program, "Frame");
  if (block != GL_INVALID_INDEX) {
    glUniformBlockBinding(program, block, 0);
  }
  return TRIBO_OK;
}

static TriboStatus create_programs(TriboRenderer* r) {
  VIEW_TRY(link(tribo_view_glsl_body_vertex, tribo_view_glsl_body_fragment, &r->body));
  VIEW_TRY(link(tribo_view_glsl_plane_vertex, tribo_view_glsl_plane_fragment, &r->plane));
  VIEW_TRY(link(tribo_view_glsl_shadow_vertex, tribo_view_glsl_shadow_fragment, &r->shadow));
  VIEW_TRY(link(tribo_view_glsl_sky_vertex, tribo_view_glsl_sky_fragment, &r->sky));
  r->opacity = glGetUniformLocation(r->body, "opacity");
  return TRIBO_OK;
}

// ---- buffers

// The meshes of a list; nothing to do when they are those of the last one.
static void upload_meshes(TriboRenderer* r, const TriboDrawList* list) {
  int nvertex, nindex;
  const TriboDrawVertex* vertices = tribo_view_list_vertices(list, &nvertex);
  const unsigned* indices = tribo_view_list_indices(list, &nindex);
  if (r->serial == list->serial) {
    return;
  }
  glBindVertexArray(r->array);
  glBindBuffer(GL_ARRAY_BUFFER, r->vertices);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)nvertex * sizeof *vertices), vertices, GL_STATIC_DRAW);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, r->indices);
  glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)((size_t)nindex * sizeof *indices), indices, GL_STATIC_DRAW);
  r->serial = list->serial;
}

static void create_buffers(TriboRenderer* r) {
  glGenVertexArrays(1, &r->array);
  glBindVertexArray(r->array);
  glGenBuffers(1, &r->vertices);
  glBindBuffer(GL_ARRAY_BUFFER, r->vertices);
  const GLsizei stride = sizeof(TriboDrawVertex);
  glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(TriboDrawVertex, xyz));
  glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(TriboDrawVertex, normal));
  glVertexAttribPointer(2, 2, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(TriboDrawVertex, edge));
  glGenBuffers(1, &r->indices);
  glGenBuffers(1, &r->instances);
  for (GLuint i = 0; i < 7; ++i) {
    glEnableVertexAttribArray(i);
    glVertexAttribDivisor(i, i < 3 ? 0 : 1);
  }
  glGenBuffers(1, &r->block);
  glBindBuffer(GL_UNIFORM_BUFFER, r->block);
  glBufferData(GL_UNIFORM_BUFFER, sizeof(FrameBlock), NULL, GL_DYNAMIC_DRAW);
}

static TriboStatus complete(const char* what) {
  GLenum status = glCheckFramebufferStatus(GL_FRAMEBUFFER);
  return status == GL_FRAMEBUFFER_COMPLETE
             ? TRIBO_OK
             : tribo_view_fail(TRIBO_UNSUPPORTED, "OpenGL refuses the %s (0x%x)", what, status);
}

static TriboStatus create_shadow(TriboRenderer* r) {
  glGenTextures(1, &r->shadow_map);
  glBindTexture(GL_TEXTURE_2D, r->shadow_map);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, SHADOW_SIZE, SHADOW_SIZE, 0, GL_DEPTH_COMPONENT, GL_FLOAT,
               NULL);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
  glGenFramebuffers(1, &r->shadow_frame);
  glBindFramebuffer(GL_FRAMEBUFFER, r->shadow_frame);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_TEXTURE_2D, r->shadow_map, 0);
  glDrawBuffer(GL_NONE);
  glReadBuffer(GL_NONE);
  return complete("shadow map");
}

static void delete_frames(TriboRenderer* r) {
  glDeleteFramebuffers(1, &r->frame);
  glDeleteFramebuffers(1, &r->resolved);
  glDeleteRenderbuffers(1, &r->color);
  glDeleteRenderbuffers(1, &r->depth);
  glDeleteRenderbuffers(1, &r->resolved_color);
  r->frame = r->resolved = r->color = r->depth = r->resolved_color = 0;
  r->width = r->height = 0;
}

static void attach(GLuint* buffer, GLenum where, GLenum format, int samples, int width, int height) {
  glGenRenderbuffers(1, buffer);
  glBindRenderbuffer(GL_RENDERBUFFER, *buffer);
  glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, where, GL_RENDERBUFFER, *buffer);
}

// Frames of this size, kept as long as the size is.
static TriboStatus size_frames(TriboRenderer* r, int width, int height) {
  GLint most = 0, samples = 0;
  if (r->width == width && r->height == height) {
    return TRIBO_OK;
  }
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
  glGetIntegerv(GL_MAX_SAMPLES, &samples);
  if (width > most || height > most) {
    return tribo_view_fail(TRIBO_INVALID, "a picture of %d × %d pixels: OpenGL draws up to %d each way here", width,
                           height, most);
  }
  delete_frames(r);
  samples = samples < SAMPLES ? samples : SAMPLES;
  glGenFramebuffers(1, &r->frame);
  glBindFramebuffer(GL_FRAMEBUFFER, r->frame);
  attach(&r->color, GL_COLOR_ATTACHMENT0, GL_SRGB8_ALPHA8, samples, width, height);
  attach(&r->depth, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT32F, samples, width, height);
  VIEW_TRY(complete("frame"));
  glGenFramebuffers(1, &r->resolved);
  glBindFramebuffer(GL_FRAMEBUFFER, r->resolved);
  attach(&r->resolved_color, GL_COLOR_ATTACHMENT0, GL_SRGB8_ALPHA8, 0, width, height);
  VIEW_TRY(complete("frame"));
  r->width = width, r->height = height;
  return TRIBO_OK;
}

TriboStatus tribo_view_renderer_create(const TriboDrawList* list, TriboRenderer** out) {
  if (epoxy_gl_version() < 33) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "OpenGL 3.3 is needed, this is %d.%d", epoxy_gl_version() / 10,
                           epoxy_gl_version() % 10);
  }
  TriboRenderer* r = calloc(1, sizeof *r);
  if (r == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a renderer");
  }
  create_buffers(r);
  upload_meshes(r, list);
  TriboStatus status = create_programs(r);
  status = status == TRIBO_OK ? create_shadow(r) : status;
  if (status != TRIBO_OK) {
    tribo_view_renderer_destroy(r);
    return status;
  }
  *out = r;
  return TRIBO_OK;
}

void tribo_view_renderer_destroy(TriboRenderer* r) {
  if (r == NULL) {
    return;
  }
  const GLuint buffers[] = {r->vertices, r->indices, r->instances, r->block};
  delete_frames(r);
  glDeleteFramebuffers(1, &r->shadow_frame);
  glDeleteTextures(1, &r->shadow_map);
  glDeleteBuffers(4, buffers);
  glDeleteVertexArrays(1, &r->array);
  glDeleteProgram(r->body);
  glDeleteProgram(r->plane);
  glDeleteProgram(r->shadow);
  glDeleteProgram(r->sky);
  free(r->sorted);
  free(r->batches);
  free(r->upload);
  free(r);
}

int tribo_view_renderer_calls(const TriboRenderer* renderer) {
  return renderer->calls;
}

// ---- sorting

static int in_order(const void* left, const void* right) {
  const Sorted *a = left, *b = right;
  if (a->stage != b->stage) {
    return (int)a->stage - (int)b->stage;
  }
  if (a->distance != b->distance) {
    return a->distance > b->distance ? -1 : 1;
  }
  return a->mesh != b->mesh ? a->mesh - b->mesh : a->index - b->index;
}

static Stage stage_of(const TriboDrawInstance* instance) {
  return instance->overlay                    ? STAGE_OVERLAY
         : instance->mesh == TRIBO_MESH_PLANE ? STAGE_PLANE
         : instance->color[3] < 1             ? STAGE_CLEAR
                                              : STAGE_OPAQUE;
}

// Where a plane's square lies depends on the camera: around the point nearest to the target, fading with distance.
// The ground reaches to the horizon; a slope ends earlier, or it would fill the sky.
static void place_plane(const TriboDrawInstance* instance, const TriboCameraDef* camera, const double up[3],
                        double distance, GpuInstance* out) {
  const double ez[3] = {0, 0, 1}, back[4] = {-instance->quaternion[0], -instance->quaternion[1],
                                             -instance->quaternion[2], instance->quaternion[3]};
  double normal[3], from[3], local[3];
  quat_rotate(instance->quaternion, ez, normal);
  for (int i = 0; i < 3; ++i) {
    from[i] = camera->target[i] - instance->position[i];
  }
  quat_rotate(back, from, local);
  double reach = distance * (dot3(normal, up) > 0.999 ? 60 : 8);
  for (int i = 0; i < 3; ++i) {
    out->at[i] = (float)(-local[2] * normal[i]);
  }
  out->scale[0] = (float)reach;
  out->scale[1] = (float)(reach * 0.15);
  out->scale[2] = (float)fmod(local[0], 1000);
  out->scale[3] = (float)fmod(local[1], 1000);
}

// A sphere that is only a few pixels wide needs few triangles.
static int mesh_of(const TriboDrawInstance* instance, double distance, double pixels) {
  const float* s = instance->scale;
  return instance->mesh == TRIBO_MESH_SPHERE && fmaxf(s[0], fmaxf(s[1], s[2])) * pixels < 8 * distance ? TRIBO_MESH_DOT
                                                                                                       : instance->mesh;
}

static TriboStatus sort(TriboRenderer* r, const TriboDrawList* list, const TriboCameraDef* camera, double distance) {
  int n;
  const TriboDrawInstance* instances = tribo_view_list_instances(list, &n);
  const double pixels = r->height / (2 * tan(camera->fov / 2));  // of a length that is seen at its own distance
  VIEW_TRY(tribo_view_reserve((void**)&r->sorted, &r->sorted_capacity, n, sizeof *r->sorted));
  VIEW_TRY(tribo_view_reserve((void**)&r->batches, &r->batch_capacity, n, sizeof *r->batches));
  VIEW_TRY(tribo_view_reserve((void**)&r->upload, &r->upload_capacity, n, sizeof *r->upload));
  for (int i = 0; i < n; ++i) {
    const double* x = instances[i].position;
    double d[3] = {x[0] - camera->eye[0], x[1] - camera->eye[1], x[2] - camera->eye[2]};
    double far = sqrt(dot3(d, d));
    Stage stage = stage_of(&instances[i]);
    r->sorted[i] = (Sorted){stage, mesh_of(&instances[i], far, pixels), i, stage == STAGE_CLEAR ? far : 0};
  }
  if (n > 0) {
    qsort(r->sorted, (size_t)n, sizeof *r->sorted, in_order);
  }
  r->nbatch = 0;
  for (int i = 0; i < n; ++i) {
    const Sorted* s = &r->sorted[i];
    const TriboDrawInstance* instance = &instances[s->index];
    GpuInstance* out = &r->upload[i];
    for (int k = 0; k < 3; ++k) {
      out->at[k] = (float)(instance->position[k] - camera->target[k]);
    }
    out->at[3] = (float)instance->overlay;
    for (int k = 0; k < 4; ++k) {
      out->quaternion[k] = (float)instance->quaternion[k];
    }
    memcpy(out->scale, instance->scale, sizeof out->scale);
    memcpy(out->color, instance->color, sizeof out->color);
    if (s->stage == STAGE_PLANE) {
      place_plane(instance, camera, tribo_view_list_up(list), distance, out);
    }
    Batch* last = r->nbatch > 0 ? &r->batches[r->nbatch - 1] : NULL;
    if (last != NULL && last->stage == s->stage && last->mesh == s->mesh) {
      last->count++;
    } else {
      r->batches[r->nbatch++] = (Batch){s->stage, s->mesh, i, 1};
    }
  }
  glBindBuffer(GL_ARRAY_BUFFER, r->instances);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)n * sizeof *r->upload), r->upload, GL_STREAM_DRAW);
  return TRIBO_OK;
}

// ---- camera and sun

// OpenGL wants its matrices column by column.
static void set_rows(float m[16], double rows[4][4]) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      m[4 * j + i] = (float)rows[i][j];
    }
  }
}

static void to_floats(const double v[3], double factor, double w, float out[4]) {
  for (int i = 0; i < 3; ++i) {
    out[i] = (float)(factor * v[i]);
  }
  out[3] = (float)w;
}

static TriboStatus aim(const TriboCameraDef* camera, int width, int height, FrameBlock* block, double* distance) {
  double eye[3], forward[3], right[3], above[3];
  for (int i = 0; i < 3; ++i) {
    eye[i] = camera->eye[i] - camera->target[i];
    forward[i] = -eye[i];
  }
  *distance = normalize3(forward);
  cross3(forward, camera->up, right);
  if (!(*distance > 0) || !(*distance < 1e12) || !(normalize3(right) > 1e-9)) {
    return tribo_view_fail(TRIBO_INVALID, "the camera at (%g, %g, %g) looks nowhere, or straight up or down",
                           camera->eye[0], camera->eye[1], camera->eye[2]);
  }
  cross3(right, forward, above);
  const double aspect = (double)width / height, tangent = tan(camera->fov / 2), near = 0.02 * *distance,
               far = 150 * *distance;
  const double a = (far + near) / (far - near), b = 2 * far * near / (far - near), x = 1 / (aspect * tangent),
               y = 1 / tangent;
  double rows[4][4] = {{x * right[0], x * right[1], x * right[2], -x * dot3(right, eye)},
                       {y * above[0], y * above[1], y * above[2], -y * dot3(above, eye)},
                       {a * forward[0], a * forward[1], a * forward[2], -a * dot3(forward, eye) - b},
                       {forward[0], forward[1], forward[2], -dot3(forward, eye)}};
  set_rows(block->view, rows);
  to_floats(eye, 1, *distance, block->eye);
  to_floats(right, aspect * tangent, 0, block->right);
  to_floats(above, tangent, fmax(1, height / 540.0), block->above);
  to_floats(forward, 1, 0, block->forward);
  return TRIBO_OK;
}

// How far what casts shadows reaches along three axes, relative to the camera's target; things far away do not count.
static void caster_bounds(const TriboDrawList* list, const TriboCameraDef* camera, double distance,
                          const double* const axes[3], double lo[3], double hi[3]) {
  int n, found = 0;
  const TriboDrawInstance* instances = tribo_view_list_instances(list, &n);
  memset(lo, 0, 3 * sizeof(double));
  memset(hi, 0, 3 * sizeof(double));
  for (int k = 0; k < n; ++k) {
    double a[3], b[3], centre[3], half[3];
    if (stage_of(&instances[k]) != STAGE_OPAQUE) {
      continue;
    }
    tribo_view_list_box(list, &instances[k], a, b);
    for (int i = 0; i < 3; ++i) {
      centre[i] = (a[i] + b[i]) / 2 - camera->target[i], half[i] = (b[i] - a[i]) / 2;
    }
    if (sqrt(dot3(centre, centre)) > 6 * distance) {
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      double c = dot3(axes[i], centre),
             h = fabs(axes[i][0]) * half[0] + fabs(axes[i][1]) * half[1] + fabs(axes[i][2]) * half[2];
      lo[i] = found ? fmin(lo[i], c - h) : c - h;
      hi[i] = found ? fmax(hi[i], c + h) : c + h;
    }
    found = 1;
  }
}

// The sun stands in front, on the left and high; its map covers what casts shadows.
static void set_sun(const TriboDrawList* list, const TriboCameraDef* camera, double distance, FrameBlock* block) {
  const double* up = tribo_view_list_up(list);
  double side[3], front[3], sun[3], s[3], t[3], lo[3], hi[3];
  axes_from_up(up, side, front);
  for (int i = 0; i < 3; ++i) {
    sun[i] = -0.42 * side[i] + 0.50 * front[i] + 0.76 * up[i];
  }
  normalize3(sun);
  cross3(up, sun, s);
  normalize3(s);
  cross3(sun, s, t);
  const double* const axes[3] = {s, t, sun};
  caster_bounds(list, camera, distance, axes, lo, hi);
  // both sides alike, and a rim so that blurred edges stay inside
  double width = fmax(fmax(hi[0] - lo[0], hi[1] - lo[1]), 1e-6) * 1.02, rows[4][4] = {{0}};
  double depth = fmax(hi[2] - lo[2], 1e-6) * 1.02;
  for (int i = 0; i < 3; ++i) {
    double size = i < 2 ? width : -depth;
    for (int j = 0; j < 3; ++j) {
      rows[i][j] = 2 / size * axes[i][j];
    }
    rows[i][3] = -(hi[i] + lo[i]) / size;
  }
  rows[3][3] = 1;
  set_rows(block->light, rows);
  to_floats(sun, 1, width / SHADOW_SIZE, block->sun);
  to_floats(up, 1, 0, block->up);
}

// ---- drawing

static void draw_stage(TriboRenderer* r, const TriboDrawList* list, Stage stage) {
  int nmesh;
  const TriboDrawMesh* meshes = tribo_view_list_meshes(list, &nmesh);
  glBindBuffer(GL_ARRAY_BUFFER, r->instances);
  for (int i = 0; i < r->nbatch; ++i) {
    const Batch* batch = &r->batches[i];
    if (batch->stage != stage) {
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      size_t at = (size_t)batch->first * sizeof(GpuInstance) + (size_t)k * 4 * sizeof(float);
      glVertexAttribPointer((GLuint)(3 + k), 4, GL_FLOAT, GL_FALSE, sizeof(GpuInstance), (void*)at);
    }
    const TriboDrawMesh* mesh = &meshes[batch->mesh];
    if (list->wire || mesh->open) {
      glDisable(GL_CULL_FACE);
    }
    glDrawElementsInstancedBaseVertex(GL_TRIANGLES, mesh->nindex, GL_UNSIGNED_INT,
                                      (void*)((size_t)mesh->first_index * sizeof(unsigned)), batch->count,
                                      mesh->first_vertex);
    glEnable(GL_CULL_FACE);
    r->calls++;
  }
}

// Bodies, or their wires: then what is behind shows too.
static void draw_bodies(TriboRenderer* r, const TriboDrawList* list, Stage stage) {
  if (list->wire) {
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  }
  draw_stage(r, list, stage);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

static void draw_shadow(TriboRenderer* r, const TriboDrawList* list) {
  glBindFramebuffer(GL_FRAMEBUFFER, r->shadow_frame);
  glViewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
  glClear(GL_DEPTH_BUFFER_BIT);
  glEnable(GL_DEPTH_CLAMP);
  glEnable(GL_POLYGON_OFFSET_FILL);
  glPolygonOffset(1.5f, 2);
  glUseProgram(r->shadow);
  if (!list->wire) {
    draw_stage(r, list, STAGE_OPAQUE);
  }
  glDisable(GL_POLYGON_OFFSET_FILL);
  glDisable(GL_DEPTH_CLAMP);
}

static void draw_picture(TriboRenderer* r, const TriboDrawList* list) {
  glBindFramebuffer(GL_FRAMEBUFFER, r->frame);
  glViewport(0, 0, r->width, r->height);
  glClear(GL_DEPTH_BUFFER_BIT);
  // the sky fills the picture and leaves the depth alone
  glDepthMask(GL_FALSE);
  glUseProgram(r->sky);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  r->calls++;
  glDepthMask(GL_TRUE);
  glUseProgram(r->body);
  glUniform1f(r->opacity, 1);
  draw_bodies(r, list, STAGE_OPAQUE);
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
  glUseProgram(r->plane);
  draw_stage(r, list, STAGE_PLANE);
  glUseProgram(r->body);
  glDepthMask(GL_FALSE);
  draw_bodies(r, list, STAGE_CLEAR);
  // overlays: faint where something stands in front of them, then as they are
  glDepthFunc(GL_GREATER);
  glUniform1f(r->opacity, 0.35f);
  draw_stage(r, list, STAGE_OVERLAY);
  glDepthFunc(GL_LEQUAL);
  glDepthMask(GL_TRUE);
  glUniform1f(r->opacity, 1);
  draw_stage(r, list, STAGE_OVERLAY);
  glDisable(GL_BLEND);
}

// Everything up to the resolved frame.
static TriboStatus draw(TriboRenderer* r, const TriboDrawList* list, const TriboCameraDef* camera, int width,
                        int height) {
  FrameBlock block = {0};
  double distance;
  VIEW_TRY(size_frames(r, width, height));
  VIEW_TRY(aim(camera, width, height, &block, &distance));
  set_sun(list, camera, distance, &block);
  VIEW_TRY(sort(r, list, camera, distance));
  r->calls = 0;
  upload_meshes(r, list);
  glBindVertexArray(r->array);
  glBindBuffer(GL_UNIFORM_BUFFER, r->block);
  glBufferSubData(GL_UNIFORM_BUFFER, 0, sizeof block, &block);
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, r->block);
  glEnable(GL_CULL_FACE);
  glEnable(GL_DEPTH_TEST);
  glDepthFunc(GL_LEQUAL);
  draw_shadow(r, list);
  glEnable(GL_FRAMEBUFFER_SRGB);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, r->shadow_map);
  draw_picture(r, list);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, r->frame);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, r->resolved);
  glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glDisable(GL_FRAMEBUFFER_SRGB);
  GLenum error = glGetError();
  return error == GL_NO_ERROR ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "OpenGL error 0x%x while drawing", error);
}

TriboStatus tribo_view_renderer_draw(TriboRenderer* r, const TriboDrawList* list, const TriboCameraDef* camera,
                                     TriboImage* image) {
  VIEW_TRY(draw(r, list, camera, image->width, image->height));
  glBindFramebuffer(GL_READ_FRAMEBUFFER, r->resolved);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, image->width, image->height, GL_RGB, GL_UNSIGNED_BYTE, image->rgb);
  GLenum error = glGetError();
  if (error != GL_NO_ERROR) {
    return tribo_view_fail(TRIBO_INTERNAL, "OpenGL error 0x%x while reading the picture", error);
  }
  // OpenGL counts rows from below
  size_t row = 3 * (size_t)image->width;
  for (int i = 0; i < image->height / 2; ++i) {
    unsigned char *a = image->rgb + (size_t)i * row, *b = image->rgb + (size_t)(image->height - 1 - i) * row;
    for (size_t k = 0; k < row; ++k) {
      unsigned char c = a[k];
      a[k] = b[k], b[k] = c;
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_renderer_show(TriboRenderer* r, const TriboDrawList* list, const TriboCameraDef* camera,
                                     int width, int height) {
  VIEW_TRY(draw(r, list, camera, width, height));
  // the bytes as they are: they have been made for the screen already
  glBindFramebuffer(GL_READ_FRAMEBUFFER, r->resolved);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glViewport(0, 0, width, height);
  GLenum error = glGetError();
  return error == GL_NO_ERROR ? TRIBO_OK : tribo_view_fail(TRIBO_INTERNAL, "OpenGL error 0x%x while showing", error);
}
