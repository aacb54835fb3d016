// The heights of a height field in a YAML scene: a list of rows, or a file.
#include <string.h>

#include "heightfield.h"
#include "memory.h"
#include "text.h"
#include "yaml_scene.h"

static TriboStatus read_rows(const YamlNode* node, Heights* h) {
  for (int j = 0; j < node->count; ++j) {
    const YamlNode* row = &node->items[j];
    if (row->kind != YAML_LIST) {
      return tribo_yaml_fail(row, "heights: %s; accepted is a list of rows of numbers, or a file",
                             tribo_yaml_what(row));
    }
    for (int i = 0; i < row->count; ++i) {
      double value;
      TRIBO_TRY(tribo_yaml_real(&row->items[i], "heights", &value));
      TRIBO_TRY(tribo_heights_append(h, value));
    }
    if (!tribo_heights_end_row(h, row->count)) {
      return tribo_yaml_fail(row, "heights: a row of %d, the first one has %d", row->count, h->nx);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_load_heights(Loader* l, const YamlNode* shape, const YamlNode* node, TriboShapeDef* def) {
  const YamlNode* heights = tribo_yaml_get(shape, "heights");
  if (heights == NULL) {
    return tribo_yaml_fail(node, "heightfield: needs `heights`: a list of rows, or a file");
  }
  Heights h = {0};
  const char* path;
  TriboStatus status;
  if (heights->kind == YAML_LIST) {
    status = read_rows(heights, &h);
  } else {
    status = tribo_format_path(&l->pool, heights, "heights", &path);
    if (status == TRIBO_OK) {
      const int picture = tribo_text_ends_in(path, ".png");
      status = picture ? tribo_heights_png(path, &h.values, &h.nx, &h.ny) : tribo_heights_text(path, &h);
      h.count = picture ? h.nx * h.ny : h.count;
      if (status != TRIBO_OK) {
        tribo_fail_prefix("%s:%d:%d: heights: ", heights->path, heights->line, heights->column);
      }
    }
  }
  if (status == TRIBO_OK && (h.nx < 2 || h.ny < 2)) {
    status = tribo_yaml_fail(heights, "heights: %d rows of %d; at least 2 of 2 are needed", h.ny, h.nx);
  }
  if (status == TRIBO_OK) {
    for (int i = 0; i < h.count; ++i) {
      h.values[i] *= def->scale[2];
    }
    def->nx = h.nx;
    def->ny = h.ny;
    def->heights = tribo_pool_copy(&l->pool, h.values, (size_t)h.count, sizeof *h.values);
    status = def->heights == NULL ? tribo_no_memory("to read %s", node->path) : TRIBO_OK;
  }
  tribo_free(h.values);
  return status;
}
