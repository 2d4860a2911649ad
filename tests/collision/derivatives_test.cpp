// Derivatives of contacts against Ridders' differences of the whole narrow phase, for every pair and every
// kind of contact it has, each reached by states aimed at its features. ARTICULA_FULL=1 runs the acceptance
// sizes: 1,000 states per kind.

#include "articula/collision/derivatives.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/support/aimed_scenes.hpp"
#include "tests/support/convex_oracle.hpp"
#include "tests/support/effort.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::derivatives_test {
namespace {

using namespace collision;
using Columns = std::vector<std::pair<VectorX, std::function<VectorX(double)>>>;

bool full() { return std::getenv("ARTICULA_FULL") != nullptr; }
int states() { return cases(24, 1000); }

using Scene = AimedScene;

Mat3 rotation(const Vector3& w) {
  const double angle = w.norm();
  if (angle == 0) return Mat3::identity();
  return Mat3::from(Eigen::AngleAxisd(angle, w / angle).toRotationMatrix());
}

// Moved by a twist about a point, for a time h.
Placement moved(const Placement& at, const Vec3& about, const Vector3& w, const Vector3& v, double h) {
  const Mat3 R = rotation(w * h);
  return {R * at.R, about + R * (at.p - about) + Vec3(v) * h};
}

// Where a roller comes to lie on a face its contacts move from the face to the roller at once.
bool same(const ContactPoint& a, const ContactPoint& b) {
  return a.feature_a == b.feature_a && a.feature_b == b.feature_b && a.rule == b.rule &&
         a.face_a == b.face_a && a.face_b == b.face_b && std::abs(a.lean - b.lean) < 0.5;
}

bool is_convex(const Hull& hull);

// The contact with the same features, near the same place, in a changed scene; not numbers if there is none.
VectorX find(const Scene& s, const ContactPoint& wanted, double margin) {
  for (const Shape* shape : {&s.a, &s.b})
    if (shape->hull && !is_convex(*shape->hull)) return VectorX::Constant(7, std::nan(""));
  ContactPoint points[max_contact_points];
  const int count = collide(s.a, s.at_a, s.b, s.at_b, margin, points);
  for (int i = 0; i < count; ++i)
    if (same(points[i], wanted) && norm(points[i].position - wanted.position) < 0.1) {
      VectorX value(7);
      value << points[i].position.eigen(), points[i].normal.eigen(), points[i].distance;
      return value;
    }
  return VectorX::Constant(7, std::nan(""));
}

VectorX flatten(const ContactRate& r) {
  VectorX v(7);
  v << r.position.eigen(), r.normal.eigen(), r.distance;
  return v;
}

struct Tally {
  int checked = 0, left_out = 0, one_sided = 0, wrong = 0;
  double worst = 0;
  std::string where;        // of the worst
  std::vector<Scene> seen;  // some of the scenes it was in
  int total() const { return checked + left_out + one_sided; }
};

constexpr const char* feature_names[] = {"point", "line", "face", "circle", "surface"};
std::string meeting_of(FeatureKind a, FeatureKind b) {
  return std::string(feature_names[static_cast<int>(a)]) + "-" + feature_names[static_cast<int>(b)];
}

// Features, where the normal comes from, and whether there is a nearer contact of the pair.
std::string kind_of(const ContactPoint& c, double least) {
  constexpr const char* rules[] = {"", " by a's face", " by b's face", " by both faces"};
  return meeting_of(c.feature_a.kind, c.feature_b.kind) + rules[static_cast<int>(c.rule)] +
         (c.rule == NormalRule::features && c.distance > least + 1e-9 ? " beside" : "");
}

constexpr double accuracy = 1e-6;

// A difference of each column, and how well it is known itself.
struct Reference {
  std::vector<Differences> columns;
  double scale = 0;  // the largest number in it

  // What errors of component k of column i are relative to.
  double unit(std::size_t i, int k) const {
    return std::max({std::abs(columns[i].derivative[k]), 1e-3 * scale, 1e-9});
  }
  // Whether the differences settled to what they are to prove.
  bool settled() const {
    for (std::size_t i = 0; i < columns.size(); ++i)
      for (int k = 0; k < 7; ++k)
        if (!(columns[i].error[k] <= accuracy * unit(i, k))) return false;
    return true;
  }
};

// What rounding does to the numbers of a contact: fourth differences at steps so short that nothing else is
// left (second ones still see the curvature of nearly parallel lines' crossing).
double rounding_of(const std::function<VectorX(double)>& f) {
  const VectorX middle = f(0);
  double most = 0;
  for (const double h : {1e-9, 1.7e-9, 2.3e-9, 3.1e-9, 4.3e-9}) {
    const VectorX fourth = f(2 * h) + f(-2 * h) - 4 * (f(h) + f(-h)) + 6 * middle;
    most = std::max(most, fourth.cwiseAbs().maxCoeff() / 3);  // as large as second differences are
  }
  return most;
}

// Steps that straddle a change of features do not exist: the first that does not, and shorter ones only until
// the differences settle. None is shorter than 1e-6 (of shapes of size 1).
Reference differences_of(const Columns& columns, double step) {
  Reference reference;
  reference.columns.assign(
      columns.size(), {VectorX::Constant(7, std::nan("")), VectorX::Constant(7, INFINITY), VectorX::Zero(7)});
  std::vector<double> rounding;
  for (const auto& column : columns) rounding.push_back(rounding_of(column.second));
  for (double first = step; first >= 1e-6 && !reference.settled(); first *= 0.4) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Differences d = ridders_differences(columns[i].second, first, false, rounding[i]);
      if (d.derivative.allFinite()) keep_better(reference.columns[i], d);
    }
    reference.scale = 0;
    for (const Differences& d : reference.columns)
      if (d.derivative.allFinite())
        reference.scale = std::max(reference.scale, d.derivative.cwiseAbs().maxCoeff());
  }
  return reference;
}

// Relative errors as in the bench: of each number against itself or a thousandth of the largest. A state so
// near to a change of features that its differences do not settle is left out, and counted.
void check(const Columns& columns, Tally& tally, double step) {
  const Reference reference = differences_of(columns, step);
  if (!reference.settled()) {
    ++tally.left_out;
    return;
  }
  double worst = 0;
  std::string where;
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (int k = 0; k < 7; ++k) {
      const double analytic = columns[i].first[k], difference = reference.columns[i].derivative[k];
      const double error = std::abs(analytic - difference) / reference.unit(i, k);
      if (error <= worst) continue;
      worst = error;
      where = fmt::format("column {} component {}: {} instead of {}, scale {}", i, k, analytic, difference,
                          reference.scale);
    }
  ++tally.checked;
  if (!(worst < accuracy)) ++tally.wrong;
  if (worst > tally.worst) tally.worst = worst, tally.where = where;
}

// Points and lines turn about each other at the distance of their cores, and nearly parallel lines cross at a
// place that runs away: the first step is well below either.
double first_step(const Scene& s, const ContactPoint& c) {
  const auto straight = [](Feature f) { return f.kind == FeatureKind::point || f.kind == FeatureKind::line; };
  if (c.rule != NormalRule::features || !straight(c.feature_a) || !straight(c.feature_b)) return 1e-3;
  double cores = c.distance;
  for (const Shape* shape : {&s.a, &s.b})
    if (shape->type == ShapeType::sphere || shape->type == ShapeType::capsule ||
        shape->type == ShapeType::cylinder)
      cores += shape->size[0];
  double fastest = 1;
  for (const ContactRate& r : differentiate(s.a, s.at_a, s.b, s.at_b, c).motion)
    fastest = std::max(fastest, norm(r.position));
  return std::min(std::clamp(0.25 * std::abs(cores), 1e-5, 1e-3), std::max(0.1 / fastest, 1e-6));
}

// One side alone has the rates it has beside the other, and normals that are said to stay do.
void check_sides(const Scene& s, const ContactPoint& c, const ContactDerivatives& both) {
  for (int side = 0; side < 2; ++side) {
    ContactDerivatives alone;
    differentiate(s.a, s.at_a, s.b, s.at_b, c, side == 0, side == 1, alone);
    EXPECT_EQ(alone.one_sided, both.one_sided);
    for (int i = 6 * side; i < 6 * side + 6; ++i) {
      const VectorX rate = flatten(both.motion[i]);
      EXPECT_LE((flatten(alone.motion[i]) - rate).norm(), 1e-13 * (1.0 + rate.norm()));
      if (!alone.turns) EXPECT_EQ(norm(both.motion[i].normal), 0.0);
    }
  }
}

void check_contact(const Scene& s, const ContactPoint& c, double margin, Tally& tally) {
  const ContactDerivatives d = differentiate(s.a, s.at_a, s.b, s.at_b, c);
  check_sides(s, c, d);
  if (d.one_sided) {
    ++tally.one_sided;
    for (const ContactRate& r : d.motion) EXPECT_TRUE(flatten(r).allFinite());
    return;
  }
  Columns columns;
  for (int i = 0; i < 12; ++i) {
    const bool of_b = i >= 6, linear = i % 6 >= 3;
    const Vector3 axis = Vector3::Unit(i % 3), w = linear ? Vector3::Zero() : axis,
                  v = linear ? axis : Vector3::Zero();
    columns.emplace_back(flatten(d.motion[i]), [=](double h) {
      Scene t = s;
      (of_b ? t.at_b : t.at_a) = moved(of_b ? s.at_b : s.at_a, c.position, w, v, h);
      return find(t, c, margin);
    });
  }
  const SizeDerivatives sizes = differentiate_sizes(s.a, s.at_a, s.b, s.at_b, c);
  for (int i = 0; i < 6; ++i) {
    const bool of_b = i >= 3;
    if ((of_b ? s.b : s.a).type == ShapeType::mesh) continue;
    columns.emplace_back(flatten(sizes.size[i]), [=](double h) {
      Scene t = s;
      (of_b ? t.b : t.a).size.lanes[i % 3] += h;
      return find(t, c, margin);
    });
  }
  check(columns, tally, first_step(s, c));
}

// A hull with the same triangles whose vertices have moved.
Shape with_vertices(const Shape& mesh, const std::function<Vec3(int, Vec3)>& move) {
  auto hull = std::make_shared<Hull>(*mesh.hull);
  for (int v = 0; v < hull->vertex_count(); ++v) hull->vertices[v] = move(v, mesh.hull->vertices[v]);
  update_places(*hull);
  for (int f = 0; f < hull->face_count(); ++f) {
    const auto at = [&](int i) { return hull->vertices[hull->face_loop[hull->face_begin[f] + i]]; };
    const Vec3 n = cross(at(1) - at(0), at(2) - at(0));
    hull->face_normal[f] = n * (1.0 / norm(n));
    hull->face_offset[f] = dot(hull->face_normal[f], at(0));
  }
  return Shape::mesh(hull);
}

// An edge between nearly coplanar triangles may have become a valley: that hull has other features.
bool is_convex(const Hull& hull) {
  for (int f = 0; f < hull.face_count(); ++f)
    for (const Vec3& v : hull.vertices)
      if (dot(hull.face_normal[f], v) > hull.face_offset[f] + 1e-12) return false;
  return true;
}

void check_mesh(const Scene& s, const ContactPoint& c, double margin, Tally& tally) {
  const SizeDerivatives sizes = differentiate_sizes(s.a, s.at_a, s.b, s.at_b, c);
  const VertexDerivatives vertices = differentiate_vertices(s.a, s.at_a, s.b, s.at_b, c);
  if (sizes.one_sided) return;
  Columns columns;
  for (const bool of_b : {false, true}) {
    const Shape& mesh = of_b ? s.b : s.a;
    if (mesh.type != ShapeType::mesh) continue;
    for (int k = 0; k < 3; ++k)
      columns.emplace_back(flatten(sizes.size[3 * of_b + k]), [=](double h) {
        Scene t = s;
        (of_b ? t.b : t.a) = with_vertices(of_b ? s.b : s.a, [&](int, Vec3 v) {
          v.lanes[k] *= 1 + h;
          return v;
        });
        return find(t, c, margin);
      });
    // One random direction per vertex the contact depends on; a vertex may have several entries.
    std::map<int, VectorX> rates;
    const Vec3 direction(0.48, -0.6, 0.64);
    for (int e = 0; e < vertices.count; ++e) {
      if (vertices.entries[e].of_b != of_b) continue;
      VectorX sum = VectorX::Zero(7);
      for (int k = 0; k < 3; ++k) sum += flatten(vertices.entries[e].coordinate[k]) * direction[k];
      const auto [it, fresh] = rates.try_emplace(vertices.entries[e].vertex, sum);
      if (!fresh) it->second += sum;
    }
    for (const auto& [vertex, rate] : rates)
      columns.emplace_back(rate, [=](double h) {
        Scene t = s;
        (of_b ? t.b : t.a) = with_vertices(
            of_b ? s.b : s.a, [&](int v, Vec3 x) { return v == vertex ? x + direction * h : x; });
        return find(t, c, margin);
      });
  }
  check(columns, tally, first_step(s, c));
}

// Random poses at a random gap or overlap; every third nearly flat on a face or nearly parallel.
Scene random_scene(Random& random, ShapeType ta, ShapeType tb, int i) {
  Scene s{random_shape(random, ta, 1.0), random_shape(random, tb, 1.0), {}, {}};
  s.at_a.R = Mat3::from(random_rotation(random).toRotationMatrix());
  s.at_b.R = Mat3::from(random_rotation(random).toRotationMatrix());
  Vector3 n = random_direction(random);
  if (i % 3 != 0) {
    // Stand B on A's z face (or lay it on its side), tilted a little and turned about the normal.
    const double tilt = i % 3 == 1 ? 3e-3 : 0.2;
    const Mat3 turn = rotation(Vector3(0, 0, uniform(random, 0, 6)));
    const Mat3 lie = i % 2 ? Mat3::identity() : rotation(Vector3(M_PI / 2, 0, 0));
    s.at_b.R = s.at_a.R * (rotation(random_direction(random) * tilt) * (turn * lie));
    n = s.at_a.R.z.eigen();
    // Lying capsules and cylinders under something else.
    if (i % 4 == 2) {
      n = s.at_a.R.x.eigen();
      s.at_b.R = s.at_a.R * (rotation(Vector3(0, M_PI / 2, 0)) *
                             (rotation(random_direction(random) * tilt) * (turn * lie)));
    }
  }
  s.at_a.p = Vec3(Vector3(random_direction(random)));
  if (ta == ShapeType::plane) n = s.at_a.R.z.eigen();
  s.at_b.p = s.at_a.p + Vec3(Vector3(n * 0.1 + 0.2 * s.at_a.R.x.eigen() * uniform(random, -1, 1)));
  const double overlap = overlap_along(OracleBody(s.a, s.at_a), OracleBody(s.b, s.at_b), n);
  s.at_b.p += Vec3(Vector3(n * (overlap + uniform(random, -0.1, 0.02))));
  return s;
}

class DerivativesOfPair : public ::testing::TestWithParam<std::tuple<ShapeType, ShapeType>> {};

// The contacts of a scene whose kinds are not yet seen often enough.
using Tallies = std::map<std::string, Tally>;
void check_scene(const Scene& s, Tallies& tallies) {
  constexpr double margin = 0.05;
  ContactPoint points[max_contact_points];
  const int count = collide(s.a, s.at_a, s.b, s.at_b, margin, points);
  double least = INFINITY;
  for (int k = 0; k < count; ++k) least = std::min(least, points[k].distance);
  for (int k = 0; k < count; ++k) {
    const std::string kind = kind_of(points[k], least);
    Tally& tally = tallies[kind];
    Tally& of_mesh = tallies[kind + ", mesh"];
    if (tally.total() >= states()) continue;
    const int left_out = tally.left_out + of_mesh.left_out;
    check_contact(s, points[k], margin, tally);
    if (s.a.type == ShapeType::mesh || s.b.type == ShapeType::mesh) check_mesh(s, points[k], margin, of_mesh);
    const bool clear = tally.left_out + of_mesh.left_out == left_out;
    if (clear && tally.seen.size() < 64) tally.seen.push_back(s);
  }
}

// Kinds that aims and chance seldom meet: scenes beside those in which they were seen, away from switches.
void check_rare_kinds(Random& random, Tallies& tallies) {
  std::vector<std::string> kinds;
  for (const auto& [kind, tally] : tallies)
    if (!tally.seen.empty()) kinds.push_back(kind);
  for (const std::string& kind : kinds) {
    Tally& tally = tallies[kind];
    for (int i = 0; i < 40 * states() && tally.total() < states(); ++i) {
      Scene s = tally.seen[static_cast<std::size_t>(i) % tally.seen.size()];
      s.at_b = moved(s.at_b, s.at_b.p, random_direction(random), random_direction(random),
                     log_uniform(random, 1e-3, 0.1));
      check_scene(s, tallies);
    }
  }
}

// A face meets faces and lines at corners and crossings.
bool can_meet(FeatureKind a, FeatureKind b) {
  const auto flat = [](FeatureKind k) { return k == FeatureKind::face || k == FeatureKind::line; };
  return !(flat(a) && flat(b)) || (a == FeatureKind::line && b == FeatureKind::line);
}

// States in which two kinds of features met and whose derivatives were compared.
int compared(const Tallies& tallies, FeatureKind a, FeatureKind b) {
  int sum = 0;
  for (const auto& [kind, tally] : tallies)
    if (kind.starts_with(meeting_of(a, b)) && !kind.ends_with("mesh")) sum += tally.checked;
  return sum;
}

// None is wrong, and few are beside a switch.
void expect_right(const Tallies& tallies) {
  for (const auto& [kind, tally] : tallies) {
    ::testing::Test::RecordProperty(kind, tally.total());
    if (full())
      fmt::print("{:40} checked {:5} left out {:3} one-sided {:3} wrong {:3} worst {:.1e}\n", kind,
                 tally.checked, tally.left_out, tally.one_sided, tally.wrong, tally.worst);
    EXPECT_EQ(tally.wrong, 0) << kind << ": " << tally.worst << ", " << tally.where;
    // At few states the share says nothing.
    if (tally.total() == states()) {
      EXPECT_LE(tally.left_out + tally.one_sided, 0.05 * tally.total() + (full() ? 0 : 2))
          << kind << " " << tally.checked;
    }
  }
}

TEST_P(DerivativesOfPair, agree_with_ridders_differences) {
  const auto [ta, tb] = GetParam();
  Random random(7 + static_cast<unsigned>(ta) * 8 + static_cast<unsigned>(tb));
  std::vector<std::pair<FeatureKind, FeatureKind>> aims;
  for (const FeatureKind a : feature_kinds(ta))
    for (const FeatureKind b : feature_kinds(tb)) aims.emplace_back(a, b);
  Tallies tallies;
  const int attempts = 4 * states();
  for (int i = 0; i < attempts; ++i) {
    for (const auto& [a, b] : aims) check_scene(aimed_scene(random, ta, a, tb, b, 1.0), tallies);
    check_scene(random_scene(random, ta, tb, i), tallies);
  }
  if (full()) check_rare_kinds(random, tallies);
  for (const auto& [a, b] : aims)
    if (!sanitized && can_meet(a, b)) {
      EXPECT_GE(compared(tallies, a, b), 0.9 * states()) << meeting_of(a, b);
    }
  expect_right(tallies);
}

std::vector<std::tuple<ShapeType, ShapeType>> all_pairs() {
  std::vector<std::tuple<ShapeType, ShapeType>> pairs;
  for (int a = 0; a < 7; ++a)
    for (int b = std::max(1, a); b < 7; ++b)
      pairs.emplace_back(static_cast<ShapeType>(a), static_cast<ShapeType>(b));
  return pairs;
}

constexpr const char* type_names[] = {"plane",    "sphere",    "capsule", "box",
                                      "cylinder", "ellipsoid", "mesh",    "field"};

std::string pair_name(const ::testing::TestParamInfo<std::tuple<ShapeType, ShapeType>>& p) {
  return std::string(type_names[static_cast<int>(std::get<0>(p.param))]) + "_" +
         type_names[static_cast<int>(std::get<1>(p.param))];
}

INSTANTIATE_TEST_SUITE_P(collision, DerivativesOfPair, ::testing::ValuesIn(all_pairs()), pair_name);

class DerivativesOnTerrain : public ::testing::TestWithParam<ShapeType> {};

// Above the middle of a field that may lie anywhere, down or up to a small gap or overlap; every third sinks
// deep into it, or stands beside its walls.
Scene terrain_scene(Random& random, ShapeType type, int i) {
  Scene s{random_shape(random, type, 0.35), random_terrain(random, 7, 1.5, 0.5), {}, {}};
  s.at_b = {Mat3::from(random_rotation(random).toRotationMatrix()), Vec3(Vector3(random_direction(random)))};
  s.at_a = s.at_b * Placement{Mat3::from(random_rotation(random).toRotationMatrix()),
                              i % 9 == 0 ? Vec3(uniform(random, 2, 2.2), uniform(random, -1.5, 1.5), -0.2)
                                         : Vec3(uniform(random, -0.5, 0.5), uniform(random, -0.5, 0.5), 1.2)};
  const Distance d = distance(s.a, s.at_a, s.b, s.at_b);
  s.at_a.p += d.normal * (d.distance + uniform(random, -0.02, 0.01));
  if (i % 9 == 3 || i % 9 == 6) s.at_a.p -= s.at_b.R.z * uniform(random, 0, 0.5);
  return s;
}

TEST_P(DerivativesOnTerrain, agree_with_ridders_differences) {
  Random random(61 + static_cast<unsigned>(GetParam()));
  Tallies tallies;
  for (int i = 0; i < 4 * states(); ++i) check_scene(terrain_scene(random, GetParam(), i), tallies);
  if (full()) check_rare_kinds(random, tallies);
  int checked = 0;
  for (const auto& [kind, tally] : tallies) checked += tally.checked;
  EXPECT_GE(checked, states());
  expect_right(tallies);
}

INSTANTIATE_TEST_SUITE_P(collision, DerivativesOnTerrain,
                         ::testing::Values(ShapeType::sphere, ShapeType::capsule, ShapeType::box,
                                           ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh),
                         [](const auto& p) { return std::string(type_names[static_cast<int>(p.param)]); });

TEST(contact_frame, rates_agree_with_differences) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const Vector3 n = random_direction(random);
    Vector3 dn = random_direction(random);
    dn -= n * n.dot(dn);
    const ContactFrame frame = pyramid_frame(Vec3(n)), rate = pyramid_frame_rate(frame, Vec3(dn));
    if (near_pole(Vec3(n))) continue;
    const VectorX reference = ridders(
        [&](double h) {
          const ContactFrame f = pyramid_frame(Vec3(Vector3((n + dn * std::tan(h)).normalized())));
          VectorX value(9);
          value << f.n.eigen(), f.t1.eigen(), f.t2.eigen();
          return value;
        },
        1e-3);
    VectorX analytic(9);
    analytic << rate.n.eigen(), rate.t1.eigen(), rate.t2.eigen();
    EXPECT_LT((analytic - reference).cwiseAbs().maxCoeff(), 1e-8);
    // Without spin: the tangents turn only towards n.
    const ContactFrame cone = cone_frame(Vec3(n)), spin_free = cone_frame_rate(cone, Vec3(dn));
    EXPECT_LT(std::abs(dot(cone.t2, spin_free.t1)), 1e-15);
    EXPECT_LT(std::abs(dot(spin_free.t1, cone.n) + dot(cone.t1, Vec3(dn))), 1e-15);
  }
}

// Floors, walls and what lies flat: impulses along tangents are guesses for the next step, which would be
// wrong if these turned by rounding.
TEST(contact_frame, rounding_does_not_turn_the_tangents_of_what_lies_along_an_axis) {
  Random random(6);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      const Vector3 n = side * Vector3::Unit(axis);
      for (const auto frame : {cone_frame, pyramid_frame}) {
        const ContactFrame flat = frame(Vec3(n));
        for (int i = 0; i < 50; ++i) {
          const Vector3 near = (n + 1e-9 * random_direction(random)).normalized();
          const ContactFrame tilted = frame(Vec3(near));
          EXPECT_LT((tilted.t1.eigen() - flat.t1.eigen()).norm(), 1e-7);
          EXPECT_LT((tilted.t2.eigen() - flat.t2.eigen()).norm(), 1e-7);
        }
      }
    }
  }
}

// Friction of a pyramid is mu along its tangents only: that should be where people push.
TEST(contact_frame, pyramids_stand_along_the_axes_of_floors_and_walls_and_along_slopes) {
  for (const Vector3& axis : {Vector3(1, 0, 0), Vector3(0, 1, 0), Vector3(0, 0, 1)}) {
    for (double side : {-1.0, 1.0}) {
      const ContactFrame frame = pyramid_frame(Vec3(Vector3(side * axis)));
      EXPECT_EQ(frame.t1.eigen().cwiseAbs().maxCoeff(), 1.0);
      EXPECT_EQ(frame.t2.eigen().cwiseAbs().maxCoeff(), 1.0);
    }
  }
  for (double tilt = -1.1; tilt < 1.1; tilt += 0.1) {
    const double s = std::sin(tilt), c = std::cos(tilt);
    EXPECT_LT(std::abs(pyramid_frame(Vec3(s, 0, c)).t2.eigen().dot(Vector3(c, 0, -s))), 1e-15);
    EXPECT_LT(std::abs(pyramid_frame(Vec3(0, s, c)).t1.eigen().dot(Vector3(0, c, -s))), 1e-15);
  }
}

}  // namespace
}  // namespace articula::testing::derivatives_test
