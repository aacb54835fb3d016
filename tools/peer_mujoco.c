// MuJoCo on one model file, for `tribo bench scenes --peers`: a program of its own, because the library must not know
// MuJoCo, and because MuJoCo ends the process when it meets trouble.
//   tribo-mujoco FILE SETTING DT STEPS REPEATS FROM TO [--samples OUT] [--start IN] [--ground HEIGHT]
//                [--states OUT] [--key NAME]
// SETTING: default (as the file says), euler (semi-implicit where the file says something else, nothing otherwise), rk4
// or stiff (as hard as the manual allows at this step). Prints time per step [s] (least of the repeats
// step by step, then the mean over the steps that end in FROM … TO), contacts (mean), deepest overlap [m]. Samples are
// 13 doubles per body: centre of mass, quaternion x y z w, velocity of the centre of mass, angular velocity, of the
// first state and of every step. IN holds one such state, of free bodies, to start from. --states writes qpos and qvel
// of these states instead, and ends with 3 where the motion diverges, with 2 where a file is none for MuJoCo. NAME is a
// keyframe to start from. A URDF robot gets what Tribo gives it: a floating base and a ground at HEIGHT that it alone
// collides with.
#include <mujoco/mujoco.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stopwatch.h"

typedef struct Job {
  const char *file, *setting, *samples, *start, *ground, *states, *key;
  double dt, from, to;
  int steps, repeats;
} Job;

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

// Time constants of two steps; contacts that are springs on purpose stay as they are.
static void harden(mjModel* model) {
  const double impedance[mjNIMP] = {0.99, 0.9999, 0.0001, 0.5, 2};
  model->opt.cone = mjCONE_ELLIPTIC;
  model->opt.impratio = 10;
  model->opt.tolerance = 1e-12;
  model->opt.iterations = 500;
  double* const refs[] = {model->geom_solref, model->pair_solref, model->eq_solref};
  double* const imps[] = {model->geom_solimp, model->pair_solimp, model->eq_solimp};
  const int counts[] = {model->ngeom, model->npair, model->neq};
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < counts[k]; ++i) {
      double* ref = refs[k] + mjNREF * i;
      if (ref[0] > 0) {
        ref[0] = 2 * model->opt.timestep;
        ref[1] = 1;
        memcpy(imps[k] + mjNIMP * i, impedance, sizeof impedance);
      }
    }
  }
}

// ---- states

enum { SAMPLE = 13 };

static int write_sample(const mjModel* model, mjData* data, FILE* file) {
  mj_kinematics(model, data);
  mj_comPos(model, data);
  mj_comVel(model, data);
  int good = 1;
  for (int i = 1; i < model->nbody; ++i) {
    const double* q = data->xquat + 4 * i;
    double twist[6], s[SAMPLE] = {0, 0, 0, q[1], q[2], q[3], q[0]};
    mj_objectVelocity(model, data, mjOBJ_BODY, i, twist, 0);
    memcpy(s, data->xipos + 3 * i, 3 * sizeof *s);
    memcpy(s + 7, twist + 3, 3 * sizeof *s);
    memcpy(s + 10, twist, 3 * sizeof *s);
    good &= fwrite(s, sizeof s, 1, file) == 1;
  }
  return good;
}

// A state of free bodies: MuJoCo wants the frame's origin and its velocity, and the angular velocity in body axes.
static int read_start(const mjModel* model, mjData* data, const char* path) {
  FILE* file = fopen(path, "rb");
  int good = file != NULL && model->nq == 7 * (model->nbody - 1);
  for (int i = 1; good && i < model->nbody; ++i) {
    double s[SAMPLE], arm[3], along[3], back[4], *q = data->qpos + 7 * (i - 1), *v = data->qvel + 6 * (i - 1);
    good = fread(s, sizeof s, 1, file) == 1;
    q[3] = s[6], q[4] = s[3], q[5] = s[4], q[6] = s[5];
    mju_rotVecQuat(arm, model->body_ipos + 3 * i, q + 3);
    mju_cross(along, s + 10, arm);
    mju_negQuat(back, q + 3);
    mju_rotVecQuat(v + 3, s + 10, back);
    for (int k = 0; k < 3; ++k) {
      q[k] = s[k] - arm[k];
      v[k] = s[7 + k] - along[k];
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return good;
}

static int write_state(const mjModel* model, const mjData* data, FILE* file) {
  return fwrite(data->qpos, sizeof(double), (size_t)model->nq, file) == (size_t)model->nq &&
         fwrite(data->qvel, sizeof(double), (size_t)model->nv, file) == (size_t)model->nv;
}

// As the job asks.
static int write_out(const mjModel* model, mjData* data, const Job* job, FILE* file) {
  return job->states != NULL ? write_state(model, data, file) : write_sample(model, data, file);
}

static int reset(const mjModel* model, mjData* data, const Job* job) {
  const int key = job->key != NULL ? mj_name2id(model, mjOBJ_KEY, job->key) : -1;
  mj_resetData(model, data);
  if (key >= 0) {
    mj_resetDataKeyframe(model, data, key);
  }
  return (job->key == NULL || key >= 0) && (job->start == NULL || read_start(model, data, job->start));
}

// MuJoCo would write a file into the present folder.
static void warn(const char* text) {
  fprintf(stderr, "tribo-mujoco: %s\n", text);
}

// MuJoCo starts anew by itself when a state is no number or too large.
static int diverged(const mjData* data) {
  return data->warning[mjWARN_BADQPOS].number + data->warning[mjWARN_BADQVEL].number +
             data->warning[mjWARN_BADQACC].number >
         0;
}

// ---- the measurement

// Steps the model as often as asked and writes times and states.
static int measure(const mjModel* model, const Job* job) {
  mjData* data = mj_makeData(model);
  double* best = malloc((size_t)job->steps * sizeof *best);
  const char* out = job->states != NULL ? job->states : job->samples;
  FILE* file = out != NULL ? fopen(out, "wb") : NULL;
  int good = data != NULL && best != NULL && (out == NULL || file != NULL);
  double contacts = 0, deepest = 0, sum = 0;
  int counted = 0;
  for (int r = 0; r < job->repeats && good; ++r) {
    good = reset(model, data, job);
    good &= file == NULL || r > 0 || write_out(model, data, job, file);
    contacts = 0;
    for (int i = 0; i < job->steps && good; ++i) {
      const Clock begin = start_clock();
      mj_step(model, data);
      const double time = stop_clock(begin);
      best[i] = r == 0 ? time : fmin(best[i], time);
      contacts += data->ncon;
      for (int k = 0; k < data->ncon; ++k) {
        deepest = fmax(deepest, -data->contact[k].dist);
      }
      good &= file == NULL || r > 0 || write_out(model, data, job, file);
    }
  }
  const int code = job->states != NULL && data != NULL && diverged(data) ? 3 : 0;
  if (good) {
    for (int i = 0; i < job->steps; ++i) {
      const double end = (i + 1) * job->dt;
      if (end > job->from - 1e-9 && end < job->to + 1e-9) {
        sum += best[i];
        counted++;
      }
    }
  }
  good &= counted > 0;
  good &= file == NULL || fclose(file) == 0;
  printf("%.9g,%.9g,%.9g\n", sum / fmax(1, counted), contacts / job->steps, deepest);
  free(best);
  mj_deleteData(data);
  return good ? code : 1;
}

int main(int argc, char** argv) {
  if (argc < 8) {
    fputs(
        "usage: tribo-mujoco FILE SETTING DT STEPS REPEATS FROM TO [--samples OUT] [--start IN] [--ground HEIGHT] "
        "[--states OUT] [--key NAME]\n",
        stderr);
    return 2;
  }
  Job job = {.file = argv[1],
             .setting = argv[2],
             .dt = atof(argv[3]),
             .steps = atoi(argv[4]),
             .repeats = atoi(argv[5]),
             .from = atof(argv[6]),
             .to = atof(argv[7])};
  for (int i = 8; i + 1 < argc; i += 2) {
    const char** value = strcmp(argv[i], "--samples") == 0  ? &job.samples
                         : strcmp(argv[i], "--start") == 0  ? &job.start
                         : strcmp(argv[i], "--states") == 0 ? &job.states
                         : strcmp(argv[i], "--key") == 0    ? &job.key
                                                            : &job.ground;
    *value = argv[i + 1];
  }
  mju_user_warning = warn;
  mjModel* model = read_model(job.file, job.ground);
  if (model == NULL || job.steps < 1 || job.repeats < 1) {
    return 2;
  }
  model->opt.timestep = job.dt;
  const int euler = strcmp(job.setting, "euler") == 0;
  int code = 0;
  if (!euler || model->opt.integrator != mjINT_EULER) {
    const int other = strcmp(job.setting, "rk4") == 0 ? mjINT_RK4 : model->opt.integrator;
    model->opt.integrator = euler ? mjINT_EULER : other;
    if (strcmp(job.setting, "stiff") == 0) {
      harden(model);
    }
    code = measure(model, &job);
  }
  mj_deleteModel(model);
  return code;
}
