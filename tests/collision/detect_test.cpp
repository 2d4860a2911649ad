// Contacts of whole models: the filter, the order, sweeping against listing, allocations, and user queries.

#include <gtest/gtest.h>

#include <thread>

#include "articula/collision/queries.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/forward.hpp"
#include "articula/steppers/step.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/random_shapes.hpp"

namespace articula::testing::detect_test {
namespace {

using namespace collision;

BodyDescription free_body(const std::string& name) {
  BodyDescription b;
  b.name = name;
  JointDescription joint;
  joint.name = name + "_joint";
  joint.type = JointType::free;
  b.joints.push_back(joint);
  b.inertia = {1.0, Vector3::Zero(), Matrix3::Identity()};
  return b;
}

GeometryDescription geometry(const std::string& body, ShapeType type, const Vector3& size) {
  GeometryDescription g;
  g.name = body + "_geometry";
  g.body = body;
  g.type = type;
  g.size = size;
  return g;
}

// Balls and boxes dropped at random into a cube above a floor.
Description pile(int count) {
  Description d;
  d.geometries.push_back(geometry("world", ShapeType::plane, Vector3::Zero()));
  for (int i = 0; i < count; ++i) {
    const std::string name = "body" + std::to_string(i);
    d.bodies.push_back(free_body(name));
    d.geometries.push_back(
        geometry(name, i % 2 ? ShapeType::sphere : ShapeType::box, Vector3(0.1, 0.1, 0.1)));
  }
  return d;
}

VectorX random_poses(const Model& model, double side, Random& random) {
  VectorX q = model.neutral_configuration();
  for (int i = 0; i + 7 <= model.nq(); i += 7) {
    q.segment(i, 3) = Vector3(uniform(random, 0, side), uniform(random, 0, side), uniform(random, 0, side));
    const Quaternion r = random_rotation(random);
    q.segment(i + 3, 4) << r.w(), r.x(), r.y(), r.z();
  }
  return q;
}

TEST(detect, finds_the_pairs_that_exhaustive_search_finds_listed_or_swept) {
  Random random(2);
  for (const int count : {20, 200}) {
    const Model model = build(pile(count));
    const Colliders colliders(model);
    EXPECT_EQ(colliders.swept(), count == 200);
    Data data(model);
    Contacts contacts(colliders);
    forward_kinematics(model, data, random_poses(model, std::cbrt(count) * 0.25, random));
    EXPECT_EQ(detect(colliders, model, data, contacts), DetectStatus::ok);
    std::size_t found = 0;
    const int n = static_cast<int>(colliders.list().size());
    for (int a = 0; a < n; ++a)
      for (int b = a + 1; b < n; ++b) {
        ContactPoint points[max_contact_points];
        const int many =
            collide(colliders.list()[a].shape, collider_placement(colliders, data, a),
                    colliders.list()[b].shape, collider_placement(colliders, data, b), 0.0, points);
        for (int i = 0; i < many; ++i, ++found) {
          ASSERT_LT(found, contacts.list.size());
          EXPECT_EQ(contacts.list[found].pair.a, a);
          EXPECT_EQ(contacts.list[found].pair.b, b);
          EXPECT_EQ(contacts.list[found].point.distance, points[i].distance);
        }
      }
    EXPECT_EQ(found, contacts.list.size());
    EXPECT_GT(found, 5u);
  }
}

TEST(detect, allocates_nothing_and_repeats_to_the_bit) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Random random(3);
  for (const int count : {20, 200}) {
    const Model model = build(pile(count));
    const Colliders colliders(model);
    Data data(model);
    Contacts contacts(colliders), again(colliders);
    std::vector<VectorX> states;
    for (int i = 0; i < 10; ++i) states.push_back(random_poses(model, std::cbrt(count) * 0.3, random));
    for (const VectorX& q : states) {
      forward_kinematics(model, data, q);
      EXPECT_EQ(allocations_during([&] { detect(colliders, model, data, contacts); }), 0u);
      detect(colliders, model, data, again);
      ASSERT_EQ(contacts.list.size(), again.list.size());
      for (std::size_t i = 0; i < again.list.size(); ++i)
        EXPECT_EQ(contacts.list[i].point.position.eigen(), again.list[i].point.position.eigen());
    }
  }
}

// The first detection of a thread, however far from the ground, leaves nothing to allocate when it is met.
TEST(detect, allocates_nothing_where_a_ball_first_meets_a_height_field) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Description d;
  d.height_fields.push_back(
      std::make_shared<HeightField>(HeightField{"ground", 2, 2, {0, 1, 1, 0}, {1, 1, 0.5, 0.1}, ""}));
  d.geometries.push_back(geometry("world", ShapeType::height_field, Vector3::Zero()));
  d.geometries.back().asset = "ground";
  d.bodies.push_back(free_body("ball"));
  d.geometries.push_back(geometry("ball", ShapeType::sphere, Vector3(0.1, 0, 0)));
  const Model model = build(d);
  const Colliders colliders(model);
  Data data(model);
  Contacts contacts(colliders);
  VectorX q = VectorX::Zero(7);
  q[2] = 10, q[3] = 1;
  std::thread([&] {
    forward_kinematics(model, data, q);
    detect(colliders, model, data, contacts);
    q[2] = 0.2;
    forward_kinematics(model, data, q);
    EXPECT_EQ(allocations_during([&] { detect(colliders, model, data, contacts); }), 0u);
  }).join();
  ASSERT_FALSE(contacts.list.empty());
  EXPECT_LT(contacts.list[0].point.distance, 0);
}

// A written pair's margin reaches as far in a world that is swept as in one whose pairs are listed; so do
// negative margins.
TEST(detect, sees_margins_of_pairs_in_swept_worlds) {
  for (const int others : {10, 200}) {
    Description d;
    const auto add = [&](const std::string& name, Vector3 position, double margin) {
      d.bodies.push_back(free_body(name));
      d.bodies.back().pose.position = position;
      d.geometries.push_back(geometry(name, ShapeType::sphere, Vector3(0.1, 0, 0)));
      d.geometries.back().margin = margin;
    };
    add("a", {0, 0, 0}, 0.0), add("b", {0.5, 0, 0}, 0.0), add("c", {0, 5, 0}, 0.0),
        add("e", {0.19, 5, 0}, -0.3);
    for (int i = 0; i < others; ++i) add("other" + std::to_string(i), {100.0 + i, 0, 0}, 0.0);
    ContactPairDescription pair;
    pair.name = "far";
    pair.geometry1 = "a_geometry", pair.geometry2 = "b_geometry";
    pair.margin = 1.0;
    d.contact_pairs.push_back(pair);
    const Model model = build(d);
    const Colliders colliders(model);
    EXPECT_EQ(colliders.swept(), others == 200);
    Data data(model);
    Contacts contacts(colliders);
    forward_kinematics(model, data, neutral_state(model).q);
    detect(colliders, model, data, contacts);
    EXPECT_EQ(contacts.list.size(), 2u) << others;
  }
}

TEST(detect, says_when_there_is_no_room) {
  Random random(4);
  const Model model = build(pile(20));
  const Colliders colliders(model);
  Data data(model);
  Contacts contacts(colliders, 3);
  forward_kinematics(model, data, random_poses(model, 0.3, random));
  EXPECT_EQ(detect(colliders, model, data, contacts), DetectStatus::overflow);
  EXPECT_EQ(contacts.list.size(), 3u);
}

TEST(colliders, filter_parent_and_child_exclusions_masks_and_priorities) {
  Description d = pile(4);
  BodyDescription arm;
  arm.name = "arm";
  arm.parent = "body0";
  arm.joints.push_back({});
  arm.joints.back().name = "elbow";
  arm.inertia = {1.0, Vector3::Zero(), Matrix3::Identity()};
  d.bodies.push_back(arm);
  d.geometries.push_back(geometry("arm", ShapeType::capsule, Vector3(0.1, 0.2, 0)));
  d.contact_exclusions.push_back({"body1", "body2", ""});
  d.geometries[4].contype = d.geometries[4].conaffinity = 2;  // body3's: meets nobody
  d.geometries[1].priority = 1;
  d.geometries[1].friction = Vector3(0.3, 0.01, 0.02);
  d.geometries[1].condim = 6;
  const Model model = build(d);
  const Colliders colliders(model);
  const auto listed = [&](int a, int b) {
    for (const ColliderPair& p : colliders.pairs())
      if (p.a == a && p.b == b) return true;
    return false;
  };
  EXPECT_TRUE(listed(0, 1) && listed(0, 2) && listed(0, 5) && listed(1, 2) && listed(2, 5));
  EXPECT_FALSE(listed(1, 5));  // parent and child
  EXPECT_FALSE(listed(2, 3));  // excluded
  EXPECT_FALSE(listed(0, 4) || listed(1, 4));
  const ContactParameters by_priority = colliders.parameters(model, {1, 2, -1});
  EXPECT_EQ(by_priority.condim, 6);
  EXPECT_EQ(by_priority.friction[0], 0.3);
  const ContactParameters by_size = colliders.parameters(model, {0, 2, -1});
  EXPECT_EQ(by_size.friction[0], 1.0);
}

// Geometry on the body `name`, whose collider is the last of them.
int add_welded(Description& d, const std::string& name, const std::string& parent) {
  BodyDescription body;
  body.name = name;
  body.parent = parent;
  d.bodies.push_back(body);
  d.geometries.push_back(geometry(name, ShapeType::sphere, Vector3(0.1, 0, 0)));
  return static_cast<int>(d.geometries.size()) - 1;
}

TEST(colliders, an_exclusion_means_the_body_it_names_and_not_what_is_welded_to_it) {
  Description d = pile(2);  // the ground, body0, body1
  const int flange = add_welded(d, "flange", "body0"), table = add_welded(d, "table", "world");
  d.contact_exclusions.push_back({"flange", "body1", ""});
  d.contact_exclusions.push_back({"table", "body1", ""});
  const Colliders colliders(build(d));
  EXPECT_FALSE(colliders.may_touch(2, flange));
  EXPECT_FALSE(colliders.may_touch(2, table));
  EXPECT_TRUE(colliders.may_touch(1, 2));
  EXPECT_TRUE(colliders.may_touch(0, 2));
  EXPECT_TRUE(colliders.may_touch(1, table));
}

TEST(colliders, parents_touch_their_children_only_where_the_description_says_so) {
  Description d = pile(1);
  const int hand = add_welded(d, "hand", "body0");
  d.bodies.back().joints.push_back({});
  d.bodies.back().joints.back().name = "wrist";
  d.bodies.back().inertia = {1.0, Vector3::Zero(), Matrix3::Identity()};
  EXPECT_FALSE(Colliders(build(d)).may_touch(1, hand));
  d.parent_child_contacts = true;
  EXPECT_TRUE(Colliders(build(d)).may_touch(1, hand));
}

TEST(queries, a_ray_hits_where_the_distance_of_a_point_vanishes) {
  Random random(6);
  for (int type = 0; type < 7; ++type)
    for (int i = 0; i < 200; ++i) {
      const Shape shape = random_shape(random, static_cast<ShapeType>(type), 1.0),
                  point = Shape::sphere(1e-9);
      const Placement at{Mat3::from(random_rotation(random).toRotationMatrix()),
                         Vec3(Vector3(random_direction(random)))};
      const Vec3 origin = at.p + Vec3(Vector3(random_direction(random) * 3));
      const Vec3 direction = at.p + Vec3(Vector3(random_direction(random) * 0.3)) - origin;
      const RayHit hit = cast_ray(shape, at, origin, direction);
      if (!hit.hit()) continue;
      const Distance d = distance(shape, at, point, {Mat3::identity(), origin + direction * hit.distance});
      EXPECT_NEAR(d.distance, 0.0, 1e-8) << type;
      // Nothing is hit before.
      for (double t = 0.1; t < 0.99; t += 0.2) {
        const Distance before =
            distance(shape, at, point, {Mat3::identity(), origin + direction * (hit.distance * t)});
        if (type != 0) EXPECT_GT(before.distance, -1e-8);
      }
      EXPECT_NEAR(norm(hit.normal), 1.0, 1e-12);
    }
}

TEST(queries, a_ray_from_inside_hits_where_it_leaves) {
  Random random(7);
  for (int type = 1; type < 7; ++type)
    for (int i = 0; i < 200; ++i) {
      const Shape shape = random_shape(random, static_cast<ShapeType>(type), 1.0),
                  point = Shape::sphere(1e-9);
      const Placement at{Mat3::from(random_rotation(random).toRotationMatrix()),
                         Vec3(Vector3(random_direction(random)))};
      const auto depth = [&](Vec3 x) { return distance(shape, at, point, {Mat3::identity(), x}).distance; };
      Vec3 origin = at.p;
      do origin = at.p + Vec3(Vector3(random_direction(random) * uniform(random, 0, 2)));
      while (depth(origin) > -1e-3);
      const Vec3 direction = Vec3(Vector3(random_direction(random) * log_uniform(random, 0.1, 10)));
      const RayHit hit = cast_ray(shape, at, origin, direction);
      ASSERT_TRUE(hit.hit()) << type << " " << i;
      EXPECT_NEAR(depth(origin + direction * hit.distance), 0.0, 1e-8) << type;
      EXPECT_GT(dot(hit.normal, direction), 0) << type;
      for (double t = 0.1; t < 0.99; t += 0.2)
        EXPECT_LT(depth(origin + direction * (hit.distance * t)), 1e-8) << type;
    }
}

TEST(colliders, a_mesh_too_flat_to_collide_is_named) {
  auto mesh = std::make_shared<Mesh>();
  mesh->name = "sheet";
  mesh->vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 1e-9}};
  mesh->faces = mesh->hull_faces = {{0, 1, 2}, {1, 3, 2}, {0, 2, 3}, {0, 3, 1}};
  Description d;
  d.meshes.push_back(mesh);
  d.bodies.push_back(free_body("plate"));
  d.geometries.push_back(geometry("plate", ShapeType::mesh, Vector3::Zero()));
  d.geometries.back().asset = "sheet";
  d.geometries.push_back(geometry("world", ShapeType::plane, Vector3::Zero()));
  const Model model = build(d);
  try {
    const Colliders colliders(model);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const articula::Error& error) {
    EXPECT_NE(std::string(error.what()).find("\"sheet\" cannot collide"), std::string::npos) << error.what();
  }
}

TEST(queries, the_gradient_of_the_distance_of_two_bodies_is_its_slope) {
  Random random(8);
  const Model model = build(pile(6));
  const Colliders colliders(model);
  Data data(model);
  for (int i = 0; i < 50; ++i) {
    const VectorX q = random_poses(model, 1.0, random);
    forward_kinematics(model, data, q);
    const BodyDistance d = distance_between(colliders, model, data, model.body("body0"), model.body("body3"));
    ASSERT_GE(d.geometry_a, 0);
    for (int k = 0; k < 3; ++k) {
      const auto moved = [&](double h) {
        VectorX p = q;
        p[k] += h;
        forward_kinematics(model, data, p);
        return distance_between(colliders, model, data, model.body("body0"), model.body("body3"))
            .nearest.distance;
      };
      EXPECT_NEAR(d.gradient[3 + k], (moved(1e-6) - moved(-1e-6)) / 2e-6, 1e-6);
    }
  }
}

TEST(queries, refuse_poses_and_rays_that_are_not_numbers) {
  const Shape box = Shape::box(1, 1, 1), ball = Shape::sphere(1);
  ContactPoint points[max_contact_points];
  for (const double bad : {std::nan(""), static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) {
    Placement shifted, turned;
    shifted.p = Vec3(0, bad, 0);
    turned.R.y = Vec3(0, 0, bad);
    for (const Placement& at : {shifted, turned}) {
      EXPECT_THROW(collide(ball, {}, box, at, 0.0, points), Error);
      EXPECT_THROW(collide(box, at, ball, {}, 0.0, points), Error);
      EXPECT_THROW(distance(box, at, box, {}), Error);
      EXPECT_THROW(cast_ray(box, at, Vec3(3, 0, 0), Vec3(-1, 0, 0)), Error);
    }
    EXPECT_THROW(cast_ray(box, {}, Vec3(bad, 0, 0), Vec3(-1, 0, 0)), Error);
    EXPECT_THROW(cast_ray(box, {}, Vec3(3, 0, 0), Vec3(-1, bad, 0)), Error);
    EXPECT_THROW(distance(Shape::box(1, bad, 1), {}, ball, {}), Error);
    EXPECT_THROW(collide(ball, {}, Shape::sphere(bad), {}, 0.0, points), Error);
  }
  EXPECT_THROW(cast_ray(box, {}, Vec3(0, 0, 0), Vec3(0, 0, 0)), Error);
  EXPECT_THROW(collide(ball, {}, box, {}, std::nan(""), points), Error);
  EXPECT_EQ(collide(ball, {}, box, {}, 0.0, points), 1);
}

}  // namespace
}  // namespace articula::testing::detect_test
