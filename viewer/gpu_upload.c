// GPU upload, all that the renderer keeps in the memory of the GPU: programs, meshes, textures, the shadow map and the
// frames.
#include "renderer.h"

// ---- programs

static TriboStatus compile(GLuint program, GLenum kind, const char* const parts[4]) {
  GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 4, parts, NULL);
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

static TriboStatus link(const char* vertex, const char* paint, const char* fragment, GLuint* out) {
  GLuint program = glCreateProgram();
  *out = program;
  VIEW_TRY(compile(program, GL_VERTEX_SHADER, (const char* const[]){tribo_view_glsl_head, "", "", vertex}));
  VIEW_TRY(compile(program, GL_FRAGMENT_SHADER,
                   (const char* const[]){tribo_view_glsl_head, tribo_view_glsl_light, paint, fragment}));
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
  for (int i = 0; i < 2; ++i) {
    const char* paint = i ? tribo_view_glsl_painted : tribo_view_glsl_plain;
    VIEW_TRY(link(tribo_view_glsl_body_vertex, paint, tribo_view_glsl_body_fragment, &r->body[i]));
    VIEW_TRY(link(tribo_view_glsl_plane_vertex, paint, tribo_view_glsl_plane_fragment, &r->plane[i]));
    VIEW_TRY(link(tribo_view_glsl_sky_vertex, paint, tribo_view_glsl_sky_fragment, &r->sky[i]));
    r->opacity[i] = glGetUniformLocation(r->body[i], "opacity");
  }
  // the shadow map stands at 0, pictures at 1
  const GLuint painted[] = {r->body[1], r->plane[1], r->sky[1]};
  for (int i = 0; i < 3; ++i) {
    glUseProgram(painted[i]);
    glUniform1i(glGetUniformLocation(painted[i], "picture"), 1);
  }
  return link(tribo_view_glsl_shadow_vertex, tribo_view_glsl_plain, tribo_view_glsl_shadow_fragment, &r->shadow);
}

// ---- buffers

static void upload_picture(GLuint texture, int width, int height, const unsigned char* rgba) {
  glBindTexture(GL_TEXTURE_2D, texture);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_SRGB8_ALPHA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
  glGenerateMipmap(GL_TEXTURE_2D);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  // the ground is seen at flat angles
  if (epoxy_has_gl_extension("GL_EXT_texture_filter_anisotropic")) {
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_ANISOTROPY_EXT, 8);
  }
}

static TriboStatus upload_textures(TriboRenderer* r, const TriboDrawList* list) {
  static const unsigned char white[4] = {255, 255, 255, 255};
  int n;
  const TriboTexture* textures = tribo_view_list_textures(list, &n);
  glDeleteTextures(r->ntexture, r->textures);
  free(r->textures);
  r->ntexture = 0;
  r->textures = calloc((size_t)n + 1, sizeof *r->textures);
  if (r->textures == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for %d textures", n);
  }
  r->ntexture = n + 1;
  glGenTextures(r->ntexture, r->textures);
  glActiveTexture(GL_TEXTURE1);
  upload_picture(r->textures[0], 1, 1, white);
  for (int i = 0; i < n; ++i) {
    upload_picture(r->textures[1 + i], textures[i].width, textures[i].height, textures[i].rgba);
  }
  glActiveTexture(GL_TEXTURE0);
  return TRIBO_OK;
}

// Meshes and textures of a list; nothing to do when they are those of the last one.
TriboStatus tribo_view_gpu_upload(TriboRenderer* r, const TriboDrawList* list) {
  int nvertex, nindex;
  const TriboDrawVertex* vertices = tribo_view_list_vertices(list, &nvertex);
  const unsigned* indices = tribo_view_list_indices(list, &nindex);
  if (r->serial == list->serial) {
    return TRIBO_OK;
  }
  VIEW_TRY(upload_textures(r, list));
  glBindVertexArray(r->array);
  glBindBuffer(GL_ARRAY_BUFFER, r->vertices);
  glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)((size_t)nvertex * sizeof *vertices), vertices, GL_STATIC_DRAW);
  glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, r->indices);
  glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)((size_t)nindex * sizeof *indices), indices, GL_STATIC_DRAW);
  r->serial = list->serial;
  return TRIBO_OK;
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
  glVertexAttribPointer(7, 2, GL_FLOAT, GL_FALSE, stride, (void*)offsetof(TriboDrawVertex, uv));
  glGenBuffers(1, &r->indices);
  glGenBuffers(1, &r->instances);
  for (GLuint i = 0; i < 9; ++i) {
    glEnableVertexAttribArray(i);
    glVertexAttribDivisor(i, i < 3 || i == 7 ? 0 : 1);
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
TriboStatus tribo_view_gpu_resize(TriboRenderer* r, int width, int height) {
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
  TriboStatus status = tribo_view_gpu_upload(r, list);
  status = status == TRIBO_OK ? create_programs(r) : status;
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
  glDeleteTextures(r->ntexture, r->textures);
  glDeleteBuffers(4, buffers);
  glDeleteVertexArrays(1, &r->array);
  for (int i = 0; i < 2; ++i) {
    glDeleteProgram(r->body[i]);
    glDeleteProgram(r->plane[i]);
    glDeleteProgram(r->sky[i]);
  }
  glDeleteProgram(r->shadow);
  free(r->textures);
  free(r->sorted);
  free(r->batches);
  free(r->upload);
  free(r);
}

int tribo_view_renderer_calls(const TriboRenderer* renderer) {
  return renderer->calls;
}
