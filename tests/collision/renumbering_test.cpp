// The order of bodies in a model does not matter: the same contacts, found by the names of the bodies.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "articula/collision/detect.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/forward.hpp"
#include "tests/support/random_shapes.hpp"

namespace articula::testing::renumbering_test {
namespace {

using namespace collision;

struct Body {
  std::string name;
  ShapeType type;
  Vector3 size, position;
  Quaternion turn;
};

Model model_of(const std::vector<Body>& bodies) {
  Description d;
  for (const Body& b : bodies) {
    BodyDescription body;
    body.name = b.name;
    body.joints.emplace_back();
    body.joints.back().name = b.name + "_joint";
    body.joints.back().type = JointType::free;
    body.inertia = {1.0, Vector3::Zero(), Matrix3::Identity()};
    d.bodies.push_back(body);
    GeometryDescription g;
    g.name = b.name + "_geometry";
    g.body = b.name;
    g.type = b.type;
    g.size = b.size;
    d.geometries.push_back(g);
  }
  return build(d);
}

struct Found {
  Vector3 position, normal;
  double distance;
};

// Contacts by names, the alphabetically first body as A.
std::map<std::string, std::vector<Found>> contacts_of(const std::vector<Body>& bodies) {
  const Model model = model_of(bodies);
  const Colliders colliders(model);
  Data data(model);
  Contacts contacts(colliders);
  VectorX q(model.nq());
  for (std::size_t i = 0; i < bodies.size(); ++i)
    q.segment(7 * static_cast<long>(i), 7) << bodies[i].position, bodies[i].turn.w(), bodies[i].turn.x(),
        bodies[i].turn.y(), bodies[i].turn.z();
  forward_kinematics(model, data, q);
  detect(colliders, model, data, contacts);
  std::map<std::string, std::vector<Found>> found;
  for (const Contact& c : contacts.list) {
    const std::string a = bodies[static_cast<std::size_t>(c.pair.a)].name,
                      b = bodies[static_cast<std::size_t>(c.pair.b)].name;
    const double sign = a < b ? 1.0 : -1.0;
    found[std::min(a, b) + " " + std::max(a, b)].push_back(
        {c.point.position.eigen(), sign * c.point.normal.eigen(), c.point.distance});
  }
  return found;
}

TEST(renumbering, of_bodies_leaves_points_normals_and_distances_as_they_are) {
  Random random(17);
  constexpr ShapeType types[] = {ShapeType::sphere, ShapeType::capsule, ShapeType::box, ShapeType::cylinder,
                                 ShapeType::ellipsoid};
  std::size_t pairs = 0;
  for (int scene = 0; scene < 30; ++scene) {
    std::vector<Body> bodies;
    for (int i = 0; i < 20; ++i)
      bodies.push_back({std::string(1, static_cast<char>('a' + i)), types[i % 5],
                        Vector3(0.2, i % 4 ? 0.15 : 0.2, 0.1),
                        Vector3(uniform(random, 0, 0.9), uniform(random, 0, 0.9), uniform(random, 0, 0.9)),
                        i % 3 ? random_rotation(random) : Quaternion::Identity()});
    const auto before = contacts_of(bodies);
    std::shuffle(bodies.begin(), bodies.end(), random);
    const auto after = contacts_of(bodies);
    ASSERT_EQ(before.size(), after.size());
    for (const auto& [name, list] : before) {
      ASSERT_TRUE(after.contains(name)) << name;
      const auto& other = after.at(name);
      ASSERT_EQ(list.size(), other.size()) << name;
      for (std::size_t k = 0; k < list.size(); ++k) {
        EXPECT_LT((list[k].position - other[k].position).norm(), 1e-12) << name;
        EXPECT_LT((list[k].normal - other[k].normal).norm(), 1e-11) << name;
        EXPECT_NEAR(list[k].distance, other[k].distance, 1e-13) << name;
      }
    }
    pairs += before.size();
  }
  EXPECT_GT(pairs, 500u);
}

}  // namespace
}  // namespace articula::testing::renumbering_test
