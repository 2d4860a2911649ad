#pragma once

#include "io/mjcf/inertia.hpp"
#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

struct GeometryDraft {
  GeometryDescription description;  // in the frame it was written in; the tree places it in the body
  double mass = 0.0;
  Vector3 moments = Vector3::Zero();
  bool dropped = false;  // it counts for the mass, but does not stay
};

// `weighed`: whether the body's inertia may be taken from this geometry.
GeometryDraft read_geometry(Reader& reader, const Attributes& a, bool weighed);

FrameDescription read_site(Reader& reader, const Attributes& a);

// Whether a range is in force, by the `limited` attribute that belongs to it or, where that is "auto",
// by the range being there at all. Throws where it is in force and empty.
std::optional<Vector2> range_in_force(const Reader& reader, const Attributes& a, const char* range_name,
                                      const Vector2& range, const char* limited_name, Switch limited);

}  // namespace articula::mjcf
