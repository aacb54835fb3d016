// What the files that write a YAML scene share.
#pragma once

#include <stdio.h>
#include <tribo/types.h>

// The shortest text that reads back to the same number.
void tribo_yaml_put_number(FILE* file, double x);

// A tree of distance fields as `key: value` on one line, without the pose of its root.
void tribo_yaml_put_sdf(FILE* file, const TriboSdfDef* def);
