// The shaders, in GLSL 3.30.
#pragma once

// Stands before every one of them: the version and the block of numbers that hold for the whole picture.
extern const char tribo_view_glsl_head[];
// Light and shade, for fragment shaders: sun, shadow map, hemisphere, fog.
extern const char tribo_view_glsl_light[];
// What stands after it: surfaces without textures, or with.
extern const char tribo_view_glsl_plain[], tribo_view_glsl_painted[];

extern const char tribo_view_glsl_body_vertex[], tribo_view_glsl_body_fragment[];
extern const char tribo_view_glsl_plane_vertex[], tribo_view_glsl_plane_fragment[];
extern const char tribo_view_glsl_shadow_vertex[], tribo_view_glsl_shadow_fragment[];
extern const char tribo_view_glsl_sky_vertex[], tribo_view_glsl_sky_fragment[];

// The block as C sees it (std140: everything is four floats wide). Positions are relative to the camera's target.
typedef struct FrameBlock {
  float view[16];   // world → clip, column major
  float light[16];  // world → shadow map, clip coordinates
  float eye[4];     // w: distance from the target [m]
  float sun[4];     // unit vector towards it; w: width of a texel of the shadow map [m]
  float up[4];      // where the sky is
  float right[4];   // axes of the picture, as long as half its size at distance 1
  float above[4];   // w: width of a thin line [pixels]
  float forward[4];
  float zenith[4], horizon[4], nadir[4];  // colours of the sky; horizon w: 1 when it is a picture
} FrameBlock;
