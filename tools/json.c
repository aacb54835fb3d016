// A stack of open brackets knows where a comma is due.
#include "json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cli.h"

int json_open(Json* json, const char* path) {
  *json = (Json){.file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w"), .first = 1};
  if (json->file == NULL) {
    cli_wrong("%s: cannot be written: %s", path, strerror(errno));
  }
  return json->file != NULL;
}

int json_close(Json* json, const char* path) {
  fputc('\n', json->file);
  int bad = ferror(json->file) != 0;
  bad |= (json->file == stdout ? fflush(stdout) : fclose(json->file)) != 0;
  if (bad) {
    cli_wrong("%s: writing failed: %s", path, strerror(errno));
  }
  return !bad;
}

static void quote(FILE* file, const char* text) {
  fputc('"', file);
  for (const unsigned char* c = (const unsigned char*)text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') {
      fputc('\\', file);
    }
    if (*c < 0x20) {
      fprintf(file, "\\u%04x", *c);
    } else {
      fputc(*c, file);
    }
  }
  fputc('"', file);
}

static void item(Json* json, const char* key) {
  if (!json->first) {
    fputc(',', json->file);
  }
  if (json->depth > 0) {
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
  }
  if (key != NULL) {
    quote(json->file, key);
    fputs(": ", json->file);
  }
  json->first = 0;
}

void json_begin(Json* json, const char* key, char bracket) {
  item(json, key);
  fputc(bracket, json->file);
  json->depth++;
  json->first = 1;
}

void json_end(Json* json, char bracket) {
  json->depth--;
  if (!json->first) {
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
  }
  fputc(bracket, json->file);
  json->first = 0;
}

void json_text(Json* json, const char* key, const char* value) {
  item(json, key);
  quote(json->file, value);
}

static void number(FILE* file, double value) {
  if (isfinite(value)) {
    fprintf(file, "%.17g", value);
  } else {
    fputs("null", file);
  }
}

void json_real(Json* json, const char* key, double value) {
  item(json, key);
  number(json->file, value);
}

void json_int(Json* json, const char* key, long long value) {
  item(json, key);
  fprintf(json->file, "%lld", value);
}

void json_bool(Json* json, const char* key, int value) {
  item(json, key);
  fputs(value ? "true" : "false", json->file);
}

void json_reals(Json* json, const char* key, const double* values, int count) {
  item(json, key);
  fputc('[', json->file);
  for (int i = 0; i < count; ++i) {
    fputs(i > 0 ? ", " : "", json->file);
    number(json->file, values[i]);
  }
  fputc(']', json->file);
}
