#include "bench/collision.hpp"

#include <fmt/format.h>

#include <map>
#include <random>

#include "articula/collision/detect.hpp"
#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "articula/kinematics/forward.hpp"
#include "bench/peers/batch_timing.hpp"
#include "bench/peers/peer_load.hpp"
#include "src/collision/pairs.hpp"

namespace articula::bench {
namespace {

using namespace collision;
using Random = std::mt19937_64;

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
Vector3 direction(Random& random) {
  std::normal_distribution<double> normal;
  return Vector3(normal(random), normal(random), normal(random)).normalized();
}
Quaternion rotation(Random& random) {
  std::normal_distribution<double> normal;
  return Quaternion(normal(random), normal(random), normal(random), normal(random)).normalized();
}

// ---------------------------------------------------------------------------------------------- single pairs

// A mesh of about `count` vertices: rings on an ellipsoid, closed by two poles; each ring turned against the
// last, so that no two triangles are coplanar.
struct RingMesh {
  std::vector<Vector3> points;
  std::vector<std::array<int, 3>> triangles;
};

RingMesh ring_mesh(int count) {
  const int rings = std::max(2, static_cast<int>(std::lround(std::sqrt(count / 2.0))));
  const int around = (count - 2) / rings;
  RingMesh mesh;
  mesh.points.emplace_back(0, 0, -0.9);
  for (int r = 0; r < rings; ++r)
    for (int k = 0; k < around; ++k) {
      const double polar = M_PI * (r + 1) / (rings + 1), turn = 2 * M_PI * (k + 0.5 * r) / around;
      mesh.points.emplace_back(0.5 * std::sin(polar) * std::cos(turn), 0.7 * std::sin(polar) * std::sin(turn),
                               -0.9 * std::cos(polar));
    }
  mesh.points.emplace_back(0, 0, 0.9);
  const auto at = [&](int r, int k) { return 1 + r * around + (k + around) % around; };
  const int top = static_cast<int>(mesh.points.size()) - 1;
  for (int k = 0; k < around; ++k) {
    mesh.triangles.push_back({0, at(0, k + 1), at(0, k)});
    for (int r = 0; r + 1 < rings; ++r) {
      mesh.triangles.push_back({at(r, k), at(r, k + 1), at(r + 1, k)});
      mesh.triangles.push_back({at(r, k + 1), at(r + 1, k + 1), at(r + 1, k)});
    }
    mesh.triangles.push_back({top, at(rings - 1, k), at(rings - 1, k + 1)});
  }
  return mesh;
}

struct NamedShape {
  std::string name, mjcf, asset;
  Shape shape;
};

NamedShape primitive(const std::string& name, const Shape& shape) {
  const Vec3 s = shape.size;
  return {name, fmt::format("<geom type='{}' size='{} {} {}' mass='1'/>", name, s[0], s[1], s[2]), "", shape};
}

NamedShape mesh(int count) {
  const RingMesh m = ring_mesh(count);
  NamedShape shape;
  shape.name = fmt::format("mesh{}", count);
  shape.mjcf = fmt::format("<geom type='mesh' mesh='{}' mass='1'/>", shape.name);
  shape.asset = fmt::format("<mesh name='{}' vertex='", shape.name);
  for (const Vector3& p : m.points) shape.asset += fmt::format("{} {} {} ", p[0], p[1], p[2]);
  shape.asset += "'/>";
  shape.shape = Shape::mesh(std::make_shared<const Hull>(make_hull(m.points, m.triangles)));
  return shape;
}

struct Poses {
  std::vector<Placement> a, b;
  std::vector<double> q;  // of two free bodies, or of one above a plane
};

// Random directions; a gap of 1 cm to an overlap of 3 cm, of shapes about half a metre in size.
Poses poses(const Shape& a, const Shape& b, int count, Random& random) {
  Poses p;
  const bool plane = a.type == ShapeType::plane;
  const auto put = [&](const Placement& at) {
    const Quaternion r(at.R.eigen());
    p.q.insert(p.q.end(), {at.p[0], at.p[1], at.p[2], r.w(), r.x(), r.y(), r.z()});
  };
  for (int i = 0; i < count; ++i) {
    Placement pa, pb;
    if (!plane) pa = placement_of({Vector3::Zero(), rotation(random)});
    pb = placement_of({plane ? Vector3(0, 0, 2) : Vector3(2.5 * direction(random)), rotation(random)});
    const Distance d = distance(a, pa, b, pb);
    pb.p -= d.normal * (d.distance + uniform(random, -0.01, 0.03));
    if (!plane) put(pa);
    put(pb);
    p.a.push_back(pa);
    p.b.push_back(pb);
  }
  return p;
}

// The least of what turns about, ours, theirs, ours, ..., take: a machine that slows down for a while slows
// both. A batch goes through all poses, because their cost differs. Rival: negative if not measured.
struct Turns {
  double ours = INFINITY, rival = -1;
};
template <class Ours, class Rival>
Turns take_turns(int count, int repeats, Ours&& ours, Rival&& rival) {
  constexpr int turns = 5;
  Turns t;
  for (int i = 0; i < turns; ++i) {
    t.ours = std::min(t.ours, peers::time_batches(count, std::max(1, repeats / turns), ours, 1e6).min_ns);
    const double ns = rival(std::max(1, repeats / turns));
    if (ns > 0) t.rival = t.rival > 0 ? std::min(t.rival, ns) : ns;
  }
  return t;
}

double rival_kernel(const PeerApi& api, PeerModel* model, const char* kernel, const PeerStates& states,
                    int repeats) {
  double least = -1, median = -1;
  return api.time_kernel(model, kernel, &states, repeats, &least, &median) == PEER_OK ? least : -1;
}

Turns time_pair(const PeerApi* api, const NamedShape& a, const NamedShape& b, const Poses& p, int repeats) {
  const int count = static_cast<int>(p.a.size());
  ContactPoint points[max_contact_points];
  // As detection calls it, and as the rival's kernel is called: without a look at whether poses are numbers.
  const auto ours = [&](int k) {
    collide_unchecked(a.shape, p.a[static_cast<std::size_t>(k)], b.shape, p.b[static_cast<std::size_t>(k)],
                      0.0, points);
  };
  if (api == nullptr) return take_turns(count, repeats, ours, [](int) { return -1.0; });
  const auto body = [](const NamedShape& s) {
    return s.shape.type == ShapeType::plane ? s.mjcf : "<body><freejoint/>" + s.mjcf + "</body>";
  };
  const std::string assets = a.asset + (b.name == a.name ? "" : b.asset);
  const std::string text =
      "<mujoco><asset>" + assets + "</asset><worldbody>" + body(a) + body(b) + "</worldbody></mujoco>";
  const auto model = peers::create_from_mjcf_text(*api, text);
  const PeerStates states{count, p.q.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
  return take_turns(count, repeats, ours,
                    [&](int n) { return rival_kernel(*api, model.get(), "narrowphase", states, n); });
}

void measure_pairs(const PeerApi* api, bool full, CollisionFigures& out) {
  std::vector<NamedShape> shapes;
  shapes.push_back({"plane", "<geom type='plane' size='1 1 1'/>", "", Shape::plane()});
  shapes.push_back(primitive("sphere", Shape::sphere(0.4)));
  shapes.push_back(primitive("capsule", Shape::capsule(0.2, 0.4)));
  shapes.push_back(primitive("box", Shape::box(0.3, 0.4, 0.5)));
  shapes.push_back(primitive("cylinder", Shape::cylinder(0.3, 0.4)));
  shapes.push_back(primitive("ellipsoid", Shape::ellipsoid(0.3, 0.4, 0.5)));
  for (const int count : {20, 200, 700}) shapes.push_back(mesh(count));
  const int count = 64, repeats = full ? 100 : 15;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t j = std::max<std::size_t>(1, i); j < shapes.size(); ++j) {
      if (i >= 6 && i != j) continue;  // meshes of one size against each other
      const NamedShape &a = shapes[i], &b = shapes[j];
      Random random(i * 16 + j);
      const Poses p = poses(a.shape, b.shape, count, random);
      const Turns t = time_pair(api, a, b, p, repeats);
      const std::string name = a.name + "_" + b.name;
      out.figures.push_back({name + "/ns", t.ours, "ns"});
      if (t.rival > 0) out.figures.push_back({name + "/ratio_mujoco", t.ours / t.rival, "1"});
    }
}

// ---------------------------------------------------------------------------------------------- whole models

struct Robot {
  const char* name;
  const char* file;
};
constexpr Robot robots[] = {{"humanoid", "mjcf/humanoid_mujoco/humanoid.xml"},
                            {"go1", "mjcf/unitree_go1/scene.xml"},
                            {"h1", "mjcf/unitree_h1/scene.xml"},
                            {"talos", "mjcf/pal_talos/scene_motor.xml"}};

void measure_robot(const PeerApi& api, const Robot& robot, const std::string& path, bool full,
                   CollisionFigures& out) {
  const auto rival = peers::create_from_mjcf_file(api, path);
  const Model model = load(path);
  const int nq = model.nq();
  if (api.size(rival.get(), "nq") != nq) {
    out.notes.push_back(fmt::format("{}: MuJoCo has another number of coordinates", robot.name));
    return;
  }
  // Without control it falls over: standing, falling and lying poses.
  constexpr int steps = 1200, stride = 40, count = steps / stride;
  const VectorX& q0 = model.neutral_configuration();
  std::vector<double> trajectory(static_cast<std::size_t>(steps * nq)), q;
  const PeerStates start{1, q0.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
  api.simulate(rival.get(), &start, steps, nullptr, trajectory.data(), nullptr);
  for (int i = 0; i < count; ++i) {
    const auto row = trajectory.begin() + static_cast<long>(i) * stride * nq;
    q.insert(q.end(), row, row + nq);
  }
  const Colliders colliders(model);
  std::vector<Data> data(count, Data(model));
  std::vector<Contacts> contacts(count, Contacts(colliders));
  double total = 0;
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    forward_kinematics(model, data[k], Eigen::Map<const VectorX>(q.data() + i * nq, nq));
    contacts[k].list.reserve(static_cast<std::size_t>(contacts[k].capacity));
    detect(colliders, model, data[k], contacts[k]);
    total += static_cast<double>(contacts[k].list.size());
  }
  const int repeats = full ? 60 : 15;
  const PeerStates states{count, q.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
  const Turns turns = take_turns(
      count, repeats,
      [&](int i) {
        detect(colliders, model, data[static_cast<std::size_t>(i)], contacts[static_cast<std::size_t>(i)]);
      },
      [&](int n) { return rival_kernel(api, rival.get(), "collision", states, n); });
  const auto derivatives = peers::time_batches(
      count, repeats,
      [&](int i) {
        const Contacts& c = contacts[static_cast<std::size_t>(i)];
        for (int k = 0; k < static_cast<int>(c.list.size()); ++k) {
          const ContactDerivatives d = differentiate(colliders, data[static_cast<std::size_t>(i)], c, k);
          asm volatile("" : : "r"(&d) : "memory");  // must not be optimised away
        }
      },
      1e6);
  const std::string name = robot.name;
  out.figures.push_back({name + "/collision/us", turns.ours * 1e-3, "us"});
  out.figures.push_back({name + "/collision/contacts", total / count, "1"});
  out.figures.push_back(
      {name + "/collision_derivatives/ratio_detection", derivatives.min_ns / turns.ours, "1"});
  if (turns.rival > 0)
    out.figures.push_back({name + "/collision/ratio_mujoco", turns.ours / turns.rival, "1"});
  std::vector<double> rival_contacts(count);
  if (api.evaluate(rival.get(), "contact_count", &states, rival_contacts.data()) == PEER_OK) {
    double sum = 0;
    for (const double n : rival_contacts) sum += n;
    out.notes.push_back(
        fmt::format("{}: {:.1f} contacts, MuJoCo {:.1f}", robot.name, total / count, sum / count));
  }
}

}  // namespace

CollisionFigures measure_collision(bool full) {
  CollisionFigures out;
  std::string reason;
  const PeerApi* api = peers::load_peer("mujoco", reason);
  if (api == nullptr) out.notes.push_back("no comparison with MuJoCo: " + reason);
  measure_pairs(api, full, out);
  const auto shared = shared_models_directory();
  if (api == nullptr || !shared) {
    out.notes.push_back("whole models need MuJoCo (for the poses) and the shared models");
    return out;
  }
  for (const Robot& robot : robots) {
    try {
      measure_robot(*api, robot, (*shared / robot.file).string(), full, out);
    } catch (const std::exception& error) {
      out.notes.push_back(fmt::format("{}: {}", robot.name, error.what()));
    }
  }
  return out;
}

}  // namespace articula::bench
