// The mesh loader behind plain C, where its colours and texture points count; what only collides goes through Coal.
#pragma once

#include "coal_shim.h"

// The caller has checked the file, see meshfile.c.
TRIBO_NODISCARD TriboStatus tribo_assimp_textured_mesh_load(const char* path, const double scale[3],
                                                            TriboTexturedMesh** out) TRIBO_NOEXCEPT;
