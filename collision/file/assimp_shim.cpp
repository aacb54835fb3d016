// Mesh files as they look, by Assimp: parts with one colour or picture each, texture coordinates, materials.
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <assimp/Importer.hpp>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

extern "C" {
#include "assimp_shim.h"
#include "status.h"
}

namespace fs = std::filesystem;

namespace {

struct Part {
  std::vector<double> points, uv;
  std::vector<int> triangles;
  double color[4] = {1, 1, 1, 1};
  bool colored = false;
  std::string texture;
};

// "my%20picture.png" → "my picture.png": COLLADA names files by addresses.
std::string decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && isxdigit(text[i + 1]) && isxdigit(text[i + 2])) {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '\\' ? '/' : text[i];
    }
  }
  return out.rfind("file://", 0) == 0 ? out.substr(7) : out;
}

// The picture beside the mesh, or where its name leads; "" when it is not there.
std::string find_picture(const fs::path& folder, const std::string& name) {
  const fs::path path = decoded(name);
  for (const fs::path& candidate : {folder / path, folder / path.filename()}) {
    std::error_code error;
    if (!name.empty() && name[0] != '*' && fs::is_regular_file(candidate, error)) {
      return candidate.lexically_normal().string();
    }
  }
  return "";
}

void read_material(const aiMaterial& material, const fs::path& folder, Part* part) {
  aiString name, picture;
  aiColor4D color;
  float opacity = 1;
  // what the loader makes up for a file without materials says nothing
  if (material.Get(AI_MATKEY_NAME, name) == aiReturn_SUCCESS && std::string(name.C_Str()) == AI_DEFAULT_MATERIAL_NAME) {
    return;
  }
  if (material.GetTexture(aiTextureType_DIFFUSE, 0, &picture) == aiReturn_SUCCESS) {
    part->texture = find_picture(folder, picture.C_Str());
  }
  if (!part->texture.empty()) {
    part->colored = true;  // white: the picture as it is
  } else if (material.Get(AI_MATKEY_COLOR_DIFFUSE, color) == aiReturn_SUCCESS) {
    material.Get(AI_MATKEY_OPACITY, opacity);
    const float rgba[4] = {color.r, color.g, color.b, opacity > 0 ? opacity : 1};
    part->colored = true;
    for (int i = 0; i < 4; ++i) {
      part->color[i] = std::min(std::max(static_cast<double>(rgba[i]), 0.0), 1.0);
    }
  }
}

void read_mesh(const aiMesh& mesh, const aiMatrix4x4& transform, const double scale[3], Part* part) {
  for (unsigned i = 0; i < mesh.mNumVertices; ++i) {
    const aiVector3D p = transform * mesh.mVertices[i];
    part->points.insert(part->points.end(), {p.x * scale[0], p.y * scale[1], p.z * scale[2]});
    if (mesh.HasTextureCoords(0)) {
      part->uv.insert(part->uv.end(), {mesh.mTextureCoords[0][i].x, mesh.mTextureCoords[0][i].y});
    }
  }
  for (unsigned i = 0; i < mesh.mNumFaces; ++i) {
    if (mesh.mFaces[i].mNumIndices == 3) {
      const unsigned* corner = mesh.mFaces[i].mIndices;
      part->triangles.insert(part->triangles.end(),
                             {static_cast<int>(corner[0]), static_cast<int>(corner[1]), static_cast<int>(corner[2])});
    }
  }
}

}  // namespace

struct TriboTexturedMesh {
  std::vector<Part> own;
  std::vector<TriboTexturedPart> parts;
};

namespace {

// Every mesh of a node and of those below it. The root's own transform turns COLLADA's axes, which robots' files do not
// mean: Coal leaves it out too.
void read_node(const aiScene& scene, const aiNode& node, const aiMatrix4x4& above, const fs::path& folder,
               const double scale[3], TriboTexturedMesh* textured) {
  const aiMatrix4x4 transform = above * node.mTransformation;
  for (unsigned i = 0; i < node.mNumMeshes; ++i) {
    const aiMesh& mesh = *scene.mMeshes[node.mMeshes[i]];
    Part part;
    read_mesh(mesh, transform, scale, &part);
    if (mesh.mMaterialIndex < scene.mNumMaterials) {
      read_material(*scene.mMaterials[mesh.mMaterialIndex], folder, &part);
    }
    if (!part.triangles.empty()) {
      textured->own.push_back(std::move(part));
    }
  }
  for (unsigned i = 0; i < node.mNumChildren; ++i) {
    read_node(scene, *node.mChildren[i], node.mParent == nullptr ? aiMatrix4x4() : transform, folder, scale, textured);
  }
}

// Plain C views of the parts, which the look owns.
void make_views(TriboTexturedMesh* textured) {
  for (const Part& part : textured->own) {
    TriboTexturedPart view{};
    view.points = part.points.data();
    view.uv = part.uv.empty() ? nullptr : part.uv.data();
    view.triangles = part.triangles.data();
    view.npoint = static_cast<int>(part.points.size() / 3);
    view.ntriangle = static_cast<int>(part.triangles.size() / 3);
    view.color = part.colored ? part.color : nullptr;
    view.texture = part.texture.empty() ? nullptr : part.texture.c_str();
    textured->parts.push_back(view);
  }
}

}  // namespace

extern "C" TriboStatus tribo_assimp_textured_mesh_load(const char* path, const double scale[3],
                                                       TriboTexturedMesh** out) noexcept {
  try {
    std::unique_ptr<TriboTexturedMesh> textured(new TriboTexturedMesh);
    Assimp::Importer importer;
    importer.SetPropertyInteger(AI_CONFIG_PP_RVC_FLAGS, aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS |
                                                            aiComponent_COLORS | aiComponent_BONEWEIGHTS |
                                                            aiComponent_ANIMATIONS | aiComponent_LIGHTS |
                                                            aiComponent_CAMERAS);
    importer.SetPropertyInteger(AI_CONFIG_PP_SBP_REMOVE, aiPrimitiveType_LINE | aiPrimitiveType_POINT);
    const aiScene* scene =
        importer.ReadFile(path, aiProcess_SortByPType | aiProcess_Triangulate | aiProcess_RemoveComponent |
                                    aiProcess_FindDegenerates | aiProcess_JoinIdenticalVertices);
    if (scene == nullptr || scene->mRootNode == nullptr) {
      return tribo_fail(TRIBO_INVALID, "%s: not a readable mesh: %.200s", path, importer.GetErrorString());
    }
    read_node(*scene, *scene->mRootNode, aiMatrix4x4(), fs::path(path).parent_path(), scale, textured.get());
    if (textured->own.empty()) {
      return tribo_fail(TRIBO_INVALID, "%s: not a readable mesh: it has no triangles", path);
    }
    make_views(textured.get());
    *out = textured.release();
    return TRIBO_OK;
  } catch (const std::bad_alloc&) {
    return tribo_fail(TRIBO_NOMEM, "%s: no memory for the mesh", path);
  } catch (const std::exception& error) {
    return tribo_fail(TRIBO_INVALID, "%s: not a readable mesh: %.200s", path, error.what());
  } catch (...) {
    return tribo_fail(TRIBO_INTERNAL, "%s: unknown exception", path);
  }
}

extern "C" const TriboTexturedPart* tribo_col_textured_mesh_parts(const TriboTexturedMesh* textured, int* count) {
  *count = static_cast<int>(textured->parts.size());
  return textured->parts.data();
}

extern "C" void tribo_col_textured_mesh_destroy(TriboTexturedMesh* textured) {
  delete textured;
}
