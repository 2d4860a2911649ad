#pragma once

#include "articula/io/mesh.hpp"

namespace articula {

// DAE, PLY, glTF and GLB by assimp, which leaks, hangs or crashes on broken input: it runs in a process of
// its own, with limits on time and memory. Node transformations and the file's unit of length are applied;
// the up axis of COLLADA is not, as everywhere in robotics. Equal vertices are welded.
TriangleMesh import_mesh(const std::filesystem::path& path, const MeshLimits& limits);

}  // namespace articula
