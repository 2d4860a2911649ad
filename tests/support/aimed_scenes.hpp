#pragma once
// Pairs of shapes that touch, or nearly do, with chosen kinds of features: a corner on an edge, a rim on a
// face. Points on the two features, with normals from their normal cones, are put against each other: of
// convex shapes that are apart they are the nearest points.

#include "tests/support/random_shapes.hpp"

namespace articula::testing {

struct AimedScene {
  collision::Shape a, b;
  Placement at_a, at_b;
};

// The kinds of features that shapes of a type have.
std::vector<collision::FeatureKind> feature_kinds(ShapeType type);

// Shapes of about the given size. Faces lie flat on faces and edges but for a small tilt; every third pair of
// lines is nearly parallel.
AimedScene aimed_scene(Random& random, ShapeType type_a, collision::FeatureKind kind_a, ShapeType type_b,
                       collision::FeatureKind kind_b, double size);

}  // namespace articula::testing
