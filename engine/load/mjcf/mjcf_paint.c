// What a model looks like: textures and materials.
//
// Textures of one picture are taken as they are; of those made of six, and of layered materials, the plain colour
// remains. A material's texture is repeated across the geom, or into a metre; planes, which have no end here, count in
// metres always.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"

TriboStatus tribo_mjcf_read_material(Mjcf* m, const XmlNode* node) {
  TRIBO_TRY(MJ_GROW(m, material));
  MjMaterial* material = &m->materials[m->nmaterial];
  *material = (MjMaterial){.rgba = {1, 1, 1, 1}, .repeat = {1, 1}};
  TRIBO_TRY(tribo_mjcf_read(m, node, "material", NULL, &tribo_mjcf_material, material));
  m->nmaterial++;
  return TRIBO_OK;
}

// A texture of the scene; a sky has no name in most files.
static TriboStatus add(Mjcf* m, const XmlNode* node, const MjTexture* texture) {
  static const TriboTextureKind kinds[] = {TRIBO_TEXTURE_FLAT, TRIBO_TEXTURE_CUBE, TRIBO_TEXTURE_SKY};
  static const TriboPattern patterns[] = {TRIBO_PATTERN_PLAIN, TRIBO_PATTERN_GRADIENT, TRIBO_PATTERN_CHECKER,
                                          TRIBO_PATTERN_PLAIN};
  TriboTextureDef def = tribo_texture_default();
  char name[32];
  snprintf(name, sizeof name, "texture%d", m->scene->ntexture);
  def.name = texture->name != NULL ? texture->name : name;
  def.kind = kinds[texture->type];
  def.pattern = patterns[texture->builtin];
  def.pattern_mark = (TriboPatternMark)texture->mark;
  // those that lie around something are square
  def.width = texture->width > 0 ? (int)fmin(texture->width, 8192) : def.width;
  def.height = texture->height > 0 ? (int)fmin(texture->height, 8192) : def.height;
  def.height = texture->type != MJ_TEXTURE_2D ? def.width : def.height;
  if (texture->file != NULL && texture->builtin == MJ_BUILTIN_NONE) {
    TRIBO_TRY(tribo_mjcf_file(m, node, tribo_mjcf_rules(m, node)->texture_dir, texture->file, &def.file));
  }
  for (int i = 0; i < 3; ++i) {
    def.color[i] = tribo_clamp(texture->rgb1[i], 0, 1);
    def.color2[i] = tribo_clamp(texture->rgb2[i], 0, 1);
    def.pattern_mark_color[i] = tribo_clamp(texture->markrgb[i], 0, 1);
  }
  TRIBO_TRY(tribo_mjcf_at(m, node));
  return tribo_mjcf_added(m, tribo_scene_add_texture(m->scene, &def, NULL));
}

TriboStatus tribo_mjcf_read_texture(Mjcf* m, const XmlNode* node) {
  MjTexture texture = {.type = MJ_TEXTURE_CUBE, .rgb1 = {0.8, 0.8, 0.8}, .rgb2 = {0.5, 0.5, 0.5}};
  TRIBO_TRY(tribo_mjcf_read(m, node, "texture", NULL, &tribo_mjcf_texture, &texture));
  if (texture.file != NULL && texture.name == NULL) {
    TRIBO_TRY(tribo_mjcf_file_name(m, texture.file, &texture.name));
  }
  if (texture.file == NULL && texture.builtin == MJ_BUILTIN_NONE) {
    return tribo_mjcf_warn(m, node, "texture of several files", "is not drawn");
  }
  if (tribo_xml_get(node, "gridsize") != NULL) {
    TRIBO_TRY(tribo_mjcf_warn(m, node, "texture with a grid", "is drawn as one picture"));
  }
  return add(m, node, &texture);
}

static const MjMaterial* find_material(const Mjcf* m, const char* name) {
  if (name != NULL) {
    for (int i = 0; i < m->nmaterial; ++i) {
      if (m->materials[i].name != NULL && strcmp(m->materials[i].name, name) == 0) {
        return &m->materials[i];
      }
    }
  }
  return NULL;
}

void tribo_mjcf_paint(const Mjcf* m, const MjGeom* geom, TriboShapeDef* def) {
  const double grey[4] = {0.5, 0.5, 0.5, 1};
  const MjMaterial* material = find_material(m, geom->material);
  const double* color = !isnan(geom->rgba[0]) ? geom->rgba : material != NULL ? material->rgba : grey;
  for (int i = 0; i < 4; ++i) {
    def->color[i] = tribo_clamp(color[i], 0, 1);
  }
  // a texture that was left out has no name in the scene
  if (material == NULL || material->texture == NULL ||
      tribo_names_find(&m->scene->texture_names, material->texture) < 0) {
    return;
  }
  def->texture = material->texture;
  def->per_metre = material->uniform || geom->type == MJ_PLANE;
  for (int i = 0; i < 2; ++i) {
    const double across = geom->type == MJ_PLANE && !material->uniform && geom->size[i] > 0 ? 2 * geom->size[i] : 1;
    def->repeat[i] = tribo_clamp(material->repeat[i] / across, 1e-6, 1e6);
  }
}
