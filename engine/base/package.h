// Where the files of robot packages are.
#pragma once

#include "pool.h"

// The file behind package://, model:// or any other scheme: among the example robots, then in the folders that
// SDF_PATH, GAZEBO_MODEL_PATH, GZ_SIM_RESOURCE_PATH, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH (its share) name. NULL: in
// none of them.
const char* tribo_package_find(TriboPool* pool, const char* uri);
// The folder of the example robots that come with the set-up.
const char* tribo_package_examples(void);
