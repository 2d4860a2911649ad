#include "tests/support/contact_problems.hpp"

#include <algorithm>
#include <cmath>

#include "articula/dynamics/crba.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing {

ContactProblem OwnedProblem::view(double gravity_step) const {
  const int n = static_cast<int>(b.size());
  const double least = std::max(least_velocity, gravity_step);
  const double scale = velocity_scale({b.data(), b.data() + n}, least);
  return {law, blocks, n, G.data(), n, b.data(), scale, bias.size() == n ? bias.data() : nullptr};
}

namespace {

// Something that contacts can act on: inverse mass matrix, and the Jacobian of any point of any body.
struct Mechanism {
  int nv = 0, bodies = 0;
  MatrixX inverse_mass;
  std::function<MatrixX(int body, const Vector3& point)>
      jacobian;  // 6 x nv, linear first; body -1: the world
  std::function<Vector3(int body)> centre;
  std::shared_ptr<void> keep;
};

// Loose bodies around the origin, masses over four decades.
Mechanism heap(std::mt19937& random, int bodies) {
  Mechanism m;
  m.bodies = bodies;
  m.nv = 6 * bodies;
  m.inverse_mass = MatrixX::Zero(m.nv, m.nv);
  auto centres = std::make_shared<std::vector<Vector3>>();
  for (int i = 0; i < bodies; ++i) {
    const double mass = std::pow(10.0, uniform(random, -2.0, 2.0)), size = uniform(random, 0.1, 0.5);
    const Matrix3 R = random_rotation(random).toRotationMatrix();
    Vector3 inertia;
    for (int k = 0; k < 3; ++k) inertia[k] = mass * size * size * uniform(random, 0.2, 0.4);
    m.inverse_mass.block<3, 3>(6 * i, 6 * i) = Matrix3::Identity() / mass;
    m.inverse_mass.block<3, 3>(6 * i + 3, 6 * i + 3) =
        R * inertia.cwiseInverse().asDiagonal() * R.transpose();
    centres->push_back(uniform_vector(random, 3));
  }
  const int nv = m.nv;
  m.centre = [centres](int body) { return (*centres)[body]; };
  m.jacobian = [centres, nv](int body, const Vector3& point) {
    MatrixX J = MatrixX::Zero(6, nv);
    if (body < 0) return J;
    J.middleCols(6 * body, 6).setIdentity();
    const Vector3 r = point - (*centres)[body];
    Matrix3 skew;
    skew << 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0;
    J.block<3, 3>(0, 6 * body + 3) = -skew;
    return J;
  };
  return m;
}

// A robot of ours.
Mechanism tree(std::mt19937& random, int bodies) {
  struct Robot {
    Model model;
    Data data;
  };
  auto model = random_model(random, {.bodies = bodies, .weld_probability = 0.0});
  auto robot = std::make_shared<Robot>(Robot{model, Data(model)});
  const RandomState state = random_state(model, random);
  crba(model, robot->data, state.q);
  Mechanism m;
  m.nv = model.nv();
  m.bodies = model.nbody() - 1;
  MatrixX M(m.nv, m.nv);
  dense_mass_matrix(model, robot->data, M);
  m.inverse_mass = M.inverse();
  m.inverse_mass = (0.5 * (m.inverse_mass + m.inverse_mass.transpose())).eval();
  m.centre = [robot](int body) { return body_placement(robot->model, robot->data, body + 1).p.eigen(); };
  m.jacobian = [robot](int body, const Vector3& point) {
    MatrixX J = MatrixX::Zero(6, robot->model.nv());
    if (body < 0) return J;
    Matrix6X whole(6, robot->model.nv());
    body_jacobian(robot->model, robot->data, body + 1, whole);
    Matrix3X linear(3, robot->model.nv());
    point_jacobian(robot->model, robot->data, body + 1, point, linear);
    J.topRows(3) = linear;
    J.bottomRows(3) = whole.bottomRows(3);
    return J;
  };
  return m;
}

struct Rows {
  std::vector<VectorX> J;
  std::vector<double> bias;
  std::vector<Block> blocks;
  bool redundant = false;

  void add(Block block, const std::vector<VectorX>& rows, const std::vector<double>& biases) {
    block.first = static_cast<int>(J.size());
    block.dim = static_cast<int>(rows.size());
    blocks.push_back(block);
    J.insert(J.end(), rows.begin(), rows.end());
    bias.insert(bias.end(), biases.begin(), biases.end());
  }
};

void add_contact(Rows& rows, const MatrixX& relative, const Matrix3& frame, double mu, int condim,
                 double gap) {
  const auto linear = [&](int k) { return VectorX(relative.topRows(3).transpose() * frame.col(k)); };
  const auto angular = [&](int k) { return VectorX(relative.bottomRows(3).transpose() * frame.col(k)); };
  std::vector<VectorX> J{linear(0)};
  Block block{.kind = condim == 1 ? BlockKind::unilateral : BlockKind::contact};
  if (condim >= 3) {
    J.push_back(linear(1));
    J.push_back(linear(2));
    block.mu[0] = block.mu[1] = mu;
  }
  if (condim >= 4) J.push_back(angular(0)), block.mu[2] = 0.01 * mu;
  if (condim >= 6) {
    J.push_back(angular(1));
    J.push_back(angular(2));
    block.mu[3] = block.mu[4] = 0.001 * mu;
  }
  std::vector<double> bias(J.size(), 0.0);
  bias[0] = gap;
  rows.add(block, J, bias);
}

// One to four points of a flat patch between two bodies.
int add_patch(Rows& rows, std::mt19937& random, const Mechanism& m, const ProblemOptions& options) {
  const int a = static_cast<int>(random() % m.bodies);
  int b = static_cast<int>(random() % (m.bodies + 1)) - 1;
  if (b == a) b = -1;
  const Matrix3 frame = random_rotation(random).toRotationMatrix();
  const Vector3 other = b >= 0 ? m.centre(b) : Vector3(m.centre(a) - 0.3 * frame.col(0));
  const Vector3 middle = 0.5 * (m.centre(a) + other) + 0.1 * uniform_vector(random, 3);
  const int points = random() % 2 == 0 ? 1 : 4;
  static constexpr int condims[] = {3, 3, 3, 3, 3, 3, 1, 4, 6};
  const int condim = options.other_rows ? condims[random() % 9] : 3;
  const double mu = uniform(random, 0.05, 1.2), gap = random() % 2 == 0 ? 0.0 : uniform(random, 0.0, 0.3);
  for (int i = 0; i < points; ++i) {
    const double x = (i & 1) != 0 ? 0.1 : -0.1, y = (i & 2) != 0 ? 0.1 : -0.1;
    const Vector3 at = points == 1 ? middle : Vector3(middle + x * frame.col(1) + y * frame.col(2));
    add_contact(rows, m.jacobian(a, at) - m.jacobian(b, at), frame, mu, condim, gap);
  }
  rows.redundant |= points == 4;
  return points;
}

void add_scalars(Rows& rows, std::mt19937& random, const Mechanism& m) {
  const auto unit = [&](int d) { return VectorX(VectorX::Unit(m.nv, d)); };
  for (unsigned k = random() % 4; k > 0; --k)
    rows.add({.kind = BlockKind::interval, .bound = uniform(random, 0.0, 0.5)}, {unit(random() % m.nv)},
             {0.0});
  for (unsigned k = random() % 3; k > 0; --k)
    rows.add({.kind = BlockKind::unilateral},
             {random() % 2 == 0 ? unit(random() % m.nv) : VectorX(-unit(random() % m.nv))},
             {uniform(random, 0.0, 0.2)});
  if (random() % 4 != 0 || m.bodies < 2) return;
  const Vector3 at = m.centre(0);
  const MatrixX relative = m.jacobian(0, at) - m.jacobian(m.bodies - 1, at);
  std::vector<VectorX> J;
  for (int i = 0; i < 3; ++i) J.emplace_back(relative.row(i).transpose());
  rows.add({.kind = BlockKind::equality}, J, {0.0, 0.0, 0.0});
}

}  // namespace

OwnedProblem random_contact_problem(std::mt19937& random, const ProblemOptions& options) {
  const int bodies = 1 + static_cast<int>(random() % options.most_bodies);
  const Mechanism m = random() % 2 == 0 ? heap(random, bodies) : tree(random, bodies);
  Rows rows;
  if (options.other_rows && random() % 2 == 0) add_scalars(rows, random, m);
  const int wanted = 1 + static_cast<int>(random() % options.most_contacts);
  for (int contacts = 0; contacts < wanted;) contacts += add_patch(rows, random, m, options);

  const int n = static_cast<int>(rows.J.size());
  MatrixX J(n, m.nv);
  for (int i = 0; i < n; ++i) J.row(i) = rows.J[i].transpose();
  OwnedProblem problem;
  problem.law = options.law;
  problem.blocks = rows.blocks;
  problem.G = J * m.inverse_mass * J.transpose();
  problem.G = (0.5 * (problem.G + problem.G.transpose())).eval();
  const VectorX v_free = uniform_vector(random, m.nv, 2.0);
  problem.bias = Eigen::Map<const VectorX>(rows.bias.data(), n);
  problem.b = J * v_free + problem.bias;
  problem.singular = rows.redundant || n > m.nv;
  return problem;
}

}  // namespace articula::testing
