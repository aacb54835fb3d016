// Writing a scene as YAML: the tables by which files are read, the other way round. A key is written where its value
// is not the default, so that the file says what the scene says and loads back to the same model.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "pose.h"
#include "yaml_save.h"

typedef struct Writer {
  FILE* file;
  const TriboScene* scene;
  int indent;  // of the keys of the present item
  int first;   // the next key is the first of a list item
} Writer;

// ---- scalars

void tribo_yaml_put_number(FILE* file, double x) {
  if (isinf(x)) {
    fputs(x > 0 ? "inf" : "-inf", file);
  } else {
    char text[32];
    for (int digits = 15; digits <= 17; ++digits) {
      snprintf(text, sizeof text, "%.*g", digits, x);
      if (strtod(text, NULL) == x) {
        break;
      }
    }
    fputs(text, file);
  }
}

static void put_number(Writer* w, double x) {
  tribo_yaml_put_number(w->file, x);
}

static void put_numbers(Writer* w, const double* x, int n) {
  fputc('[', w->file);
  for (int i = 0; i < n; ++i) {
    fputs(i > 0 ? ", " : "", w->file);
    put_number(w, x[i]);
  }
  fputc(']', w->file);
}

// In double quotes, where YAML knows escapes.
static void put_text(Writer* w, const char* text) {
  fputc('"', w->file);
  for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') {
      fprintf(w->file, "\\%c", *c);
    } else if (*c < 0x20 || *c == 0x7f) {
      fprintf(w->file, "\\x%02X", *c);
    } else {
      fputc(*c, w->file);
    }
  }
  fputc('"', w->file);
}

// Files are read relative to the scene's folder: written in full, they may be anywhere.
static void put_path(Writer* w, const char* path) {
  char* real = realpath(path, NULL);
  put_text(w, real != NULL ? real : path);
  free(real);
}

static void put_key(Writer* w, const char* key) {
  fprintf(w->file, "%*s%s%s: ", w->first ? w->indent - 2 : w->indent, "", w->first ? "- " : "", key);
  w->first = 0;
}

static void end_line(Writer* w) {
  fputc('\n', w->file);
}

static void key_text(Writer* w, const char* key, const char* text) {
  put_key(w, key);
  put_text(w, text);
  end_line(w);
}

// ---- fields by table

static int count_of(FieldType type) {
  return type >= FIELD_VEC2 && type <= FIELD_VEC6 ? (int)(type - FIELD_VEC2) + 2 : 1;
}

static int same_numbers(const double* a, const double* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))) {
      return 0;
    }
  }
  return 1;
}

// A key with its value, unless that is what it has when left out.
static void put_field(Writer* w, const Field* f, const void* item, const void* init) {
  const char *at = (const char*)item + f->offset, *before = (const char*)init + f->offset;
  const char *text, *path;
  int whole, usual;
  switch (f->type) {
    case FIELD_REAL:
    case FIELD_VEC2:
    case FIELD_VEC3:
    case FIELD_VEC4:
    case FIELD_VEC5:
    case FIELD_VEC6: {
      const double* x = (const double*)(const void*)at;
      if (!same_numbers(x, (const double*)(const void*)before, count_of(f->type))) {
        put_key(w, f->key);
        if (f->type == FIELD_REAL) {
          put_number(w, *x);
        } else {
          put_numbers(w, x, count_of(f->type));
        }
        end_line(w);
      }
      return;
    }
    case FIELD_INT:
    case FIELD_BOOL:
    case FIELD_WORD:
      memcpy(&whole, at, sizeof whole);
      memcpy(&usual, before, sizeof usual);
      if (whole != usual) {
        put_key(w, f->key);
        if (f->type == FIELD_INT) {
          fprintf(w->file, "%d", whole);
        } else {
          fputs(f->type == FIELD_WORD ? f->words[whole] : whole ? "true" : "false", w->file);
        }
        end_line(w);
      }
      return;
    case FIELD_TEXT:
      memcpy(&text, at, sizeof text);
      if (text != NULL) {
        key_text(w, f->key, text);
      }
      return;
    case FIELD_PATH:
      memcpy(&path, at, sizeof path);
      if (path != NULL) {
        put_key(w, f->key);
        put_path(w, path);
        end_line(w);
      }
      return;
    default: return;  // rpy says what quaternion says; sections are written by their own code
  }
}

static void put_fields(Writer* w, const char* section, const void* item) {
  const Section* s = tribo_format_section(section);
  union {
    char bytes[1024];
    double align;
  } init;
  memset(&init, 0, sizeof init);
  if (s->init != NULL && s->size <= sizeof init) {
    s->init(&init);
  }
  for (int i = 0; i < s->nfield; ++i) {
    put_field(w, &s->fields[i], item, &init);
  }
}

static void begin_list(Writer* w, const char* key, int count) {
  if (count > 0) {
    fprintf(w->file, "%*s%s:\n", w->indent, "", key);
  }
}

static void begin_item(Writer* w) {
  w->indent += 4;
  w->first = 1;
}

static void end_item(Writer* w) {
  // an item that says nothing but defaults
  if (w->first) {
    fprintf(w->file, "%*s- {}\n", w->indent - 2, "");
    w->first = 0;
  }
  w->indent -= 4;
}

// ---- sections

// A shape with its kind, sizes, pose and material.
static void put_shape(Writer* w, const char* section, const TriboShapeDef* def) {
  static const struct {
    const char* key;
    int numbers;
  } kinds[] = {[TRIBO_SHAPE_SPHERE] = {"sphere", 1},
               [TRIBO_SHAPE_BOX] = {"box", 3},
               [TRIBO_SHAPE_CAPSULE] = {"capsule", 2},
               [TRIBO_SHAPE_CYLINDER] = {"cylinder", 2},
               [TRIBO_SHAPE_CONE] = {"cone", 2},
               [TRIBO_SHAPE_ELLIPSOID] = {"ellipsoid", 3},
               [TRIBO_SHAPE_HULL] = {"hull", 0},
               [TRIBO_SHAPE_HALFSPACE] = {"plane", 0},
               [TRIBO_SHAPE_HEIGHTFIELD] = {"heightfield", 2}};
  TriboShapeDef rest = *def;
  if (def->kind == TRIBO_SHAPE_HULL && def->mesh != NULL) {
    put_key(w, "mesh");
    put_path(w, def->mesh);
  } else if (def->kind == TRIBO_SHAPE_HULL) {
    put_key(w, "hull");
    fputc('[', w->file);
    for (int i = 0; i < def->npoint; ++i) {
      fputs(i > 0 ? ", " : "", w->file);
      put_numbers(w, def->points + 3 * i, 3);
    }
    fputc(']', w->file);
  } else if (def->kind == TRIBO_SHAPE_SDF) {
    fprintf(w->file, "%*s%s", w->first ? w->indent - 2 : w->indent, "", w->first ? "- " : "");
    w->first = 0;
    tribo_yaml_put_sdf(w->file, def->sdf);
  } else if (def->kind == TRIBO_SHAPE_HALFSPACE) {
    double R[9];
    tribo_quat_to_mat(R, def->quaternion);
    const double normal[3] = {R[2], R[5], R[8]};
    put_key(w, "plane");
    put_numbers(w, normal, 3);
    tribo_quat_identity(rest.quaternion);  // the normal says it
  } else if (kinds[def->kind].numbers == 1) {
    put_key(w, kinds[def->kind].key);
    put_number(w, def->size[0]);
  } else {
    put_key(w, kinds[def->kind].key);
    put_numbers(w, def->size, kinds[def->kind].numbers);
  }
  end_line(w);
  if (def->kind == TRIBO_SHAPE_HEIGHTFIELD) {
    put_key(w, "heights");
    end_line(w);
    for (int r = 0; r < def->ny; ++r) {
      fprintf(w->file, "%*s- ", w->indent + 2, "");
      put_numbers(w, def->heights + (size_t)r * (size_t)def->nx, def->nx);
      end_line(w);
    }
    rest.scale[2] = 1;  // they are scaled already
  }
  put_fields(w, section, &rest);
}

static void put_shapes_of(Writer* w, int body, const char* key) {
  const TriboScene* s = w->scene;
  int count = 0;
  for (int i = 0; i < s->nshape; ++i) {
    count += s->shapes[i].body == body;
  }
  begin_list(w, key, count);
  for (int i = 0; i < s->nshape; ++i) {
    if (s->shapes[i].body == body) {
      begin_item(w);
      put_shape(w, "shape", &s->shapes[i].def);
      end_item(w);
    }
  }
}

static void put_world(Writer* w) {
  const TriboScene* s = w->scene;
  fputs("world:\n", w->file);
  w->indent = 2;
  // one key at least: the step
  put_key(w, "dt");
  put_number(w, s->world.dt);
  end_line(w);
  TriboWorldDef rest = s->world;
  rest.dt = tribo_world_default().dt;
  put_fields(w, "world", &rest);
  put_key(w, "solver");
  fprintf(w->file, "{id: %s", s->world.solver);
  for (int i = 0; i < s->nsolver_value; ++i) {
    fprintf(w->file, ", %s: ", s->solver_values[i].name);
    put_number(w, s->solver_values[i].value);
  }
  fputs("}\n", w->file);
  w->indent = 0;
}

// Materials, and the pairs that have a friction of their own.
static void put_materials(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "materials", s->nmaterial);
  for (int i = 0; i < s->nmaterial; ++i) {
    TriboMaterialDef def = s->materials[i];
    fputs("  ", w->file);
    put_text(w, def.name);
    fputs(":\n", w->file);
    w->indent = 4;
    put_key(w, "friction");
    put_number(w, def.friction);
    end_line(w);
    def.friction = tribo_material_default().friction;
    put_fields(w, "material", &def);
    w->indent = 0;
  }
  begin_list(w, "pairs", s->npair);
  for (int i = 0; i < s->npair; ++i) {
    begin_item(w);
    put_key(w, "between");
    fputc('[', w->file);
    put_text(w, s->materials[s->pairs[i].a].name);
    fputs(", ", w->file);
    put_text(w, s->materials[s->pairs[i].b].name);
    fputs("]\n", w->file);
    put_fields(w, "pair", &s->pairs[i].def);
    end_item(w);
  }
}

static void put_textures(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "textures", s->ntexture);
  for (int i = 0; i < s->ntexture; ++i) {
    TriboTextureDef def = s->textures[i];
    fputs("  ", w->file);
    put_text(w, def.name);
    fputs(":\n", w->file);
    w->indent = 4;
    put_key(w, "width");
    fprintf(w->file, "%d\n", def.width);
    def.width = tribo_texture_default().width;
    put_fields(w, "texture", &def);
    w->indent = 0;
  }
}

static void put_bodies(Writer* w) {
  const TriboScene* s = w->scene;
  put_shapes_of(w, TRIBO_WORLD, "static");
  begin_list(w, "bodies", s->nbody);
  for (int i = 0; i < s->nbody; ++i) {
    begin_item(w);
    put_fields(w, "body", &s->bodys[i]);
    put_shapes_of(w, i, "shapes");
    end_item(w);
  }
  begin_list(w, "visuals", s->nvisual);
  for (int i = 0; i < s->nvisual; ++i) {
    begin_item(w);
    if (s->visuals[i].body != TRIBO_WORLD) {
      key_text(w, "body", s->bodys[s->visuals[i].body].name);
    }
    put_shape(w, "visual", &s->visuals[i].def);
    end_item(w);
  }
}

static void put_joints(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "joints", s->njoint);
  for (int i = 0; i < s->njoint; ++i) {
    const TriboJointDef* def = &s->joints[i];
    begin_item(w);
    key_text(w, "parent", def->parent == TRIBO_WORLD ? "world" : s->bodys[def->parent].name);
    key_text(w, "child", s->bodys[def->child].name);
    put_fields(w, "joint", def);
    end_item(w);
  }
}

static void put_wrap(Writer* w, const TriboWrapDef* def) {
  if (def->radius == 0) {
    return;
  }
  fprintf(w->file, ", around: {kind: %s, radius: ", def->kind == TRIBO_WRAP_CYLINDER ? "cylinder" : "sphere");
  put_number(w, def->radius);
  const char *const keys[2] = {"body", "side_body"}, *const names[2] = {def->body, def->side_body};
  for (int i = 0; i < 2; ++i) {
    if (names[i] != NULL) {
      fprintf(w->file, ", %s: ", keys[i]);
      put_text(w, names[i]);
    }
  }
  fputs(", position: ", w->file);
  put_numbers(w, def->position, 3);
  fputs(", quaternion: ", w->file);
  put_numbers(w, def->quaternion, 4);
  if (!isnan(def->side[0])) {
    fputs(", side: ", w->file);
    put_numbers(w, def->side, 3);
  }
  fputc('}', w->file);
}

// Tendons with their points and joints.
static void put_tendons(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "tendons", s->ntendon);
  for (int i = 0; i < s->ntendon; ++i) {
    const TriboTendonDef* def = &s->tendons[i];
    begin_item(w);
    put_key(w, def->njoint > 0 ? "joints" : "points");
    fputc(def->njoint > 0 ? '{' : '[', w->file);
    for (int k = 0; k < def->njoint; ++k) {
      fputs(k > 0 ? ", " : "", w->file);
      put_text(w, def->joints[k]);
      fputs(": ", w->file);
      put_number(w, def->coefs[k]);
    }
    for (int k = 0; k < def->npoint; ++k) {
      fputs(k > 0 ? ", {" : "{", w->file);
      if (def->bodies[k] != NULL) {
        fputs("body: ", w->file);
        put_text(w, def->bodies[k]);
        fputs(", ", w->file);
      }
      fputs("at: ", w->file);
      put_numbers(w, def->points + 3 * k, 3);
      if (def->weights[k] != 1) {
        fputs(", weight: ", w->file);
        put_number(w, def->weights[k]);
      }
      put_wrap(w, &def->wraps[k]);
      fputc('}', w->file);
    }
    fputs(def->njoint > 0 ? "}\n" : "]\n", w->file);
    put_fields(w, "tendon", def);
    end_item(w);
  }
}

static void put_robots(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "robots", s->nrobot);
  for (int i = 0; i < s->nrobot; ++i) {
    begin_item(w);
    put_fields(w, "robot", &s->robots[i]);
    const size_t n = strlen(s->robots[i].name);
    int open = 0;
    for (int k = 0; k < s->njoint_value; ++k) {
      const char* name = s->joint_values[k].name;
      if (strncmp(name, s->robots[i].name, n) == 0 && name[n] == '/') {
        if (!open) {
          put_key(w, "joints");
        }
        fputs(open ? ", " : "{", w->file);
        put_text(w, name + n + 1);
        fputs(": ", w->file);
        put_number(w, s->joint_values[k].value);
        open = 1;
      }
    }
    fputs(open ? "}\n" : "", w->file);
    end_item(w);
  }
}

// Columns of a task's keyframes and the keys they are written with.
static void put_task_frame(Writer* w, const TriboTaskDef* task, int frame) {
  static const struct {
    const char* key;
    int column;
  } parts[] = {{"position", 0}, {"rpy", 3}, {"velocity", 6}, {"spin", 9}, {"acceleration", 12}};
  const double* row = task->frames + frame * TRIBO_TASK_COLUMNS;
  fprintf(w->file, "%*s- {at: ", w->indent + 2, "");
  put_number(w, task->times[frame]);
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k) {
    const int force = task->kind == TRIBO_TASK_FORCE && k == 0;
    if (!isnan(row[parts[k].column])) {
      fprintf(w->file, ", %s: ", force ? "normal" : parts[k].key);
      if (force) {
        put_number(w, row[0]);
      } else {
        put_numbers(w, row + parts[k].column, 3);
      }
    }
  }
  fputs("}\n", w->file);
}

// Tasks of a controller, each with its keyframes.
static void put_tasks(Writer* w, const TriboControllerDef* def) {
  static const char* const axes[] = {"x", "y", "z", "rx", "ry", "rz"};
  if (def->ntask > 0) {
    begin_list(w, "tasks", def->ntask);
    for (int i = 0; i < def->ntask; ++i) {
      const TriboTaskDef* task = &def->tasks[i];
      begin_item(w);
      put_fields(w, "task", task);
      if (task->axes != 0) {
        put_key(w, "axes");
        const char* before = "[";
        for (int k = 0; k < 6; ++k) {
          if (task->axes >> k & 1) {
            fprintf(w->file, "%s%s", before, axes[k]);
            before = ", ";
          }
        }
        fputs("]\n", w->file);
      }
      if (task->nframe > 0) {
        put_key(w, "keyframes");
        end_line(w);
      }
      for (int f = 0; f < task->nframe; ++f) {
        put_task_frame(w, task, f);
      }
      end_item(w);
    }
  }
}

// Trajectories are written as keyframes, wherever they came from.
static void put_controllers(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "controllers", s->ncontroller);
  for (int i = 0; i < s->ncontroller; ++i) {
    const TriboControllerDef* def = &s->controllers[i];
    begin_item(w);
    put_fields(w, "controller", def);
    if (def->njoint > 0) {
      put_key(w, "joints");
      for (int k = 0; k < def->njoint; ++k) {
        fputs(k > 0 ? ", " : "[", w->file);
        put_text(w, def->joints[k]);
      }
      fputs("]\n", w->file);
    }
    put_tasks(w, def);
    if (def->nframe > 0) {
      put_key(w, "keyframes");
      end_line(w);
    }
    for (int f = 0; f < def->nframe; ++f) {
      fprintf(w->file, "%*s- {at: ", w->indent + 2, "");
      put_number(w, def->times[f]);
      fputs(", joints: {", w->file);
      for (int k = 0, any = 0; k < def->ncolumn; ++k) {
        const double value = def->frames[(size_t)f * (size_t)def->ncolumn + (size_t)k];
        if (!isnan(value)) {
          fputs(any ? ", " : "", w->file);
          put_text(w, def->columns[k]);
          fputs(": ", w->file);
          put_number(w, value);
          any = 1;
        }
      }
      fputs("}}\n", w->file);
    }
    end_item(w);
  }
}

// Named states.
static void put_states(Writer* w) {
  static const char* const keys[TRIBO_VALUE_COUNT] = {"positions", "velocities", "ctrl", "act"};
  const TriboScene* s = w->scene;
  begin_list(w, "states", s->nstate);
  for (int i = 0; i < s->nstate; ++i) {
    const TriboStateDef* def = &s->states[i];
    begin_item(w);
    put_fields(w, "state", def);
    for (int kind = 0; kind < TRIBO_VALUE_COUNT; ++kind) {
      int any = 0;
      for (int k = 0; k < def->nvalue; ++k) {
        const TriboStateValue* value = &def->values[k];
        if ((int)value->kind != kind) {
          continue;
        }
        if (!any) {
          put_key(w, keys[kind]);
        }
        fputs(any ? ", " : "{", w->file);
        put_text(w, value->of);
        fputs(": ", w->file);
        if (value->n == 1) {
          put_number(w, value->x[0]);
        } else {
          put_numbers(w, value->x, value->n);
        }
        any = 1;
      }
      fputs(any ? "}\n" : "", w->file);
    }
    end_item(w);
  }
  if (s->start != NULL) {
    key_text(w, "start", s->start);
  }
}

static void put_exclusions(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "exclude", s->nexclusion);
  for (int i = 0; i < s->nexclusion; ++i) {
    fputs("  - [", w->file);
    put_text(w, s->exclusions[i].a);
    fputs(", ", w->file);
    put_text(w, s->exclusions[i].b);
    fputs("]\n", w->file);
  }
}

static void put_records(Writer* w) {
  const TriboScene* s = w->scene;
  begin_list(w, "record", s->nrecord);
  for (int i = 0; i < s->nrecord; ++i) {
    begin_item(w);
    put_fields(w, "record", &s->records[i]);
    if (s->records[i].nquantity > 0) {
      put_key(w, "columns");
      for (int k = 0; k < s->records[i].nquantity; ++k) {
        fputs(k > 0 ? ", " : "[", w->file);
        put_text(w, s->records[i].quantities[k]);
      }
      fputs("]\n", w->file);
    }
    end_item(w);
  }
}

// Lists of items that their table says in full.
#define PUT_LIST(w, key, section, items, count) \
  do {                                          \
    begin_list(w, key, count);                  \
    for (int i_ = 0; i_ < (count); ++i_) {      \
      begin_item(w);                            \
      put_fields(w, section, &(items)[i_]);     \
      end_item(w);                              \
    }                                           \
  } while (0)

// What the format has no words for.
static TriboStatus check(const TriboScene* s) {
  for (int i = 0; i < s->njoint_value; ++i) {
    if (s->joint_values[i].rate != 0 || strchr(s->joint_values[i].name, '/') == NULL) {
      return tribo_fail(TRIBO_UNSUPPORTED,
                        "tribo_scene_save: the start of joint '%s' was set by a program; a file can "
                        "say that of a robot's positions only",
                        s->joint_values[i].name);
    }
  }
  return TRIBO_OK;
}

TriboStatus tribo_scene_save(const TriboScene* scene, const char* path) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(path);
  TRIBO_TRY(check(scene));
  Writer w = {.scene = scene, .file = fopen(path, "w")};
  if (w.file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be written: %s", path, strerror(errno));
  }
  put_world(&w);
  put_materials(&w);
  put_textures(&w);
  put_bodies(&w);
  put_joints(&w);
  put_tendons(&w);
  PUT_LIST(&w, "actuators", "actuator", scene->actuators, scene->nactuator);
  PUT_LIST(&w, "motors", "motor", scene->motors, scene->nmotor);
  PUT_LIST(&w, "closures", "closure", scene->closures, scene->nclosure);
  put_robots(&w);
  put_controllers(&w);
  PUT_LIST(&w, "sensors", "sensor", scene->sensors, scene->nsensor);
  put_states(&w);
  put_exclusions(&w);
  PUT_LIST(&w, "forces", "force", scene->forces, scene->nforce);
  put_records(&w);
  PUT_LIST(&w, "cameras", "camera", scene->cameras, scene->ncamera);
  PUT_LIST(&w, "expect", "expect", scene->expects, scene->nexpect);
  const int bad = ferror(w.file);
  return fclose(w.file) != 0 || bad ? tribo_fail(TRIBO_IO, "%s: writing failed: %s", path, strerror(errno)) : TRIBO_OK;
}
