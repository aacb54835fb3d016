// Colours are given as the screen shows them and lit in linear light; the framebuffer turns the result back (sRGB).
#include "shaders.h"

const char tribo_view_glsl_head[] =
    "#version 330 core\n"
    "layout(std140) uniform Frame {\n"
    "  mat4 view, light;\n"
    "  vec4 eye, sun, up, right, above, forward, zenith, horizon, nadir;\n"
    "};\n"
    "vec3 rotate(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }\n"
    "vec3 linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }\n";

// The fraction of the sun that arrives: the mean of 5 × 5 comparisons with the shadow map, each of them interpolated.
// The point is first lifted off its surface, more where light grazes, so that no surface shades itself.
const char tribo_view_glsl_light[] =
    "uniform sampler2DShadow shadow_map;\n"
    "float sunlit(vec3 p, vec3 n) {\n"
    "  float slope = 1.0 - max(dot(n, sun.xyz), 0.0);\n"
    "  vec4 q = light * vec4(p + n * sun.w * (1.0 + 2.5 * slope), 1.0);\n"
    "  vec3 c = 0.5 * q.xyz + 0.5;\n"
    "  if (any(lessThan(c.xy, vec2(0.0))) || any(greaterThan(c.xy, vec2(1.0)))) return 1.0;\n"
    "  vec2 texel = 1.0 / vec2(textureSize(shadow_map, 0));\n"
    "  float sum = 0.0;\n"
    "  for (int i = -2; i <= 2; ++i)\n"
    "    for (int j = -2; j <= 2; ++j)\n"
    "      sum += texture(shadow_map, vec3(c.xy + vec2(i, j) * texel, min(c.z, 1.0)));\n"
    "  return sum / 25.0;\n"
    "}\n"
    // a diffuse surface with a soft highlight (GGX, roughness 0.5) under the sun and a sky that is brighter than the
    // ground; a weak light from where the camera stands keeps shaded faces apart from each other
    "vec3 shade(vec3 albedo, vec3 p, vec3 n, float sunlight) {\n"
    "  vec3 to_eye = normalize(eye.xyz - p), half_way = normalize(to_eye + sun.xyz);\n"
    "  float s = max(dot(n, sun.xyz), 0.0) * sunlight, v = max(dot(n, to_eye), 0.0);\n"
    "  vec3 sky = mix(vec3(0.20, 0.19, 0.18), vec3(0.36, 0.40, 0.46), 0.5 + 0.5 * dot(n, up.xyz));\n"
    "  float h = max(dot(n, half_way), 0.0), a2 = 0.0625, k = h * h * (a2 - 1.0) + 1.0;\n"
    "  float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(to_eye, half_way), 0.0), 5.0);\n"
    "  float gloss = 0.25 * fresnel * a2 / (k * k);\n"
    "  return albedo * (vec3(0.84, 0.81, 0.76) * s + sky + 0.08 * v) + gloss * s;\n"
    "}\n"
    "vec3 fog(vec3 color, vec3 p) {\n"
    "  float d = length(p - eye.xyz) / (40.0 * eye.w);\n"
    "  return mix(horizon.rgb, color, exp(-d * d));\n"
    "}\n";

// What a surface is painted with, by the way it lies on it: see TriboTextureMapping. Most are not, and should not pay
// for it.
const char tribo_view_glsl_plain[] = "vec4 pigment(vec3 s, float mapping) { return vec4(1.0); }\n";

// The sides of a cube are looked up with a width that does not jump where they meet.
const char tribo_view_glsl_painted[] =
    "uniform sampler2D picture;\n"
    "vec4 around(vec3 d) {\n"
    "  vec3 a = abs(d), w = fwidth(d);\n"
    "  float most = max(a.x, max(a.y, a.z)), g = 0.5 * max(w.x, max(w.y, w.z)) / most;\n"
    "  vec2 q = a.z == most ? vec2(d.x, d.z > 0.0 ? d.y : -d.y)\n"
    "         : a.x == most ? vec2(d.x > 0.0 ? d.y : -d.y, d.z) : vec2(d.y > 0.0 ? -d.x : d.x, d.z);\n"
    "  q = vec2(0.5) + vec2(0.5, -0.5) * q / most;\n"
    "  return textureGrad(picture, q, vec2(g, 0.0), vec2(0.0, g));\n"
    "}\n"
    "vec4 pigment(vec3 s, float mapping) {\n"
    "  if (mapping < 2.5) return texture(picture, vec2(s.x, 1.0 - s.y));\n"
    "  if (mapping < 3.5) return around(s);\n"
    "  float height = asin(clamp(normalize(s).z, -1.0, 1.0)) / 3.14159265;\n"
    "  return texture(picture, vec2(0.5, clamp(0.5 - height, 0.01, 0.99)));\n"
    "}\n";

// ---- bodies and what is drawn over them: at.w is 1 for overlays

const char tribo_view_glsl_body_vertex[] =
    "layout(location = 0) in vec4 position;\n"
    "layout(location = 1) in vec3 normal;\n"
    "layout(location = 2) in vec2 edge;\n"
    "layout(location = 3) in vec4 at;\n"
    "layout(location = 4) in vec4 quaternion;\n"
    "layout(location = 5) in vec4 scale;\n"
    "layout(location = 6) in vec4 color;\n"
    "layout(location = 7) in vec2 uv;\n"
    "layout(location = 8) in vec4 mapping;\n"
    "out vec3 p, n, s;\n"
    "out vec2 e;\n"
    "flat out vec4 paint;\n"
    "flat out float overlay, lies;\n"
    "void main() {\n"
    "  lies = mapping.z;\n"
    "  s = position.xyz + vec3(0.0, 0.0, position.w);\n"
    "  if (lies < 1.5) s.xy = uv * mapping.xy;\n"
    "  else if (lies < 2.5) s.xy = vec2(0.5) + position.xy * scale.xy * mapping.xy;\n"
    "  p = at.xyz + rotate(quaternion, position.xyz * scale.xyz + vec3(0.0, 0.0, position.w * scale.w));\n"
    "  n = rotate(quaternion, normal / scale.xyz);\n"
    "  e = edge;\n"
    "  paint = vec4(linear(color.rgb), color.a);\n"
    "  overlay = at.w;\n"
    "  gl_Position = view * vec4(p, 1.0);\n"
    "}\n";

const char tribo_view_glsl_body_fragment[] =
    "uniform float opacity;\n"
    "in vec3 p, n, s;\n"
    "in vec2 e;\n"
    "flat in vec4 paint;\n"
    "flat in float overlay, lies;\n"
    "out vec4 result;\n"
    "void main() {\n"
    "  vec3 normal = gl_FrontFacing ? normalize(n) : -normalize(n), color;\n"
    // sharp edges get a thin darker line as long as the face is large enough for one
    "  vec2 w = above.w * fwidth(e);\n"
    "  float line = 0.0, wide = max(w.x, w.y);\n"
    "  if (wide > 0.0 && overlay < 0.5) {\n"
    "    vec2 near = smoothstep(1.0 - 2.0 * w, 1.0 - w, abs(e));\n"
    "    line = max(near.x, near.y) * (1.0 - smoothstep(0.04, 0.2, wide));\n"
    "  }\n"
    "  vec4 tint = pigment(s, lies);\n"
    "  if (tint.a < 0.5) discard;\n"
    "  vec3 albedo = paint.rgb * tint.rgb * (1.0 - 0.35 * line);\n"
    "  if (overlay > 0.5) color = shade(albedo, p, normal, 1.0) + 0.1 * albedo;\n"
    "  else color = fog(shade(albedo, p, normal, sunlit(p, normal)), p);\n"
    "  result = vec4(color, paint.a * opacity);\n"
    "}\n";

// ---- planes: a large square around the point nearest to the camera's target, scale = (half width, how far it is
// wholly opaque, grid coordinates of its centre)

const char tribo_view_glsl_plane_vertex[] =
    "layout(location = 0) in vec4 position;\n"
    "layout(location = 3) in vec4 at;\n"
    "layout(location = 4) in vec4 quaternion;\n"
    "layout(location = 5) in vec4 scale;\n"
    "layout(location = 6) in vec4 color;\n"
    "layout(location = 8) in vec4 mapping;\n"
    "out vec3 p;\n"
    "out vec2 across;\n"
    "flat out vec3 n;\n"
    "flat out vec4 paint, size, lies;\n"
    "void main() {\n"
    "  lies = mapping;\n"
    "  across = position.xy * scale.x;\n"
    "  p = at.xyz + rotate(quaternion, vec3(across, 0.0));\n"
    "  n = rotate(quaternion, vec3(0.0, 0.0, 1.0));\n"
    "  paint = vec4(linear(color.rgb), color.a);\n"
    "  size = scale;\n"
    "  gl_Position = view * vec4(p, 1.0);\n"
    "}\n";

// Lines every 0.1, 1, 10, 100 m; each kind fades out where its lines would stand closer than a few pixels, so that
// nothing flickers, and is stronger than the finer one.
const char tribo_view_glsl_plane_fragment[] =
    "in vec3 p;\n"
    "in vec2 across;\n"
    "flat in vec3 n;\n"
    "flat in vec4 paint, size, lies;\n"
    "out vec4 result;\n"
    "float lines(vec2 x, float pitch, float pixels) {\n"
    "  vec2 q = x / pitch, w = above.w * fwidth(q), d = abs(fract(q - 0.5) - 0.5);\n"
    "  vec2 on = 1.0 - smoothstep(0.5 * (pixels - 1.0) * w, 0.5 * (pixels + 1.0) * w, d);\n"
    "  on *= 1.0 - smoothstep(0.04, 0.16, w);\n"
    "  return max(on.x, on.y);\n"
    "}\n"
    "void main() {\n"
    "  float alpha = paint.a * (1.0 - smoothstep(size.y, size.x, length(across)));\n"
    "  if (alpha < 0.004) discard;\n"
    "  vec2 x = across + size.zw;\n"
    "  float grid = max(max(0.16 * lines(x, 0.1, 1.0), 0.36 * lines(x, 1.0, 1.2)),\n"
    "                   max(0.55 * lines(x, 10.0, 1.4), 0.7 * lines(x, 100.0, 1.6)));\n"
    "  float bright = dot(paint.rgb, vec3(0.2126, 0.7152, 0.0722));\n"
    "  vec3 albedo = mix(paint.rgb, bright > 0.3 ? 0.6 * paint.rgb : 1.5 * paint.rgb + 0.08, grid);\n"
    // a picture needs no lines
    "  if (lies.z > 0.5) albedo = paint.rgb * pigment(vec3(vec2(0.5) + x * lies.xy, 0.0), 1.0).rgb;\n"
    "  result = vec4(fog(shade(albedo, p, n, sunlit(p, n)), p), alpha);\n"
    "}\n";

// ---- the sun's view, and the sky

const char tribo_view_glsl_shadow_vertex[] =
    "layout(location = 0) in vec4 position;\n"
    "layout(location = 3) in vec4 at;\n"
    "layout(location = 4) in vec4 quaternion;\n"
    "layout(location = 5) in vec4 scale;\n"
    "void main() {\n"
    "  vec3 p = at.xyz + rotate(quaternion, position.xyz * scale.xyz + vec3(0.0, 0.0, position.w * scale.w));\n"
    "  gl_Position = light * vec4(p, 1.0);\n"
    "}\n";

const char tribo_view_glsl_shadow_fragment[] = "void main() {}\n";

const char tribo_view_glsl_sky_vertex[] =
    "out vec3 direction;\n"
    "void main() {\n"
    "  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);\n"
    "  direction = forward.xyz + corner.x * right.xyz + corner.y * above.xyz;\n"
    "  gl_Position = vec4(corner, 1.0, 1.0);\n"
    "}\n";

const char tribo_view_glsl_sky_fragment[] =
    "in vec3 direction;\n"
    "out vec4 result;\n"
    "void main() {\n"
    "  vec3 d = normalize(direction), side = abs(up.x) < 0.9 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);\n"
    "  float height = dot(d, up.xyz);\n"
    "  side = normalize(side - dot(side, up.xyz) * up.xyz);\n"
    "  result = vec4(mix(horizon.rgb, height > 0.0 ? zenith.rgb : nadir.rgb, smoothstep(0.0, 0.9, abs(height))), "
    "1.0);\n"
    // from inside, left is right
    "  vec3 seen = pigment(vec3(-dot(d, side), dot(d, cross(up.xyz, side)), height), 3.0).rgb;\n"
    "  result.rgb = mix(result.rgb, seen, horizon.w);\n"
    "}\n";
