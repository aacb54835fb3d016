// URDF files are read by urdfdom, which takes much in silence and knows few lines: what it would pass over is found
// here.
#pragma once

#include <tribo/tribo.h>

// Refuses, with file and line: XML that is not well-formed, numbers that are none, negative masses, limits the wrong
// way round. Says what is not known, once per kind, and which links have an inertia that no solid has.
TriboStatus tribo_urdf_check(const char* path, const TriboLog* log);
// The robot of a URDF file, called after the file.
TriboStatus tribo_urdf_load(TriboScene* scene, const char* path, const TriboLog* log);
