// Faces flush, edges parallel, axes aligned and across, corners on corners, edges and faces, centres that
// coincide, one shape inside the other: every pair in every such position, against the oracle, and with
// derivatives that are numbers. ARTICULA_FULL=1 runs all of them.

#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/collision/derivatives.hpp"
#include "tests/support/aligned_scenes.hpp"

namespace articula::testing::aligned_pairs_test {
namespace {

using namespace collision;

bool is_polyhedral(const Shape& s) { return s.type == ShapeType::box || s.type == ShapeType::mesh; }

bool finite(const ContactRate& r) {
  return r.position.eigen().allFinite() && r.normal.eigen().allFinite() && std::isfinite(r.distance);
}

// Numbers everywhere, and the deepest contact as deep as the distance says.
void check_contacts(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                    const Distance& d, double size) {
  ContactPoint points[max_contact_points], swapped[max_contact_points];
  const int count = collide(a, at_a, b, at_b, 0.01 * size, points);
  ASSERT_EQ(count > 0, d.distance <= 0.01 * size) << count << " contacts at " << d.distance;
  double least = INFINITY;
  for (int i = 0; i < count; ++i) {
    const ContactPoint& c = points[i];
    least = std::min(least, c.distance);
    EXPECT_NEAR(norm(c.normal), 1.0, 1e-12);
    EXPECT_TRUE(c.position.eigen().allFinite());
    const ContactDerivatives motion = differentiate(a, at_a, b, at_b, c);
    for (const ContactRate& r : motion.motion) EXPECT_TRUE(finite(r));
    for (const ContactRate& r : differentiate_sizes(a, at_a, b, at_b, c).size) EXPECT_TRUE(finite(r));
    const VertexDerivatives vertices = differentiate_vertices(a, at_a, b, at_b, c);
    for (int k = 0; k < vertices.count; ++k)
      for (const ContactRate& r : vertices.entries[k].coordinate) EXPECT_TRUE(finite(r));
    if (c.degenerate) EXPECT_TRUE(motion.one_sided);
  }
  if (count > 0) EXPECT_NEAR(least, d.distance, flat_angle * flat_angle * size + 1e-3 * std::abs(d.distance));
  // In the other order: the same contacts with the normals turned round, except where nothing tells the two
  // shapes apart.
  if (collide(b, at_b, a, at_a, 0.01 * size, swapped) != count) ADD_FAILURE() << "another number of contacts";
  for (int i = 0; i < count; ++i) EXPECT_NEAR(points[i].distance, swapped[i].distance, 1e-12 * size);
}

class AlignedPair : public ::testing::TestWithParam<int> {};

TEST_P(AlignedPair, agrees_with_the_oracle_and_has_derivatives_that_are_numbers) {
  const int stride = std::getenv("ARTICULA_FULL") ? 1 : 29;
  Random random(1);
  int checked = 0;
  visit_aligned_scenes(GetParam(), stride, [&](const AlignedScene& s) {
    const double tolerance = is_polyhedral(s.a) && is_polyhedral(s.b) ? 1e-10 : 1e-8;
    const Distance d = distance(s.a, s.at_a, s.b, s.at_b);
    EXPECT_TRUE(d.exact);
    EXPECT_LE(distance_error(s.a, s.at_a, s.b, s.at_b, d, random, 60), tolerance * s.size);
    EXPECT_NEAR(distance(s.b, s.at_b, s.a, s.at_a).distance, d.distance, 1e-12 * s.size);
    check_contacts(s.a, s.at_a, s.b, s.at_b, d, s.size);
    ++checked;
    if (HasFailure()) ADD_FAILURE() << "number " << s.number;
    return !HasFailure();
  });
  EXPECT_GT(checked, 50);
}

INSTANTIATE_TEST_SUITE_P(collision, AlignedPair, ::testing::Range(0, 13), [](const auto& p) {
  return std::string(special_shapes(1.0)[static_cast<std::size_t>(p.param)].name);
});

}  // namespace
}  // namespace articula::testing::aligned_pairs_test
