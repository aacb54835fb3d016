// Height fields: numbers of the file itself, a PNG picture, or MuJoCo's own binary format (two counts, then rows of
// floats towards +y). Whatever they are, they are scaled to 0 … 1 and times the third size.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjcf.h"
#include "heightfield.h"
#include "text.h"

enum { LARGEST = 1 << 24 };

static TriboStatus check_size(const XmlNode* node, int nrow, int ncol) {
  return nrow >= 2 && ncol >= 2 && (int64_t)nrow * ncol <= LARGEST
             ? TRIBO_OK
             : tribo_xml_fail(node, "<hfield>: nrow × ncol = %d × %d; accepted are 2 × 2 … 2^24", nrow, ncol);
}

// The first row of the file's own numbers is the last along y.
static TriboStatus read_inline(Mjcf* m, const XmlNode* node, MjField* field, double* heights) {
  const int count = field->nrow * field->ncol;
  const char* text = tribo_xml_get(node, "elevation");
  double* raw = tribo_pool_alloc(&m->pool, (size_t)count, sizeof *raw);
  if (raw == NULL) {
    return tribo_no_memory("to read the model");
  }
  if (text != NULL && tribo_xml_numbers(text, raw, count) != count) {
    return tribo_xml_fail(node, "<hfield> elevation: accepted are %d finite numbers", count);
  }
  for (int i = 0; i < count; ++i) {
    heights[i] = raw[(field->nrow - 1 - i / field->ncol) * field->ncol + i % field->ncol];
  }
  return TRIBO_OK;
}

static TriboStatus read_binary(Mjcf* m, const XmlNode* node, MjField* field, double** heights) {
  FILE* file = fopen(field->file, "rb");
  int32_t size[2] = {0};
  if (file == NULL) {
    return tribo_xml_fail(node, "%s: no such file", field->file);
  }
  int good = fread(size, sizeof size, 1, file) == 1;
  TriboStatus status = good ? check_size(node, size[0], size[1]) : TRIBO_OK;
  const size_t count = status == TRIBO_OK && good ? (size_t)size[0] * (size_t)size[1] : 0;
  float* raw = tribo_pool_alloc(&m->pool, count + 1, sizeof *raw);
  *heights = tribo_pool_alloc(&m->pool, count + 1, sizeof **heights);
  status = status == TRIBO_OK && (raw == NULL || *heights == NULL) ? tribo_no_memory("to read the model") : status;
  good = good && status == TRIBO_OK && fread(raw, sizeof *raw, count, file) == count;
  fclose(file);
  for (size_t i = 0; i < count && good; ++i) {
    (*heights)[i] = (double)raw[i];
    good = isfinite((*heights)[i]);
  }
  field->nrow = size[0];
  field->ncol = size[1];
  return status != TRIBO_OK || good ? status : tribo_xml_fail(node, "%s: is no height field", field->file);
}

static TriboStatus read_picture(Mjcf* m, const XmlNode* node, MjField* field, double** heights) {
  double* values;
  TriboStatus status = tribo_heights_png(field->file, &values, &field->ncol, &field->nrow);
  if (status != TRIBO_OK) {
    tribo_fail_prefix("%s:%d: <hfield>: ", node->path, node->line);
  } else {
    status = check_size(node, field->nrow, field->ncol);
  }
  if (status == TRIBO_OK) {
    *heights = tribo_pool_copy(&m->pool, values, (size_t)field->nrow * (size_t)field->ncol, sizeof *values);
    status = *heights == NULL ? tribo_no_memory("to read the model") : TRIBO_OK;
  }
  tribo_free(values);
  return status;
}

TriboStatus tribo_mjcf_read_field(Mjcf* m, const XmlNode* node) {
  TRIBO_TRY(MJ_GROW(m, field));
  MjField* field = &m->fields[m->nfield];
  *field = (MjField){.nrow = 0};
  TRIBO_TRY(tribo_mjcf_apply(m, node, &tribo_mjcf_field, field));
  double* heights = NULL;
  if (field->file == NULL) {
    TRIBO_TRY(check_size(node, field->nrow, field->ncol));
    heights = tribo_pool_alloc(&m->pool, (size_t)field->nrow * (size_t)field->ncol, sizeof *heights);
    TRIBO_TRY(heights == NULL ? tribo_no_memory("to read the model") : read_inline(m, node, field, heights));
  } else {
    const int picture = tribo_text_ends_in(field->file, ".png");
    if (field->name == NULL) {
      TRIBO_TRY(tribo_mjcf_file_name(m, field->file, &field->name));
    }
    TRIBO_TRY(tribo_mjcf_file(m, node, tribo_mjcf_rules(m, node)->mesh_dir, field->file, &field->file));
    TRIBO_TRY(picture ? read_picture(m, node, field, &heights) : read_binary(m, node, field, &heights));
  }
  m->nfield++;
  const int count = field->nrow * field->ncol;
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < count; ++i) {
    low = fmin(low, heights[i]);
    high = fmax(high, heights[i]);
  }
  for (int i = 0; i < count; ++i) {
    heights[i] = high > low ? field->size[2] * ((heights[i] - low) / (high - low)) : 0;
  }
  field->heights = heights;
  return TRIBO_OK;
}
