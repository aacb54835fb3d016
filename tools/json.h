// Writing JSON: commas and indentation by themselves, numbers with all their digits, NaN and infinity as null.
#pragma once

#include <stdio.h>

typedef struct Json {
  FILE* file;
  int depth;
  int first;  // nothing written yet at this depth
} Json;

// Opens a file, or standard output for "-". Returns 0 and complains when it cannot.
int json_open(Json* json, const char* path);
int json_close(Json* json, const char* path);                // 0: writing failed
void json_begin(Json* json, const char* key, char bracket);  // '{' or '['; key NULL in a list or at the top
void json_end(Json* json, char bracket);
void json_text(Json* json, const char* key, const char* value);
void json_real(Json* json, const char* key, double value);
void json_int(Json* json, const char* key, long long value);
void json_bool(Json* json, const char* key, int value);
void json_reals(Json* json, const char* key, const double* values, int count);
