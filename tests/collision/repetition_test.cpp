// Every pair of shapes: contacts, distances and derivatives take no memory and are the same to the bit when
// they are asked for again, whatever was asked in between.

#include <gtest/gtest.h>

#include <bit>

#include "articula/collision/derivatives.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/random_shapes.hpp"

namespace articula::testing::repetition_test {
namespace {

using namespace collision;

struct Scene {
  Shape a, b;
  Placement at_a, at_b;
};

// All that is known of a pair, as numbers in room that is there already.
struct Numbers {
  std::array<double, 4096> list{};
  std::size_t count = 0;

  void add(double x) { list.at(count++) = x; }
  void add(const Vec3& v) { add(v[0]), add(v[1]), add(v[2]); }
  void add(const ContactRate& r) { add(r.position), add(r.normal), add(r.distance); }

  bool same(const Numbers& other) const {
    if (count != other.count) return false;
    for (std::size_t i = 0; i < count; ++i)
      if (std::bit_cast<std::uint64_t>(list[i]) != std::bit_cast<std::uint64_t>(other.list[i])) return false;
    return true;
  }
};

void ask(const Scene& s, Numbers& out) {
  out.count = 0;
  const Distance d = distance(s.a, s.at_a, s.b, s.at_b);
  out.add(d.distance), out.add(d.normal), out.add(d.point_a), out.add(d.point_b);
  ContactPoint points[max_contact_points];
  const int count = collide(s.a, s.at_a, s.b, s.at_b, 0.1, points);
  for (int i = 0; i < count; ++i) {
    const ContactPoint& c = points[i];
    out.add(c.position), out.add(c.normal), out.add(c.distance);
    out.add(c.feature_a.index), out.add(c.feature_b.index);
    for (const ContactRate& r : differentiate(s.a, s.at_a, s.b, s.at_b, c).motion) out.add(r);
    for (const ContactRate& r : differentiate_sizes(s.a, s.at_a, s.b, s.at_b, c).size) out.add(r);
    const VertexDerivatives v = differentiate_vertices(s.a, s.at_a, s.b, s.at_b, c);
    for (int e = 0; e < v.count; ++e)
      for (const ContactRate& r : v.entries[e].coordinate) out.add(r);
  }
}

Shape any_shape(Random& random, ShapeType type) {
  return type == ShapeType::height_field ? random_terrain(random, 7, 1.5, 0.5)
                                         : random_shape(random, type, 0.5);
}

// Near and deep, any way and aligned, in either order.
std::vector<Scene> scenes() {
  Random random(21);
  std::vector<Scene> list;
  for (int ta = 0; ta < 8; ++ta)
    for (int tb = 0; tb < 8; ++tb) {
      const auto is_ground = [](int t) {
        return static_cast<ShapeType>(t) == ShapeType::plane ||
               static_cast<ShapeType>(t) == ShapeType::height_field;
      };
      if (is_ground(ta) && is_ground(tb)) continue;
      for (int i = 0; i < 24; ++i) {
        Scene s{any_shape(random, static_cast<ShapeType>(ta)),
                any_shape(random, static_cast<ShapeType>(tb)),
                {},
                {}};
        if (i % 3) s.at_a.R = Mat3::from(random_rotation(random).toRotationMatrix());
        s.at_b.R = i % 3 == 2 ? s.at_a.R : Mat3::from(random_rotation(random).toRotationMatrix());
        s.at_b.p = Vec3(Vector3(random_direction(random) * log_uniform(random, 1e-3, 1.0)));
        list.push_back(s);
      }
    }
  return list;
}

TEST(repetition, of_any_pair_gives_the_same_bits) {
  const std::vector<Scene> list = scenes();
  std::vector<Numbers> first(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) ask(list[i], first[i]);
  Numbers again;
  for (std::size_t i = list.size(); i-- > 0;) {
    ask(list[i], again);
    EXPECT_TRUE(again.same(first[i]))
        << static_cast<int>(list[i].a.type) << " " << static_cast<int>(list[i].b.type);
  }
}

TEST(repetition, of_any_pair_allocates_nothing) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Numbers numbers;
  const std::vector<Scene> list = scenes();
  ask(list.back(), numbers);  // a height field: each thread keeps a prism
  for (const Scene& s : list)
    EXPECT_EQ(allocations_during([&] { ask(s, numbers); }), 0u)
        << static_cast<int>(s.a.type) << " " << static_cast<int>(s.b.type);
}

}  // namespace
}  // namespace articula::testing::repetition_test
