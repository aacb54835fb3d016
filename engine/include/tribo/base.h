// Tribo, public: status codes, error text, log callback and the description of a setting.
// Everything else in the library is built on these. All of it may be called from every thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TRIBO_API
#else
#define TRIBO_API __attribute__((visibility("default")))
#endif

#define TRIBO_NODISCARD __attribute__((warn_unused_result))
#define TRIBO_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#ifdef __cplusplus
extern "C" {
#endif

// How a *call* ended. How a *solve* ended is TriboOutcome: not converged is not an error.
typedef enum TriboStatus {
  TRIBO_OK = 0,
  TRIBO_INVALID = -1,      // an argument, file or setting is outside what is accepted
  TRIBO_NOMEM = -2,        // the system has no memory left
  TRIBO_CAPACITY = -3,     // a fixed capacity is too small
  TRIBO_NOT_FOUND = -4,    // no such name, file or solver
  TRIBO_STATE = -5,        // the object is not in a state that allows the call
  TRIBO_NUMERIC = -6,      // the computation left the finite numbers
  TRIBO_IO = -7,           // reading or writing failed
  TRIBO_UNSUPPORTED = -8,  // well-formed, but not something Tribo can do
  TRIBO_INTERNAL = -9,     // a bug in Tribo or in a library it uses
} TriboStatus;

// "TRIBO_INVALID", for messages and logs.
TRIBO_API const char* tribo_status_name(TriboStatus status);

// One sentence about the last call of this thread that failed: what, where, which value, what is accepted.
// Never NULL; valid until the next failing call of the same thread.
TRIBO_API const char* tribo_last_error(void);

typedef enum TriboLogLevel { TRIBO_LOG_DEBUG, TRIBO_LOG_INFO, TRIBO_LOG_WARNING } TriboLogLevel;

// The library itself prints nothing: without a sink, messages are dropped.
typedef void TriboLogFn(TriboLogLevel level, const char* text, void* user);
// A log is used during the call that it is passed to; `user` stays the caller's.
typedef struct TriboLog {
  TriboLogFn* fn;  // NULL: silent
  void* user;
} TriboLog;

// For programs that count heap calls by replacing malloc: on whose account this thread allocates right now.
typedef enum TriboHeapOwner { TRIBO_HEAP_OURS, TRIBO_HEAP_COAL, TRIBO_HEAP_SPARSE, TRIBO_HEAP_OWNERS } TriboHeapOwner;
TRIBO_API TriboHeapOwner tribo_heap_owner(void);

// One row of a settings table: the struct field, its default, its accepted range and its documentation.
typedef enum TriboSettingType { TRIBO_SETTING_REAL, TRIBO_SETTING_INT, TRIBO_SETTING_BOOL } TriboSettingType;
typedef struct TriboSetting {
  const char* name;  // texts last for ever
  TriboSettingType type;
  double init;       // default value
  double min, max;   // accepted range, closed unless open_min
  int open_min;      // 1: min itself is refused
  const char* unit;  // "" when dimensionless
  const char* doc;   // one line
  size_t offset;     // of the field in its struct (double or int)
} TriboSetting;

// Both texts belong to the library: the first lasts for ever, the second until the same call of the same thread.
TRIBO_API const char* tribo_version(void);            // "0.2.0"
TRIBO_API const char* tribo_version_libraries(void);  // one line per library in use
#ifdef __cplusplus
}
#endif
