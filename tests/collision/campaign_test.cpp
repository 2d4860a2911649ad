// Signed distances of every pair of bounded shapes against an oracle that shares nothing with the library
// (tests/support/dense_oracle), in eleven kinds of position: near, far, touching, deep, far from the origin,
// aligned, coincident, nearly coincident, nearly aligned, slender, feature on feature; sizes from 1e-3 to
// 1e3. Contacts there are as deep, name features that exist, and have derivatives that are numbers.
// ARTICULA_FULL=1 runs 10,000 positions per pair, ARTICULA_SEED another sequence of them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "articula/collision/derivatives.hpp"
#include "tests/support/dense_oracle.hpp"
#include "tests/support/effort.hpp"

namespace articula::testing {
namespace {

using namespace collision;

bool full() { return std::getenv("ARTICULA_FULL") != nullptr; }
int positions() { return cases(100, 10000); }
unsigned seed() {
  return std::getenv("ARTICULA_SEED") ? static_cast<unsigned>(std::atoi(std::getenv("ARTICULA_SEED"))) : 0;
}

enum Kind {
  near,
  far,
  touching,
  deep,
  off_origin,
  aligned,
  coincident,
  nearly_coincident,
  nearly_aligned,
  slender,
  feature_on_feature,
  kinds
};
constexpr const char* kind_names[] = {"near",
                                      "far",
                                      "touching",
                                      "deep",
                                      "far from the origin",
                                      "aligned",
                                      "coincident",
                                      "nearly coincident",
                                      "nearly aligned",
                                      "slender",
                                      "feature on feature"};

struct Body {
  DenseBody dense;
  Shape shape;
};

// Corners of solids with coplanar, parallel and nearly coplanar faces, and of random ones.
std::vector<Vector3> mesh_points(Random& random, const Vector3& s, int i) {
  std::vector<Vector3> list;
  const auto add = [&](double x, double y, double z) { list.push_back(s.cwiseProduct(Vector3(x, y, z))); };
  switch (i % 7) {
    case 0:  // tetrahedron
      add(1, 1, 1), add(-1, -1, 1), add(-1, 1, -1), add(1, -1, -1);
      break;
    case 1:  // prism on a regular polygon
      for (int k = 0, n = 3 + i / 7 % 7; k < n; ++k)
        for (const double z : {-1.0, 1.0}) add(std::cos(2 * M_PI * k / n), std::sin(2 * M_PI * k / n), z);
      break;
    case 2:  // octahedron
      for (const double r : {-1.0, 1.0}) add(r, 0, 0), add(0, r, 0), add(0, 0, r);
      break;
    case 3:  // a brick whose corners are a little off
    case 4:  // and whose faces bulge
      for (int k = 0; k < 8; ++k) {
        const double off = log_uniform(random, 1e-9, 1e-2);
        add((k & 1 ? 1 : -1) + off * normal(random), (k & 2 ? 1 : -1) + off * normal(random),
            (k & 4 ? 1 : -1) + off * normal(random));
      }
      for (int k = 0; k < 6 && i % 7 == 4; ++k) {
        Vector3 x(0.1 * normal(random), 0.1 * normal(random), 0.1 * normal(random));
        x[k / 2] = (k % 2 ? 1 : -1) * (1 + log_uniform(random, 1e-9, 1e-2));
        add(x[0], x[1], x[2]);
      }
      break;
    default:
      for (int k = 0, n = 5 + static_cast<int>(uniform(random, 0, 20)); k < n; ++k) {
        const Vector3 d = random_direction(random) * (i % 7 == 5 ? 1.0 : uniform(random, 0.3, 1));
        add(d[0], d[1], d[2]);
      }
  }
  return list;
}

Body random_body(Random& random, ShapeType type, double size, bool thin, int i) {
  const auto length = [&] { return size * (thin ? log_uniform(random, 1e-3, 1) : uniform(random, 0.2, 1)); };
  // One of its lengths is `size`, sometimes all.
  Vector3 s(length(), length(), length());
  if (i % 5 == 0) s = Vector3::Constant(size);
  s[i % 3] = size;
  if (type == ShapeType::sphere) s = Vector3(s[0], 0, 0);
  if (type == ShapeType::capsule || type == ShapeType::cylinder) s[2] = 0;
  for (;; ++i) {
    DenseBody dense = type == ShapeType::mesh ? dense_hull(mesh_points(random, s, i)) : dense_body(type, s);
    if (type == ShapeType::mesh && dense.corners.size() < 4) continue;
    Shape shape = library_shape(dense);
    return {std::move(dense), std::move(shape)};
  }
}

Matrix3 quarter_turns(Random& random) {
  Matrix3 R = Matrix3::Identity();
  for (int k = 0; k < 4; ++k) {
    const int axis = static_cast<int>(uniform(random, 0, 2.999)), i = (axis + 1) % 3, j = (axis + 2) % 3;
    Matrix3 quarter = Matrix3::Zero();
    quarter(axis, axis) = 1, quarter(j, i) = 1, quarter(i, j) = -1;
    R = quarter * R;
  }
  return R;
}

Matrix3 any_turn(Random& random) { return random_rotation(random).toRotationMatrix(); }

Vector3 special_direction(Random& random) {
  for (;;) {
    const Vector3 d(std::floor(uniform(random, -1, 2)), std::floor(uniform(random, -1, 2)),
                    std::floor(uniform(random, -1, 2)));
    if (d.norm() > 0) return d.normalized();
  }
}

struct Position {
  Body a, b;
  Matrix3 A, B;
  Vector3 at_a, at_b;
};

Position random_position(Random& random, ShapeType ta, ShapeType tb, Kind kind, int i) {
  const double size = log_uniform(random, 1e-3, 1e3);
  const double other = i % 3 == 0   ? log_uniform(random, 1e-3, 1e3)
                       : i % 3 == 1 ? size
                                    : size * log_uniform(random, 0.1, 10);
  const double smaller = std::min(size, other), larger = std::max(size, other);
  const bool thin = kind == slender || (kind == aligned && i % 4 == 0);
  Position p{random_body(random, ta, size, thin, i),
             random_body(random, tb, other, thin, i + i / 10),
             {},
             {},
             {},
             {}};
  p.A = p.B = any_turn(random);
  if (kind == aligned || kind == nearly_aligned || kind == feature_on_feature ||
      ((kind == coincident || kind == nearly_coincident) && i % 2)) {
    p.A = i % 2 ? Matrix3(Matrix3::Identity()) : p.A;
    p.B = p.A * quarter_turns(random);
    if (i % 4 == 3) p.B = p.B * Eigen::AngleAxisd(M_PI / 4, Vector3::Unit(i % 3)).toRotationMatrix();
    if (kind == nearly_aligned)
      p.B = p.B *
            Eigen::AngleAxisd(log_uniform(random, 1e-16, 1e-2), random_direction(random)).toRotationMatrix();
  } else
    p.B = any_turn(random);
  const double reach = kind == off_origin ? log_uniform(random, 1, 1e6)
                       : i % 2            ? 0.0
                                          : uniform(random, 0, 10);
  p.at_a = random_direction(random) * larger * reach;
  const bool special = kind == aligned || kind == nearly_aligned || kind == feature_on_feature;
  const Vector3 n = special ? Vector3(p.A * special_direction(random)) : random_direction(random);
  if (kind == far) {
    p.at_b = p.at_a + n * larger * log_uniform(random, 3, 1e3);
    return p;
  }
  if (kind == nearly_coincident) {
    const Vector3 off = i % 3 ? n : Vector3(p.A * special_direction(random));
    p.at_b = p.at_a + larger * log_uniform(random, 1e-14, 0.1) * off;
    return p;
  }
  if (kind == coincident || kind == deep) {
    p.at_b = p.at_a + (kind == deep ? larger * log_uniform(random, 1e-9, 0.5) : 0.0) * n;
    return p;
  }
  // Aside by nothing, or by as much as brings edges and corners over each other; then to the surface along n.
  Vector3 aside = Vector3::Zero();
  for (int k = 0; k < 3; ++k)
    aside +=
        p.A.col(k) * (kind == aligned || kind == nearly_aligned
                          ? (p.a.dense.size[k] + p.b.dense.size[k] * std::floor(uniform(random, -1, 2))) *
                                std::floor(uniform(random, -1, 2))
                      : kind == feature_on_feature ? 0.0
                                                   : smaller * uniform(random, -1, 1));
  const double overlap = overlap_along({&p.a.dense, &p.b.dense, p.A, p.B, aside - n * n.dot(aside)}, n);
  const double gap = kind == touching || kind == feature_on_feature || i % 3 == 0
                         ? (i % 2 ? 0.0 : smaller * log_uniform(random, 1e-14, 1e-4) * (i % 4 ? 1 : -1))
                     : special ? smaller * std::floor(uniform(random, -3, 3)) * 0.25
                               : smaller * uniform(random, -0.5, 0.5);
  p.at_b = p.at_a + aside - n * n.dot(aside) + n * (overlap + gap);
  return p;
}

// The largest of what can be wrong with a distance, as a length.
double error_of(const Position& p, const Distance& d, double noise, Random& random) {
  const Vector3 n = d.normal.eigen(), xa = d.point_a.eigen(), xb = d.point_b.eigen();
  if (!n.allFinite() || !xa.allFinite() || !xb.allFinite() || !std::isfinite(d.distance)) return INFINITY;
  const DensePair pair{&p.a.dense, &p.b.dense, p.A, p.B, p.at_b - p.at_a};
  const double size = std::max(p.a.dense.extent(), p.b.dense.extent());
  const double along = std::abs(overlap_along(pair, n) + d.distance);
  const double off = (xb - xa - n * d.distance).norm() + std::abs(n.norm() - 1) * size;
  const double beyond = std::max(outside(p.a.dense, p.A.transpose() * (xa - p.at_a)),
                                 outside(p.b.dense, p.B.transpose() * (xb - p.at_b)));
  if (!(d.distance > 0)) return std::max({off, along, beyond, -d.distance - least_overlap(pair, n, random)});
  // Apart: points of the bodies above, gaps below, nothing is left between. The way between points that
  // nearly touch has a direction only up to rounding over its length, and shapes as large as they are reach
  // beyond it by as much.
  const double turned = std::min(noise / d.distance, 1e-3) * size;
  return std::max({off, beyond, along - turned, d.distance - widest_gap(pair, n, random)});
}

bool exists(const Shape& shape, Feature f) {
  if (shape.type != ShapeType::mesh) return f.index >= 0;
  const Hull& hull = *shape.hull;
  const int count = f.kind == FeatureKind::point  ? hull.vertex_count()
                    : f.kind == FeatureKind::line ? static_cast<int>(hull.edge_end.size())
                                                  : hull.face_count();
  return f.index >= 0 && f.index < count;
}

bool finite(const ContactRate& r) {
  return r.position.eigen().allFinite() && r.normal.eigen().allFinite() && std::isfinite(r.distance);
}

// What is wrong with the contacts of a pair, and with their derivatives; empty if nothing.
std::string wrong_contacts(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                           const Distance& d, double size) {
  ContactPoint points[max_contact_points];
  const double margin = 0.01 * size;
  const int count = collide(a, at_a, b, at_b, margin, points);
  if ((count > 0) != (d.distance <= margin) && std::abs(d.distance - margin) > 1e-8 * size)
    return fmt::format("{} contacts at a distance of {}", count, d.distance);
  double least = INFINITY;
  for (int i = 0; i < count; ++i) {
    const ContactPoint& c = points[i];
    least = std::min(least, c.distance);
    if (!exists(a, c.feature_a) || !exists(b, c.feature_b)) return "a feature that does not exist";
    if (!(std::abs(norm(c.normal) - 1) < 1e-12)) return "a normal that is not a unit vector";
    bool numbers = c.position.eigen().allFinite();
    for (const ContactRate& r : differentiate(a, at_a, b, at_b, c).motion) numbers &= finite(r);
    for (const ContactRate& r : differentiate_sizes(a, at_a, b, at_b, c).size) numbers &= finite(r);
    const VertexDerivatives vertices = differentiate_vertices(a, at_a, b, at_b, c);
    for (int k = 0; k < vertices.count; ++k)
      for (const ContactRate& r : vertices.entries[k].coordinate) numbers &= finite(r);
    if (!numbers) return "derivatives that are not numbers";
  }
  // The normal of faces is up to flat_angle off that of the nearest points.
  const double allowed = flat_angle * flat_angle * size + 1e-3 * std::abs(d.distance);
  if (count > 0 && !(std::abs(least - d.distance) <= allowed))
    return fmt::format("a least contact of {} at a distance of {}", least, d.distance);
  return "";
}

// Every position has a sequence of its own: one that is wrong can be repeated alone.
Random::result_type position_seed(ShapeType ta, ShapeType tb, int i) {
  return 1000003ull * seed() + 100000ull * (static_cast<unsigned>(ta) * 8 + static_cast<unsigned>(tb)) +
         static_cast<unsigned>(i);
}

class Campaign : public ::testing::TestWithParam<std::tuple<ShapeType, ShapeType>> {};

TEST_P(Campaign, distances_are_those_of_a_dense_search) {
  const auto [ta, tb] = GetParam();
  double worst[kinds] = {};
  int wrong[kinds] = {}, count[kinds] = {}, overlapping = 0;
  for (int i = 0; i < positions(); ++i) {
    Random random(position_seed(ta, tb, i));
    const Kind kind = static_cast<Kind>(i % kinds);
    const Position p = random_position(random, ta, tb, kind, i / kinds);
    const Placement at_a{Mat3::from(p.A), Vec3(p.at_a)}, at_b{Mat3::from(p.B), Vec3(p.at_b)};
    const Distance d = distance(p.a.shape, at_a, p.b.shape, at_b);
    const bool polyhedra = p.a.dense.polyhedral() && p.b.dense.polyhedral();
    const double size = std::max(p.a.dense.extent(), p.b.dense.extent());
    const double allowed =
        (polyhedra ? 1e-10 : 1e-8) * size + 64 * 2.2e-16 * std::max(p.at_a.norm(), p.at_b.norm());
    const double noise = 1e-12 * size + 64 * 2.2e-16 * std::max(p.at_a.norm(), p.at_b.norm());
    const double error = error_of(p, d, noise, random);
    ++count[kind];
    overlapping += d.distance < 0 ? 1 : 0;
    worst[kind] = std::max(worst[kind], error / allowed);
    const std::string contacts = wrong_contacts(p.a.shape, at_a, p.b.shape, at_b, d, size);
    if (error <= allowed && d.exact && contacts.empty()) continue;
    if (++wrong[kind] < 4)
      ADD_FAILURE() << fmt::format(
          "position {} ({}): distance {} of sizes {} and {}, off by {}, allowed {}{} {}", i, kind_names[kind],
          d.distance, p.a.dense.extent(), p.b.dense.extent(), error, allowed, d.exact ? "" : ", not exact",
          contacts);
  }
  for (int k = 0; k < kinds; ++k) {
    if (full())
      fmt::print("{:20} {:5} positions, {:3} wrong, worst {:.1e} of what is allowed\n", kind_names[k],
                 count[k], wrong[k], worst[k]);
    EXPECT_EQ(wrong[k], 0) << kind_names[k];
  }
  if (full()) fmt::print("{} of {} overlap\n", overlapping, positions());
  EXPECT_GE(overlapping, positions() / 5);
}

constexpr const char* type_names[] = {"plane", "sphere", "capsule", "box", "cylinder", "ellipsoid", "mesh"};

std::vector<std::tuple<ShapeType, ShapeType>> all_pairs() {
  std::vector<std::tuple<ShapeType, ShapeType>> pairs;
  for (int a = 1; a < 7; ++a)
    for (int b = a; b < 7; ++b) pairs.emplace_back(static_cast<ShapeType>(a), static_cast<ShapeType>(b));
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(collision, Campaign, ::testing::ValuesIn(all_pairs()), [](const auto& p) {
  return std::string(type_names[static_cast<int>(std::get<0>(p.param))]) + "_" +
         type_names[static_cast<int>(std::get<1>(p.param))];
});

class PlaneCampaign : public ::testing::TestWithParam<int> {};

// The height of the lowest point above a plane that lies anywhere, and contacts that are as low.
TEST_P(PlaneCampaign, distances_are_heights_of_lowest_points) {
  const ShapeType type = static_cast<ShapeType>(GetParam());
  double worst = 0;
  for (int i = 0; i < positions(); ++i) {
    Random random(position_seed(ShapeType::plane, type, i));
    const double size = log_uniform(random, 1e-3, 1e3);
    const Body body = random_body(random, type, size, i % 4 == 0, i);
    const Matrix3 A = i % 3 ? any_turn(random) : Matrix3(Matrix3::Identity());
    const Matrix3 B = i % 5 ? any_turn(random) : Matrix3(A * quarter_turns(random));
    const Vector3 n = A.col(2),
                  at_a = random_direction(random) * size * (i % 2 ? 0.0 : log_uniform(random, 1, 1e6));
    // Lowest point at a height that is nothing, little, or up to several sizes.
    const double below = reach(body.dense, -(B.transpose() * n));
    const double height = i % 7 == 0 ? 0.0
                                     : size * (i % 2 ? uniform(random, -2, 3)
                                                     : (i % 4 ? 1 : -1) * log_uniform(random, 1e-14, 1e-2));
    const Vector3 along = n.cross(random_direction(random)).normalized() * size * uniform(random, -3, 3);
    const Vector3 at_b = at_a + along + n * (height + below);
    const Placement pa{Mat3::from(A), Vec3(at_a)}, pb{Mat3::from(B), Vec3(at_b)};
    const double truth = n.dot(at_b - at_a) - below;
    const double allowed =
        (body.dense.polyhedral() ? 1e-10 : 1e-8) * size + 64 * 2.2e-16 * std::max(at_a.norm(), at_b.norm());
    const Distance d = distance(Shape::plane(), pa, body.shape, pb),
                   turned = distance(body.shape, pb, Shape::plane(), pa);
    double error = std::max({std::abs(d.distance - truth), std::abs(turned.distance - truth),
                             (d.normal.eigen() - n).norm() * size});
    error = std::max(error, outside(body.dense, B.transpose() * (d.point_b.eigen() - at_b)));
    ContactPoint points[max_contact_points];
    const int count = collide(Shape::plane(), pa, body.shape, pb, 0.5 * size, points);
    double lowest = INFINITY;
    for (int k = 0; k < count; ++k) lowest = std::min(lowest, points[k].distance);
    if (truth < 0.49 * size) {
      ASSERT_GT(count, 0) << "position " << i;
      // A standing cylinder has fixed rim points, which the lowest point lies between; of corners that are
      // equally low but for 1e-6 of how far they are from each other the first counts.
      double farthest = 0;
      for (const Vector3& c : body.dense.corners) farthest = std::max(farthest, c.norm());
      const double between = type == ShapeType::cylinder ? 0.02 * size : 1e-6 * 2 * farthest;
      EXPECT_LE(std::abs(lowest - truth), allowed + between) << "position " << i;
    }
    worst = std::max(worst, error / allowed);
    EXPECT_LE(error, allowed) << "position " << i;
  }
  if (full()) fmt::print("worst {:.1e} of what is allowed\n", worst);
}

INSTANTIATE_TEST_SUITE_P(collision, PlaneCampaign, ::testing::Range(1, 7),
                         [](const auto& p) { return std::string(type_names[p.param]); });

}  // namespace
}  // namespace articula::testing
