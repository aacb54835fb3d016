// Controllers of a scene, and their trajectories from files.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene_add.h"

TriboControllerDef tribo_controller_default(void) {
  return (TriboControllerDef){
      .effort = NAN, .horizon = 0.02, .torque_weight = 1e-4, .mode_margin = 1e-6, .flips = 2, .programs = 2000};
}

static TriboStatus check_names(const char* who, const char* what, const char* const* names, int count) {
  if (count < 0 || (count > 0 && names == NULL)) {
    return tribo_fail(TRIBO_INVALID, "%s: %d %s, but none are given", who, count, what);
  }
  for (int i = 0; i < count; ++i) {
    if (names[i] == NULL || names[i][0] == '\0') {
      return tribo_fail(TRIBO_INVALID, "%s: %s[%d] is empty", who, what, i);
    }
  }
  return TRIBO_OK;
}

static TriboStatus check_frames(const char* who, const TriboControllerDef* def) {
  if (def->nframe < 0 || (def->nframe > 0) != (def->ncolumn > 0) ||
      (def->nframe > 0 && (def->times == NULL || def->frames == NULL))) {
    return tribo_fail(TRIBO_INVALID, "%s: nframe = %d, ncolumn = %d; a trajectory has frames, times and columns", who,
                      def->nframe, def->ncolumn);
  }
  TRIBO_TRY(tribo_check_finite(who, "times", def->times, def->nframe));
  for (int i = 0; i + 1 < def->nframe; ++i) {
    if (!(def->times[i] < def->times[i + 1])) {
      return tribo_fail(TRIBO_INVALID, "%s: frame %d is at %g s, the one before at %g s; each must be later", who,
                        i + 1, def->times[i + 1], def->times[i]);
    }
  }
  for (int i = 0; i < def->nframe * def->ncolumn; ++i) {
    if (isinf(def->frames[i])) {
      return tribo_fail(TRIBO_INVALID, "%s: frame %d of '%s' is infinite", who, i / def->ncolumn,
                        def->columns[i % def->ncolumn]);
    }
  }
  return TRIBO_OK;
}

// Refuses a controller with a wrong law, gains, effort or trajectory.
static TriboStatus check_controller(const TriboControllerDef* def) {
  const char* who = def->name != NULL ? def->name : "controller";
  if ((int)def->law < 0 || def->law >= TRIBO_LAW_COUNT || (int)def->interpolation < 0 ||
      def->interpolation >= TRIBO_INTERPOLATION_COUNT) {
    return tribo_fail(TRIBO_INVALID, "%s: law = %d, interpolation = %d; see TriboLaw and TriboInterpolation", who,
                      (int)def->law, (int)def->interpolation);
  }
  TRIBO_TRY(tribo_check_range(who, "stiffness", def->stiffness, 0, 1e100));
  TRIBO_TRY(tribo_check_range(who, "damping", def->damping, 0, 1e100));
  const int gains = def->law == TRIBO_LAW_PD || def->law == TRIBO_LAW_COMPUTED;
  if (gains != (def->stiffness + def->damping > 0)) {
    return tribo_fail(TRIBO_INVALID,
                      "%s: stiffness = %g, damping = %g; laws pd and computed need one of them, the others "
                      "have none",
                      who, def->stiffness, def->damping);
  }
  if (def->effort < 0) {
    return tribo_fail(TRIBO_INVALID, "%s: effort = %g must be ≥ 0", who, def->effort);
  }
  TRIBO_TRY(check_names(who, "joints", def->joints, def->njoint));
  TRIBO_TRY(check_names(who, "columns", def->columns, def->ncolumn));
  TRIBO_TRY(tribo_scene_check_tasks(who, def));
  if ((def->law == TRIBO_LAW_GRAVITY || def->law == TRIBO_LAW_TASK) && def->nframe > 0) {
    return tribo_fail(TRIBO_INVALID, "%s: the laws gravity and task follow no trajectory of joints", who);
  }
  if (def->law == TRIBO_LAW_EFFORT && def->nframe == 0) {
    return tribo_fail(TRIBO_INVALID, "%s: the law effort needs a trajectory", who);
  }
  return check_frames(who, def);
}

TriboStatus tribo_scene_add_controller(TriboScene* scene, const TriboControllerDef* def, int* id) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(def);
  TRIBO_TRY(check_controller(def));
  GROW(scene, controller);
  TriboPool* pool = &scene->pool;
  const size_t nframe = (size_t)def->nframe, ncolumn = (size_t)def->ncolumn;
  TriboControllerDef copy = *def;
  copy.robot = tribo_pool_strdup(pool, def->robot);
  copy.joints = tribo_pool_names(pool, def->joints, def->njoint);
  copy.columns = tribo_pool_names(pool, def->columns, def->ncolumn);
  copy.times = tribo_pool_copy(pool, def->times, nframe, sizeof *def->times);
  copy.frames = tribo_pool_copy(pool, def->frames, nframe * ncolumn, sizeof *def->frames);
  TRIBO_TRY(tribo_scene_copy_tasks(pool, def, &copy));
  if ((def->robot != NULL && copy.robot == NULL) || copy.joints == NULL || copy.columns == NULL || copy.times == NULL ||
      copy.frames == NULL) {
    return tribo_no_memory("for the scene");
  }
  TRIBO_TRY(
      tribo_scene_take_name(scene, &scene->controller_names, "controller", def->name, scene->ncontroller, &copy.name));
  if (id != NULL) {
    *id = scene->ncontroller;
  }
  scene->controllers[scene->ncontroller++] = copy;
  return TRIBO_OK;
}

// ---- files

enum { MOST_COLUMNS = 4096, MOST_NUMBERS = 1 << 24 };

typedef struct Table {
  const char** names;
  double* numbers;  // row by row, the time first
  int nname, nnumber;
} Table;

// The next cell of a line, without the space around it; NULL: none left. *rest goes on.
static char* next_cell(char** rest) {
  char* cell = *rest;
  if (cell == NULL) {
    return NULL;
  }
  char* comma = strchr(cell, ',');
  *rest = comma != NULL ? comma + 1 : NULL;
  if (comma != NULL) {
    *comma = '\0';
  }
  cell += strspn(cell, " \t\"");
  char* end = cell + strlen(cell);
  while (end > cell && strchr(" \t\"", end[-1]) != NULL) {
    *--end = '\0';
  }
  return cell;
}

static TriboStatus read_head(TriboScene* scene, Table* t, const char* path, int line, char* text) {
  for (char *rest = text, *cell; (cell = next_cell(&rest)) != NULL;) {
    if (cell[0] == '\0' || t->nname > MOST_COLUMNS || (t->nname == 0 && strcmp(cell, "t") != 0)) {
      return tribo_fail(TRIBO_INVALID, "%s:%d: column %d is '%.40s'; the head line is t, then the names of joints",
                        path, line, t->nname + 1, cell);
    }
    TRIBO_TRY(TRIBO_APPEND(&t->names, t->nname, 1));
    t->names[t->nname] = tribo_pool_strdup(&scene->pool, cell);
    if (t->names[t->nname++] == NULL) {
      return tribo_no_memory("for the scene");
    }
  }
  return t->nname >= 2 ? TRIBO_OK : tribo_fail(TRIBO_INVALID, "%s:%d: no joint in the head line", path, line);
}

static TriboStatus read_frame(Table* t, const char* path, int line, char* text) {
  int count = 0;
  for (char *rest = text, *cell, *end; (cell = next_cell(&rest)) != NULL; ++count) {
    const double value = strtod(cell, &end);
    if (end == cell || *end != '\0' || !isfinite(value) || t->nnumber >= MOST_NUMBERS) {
      return tribo_fail(TRIBO_INVALID, "%s:%d: '%.20s' is no finite number, or one of more than 2^24", path, line,
                        cell);
    }
    TRIBO_TRY(TRIBO_APPEND(&t->numbers, t->nnumber, 1));
    t->numbers[t->nnumber++] = value;
  }
  return count == t->nname ? TRIBO_OK
                           : tribo_fail(TRIBO_INVALID, "%s:%d: %d numbers under %d names", path, line, count, t->nname);
}

static TriboStatus read_table(TriboScene* scene, const char* path, FILE* file, Table* t) {
  char* text = NULL;
  size_t size = 0;
  TriboStatus status = TRIBO_OK;
  for (int line = 1; status == TRIBO_OK && getline(&text, &size, file) >= 0; ++line) {
    text[strcspn(text, "#\r\n")] = '\0';
    if (text[strspn(text, " \t")] != '\0') {
      status = t->nname == 0 ? read_head(scene, t, path, line, text) : read_frame(t, path, line, text);
    }
  }
  free(text);
  if (status == TRIBO_OK && ferror(file)) {
    status = tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  return status != TRIBO_OK || t->nnumber > 0 ? status : tribo_fail(TRIBO_INVALID, "%s: there is no frame in it", path);
}

// The table as a trajectory of the scene's.
static TriboStatus keep_table(TriboScene* scene, const Table* t, TriboControllerDef* def) {
  const int ncolumn = t->nname - 1, nframe = t->nnumber / t->nname;
  const char** columns = tribo_pool_copy(&scene->pool, t->names + 1, (size_t)ncolumn, sizeof *columns);
  double* times = tribo_pool_alloc(&scene->pool, (size_t)nframe, sizeof *times);
  double* frames = tribo_pool_alloc(&scene->pool, (size_t)nframe * (size_t)ncolumn, sizeof *frames);
  if (columns == NULL || times == NULL || frames == NULL) {
    return tribo_no_memory("for the scene");
  }
  for (int i = 0; i < nframe; ++i) {
    times[i] = t->numbers[(size_t)i * (size_t)t->nname];
    memcpy(frames + (size_t)i * (size_t)ncolumn, t->numbers + (size_t)i * (size_t)t->nname + 1,
           (size_t)ncolumn * sizeof *frames);
  }
  def->columns = columns;
  def->times = times;
  def->frames = frames;
  def->ncolumn = ncolumn;
  def->nframe = nframe;
  return TRIBO_OK;
}

TriboStatus tribo_scene_read_trajectory(TriboScene* scene, const char* path, TriboControllerDef* def) {
  TRIBO_REQUIRE(scene);
  TRIBO_REQUIRE(path);
  TRIBO_REQUIRE(def);
  FILE* file = fopen(path, "r");
  if (file == NULL) {
    return tribo_fail(TRIBO_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  Table t = {0};
  TriboStatus status = read_table(scene, path, file, &t);
  fclose(file);
  status = status == TRIBO_OK ? keep_table(scene, &t, def) : status;
  tribo_free((void*)t.names);
  tribo_free(t.numbers);
  return status;
}
