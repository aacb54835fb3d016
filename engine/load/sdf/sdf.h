// SDFormat, Gazebo's model files: what the files of this reader share.
//
//   sdf.c         models: links, and joints into a tree; what does not fit the tree closes a loop
//   sdf_shapes.c  inertials, collisions, visuals, and where meshes are
#pragma once

#include "pose.h"
#include "scene_impl.h"
#include "xml_tree.h"

typedef struct Sdf {
  TriboScene* scene;
  TriboPool pool;
  const TriboLog* log;
  const char* prefix;   // of names: "" or "<model>/"
  const char** warned;  // (nwarned)
  int nwarned, nmissing;
  char missing[600];  // meshes that were not found
} Sdf;

TriboStatus tribo_sdf_warn(Sdf* s, const XmlNode* node, const char* what);  // once per kind of element
TriboStatus tribo_sdf_at(Sdf* s, const XmlNode* node);

// A child element's text as numbers: at least min of max, or as they were when there is no such child.
TriboStatus tribo_sdf_numbers(const XmlNode* node, const char* child, double* out, int min, int max);
TriboStatus tribo_sdf_number(const XmlNode* node, const char* child, double* out);
TriboStatus tribo_sdf_flag(const XmlNode* node, const char* child, int* out);
// <pose>x y z roll pitch yaw</pose>; none is the identity.
TriboStatus tribo_sdf_pose(const XmlNode* node, TriboPose* out);

// sdf_shapes.c
TriboStatus tribo_sdf_inertial(const Sdf* s, const XmlNode* link, TriboBodyDef* def);
TriboStatus tribo_sdf_shapes(Sdf* s, const XmlNode* link, int body, const TriboPose* link_pose);
// sdf.c: adds the models of an SDF file to the scene.
TriboStatus tribo_sdf_load(TriboScene* scene, const char* path, const TriboLog* log);
