// Reference pages in Markdown, printed from the tables the program itself works by.
#pragma once

#include <stdio.h>
#include <tribo/tribo.h>

// "scene", "commands", "quantities", "solvers"; 0: no such page.
int describe_page(FILE* to, const char* topic);
const char* describe_shape(TriboShapeKind kind);
