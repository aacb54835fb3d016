// Looking a setting up in its table, checking a value against its range, and guessing what a wrong name meant.
#include "settings.h"

#include <math.h>
#include <string.h>

enum { WORD = 64 };

static const TriboSetting* find(const TriboSetting* table, int count, const char* name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(table[i].name, name) == 0) {
      return &table[i];
    }
  }
  return NULL;
}

static void store(const TriboSetting* s, void* strct, double value) {
  char* field = (char*)strct + s->offset;
  if (s->type == TRIBO_SETTING_REAL) {
    memcpy(field, &value, sizeof value);
  } else {
    int whole = (int)value;
    memcpy(field, &whole, sizeof whole);
  }
}

static double load(const TriboSetting* s, const void* strct) {
  const char* field = (const char*)strct + s->offset;
  if (s->type == TRIBO_SETTING_REAL) {
    double value;
    memcpy(&value, field, sizeof value);
    return value;
  }
  int whole;
  memcpy(&whole, field, sizeof whole);
  return whole;
}

static TriboStatus check(const TriboSetting* s, const char* where, double value) {
  // written so that NaN fails
  int inside = (s->open_min ? value > s->min : value >= s->min) && value <= s->max;
  if (!inside) {
    return tribo_fail(TRIBO_INVALID, "%s: %s = %g%s%s is outside the accepted range %c%g, %g]", where, s->name, value,
                      s->unit[0] ? " " : "", s->unit, s->open_min ? '(' : '[', s->min, s->max);
  }
  if (s->type != TRIBO_SETTING_REAL && value != floor(value)) {
    return tribo_fail(TRIBO_INVALID, "%s: %s = %g must be a whole number in [%g, %g]", where, s->name, value, s->min,
                      s->max);
  }
  return TRIBO_OK;
}

static TriboStatus unknown(const TriboSetting* table, int count, const char* where, const char* name) {
  const char* words[WORD];
  int n = count < WORD ? count : WORD;
  for (int i = 0; i < n; ++i) {
    words[i] = table[i].name;
  }
  const char* near = tribo_nearest_word(name, words, n);
  return tribo_fail(TRIBO_NOT_FOUND, "%s: there is no setting '%s'%s%s%s", where, name, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

void tribo_settings_default(const TriboSetting* table, int count, void* strct) {
  for (int i = 0; i < count; ++i) {
    store(&table[i], strct, table[i].init);
  }
}

TriboStatus tribo_settings_set(const TriboSetting* table, int count, void* strct, const char* where, const char* name,
                               double value) {
  const TriboSetting* s = find(table, count, name);
  if (s == NULL) {
    return unknown(table, count, where, name);
  }
  TRIBO_TRY(check(s, where, value));
  store(s, strct, value);
  return TRIBO_OK;
}

TriboStatus tribo_settings_get(const TriboSetting* table, int count, const void* strct, const char* where,
                               const char* name, double* value) {
  const TriboSetting* s = find(table, count, name);
  if (s == NULL) {
    return unknown(table, count, where, name);
  }
  *value = load(s, strct);
  return TRIBO_OK;
}

TriboStatus tribo_settings_validate(const TriboSetting* table, int count, const void* strct, const char* where) {
  for (int i = 0; i < count; ++i) {
    TRIBO_TRY(check(&table[i], where, load(&table[i], strct)));
  }
  return TRIBO_OK;
}

// Levenshtein distance with one row of memory; words longer than WORD count as far.
static int distance(const char* a, const char* b) {
  size_t m = strlen(a), n = strlen(b);
  int row[WORD + 1];
  if (m > WORD || n > WORD) {
    return WORD;
  }
  for (size_t j = 0; j <= n; ++j) {
    row[j] = (int)j;
  }
  for (size_t i = 1; i <= m; ++i) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= n; ++j) {
      int substitute = diagonal + (a[i - 1] != b[j - 1]);
      int other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
      diagonal = row[j];
      row[j] = substitute < other ? substitute : other;
    }
  }
  return row[n];
}

const char* tribo_nearest_word(const char* word, const char* const* known, int count) {
  const char* best = NULL;
  int least = 2 + (int)strlen(word) / 3;
  for (int i = 0; i < count; ++i) {
    int d = distance(word, known[i]);
    if (d < least) {
      least = d;
      best = known[i];
    }
  }
  return best;
}
