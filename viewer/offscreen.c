// An OpenGL context without a screen: EGL on Mesa's surfaceless platform, rendering goes to framebuffer objects only.
#include <epoxy/egl.h>

#include "view_common.h"

struct TriboOffscreen {
  EGLDisplay display;
  EGLContext context;
};

static TriboStatus start(TriboOffscreen* context) {
  if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless")) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "no OpenGL without a screen: EGL has no surfaceless platform");
  }
  context->display = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
  if (context->display == EGL_NO_DISPLAY || !eglInitialize(context->display, NULL, NULL)) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "no OpenGL without a screen: EGL does not start (0x%x)", eglGetError());
  }
  const EGLint wanted[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  if (!eglBindAPI(EGL_OPENGL_API)) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "no OpenGL without a screen: EGL knows no OpenGL (0x%x)", eglGetError());
  }
  context->context = eglCreateContext(context->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
  if (context->context == EGL_NO_CONTEXT ||
      !eglMakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, context->context)) {
    return tribo_view_fail(TRIBO_UNSUPPORTED, "no OpenGL 3.3 without a screen (EGL error 0x%x)", eglGetError());
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_offscreen_create(TriboOffscreen** out) {
  TriboOffscreen* context = calloc(1, sizeof *context);
  if (context == NULL) {
    return tribo_view_fail(TRIBO_NOMEM, "no memory for an OpenGL context");
  }
  *context = (TriboOffscreen){EGL_NO_DISPLAY, EGL_NO_CONTEXT};
  TriboStatus status = start(context);
  if (status != TRIBO_OK) {
    tribo_view_offscreen_destroy(context);
    return status;
  }
  *out = context;
  return TRIBO_OK;
}

void tribo_view_offscreen_destroy(TriboOffscreen* context) {
  if (context == NULL) {
    return;
  }
  if (context->display != EGL_NO_DISPLAY) {
    eglMakeCurrent(context->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context->context != EGL_NO_CONTEXT) {
      eglDestroyContext(context->display, context->context);
    }
    eglTerminate(context->display);
  }
  free(context);
}
