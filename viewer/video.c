// Films: raw frames through a pipe into ffmpeg.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view_common.h"

extern char** environ;

struct TriboVideo {
  char* path;
  int width, height;
  int pipe;  // to ffmpeg's standard input
  pid_t process;
};

// Starts ffmpeg with the other end of the pipe as its input.
static TriboStatus start(TriboVideo* video, double fps) {
  char size[32], rate[32];
  snprintf(size, sizeof size, "%dx%d", video->width, video->height);
  snprintf(rate, sizeof rate, "%.6g", fps);
  const char* words[] = {"ffmpeg",    "-nostdin",   "-loglevel", "error", "-y",        "-f",       "rawvideo",
                         "-pix_fmt",  "rgb24",      "-s",        size,    "-r",        rate,       "-i",
                         "-",         "-c:v",       "libx264",   "-crf",  "18",        "-pix_fmt", "yuv420p",
                         "-movflags", "+faststart", "-f",        "mp4",   video->path, NULL};
  int ends[2];
  if (pipe(ends) != 0) {
    return tribo_view_fail(TRIBO_IO, "%s: no pipe to ffmpeg: %s", video->path, strerror(errno));
  }
  // ffmpeg must not hold our end open, or it would never see the end of the film
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  // in a group of its own, so that Ctrl-C reaches us and not ffmpeg, which then finishes the film
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int failed = posix_spawnp(&video->process, words[0], &actions, &attributes, (char* const*)words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  video->pipe = ends[1];
  if (failed != 0) {
    close(ends[1]);
    return tribo_view_fail(TRIBO_IO, "%s: ffmpeg cannot be started: %s", video->path, strerror(failed));
  }
  return TRIBO_OK;
}

TriboStatus tribo_view_video_open(const char* path, int width, int height, double fps, TriboVideo** out) {
  if (width < 2 || height < 2 || width % 2 != 0 || height % 2 != 0 || !(fps > 0 && fps <= 1000)) {
    return tribo_view_fail(TRIBO_INVALID,
                           "%s: a film of %d × %d pixels, %g per second: accepted are even sizes and up to 1000", path,
                           width, height, fps);
  }
  // an unwritable file is better told by us, and now, than by ffmpeg; a new file is its to make
  FILE* file = fopen(path, "ab");
  if (file == NULL) {
    return tribo_view_fail(TRIBO_IO, "%s: cannot be written: %s", path, strerror(errno));
  }
  int fresh = fseek(file, 0, SEEK_END) == 0 && ftell(file) == 0;
  fclose(file);
  if (fresh) {
    remove(path);
  }
  TriboVideo* video = calloc(1, sizeof *video);
  char* copy = strdup(path);
  if (video == NULL || copy == NULL) {
    free(video);
    free(copy);
    return tribo_view_fail(TRIBO_NOMEM, "no memory for a film");
  }
  *video = (TriboVideo){.path = copy, .width = width, .height = height};
  TriboStatus status = start(video, fps);
  if (status != TRIBO_OK) {
    free(copy);
    free(video);
    return status;
  }
  *out = video;
  return TRIBO_OK;
}

TriboStatus tribo_view_video_add(TriboVideo* video, const TriboImage* image) {
  if (image->width != video->width || image->height != video->height) {
    return tribo_view_fail(TRIBO_INVALID, "%s: a frame of %d × %d in a film of %d × %d", video->path, image->width,
                           image->height, video->width, video->height);
  }
  // a dead ffmpeg must not kill us: its end shows as a failed write
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGPIPE, &ignore, &before);
  size_t left = (size_t)image->width * (size_t)image->height * 3;
  const unsigned char* at = image->rgb;
  int failed = 0;
  while (left > 0 && !failed) {
    ssize_t n = write(video->pipe, at, left);
    if (n > 0) {
      at += n, left -= (size_t)n;
    } else if (errno != EINTR) {
      failed = errno;
    }
  }
  sigaction(SIGPIPE, &before, NULL);
  return failed ? tribo_view_fail(TRIBO_IO, "%s: ffmpeg takes no more frames: %s", video->path, strerror(failed))
                : TRIBO_OK;
}

TriboStatus tribo_view_video_close(TriboVideo* video) {
  close(video->pipe);
  int code = 0;
  pid_t ended;
  do {
    ended = waitpid(video->process, &code, 0);
  } while (ended < 0 && errno == EINTR);
  TriboStatus status = TRIBO_OK;
  if (ended < 0 || !WIFEXITED(code) || WEXITSTATUS(code) != 0) {
    status = tribo_view_fail(TRIBO_IO, "%s: ffmpeg failed", video->path);
  }
  free(video->path);
  free(video);
  return status;
}
