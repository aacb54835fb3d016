// Settings tables at work: defaults, checked assignment by name, the nearest known name for a wrong one.
// A table is written once as an X-macro `X(type, name, default, min, max, open_min, unit, doc)` from which the struct
// and the TriboSetting rows are made:
//
//     typedef struct Foo { FOO_SETTINGS(TRIBO_SETTING_FIELD) } Foo;
//     static const TriboSetting table[] = { FOO_SETTINGS(TRIBO_SETTING_ROW_FOO) };
#pragma once

#include "status.h"

#define TRIBO_SETTING_FIELD(type, name, ...) TRIBO_SETTING_CTYPE_##type name;
#define TRIBO_SETTING_CTYPE_REAL double
#define TRIBO_SETTING_CTYPE_INT int
#define TRIBO_SETTING_CTYPE_BOOL int
#define TRIBO_SETTING_ROW(strct, type, name, init, min, max, open_min, unit, doc) \
  {#name, TRIBO_SETTING_##type, init, min, max, open_min, unit, doc, offsetof(strct, name)},

void tribo_settings_default(const TriboSetting* table, int count, void* strct);

// Refuses NaN, values outside the range and fractions for integers; `where` starts the message.
TriboStatus tribo_settings_set(const TriboSetting* table, int count, void* strct, const char* where, const char* name,
                               double value);
TriboStatus tribo_settings_get(const TriboSetting* table, int count, const void* strct, const char* where,
                               const char* name, double* value);
// All fields of a struct the user has filled himself.
TriboStatus tribo_settings_validate(const TriboSetting* table, int count, const void* strct, const char* where);

// The known word closest to `word` (edit distance ≤ 1 + length/3), or NULL. For "did you mean".
const char* tribo_nearest_word(const char* word, const char* const* known, int count);
