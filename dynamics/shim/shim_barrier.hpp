// No exception crosses into C: each becomes a status and its text.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>

extern "C" {
#include "status.h"
}

template <class Body>
TriboStatus tribo_shim_guard(const char* where, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return tribo_fail(TRIBO_NOMEM, "%s: no memory", where);
  } catch (const std::invalid_argument& error) {
    return tribo_fail(TRIBO_INVALID, "%s: %s", where, error.what());
  } catch (const std::exception& error) {
    return tribo_fail(TRIBO_INTERNAL, "%s: %s", where, error.what());
  } catch (...) {
    return tribo_fail(TRIBO_INTERNAL, "%s: unknown exception", where);
  }
}
