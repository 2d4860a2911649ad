#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "io/mjcf/inertia.hpp"

namespace articula {

Description chain(int links) {
  constexpr int most_links = 10'000;
  if (links < 1 || links > most_links) throw Error("a chain has 1 to {} links, not {}", most_links, links);
  constexpr double length = 0.1, mass = 0.2, radius = 0.01;
  const Vector3 size(radius, length / 2.0, 0.0);
  const Vector3 moments = mass * mjcf::shape_mass(ShapeType::capsule, size, false).moments;

  Description d;
  d.name = fmt::format("chain{}", links);
  for (int i = 0; i < links; ++i) {
    BodyDescription body;
    body.name = fmt::format("link{}", i);
    if (i > 0) {
      body.parent = fmt::format("link{}", i - 1);
      body.pose.position = {0.0, 0.0, -length};
    }
    JointDescription joint;
    joint.name = fmt::format("joint{}", i);
    joint.axis = i % 2 == 0 ? Vector3::UnitY() : Vector3::UnitX();
    body.joints = {joint};
    body.inertia = {mass, {0.0, 0.0, -length / 2.0}, moments.asDiagonal(), Quaternion::Identity()};

    GeometryDescription rod;
    rod.name = fmt::format("rod{}", i);
    rod.body = body.name;
    rod.type = ShapeType::capsule;
    rod.size = size;
    rod.pose.position = body.inertia.com;
    rod.contype = rod.conaffinity = 0;
    rod.mass = mass;
    d.bodies.push_back(std::move(body));
    d.geometries.push_back(std::move(rod));
  }
  FrameDescription tip;
  tip.name = "tip";
  tip.body = d.bodies.back().name;
  tip.pose.position = {0.0, 0.0, -length};
  d.frames.push_back(std::move(tip));
  return d;
}

}  // namespace articula
