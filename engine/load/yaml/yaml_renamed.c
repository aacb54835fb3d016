// Keys that had another name in an earlier version: read as before, with a warning that names the new one.
#include <string.h>

#include "yaml_scene.h"

// In items of the list: old key, new key. A key with a value: the old and the new word for it.
static const struct {
  const char *list, *old, *now;
} renamed_keys[] = {
    {"bodies", "lift", "gravity_compensation"}, {"joints", "lifts", "actuator_gravity_compensation"},
    {"bodies", "skin", "contact_offset"},       {"shapes", "skin", "contact_offset"},
    {"static", "skin", "contact_offset"},       {"visuals", "skin", "contact_offset"},
    {"grid", "skin", "contact_offset"},         {"wall", "skin", "contact_offset"},
    {"pile", "skin", "contact_offset"},         {"robots", "losses", "use_joint_friction"},
    {"robots", "pieces", "split_components"},   {"points", "share", "weight"},
    {"actuators", "rod", "crank_length"},       {"actuators", "slider", "slider_body"},
    {"actuators", "rail", "slider_point"},      {"actuators", "rail_axis", "slider_axis"},
    {"actuators", "early", "act_early"},        {"visuals", "painted", "use_file_colors"},
};
static const struct {
  const char *key, *old, *now;
} renamed_words[] = {
    {"as", "pieces", "components"},
    {"quantity", "levelled", "relaxation"},
    {"scheme", "midpoint", "variational"},
};

static void warn(const TriboLog* log, const YamlNode* node, const char* old, const char* now) {
  tribo_log(log, TRIBO_LOG_WARNING, "%s:%d:%d: '%s' is called '%s' now; the old name will go", node->path, node->line,
            node->column, old, now);
}

// A pair of a mapping that is an item of `list`.
static void rename_pair(const TriboLog* log, const char* list, YamlNode* key, YamlNode* value) {
  for (size_t i = 0; i < sizeof renamed_keys / sizeof *renamed_keys; ++i) {
    if (strcmp(list, renamed_keys[i].list) == 0 && strcmp(key->text, renamed_keys[i].old) == 0) {
      warn(log, key, key->text, renamed_keys[i].now);
      key->text = renamed_keys[i].now;
    }
  }
  for (size_t i = 0; i < sizeof renamed_words / sizeof *renamed_words; ++i) {
    if (value->kind == YAML_SCALAR && strcmp(key->text, renamed_words[i].key) == 0 &&
        strcmp(value->text, renamed_words[i].old) == 0) {
      warn(log, value, value->text, renamed_words[i].now);
      value->text = renamed_words[i].now;
    }
  }
}

void tribo_yaml_rename(const TriboLog* log, const char* list, YamlNode* node) {
  if (node->kind == YAML_LIST) {
    for (int i = 0; i < node->count; ++i) {
      tribo_yaml_rename(log, list, &node->items[i]);
    }
  } else if (node->kind == YAML_MAP) {
    for (int i = 0; i < node->count; ++i) {
      YamlNode *key = &node->items[2 * i], *value = key + 1;
      if (key->kind == YAML_SCALAR) {
        rename_pair(log, list, key, value);
        tribo_yaml_rename(log, key->text, value);
      }
    }
  }
}
