#pragma once
// A polytope inside the difference A - B that grows towards the origin's nearest face (expanding polytope).

#include "gjk.hpp"

namespace articula::collision {

struct Polytope {
  static constexpr int max_points = 800, max_faces = 2400;

  struct Face {
    Vec3 n;         // outward unit normal
    double offset;  // n . w on the face: a lower bound of the depth, of either sign
    int point[3];
    int neighbour[3];  // across the edge point[i], point[i+1]
    bool alive;
  };

  // Raw storage: clearing it would cost more than the whole search.
  alignas(32) unsigned char point_storage[max_points * sizeof(DifferencePoint)];
  alignas(32) unsigned char face_storage[max_faces * sizeof(Face)];
  double key[max_faces];  // of each face: what the search compares; infinite: done with, or not alive
  int point_count = 0, face_count = 0;
  double visible = 0.0;  // a point higher than this above a face sees it
  double size = 0.0;     // of the larger shape
  bool thin = false;     // some face is so thin that its normal is not accurate

  DifferencePoint& point(int i) { return reinterpret_cast<DifferencePoint*>(point_storage)[i]; }
  Face& face(int i) { return reinterpret_cast<Face*>(face_storage)[i]; }
};

// A tetrahedron with a volume, from where GJK ended. False if A - B has none.
bool begin_polytope(const ConvexPair& pair, const GjkResult& start, Polytope& polytope);

// The living face with the smallest key; -1 if none is left.
int lowest_face(const Polytope& polytope);

// Replaces the faces that see the point. False if storage is full or rounding spoiled the horizon.
bool expand(Polytope& polytope, int face, const DifferencePoint& point);

}  // namespace articula::collision
