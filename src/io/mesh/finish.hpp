#pragma once
// From the triangles of a file to a mesh of a description.

#include "articula/io/mesh.hpp"

namespace articula {

struct MeshMeasures {
  double volume = 0.0;                                       // of the solid; of a shell its area
  Vector3 half_box = Vector3::Zero();                        // of the box with the same inertia per volume
  Vector3 lower = Vector3::Zero(), upper = Vector3::Zero();  // bounds of the vertices
  bool flat = false;  // it has no volume, so no inertia may be taken from it
};

// Fills in vertices, faces and `source` from what `mesh` says about how it is to be made. Throws Error
// where a mesh cannot be made of the triangles; the caller says which element asked for it.
MeshMeasures finish_mesh(TriangleMesh triangles, Mesh& mesh);

// Gives the mesh its convex hull where it has none yet.
void add_hull(Mesh& mesh);

}  // namespace articula
