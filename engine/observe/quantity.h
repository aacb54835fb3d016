// Quantities by name, for recorders and expectations.
#pragma once

#include <tribo/tribo.h>

// "speed_max" or "cube3: position.z"
TriboStatus tribo_quantity_parse(const TriboModel* model, const char* text, TriboQuantity* out);
