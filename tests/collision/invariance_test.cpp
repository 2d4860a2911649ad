// Contacts do not depend on which shape is named first, nor on where the scene is or how it is turned: the
// same points with the same identities in the same order. ARTICULA_FULL=1 runs all positions.

#include <gtest/gtest.h>

#include <cstdlib>

#include "articula/collision/derivatives.hpp"
#include "tests/support/aligned_scenes.hpp"

namespace articula::testing::invariance_test {
namespace {

using namespace collision;

struct Pair {
  Shape a, b;
  Placement at_a, at_b;
};

struct Manifold {
  ContactPoint points[max_contact_points];
  int count = 0;
};

Manifold contacts(const Pair& p, double margin) {
  Manifold m;
  m.count = collide(p.a, p.at_a, p.b, p.at_b, margin, m.points);
  return m;
}

Pair moved(const Pair& p, const Placement& by) { return {p.a, p.b, by * p.at_a, by * p.at_b}; }

Manifold swapped(const Pair& p, double margin) {
  Manifold m = contacts({p.b, p.a, p.at_b, p.at_a}, margin);
  for (int i = 0; i < m.count; ++i) {
    ContactPoint& c = m.points[i];
    c.normal = -c.normal;
    std::swap(c.feature_a, c.feature_b);
    std::swap(c.face_a, c.face_b);
    c.rule = c.rule == NormalRule::face_a   ? NormalRule::face_b
             : c.rule == NormalRule::face_b ? NormalRule::face_a
                                            : c.rule;
  }
  return m;
}

bool same_identity(const ContactPoint& x, const ContactPoint& y) {
  return x.feature_a == y.feature_a && x.feature_b == y.feature_b && x.rule == y.rule;
}

// How far a contact may go when its bodies move against each other by `noise`, from its derivatives.
double sensitivity(const Pair& p, const ContactPoint& c, double size) {
  const ContactDerivatives d = differentiate(p.a, p.at_a, p.b, p.at_b, c);
  double largest = 1;
  for (int i = 0; i < 12; ++i) {
    const double per_length = i % 6 < 3 ? 1 / size : 1.0;
    largest = std::max(
        {largest, per_length * norm(d.motion[i].position), per_length * norm(d.motion[i].normal) * size});
  }
  return largest;
}

// What differs; `noise` is the length by which rounding may have moved the bodies against each other.
std::string difference(const Pair& p, const Manifold& m, const Manifold& there, const Placement& by,
                       double size, double noise) {
  if (m.count != there.count) return fmt::format("{} contacts instead of {}", there.count, m.count);
  for (int i = 0; i < m.count; ++i) {
    const ContactPoint &c = m.points[i], &t = there.points[i];
    if (!same_identity(c, t)) return fmt::format("contact {} of {} has other features", i, m.count);
    const double allowed = noise * sensitivity(p, c, size);
    const double position = norm(by * c.position - t.position), normal = norm(by.R * c.normal - t.normal);
    const double distance = std::abs(c.distance - t.distance);
    if (!(position <= allowed && normal * size <= allowed && distance <= noise))
      return fmt::format("contact {} of {}: off by {} in position, {} in normal, {} in distance; allowed {}",
                         i, m.count, position, normal, distance, allowed);
  }
  return "";
}

// Two shapes of which nothing says which is the first: equal, and each as the other sees it.
bool is_symmetric(const Pair& p) {
  const bool equal = p.a.type == p.b.type && p.a.size.eigen() == p.b.size.eigen() &&
                     (p.a.hull == p.b.hull || p.a.hull->radius == p.b.hull->radius);
  const Matrix3 A = p.at_a.R.eigen(), B = p.at_b.R.eigen(), R = A.transpose() * B;
  const Vector3 r = (p.at_b.p - p.at_a.p).eigen();
  return equal && (R - R.transpose()).norm() < 1e-12 && ((A + B).transpose() * r).norm() < 1e-12;
}

double least_distance(const Manifold& m) {
  double least = INFINITY;
  for (int i = 0; i < m.count; ++i) least = std::min(least, m.points[i].distance);
  return least;
}

// Ties are decided the same way wherever rounding leaves them ties; far away it does not (`tie`).
std::string check(const Pair& p, double size, double margin, bool tie, Random& random) {
  const Manifold m = contacts(p, margin);
  const double noise = 1e-11 * size;
  const bool symmetric = is_symmetric(p);
  std::string wrong = symmetric ? "" : difference(p, m, swapped(p, margin), {}, size, noise);
  if (!wrong.empty()) return "swapped: " + wrong;
  for (const double far : {0.0, 1.0, 10.0, 1e3, 1e6}) {
    const Mat3 R = Mat3::from(random_rotation(random).toRotationMatrix());
    const Placement by{far == 1e3 ? Mat3::identity() : R,
                       Vec3(Vector3(random_direction(random) * far * size))};
    const Pair there = moved(p, by);
    const Manifold found = contacts(there, margin);
    const double allowed = noise + 64 * 2.2e-16 * (norm(by.p) + norm(p.at_a.p));
    if (tie && far > 1) {
      if (m.count > 0 && !(std::abs(least_distance(m) - least_distance(found)) <= 20 * allowed))
        return fmt::format("at {} sizes: least distance {} instead of {}", far, least_distance(found),
                           least_distance(m));
    } else {
      wrong = difference(p, m, found, by, size, allowed);
      if (!wrong.empty()) return fmt::format("at {} sizes: {}", far, wrong);
    }
    wrong = symmetric ? "" : difference(there, found, swapped(there, margin), {}, size, allowed);
    if (!wrong.empty()) return fmt::format("at {} sizes, swapped: {}", far, wrong);
  }
  return "";
}

class InvariantAligned : public ::testing::TestWithParam<int> {};

TEST_P(InvariantAligned, contacts_are_the_same_in_any_order_and_anywhere) {
  const int stride = std::getenv("ARTICULA_FULL") ? 1 : 41;
  Random random(3);
  int checked = 0, failed = 0;
  visit_aligned_scenes(GetParam(), stride, [&](const AlignedScene& s) {
    const std::string wrong = check({s.a, s.b, s.at_a, s.at_b}, s.size, 0.0123 * s.size, true, random);
    if (!wrong.empty()) ADD_FAILURE() << "scene " << s.number << ": " << wrong;
    ++checked;
    return wrong.empty() || ++failed < 10;
  });
  EXPECT_GT(checked, 50);
}

INSTANTIATE_TEST_SUITE_P(collision, InvariantAligned, ::testing::Range(0, 13), [](const auto& p) {
  return std::string(special_shapes(1.0)[static_cast<std::size_t>(p.param)].name);
});

// Any way, resting on a face but for a small tilt, or nearly parallel; some of very different sizes.
Pair random_pair(Random& random, ShapeType ta, ShapeType tb, int i) {
  const double ratio = i % 4 == 3 ? log_uniform(random, 0.02, 1) : 1.0;
  Pair p{random_shape(random, ta, 1.0), random_shape(random, tb, ratio), {}, {}};
  p.at_a.R = Mat3::from(random_rotation(random).toRotationMatrix());
  p.at_b.R = Mat3::from(random_rotation(random).toRotationMatrix());
  if (i % 3 != 0)
    p.at_b.R =
        p.at_a.R *
        Mat3::from(Eigen::AngleAxisd(i % 3 == 1 ? 0.01 : 3e-4, random_direction(random)).toRotationMatrix());
  const Vector3 n = ta == ShapeType::plane || i % 2 ? Vector3(p.at_a.R.z.eigen()) : random_direction(random);
  p.at_b.p = Vec3(Vector3(0.1 * n + 0.1 * random_direction(random)));
  const double overlap = overlap_along(OracleBody(p.a, p.at_a), OracleBody(p.b, p.at_b), n);
  p.at_b.p += Vec3(Vector3(n * overlap));
  const Distance apart = distance(p.a, p.at_a, p.b, p.at_b);
  p.at_b.p -= apart.normal * (apart.distance - uniform(random, -0.03, 0.001) * ratio);
  return p;
}

class InvariantPair : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(InvariantPair, contacts_are_the_same_in_any_order_and_anywhere) {
  const auto [ta, tb] = GetParam();
  Random random(11);
  const int states = std::getenv("ARTICULA_FULL") ? 10000 : 150;
  int failed = 0, touching = 0;
  for (int i = 0; i < states && failed < 10; ++i) {
    const Pair p = random_pair(random, static_cast<ShapeType>(ta), static_cast<ShapeType>(tb), i);
    const double margin = i % 5 ? 1e-3 : 0.05;
    const double size = std::max({size_of(p.a), size_of(p.b), 0.3});
    const std::string wrong = check(p, size, margin, false, random);
    if (!wrong.empty()) ADD_FAILURE() << "state " << i << ": " << wrong, ++failed;
    touching += contacts(p, margin).count > 0 ? 1 : 0;
  }
  EXPECT_GT(touching, states / 4);
}

std::vector<std::tuple<int, int>> all_pairs() {
  std::vector<std::tuple<int, int>> pairs;
  for (int a = 0; a < 7; ++a)
    for (int b = std::max(1, a); b < 7; ++b) pairs.emplace_back(a, b);
  return pairs;
}

std::string pair_name(const ::testing::TestParamInfo<std::tuple<int, int>>& p) {
  constexpr const char* names[] = {"plane", "sphere", "capsule", "box", "cylinder", "ellipsoid", "mesh"};
  return std::string(names[std::get<0>(p.param)]) + "_" + names[std::get<1>(p.param)];
}

INSTANTIATE_TEST_SUITE_P(collision, InvariantPair, ::testing::ValuesIn(all_pairs()), pair_name);

}  // namespace
}  // namespace articula::testing::invariance_test
