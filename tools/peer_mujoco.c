// MuJoCo on one model file, for `tribo bench scenes --peers`: a program of its own, because the library must not know
// MuJoCo, and because MuJoCo ends the process when it meets trouble.
//   tribo-mujoco FILE DT STEPS REPEATS [GROUND]
// prints a line per setting: name, time per step [s] (least of the repeats step by step, then the mean), contacts
// (mean), deepest overlap [m]. A URDF robot gets what Tribo gives it: a floating base and a ground at height GROUND
// that it alone collides with.
#include <mujoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// as the file says; with semi-implicit Euler where it says something else; as hard as the manual allows at this step
enum { DEFAULT, EULER, STIFF, SETTINGS };
static const char* const names[SETTINGS] = {"default", "euler", "stiff"};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stand_on_ground(mjSpec* spec, double height) {
  mjsBody* world = mjs_findBody(spec, "world");
  for (mjsElement* e = mjs_firstElement(spec, mjOBJ_GEOM); e != NULL; e = mjs_nextElement(spec, e)) {
    mjsGeom* geom = mjs_asGeom(e);
    geom->contype = 1;
    geom->conaffinity = 0;
    geom->friction[0] = 0.5;
  }
  mjsGeom* floor = mjs_addGeom(world, NULL);
  floor->type = mjGEOM_PLANE;
  floor->size[0] = floor->size[1] = 50;
  floor->size[2] = 1;
  floor->pos[2] = height;
  floor->contype = 0;
  floor->conaffinity = 1;
  floor->friction[0] = 0.5;
  mjsBody* root = mjs_asBody(mjs_firstChild(world, mjOBJ_BODY, 0));
  if (root != NULL && mjs_firstChild(root, mjOBJ_JOINT, 0) == NULL) {
    mjs_addFreeJoint(root);
  }
}

static mjModel* read_model(const char* path, const char* ground) {
  char error[1000] = "";
  mjSpec* spec = mj_parseXML(path, NULL, error, sizeof error);
  if (spec != NULL && ground != NULL) {
    stand_on_ground(spec, atof(ground));
  }
  mjModel* model = spec != NULL ? mj_compile(spec, NULL) : NULL;
  if (model == NULL) {
    fprintf(stderr, "tribo-mujoco: %s: %s\n", path, spec != NULL ? mjs_getError(spec) : error);
  }
  return model;
}

static void harden(mjModel* model) {
  mjOption* o = &model->opt;
  o->cone = mjCONE_ELLIPTIC;
  o->impratio = 10;
  o->tolerance = 1e-12;
  o->enableflags |= mjENBL_OVERRIDE;
  o->o_solref[0] = 2 * o->timestep;
  o->o_solref[1] = 1;
  const double impedance[5] = {0.99, 0.9999, 0.0001, 0.5, 2};
  memcpy(o->o_solimp, impedance, sizeof impedance);
  o->o_friction[0] = o->o_friction[1] = 0.7;
}

static int measure(const mjModel* model, int steps, int repeats, const char* name) {
  mjData* data = mj_makeData(model);
  double* best = malloc((size_t)steps * sizeof *best);
  if (data == NULL || best == NULL) {
    free(best);
    mj_deleteData(data);
    return 1;
  }
  double contacts = 0, deepest = 0, sum = 0;
  for (int r = 0; r < repeats; ++r) {
    mj_resetData(model, data);
    contacts = 0;
    for (int i = 0; i < steps; ++i) {
      const double begin = now();
      mj_step(model, data);
      const double time = now() - begin;
      best[i] = r == 0 ? time : fmin(best[i], time);
      contacts += data->ncon;
      for (int k = 0; k < data->ncon; ++k) {
        deepest = fmax(deepest, -data->contact[k].dist);
      }
    }
  }
  for (int i = 0; i < steps; ++i) {
    sum += best[i];
  }
  printf("%s,%.9g,%.9g,%.9g\n", name, sum / steps, contacts / steps, deepest);
  free(best);
  mj_deleteData(data);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fputs("usage: tribo-mujoco FILE DT STEPS REPEATS [GROUND]\n", stderr);
    return 2;
  }
  mjModel* model = read_model(argv[1], argc > 5 ? argv[5] : NULL);
  const int steps = atoi(argv[3]), repeats = atoi(argv[4]);
  int code = model == NULL || steps < 1 || repeats < 1 ? 2 : 0;
  for (int i = 0; code == 0 && i < SETTINGS; ++i) {
    model->opt.timestep = atof(argv[2]);
    if (i == EULER && model->opt.integrator == mjINT_EULER) {
      continue;
    }
    model->opt.integrator = i == EULER ? mjINT_EULER : model->opt.integrator;
    if (i == STIFF) {
      harden(model);
    }
    code = measure(model, steps, repeats, names[i]);
  }
  mj_deleteModel(model);
  return code;
}
