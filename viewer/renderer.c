// From a draw list to a picture, with OpenGL 3.3 core. The stages of one picture:
//
//   sort        instances by stage, mesh and texture, so that each is drawn once, whatever the number of bodies
//   shadow      the opaque bodies as the sun sees them, into a depth texture
//   sky, opaque bodies, planes, transparent bodies from back to front, overlays (first what is hidden, faintly)
//   resolve     four samples per pixel become one, in linear light
//
// Everything is drawn relative to the camera's target, so that single precision suffices far from the origin too.
#include "renderer.h"

// ---- sorting

static int in_order(const void* left, const void* right) {
  const Sorted *a = left, *b = right;
  if (a->stage != b->stage) {
    return (int)a->stage - (int)b->stage;
  }
  if (a->distance != b->distance) {
    return a->distance > b->distance ? -1 : 1;
  }
  if (a->mesh != b->mesh) {
    return a->mesh - b->mesh;
  }
  return a->texture != b->texture ? a->texture - b->texture : a->index - b->index;
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
  const double ez[3] = {0, 0, 1};
  double normal[3], from[3], local[3];
  tribo_quat_rotate(normal, instance->quaternion, ez);
  for (int i = 0; i < 3; ++i) {
    from[i] = camera->target[i] - instance->position[i];
  }
  tribo_quat_rotate_back(local, instance->quaternion, from);
  double reach = distance * (tribo_dot3(normal, up) > 0.999 ? 60 : 8);
  for (int i = 0; i < 3; ++i) {
    out->at[i] = (float)(-local[2] * normal[i]);
  }
  out->scale[0] = (float)reach;
  out->scale[1] = (float)(reach * 0.15);
  for (int i = 0; i < 2; ++i) {
    // small numbers, without a jump in what is drawn by them: lines of every metre, or a texture
    const double pitch = instance->texture > 0 ? 1 / (double)instance->repeat[i] : 1;
    out->scale[2 + i] = (float)fmod(local[i], pitch * fmax(floor(1000 / pitch), 1));
  }
}

// A sphere that is only a few pixels wide needs few triangles.
static int mesh_of(const TriboDrawInstance* instance, double distance, double pixels) {
  const float* s = instance->scale;
  return instance->mesh == TRIBO_MESH_SPHERE && fmaxf(s[0], fmaxf(s[1], s[2])) * pixels < 8 * distance ? TRIBO_MESH_DOT
                                                                                                       : instance->mesh;
}

// Instances in the order they are drawn, in batches of one mesh and texture, uploaded to the GPU.
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
    double far = tribo_norm3(d);
    Stage stage = stage_of(&instances[i]);
    r->sorted[i] =
        (Sorted){stage, mesh_of(&instances[i], far, pixels), instances[i].texture, i, stage == STAGE_CLEAR ? far : 0};
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
    memcpy(out->mapping, instance->repeat, sizeof instance->repeat);
    out->mapping[2] = (float)instance->mapping;
    out->mapping[3] = 0;
    if (s->stage == STAGE_PLANE) {
      place_plane(instance, camera, tribo_view_list_up(list), distance, out);
    }
    Batch* last = r->nbatch > 0 ? &r->batches[r->nbatch - 1] : NULL;
    if (last != NULL && last->stage == s->stage && last->mesh == s->mesh && last->texture == s->texture) {
      last->count++;
    } else {
      r->batches[r->nbatch++] = (Batch){s->stage, s->mesh, s->texture, i, 1};
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

// View matrix and axes of the camera into the block; refuses one that looks nowhere.
static TriboStatus aim(const TriboCameraDef* camera, int width, int height, FrameBlock* block, double* distance) {
  double eye[3], forward[3], right[3], above[3], sine;
  for (int i = 0; i < 3; ++i) {
    eye[i] = camera->eye[i] - camera->target[i];
  }
  *distance = tribo_view_camera_axes(camera, forward, right, above, &sine);
  if (!(*distance > 0) || !(*distance < 1e12) || !(sine > 1e-9)) {
    return tribo_view_fail(TRIBO_INVALID, "the camera at (%g, %g, %g) looks nowhere, or straight up or down",
                           camera->eye[0], camera->eye[1], camera->eye[2]);
  }
  const double aspect = (double)width / height, tangent = tan(camera->fov / 2), near = 0.02 * *distance,
               far = 150 * *distance;
  const double a = (far + near) / (far - near), b = 2 * far * near / (far - near), x = 1 / (aspect * tangent),
               y = 1 / tangent;
  double rows[4][4] = {{x * right[0], x * right[1], x * right[2], -x * tribo_dot3(right, eye)},
                       {y * above[0], y * above[1], y * above[2], -y * tribo_dot3(above, eye)},
                       {a * forward[0], a * forward[1], a * forward[2], -a * tribo_dot3(forward, eye) - b},
                       {forward[0], forward[1], forward[2], -tribo_dot3(forward, eye)}};
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
    if (tribo_norm3(centre) > 6 * distance) {
      continue;
    }
    for (int i = 0; i < 3; ++i) {
      double c = tribo_dot3(axes[i], centre),
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
  tribo_normalize3(sun);
  tribo_cross3(s, up, sun);
  tribo_normalize3(s);
  tribo_cross3(t, sun, s);
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

static void set_sky(const TriboDrawSky* sky, FrameBlock* block) {
  memcpy(block->zenith, sky->zenith, sizeof sky->zenith);
  memcpy(block->horizon, sky->horizon, sizeof sky->horizon);
  memcpy(block->nadir, sky->nadir, sizeof sky->nadir);
  block->horizon[3] = sky->texture > 0 ? 1 : 0;
}

// ---- drawing

// The program for surfaces with that texture, 0: none; program NULL: the one that is in use.
static void use_picture(const TriboRenderer* r, const GLuint program[2], int texture) {
  if (program != NULL) {
    glUseProgram(program[texture > 0]);
  }
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, r->textures[texture < r->ntexture ? texture : 0]);
  glActiveTexture(GL_TEXTURE0);
}

static void draw_stage(TriboRenderer* r, const TriboDrawList* list, Stage stage, const GLuint program[2]) {
  int nmesh;
  const TriboDrawMesh* meshes = tribo_view_list_meshes(list, &nmesh);
  glBindBuffer(GL_ARRAY_BUFFER, r->instances);
  for (int i = 0; i < r->nbatch; ++i) {
    const Batch* batch = &r->batches[i];
    if (batch->stage != stage) {
      continue;
    }
    for (int k = 0; k < 5; ++k) {
      size_t at = (size_t)batch->first * sizeof(GpuInstance) + (size_t)k * 4 * sizeof(float);
      glVertexAttribPointer((GLuint)(k < 4 ? 3 + k : 8), 4, GL_FLOAT, GL_FALSE, sizeof(GpuInstance), (void*)at);
    }
    use_picture(r, program, batch->texture);
    const TriboDrawMesh* mesh = &meshes[batch->mesh];
    if (list->wireframe || mesh->open) {
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
  if (list->wireframe) {
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  }
  draw_stage(r, list, stage, r->body);
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
  if (!list->wireframe) {
    draw_stage(r, list, STAGE_OPAQUE, NULL);
  }
  glDisable(GL_POLYGON_OFFSET_FILL);
  glDisable(GL_DEPTH_CLAMP);
}

static void set_opacity(const TriboRenderer* r, float opacity) {
  for (int i = 0; i < 2; ++i) {
    glUseProgram(r->body[i]);
    glUniform1f(r->opacity[i], opacity);
  }
}

// Sky, bodies, planes, transparent bodies and overlays into the frame.
static void draw_picture(TriboRenderer* r, const TriboDrawList* list) {
  glBindFramebuffer(GL_FRAMEBUFFER, r->frame);
  glViewport(0, 0, r->width, r->height);
  glClear(GL_DEPTH_BUFFER_BIT);
  // the sky fills the picture and leaves the depth alone
  glDepthMask(GL_FALSE);
  use_picture(r, r->sky, tribo_view_list_sky(list)->texture);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  r->calls++;
  glDepthMask(GL_TRUE);
  set_opacity(r, 1);
  draw_bodies(r, list, STAGE_OPAQUE);
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE);
  draw_stage(r, list, STAGE_PLANE, r->plane);
  glDepthMask(GL_FALSE);
  draw_bodies(r, list, STAGE_CLEAR);
  // overlays: faint where something stands in front of them, then as they are
  glDepthFunc(GL_GREATER);
  set_opacity(r, 0.35f);
  draw_stage(r, list, STAGE_OVERLAY, r->body);
  glDepthFunc(GL_LEQUAL);
  glDepthMask(GL_TRUE);
  set_opacity(r, 1);
  draw_stage(r, list, STAGE_OVERLAY, r->body);
  glDisable(GL_BLEND);
}

// Everything up to the resolved frame.
static TriboStatus draw(TriboRenderer* r, const TriboDrawList* list, const TriboCameraDef* camera, int width,
                        int height) {
  FrameBlock block = {0};
  double distance;
  VIEW_TRY(tribo_view_gpu_resize(r, width, height));
  VIEW_TRY(aim(camera, width, height, &block, &distance));
  set_sun(list, camera, distance, &block);
  set_sky(tribo_view_list_sky(list), &block);
  VIEW_TRY(sort(r, list, camera, distance));
  r->calls = 0;
  VIEW_TRY(tribo_view_gpu_upload(r, list));
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
