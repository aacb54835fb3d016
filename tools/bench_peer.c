// MuJoCo on the bodies of a scene. MJCF and URDF files it reads itself; NAME.xml in a folder `peers` beside a scene
// says what a MuJoCo user would write; for other scenes a file is made (bench_mjcf.c). It runs in a program of its own,
// which tells times and leaves its states in a file.
#include "bench_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "paths.h"

enum { PATH = 3000 };

// Where a file that a person has written for the peer would be.
static int written_by_hand(const char* path, char out[PATH]) {
  const char* slash = strrchr(path, '/');
  const int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
  const size_t n = strlen(path + folder);
  snprintf(out, PATH, "%.*speers/%.*s.xml", folder, path, (int)(n > 5 ? n - 5 : 0), path + folder);
  return path_ends_in(path, ".yaml") && access(out, R_OK) == 0;
}

int peer_knows(const TriboModel* model, const PeerRun* run) {
  char hand[PATH];
  const int file =
      path_ends_in(run->path, ".xml") || path_ends_in(run->path, ".urdf") || written_by_hand(run->path, hand);
  return (file && run->begin == 0) || (!file && mjcf_knows(model, run));
}

static int write_samples(const Sample* bodies, int count, const char* path) {
  FILE* f = fopen(path, "wb");
  int good = f != NULL && fwrite(bodies, sizeof *bodies, (size_t)count, f) == (size_t)count;
  return f != NULL && fclose(f) == 0 && good;
}

// ---- the run

// Where Tribo has put the ground of a robot without a world.
static double ground_height(const TriboModel* model) {
  for (int i = 0; i < tribo_model_size(model).nshape; ++i) {
    const TriboShapeInfo* shape = tribo_model_shape(model, i);
    if (shape->body == TRIBO_WORLD && shape->kind == TRIBO_SHAPE_HALFSPACE) {
      return shape->position[2];
    }
  }
  return 0;
}

int peer_find(char* path, int size) {
  const ssize_t n = readlink("/proc/self/exe", path, (size_t)size - 20);
  path[n > 0 ? n : 0] = '\0';
  char* slash = strrchr(path, '/');
  if (slash != NULL) {
    strcpy(slash, "/tribo-mujoco");
  }
  if (slash == NULL || access(path, X_OK) != 0) {
    cli_wrong("--peers: %s is not there; run tools/setup --test, configure and build again", path);
    return 0;
  }
  return 1;
}

// The accuracy of the states that the peer has left, by our ruler.
static int judge(const TriboModel* model, const PeerRun* run, const char* samples, Peer* peer) {
  const int nbody = tribo_model_size(model).nbody;
  const double dt = tribo_model_world(model)->dt;
  Ruler* ruler = ruler_create(model, run->begin, run->begin + run->steps * dt);
  Sample* bodies = malloc(((size_t)nbody + 1) * sizeof *bodies);
  FILE* f = fopen(samples, "rb");
  int good = ruler != NULL && bodies != NULL && f != NULL;
  for (int i = 0; good && i <= run->steps; ++i) {
    good = fread(bodies, sizeof *bodies, (size_t)nbody, f) == (size_t)nbody;
    if (good) {
      ruler_add(ruler, run->begin + i * dt, bodies);
    }
  }
  peer->nword = good ? ruler_words(ruler, peer->words) : 0;
  if (f != NULL) {
    fclose(f);
  }
  free(bodies);
  ruler_free(ruler);
  return good;
}

// One setting of the peer on the files made for it. "" as its answer: it does not apply to this model.
static int run_setting(const TriboModel* model, const PeerRun* run, const char* command, const char* samples,
                       Peer* peer, int* count) {
  char line[256] = "";
  FILE* out = popen(command, "r");
  if (out == NULL) {
    return cli_wrong("--peers: %s cannot be started", command);
  }
  const int told = fgets(line, sizeof line, out) != NULL;
  if (pclose(out) != 0) {
    return cli_wrong("--peers: MuJoCo failed on %s", run->path);
  }
  if (told && sscanf(line, "%lf,%lf,%lf", &peer->time, &peer->contacts, &peer->penetration) == 3) {
    (*count)++;
    if (samples != NULL && !judge(model, run, samples, peer)) {
      return cli_wrong("--peers: MuJoCo's states of %s cannot be read", run->path);
    }
  }
  return EXIT_WELL;
}

int peer_run(const TriboModel* model, const PeerRun* run, Peer peers[MOST_PEERS], int* count) {
  // as the file says; with semi-implicit Euler where it says something else; as hard as the manual allows
  static const char* const settings[] = {"default", "euler", "stiff"};
  char program[PATH], model_file[PATH], folder[] = "/tmp/tribo-peer-XXXXXX", start[64], samples[64], command[4 * PATH];
  *count = 0;
  if (!peer_find(program, sizeof program)) {
    return EXIT_INPUT;
  }
  if (strchr(run->path, '\'') != NULL || mkdtemp(folder) == NULL) {
    return cli_wrong("%s: a name the peer cannot be given, or no temporary folder", run->path);
  }
  snprintf(start, sizeof start, "%s/start", folder);
  snprintf(samples, sizeof samples, "%s/samples", folder);
  const int hand = written_by_hand(run->path, model_file), own = !hand && path_ends_in(run->path, ".yaml");
  // states of free bodies alone are exchanged: of a tree MuJoCo may have made other bodies
  const int free_bodies = own && tribo_model_size(model).ntree == 0, sampled = hand || free_bodies;
  int code = EXIT_WELL;
  if (own) {
    snprintf(model_file, sizeof model_file, "%s/model.xml", folder);
    if (!mjcf_write(model, run, model_file) || !write_samples(run->start, tribo_model_size(model).nbody, start)) {
      code = cli_wrong("%s: cannot be written", folder);
    }
  } else if (!hand) {
    snprintf(model_file, sizeof model_file, "%s", run->path);
  }
  // from a settled state it runs with its defaults alone: hard contacts would take hours on a pile
  for (int i = 0; code == EXIT_WELL && i < (run->begin > 0 ? 1 : 3); ++i) {
    Peer* peer = &peers[*count];
    *peer = (Peer){0};
    snprintf(peer->name, sizeof peer->name, "%s", settings[i]);
    int n =
        snprintf(command, sizeof command, "'%s' '%s' %s %.17g %d %d %.17g %.17g", program, model_file, settings[i],
                 tribo_model_world(model)->dt, run->steps, run->repeats, run->from - run->begin, run->to - run->begin);
    if (sampled) {
      n += snprintf(command + n, sizeof command - (size_t)n, " --samples %s", samples);
    }
    if (free_bodies) {
      n += snprintf(command + n, sizeof command - (size_t)n, " --start %s", start);
    }
    if (path_ends_in(run->path, ".urdf")) {
      snprintf(command + n, sizeof command - (size_t)n, " --ground %.17g", ground_height(model));
    }
    code = run_setting(model, run, command, sampled ? samples : NULL, peer, count);
  }
  unlink(start);
  unlink(samples);
  if (own) {
    unlink(model_file);
  }
  rmdir(folder);
  return code;
}
