#include "servo_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "articula/dynamics/crba.hpp"
#include "articula/math/lu.hpp"
#include "warm_start.hpp"

namespace articula {

namespace {

// A servo as an interval of forces along its dof.
struct ServoRow {
  int dof = 0;
  double gain = 0.0;               // K
  double force = 0.0;              // f, at v
  double middle = 0.0, end = 0.0;  // of its range; end: where it is held
  signed char* side = nullptr;     // 1: at `end`
  int island = -1;                 // that its tree is in; none: negative
  VectorX response;                // Mhat^-1 e_d
  std::vector<double> motion;      // J response

  double half_range() const { return std::abs(end - middle); }
};

// Those that brake, with the sides in effect; `sides` are where what is found will be.
std::vector<ServoRow> list_servos(const Model& model, const ForceWork& forces, Saturation& sides) {
  std::vector<ServoRow> servos;
  const auto add = [&](int dof, double gear, double gain, double force, const Vector2& range,
                       signed char& side) {
    if (!(gain > 0.0 && range[1] > range[0] && std::isfinite(range[1] - range[0]))) return;
    const double middle = 0.5 * gear * (range[0] + range[1]);
    servos.push_back({dof, gain, gear * force, middle, gear * range[1], &side});
  };
  for (std::size_t k = 0; k < forces.limited.size(); ++k) {
    const LimitedJoint& joint = forces.limited[k];
    add(joint.dof, 1.0, forces.servo_gain[joint.dof], forces.before_limits[joint.dof], *joint.range,
        sides.joint[k]);
  }
  const auto has_limit = [&](int dof) {
    return std::any_of(forces.limited.begin(), forces.limited.end(),
                       [&](const LimitedJoint& joint) { return joint.dof == dof; });
  };
  for (const SaturableServo& servo : forces.saturable) {
    if (has_limit(servo.dof)) continue;
    const double gear = model.theta()[model.structure().actuators[servo.actuator].gear];
    add(servo.dof, gear, gear * servo.gain, forces.raw_force[servo.actuator],
        *model.description().actuators[servo.actuator].force_range, sides.actuator[servo.actuator]);
  }
  return servos;
}

// v_free with all servos in the middle of their ranges.
VectorX velocity_in_the_middle(const Model& model, const Data& data, const FreeMotionWork& free, double h,
                               const std::vector<ServoRow>& servos) {
  VectorX x = free.unbalanced;
  for (const ServoRow& servo : servos) x[servo.dof] += servo.middle - servo.end;
  solve_mass_matrix(model, data, x);
  return free.v + h * x;
}

// Rows of all that may touch, and how servos move them.
void build_rows(const Model& model, Data& data, ImpulseWork& work, RowSettings settings, const State& state,
                const VectorX& v_middle, std::vector<ServoRow>& servos) {
  settings.parting_speed = settings.coasting_speed = std::numeric_limits<double>::infinity();
  work.rows.coast(model, data, work.constraints, settings, state.v, v_middle, work.v_coast);
  work.rows.build(model, data, work.constraints, work.colliders, work.contacts, settings, state.q, state.v,
                  work.v_free, work.v_coast);
  std::vector<int> island_of(work.constraints.trees.size(), -1);
  for (const Item& item : work.rows.items()) {
    for (const int tree : work.rows.quads()[item.quad].tree) {
      if (tree >= 0) island_of[tree] = item.island;
    }
  }
  for (ServoRow& servo : servos) {
    servo.island = island_of[work.constraints.tree_of_link[model.structure().dofs[servo.dof].link]];
    servo.response = VectorX::Unit(model.nv(), servo.dof);
    solve_mass_matrix(model, data, servo.response);
    servo.motion.resize(work.rows.size());
    work.rows.velocities(servo.response, servo.motion.data());
  }
}

// The rows of an island, if there is one, then those of its servos.
class JointProblem {
 public:
  JointProblem(const ContactRows& rows, const Island* island, const RowSettings& settings,
               double gravity_step, const ImpulseWork& work, const std::vector<ServoRow*>& servos)
      : begin_(island != nullptr ? island->row_begin : 0) {
    problem_.law = settings.law;
    if (island != nullptr) problem_ = rows.problem(*island, gravity_step);
    copy(servos.size());
    for (std::size_t k = 0; k < servos.size(); ++k) add(*servos[k], rows_ + k, settings.dt, work);
    for (std::size_t k = 0; k < servos.size(); ++k) {
      for (std::size_t j = 0; j < servos.size(); ++j)
        G_[(rows_ + k) * stride_ + rows_ + j] += servos[j]->response[servos[k]->dof];
    }
    problem_.blocks = blocks_;
    problem_.size = static_cast<int>(b_.size());
    problem_.G = G_.data();
    problem_.stride = static_cast<int>(stride_);
    problem_.b = b_.data();
    problem_.bias = bias_.data();
    problem_.roots = nullptr;
    problem_.velocity_scale = std::max(problem_.velocity_scale, velocity_scale(b_, gravity_step));
  }
  const ContactProblem& problem() const { return problem_; }
  std::size_t rows() const { return rows_; }

 private:
  void copy(std::size_t servos) {
    rows_ = problem_.size;
    const std::size_t size = rows_ + servos;
    stride_ = (size + 3) / 4 * 4;
    G_.assign(size * stride_, 0.0);
    for (std::size_t i = 0; i < rows_; ++i)
      std::copy_n(problem_.row(static_cast<int>(i)), rows_, G_.data() + i * stride_);
    blocks_.assign(problem_.blocks.begin(), problem_.blocks.end());
    b_.assign(problem_.b, problem_.b + rows_);
    bias_.assign(problem_.bias, problem_.bias + rows_);
  }
  // lam from the middle of the range on: lam / (h K) becomes lam / (h K) + f_middle / K.
  void add(const ServoRow& servo, std::size_t row, double h, const ImpulseWork& work) {
    blocks_.push_back(
        {.kind = BlockKind::interval, .first = static_cast<int>(row), .bound = h * servo.half_range()});
    for (std::size_t i = 0; i < rows_; ++i)
      G_[i * stride_ + row] = G_[row * stride_ + i] = servo.motion[begin_ + i];
    G_[row * stride_ + row] = 1.0 / (h * servo.gain);
    bias_.push_back((servo.middle - servo.force) / servo.gain - work.free.v[servo.dof]);
    b_.push_back(work.v_coast[servo.dof] + bias_.back());
  }

  ContactProblem problem_;
  std::size_t begin_ = 0, rows_ = 0, stride_ = 0;
  std::vector<Block> blocks_;
  AlignedVector G_;
  std::vector<double> b_, bias_;
};

// From the modes that the problem itself suggests, so that the guess of a step does not matter.
SolveStatus solve_together(ImpulseWork& work, const JointProblem& together, const Island* island,
                           const std::vector<ServoRow*>& servos, bool thorough, int& iterations) {
  const ContactProblem& problem = together.problem();
  const std::size_t rows = together.rows();
  std::vector<RowMode> mode(problem.size), guess(problem.size);
  std::vector<SlideState> slides(problem.blocks.size());
  std::vector<double> lam(problem.size, 0.0), sigma(problem.size, 0.0);
  ContactSolver solver;
  solver.reserve(problem.size, static_cast<int>(problem.blocks.size()));
  const SolveReport report = solve_contact(problem, solver, false, {guess.data(), slides.data()}, mode.data(),
                                           lam.data(), sigma.data(), thorough);
  iterations += report.iterations;
  for (std::size_t k = 0; k < servos.size(); ++k) {
    const RowMode found = mode[rows + k];
    const bool upper = found == RowMode::upper, at_end = upper || found == RowMode::lower;
    const bool same = upper == (servos[k]->end > servos[k]->middle);
    *servos[k]->side = static_cast<signed char>(!at_end ? 0 : same ? 1 : -1);
  }
  if (island == nullptr) return report.status;
  std::copy_n(guess.begin(), rows, work.rows.guess.begin() + island->row_begin);
  std::copy_n(lam.begin(), rows, work.rows.lam.begin() + island->row_begin);
  std::copy_n(slides.begin(), island->item_count, work.rows.guessed_slides.begin() + island->block_begin);
  return report.status;
}

SolveStatus solve_all(ImpulseWork& work, const RowSettings& settings, double gravity_step, bool thorough,
                      std::vector<ServoRow>& servos, int& iterations) {
  SolveStatus worst = SolveStatus::solved;
  const int islands = static_cast<int>(work.rows.islands().size());
  for (int k = -1; k < islands; ++k) {
    std::vector<ServoRow*> here;
    for (ServoRow& servo : servos) {
      if (servo.island == k) here.push_back(&servo);
    }
    if (here.empty()) continue;
    const Island* island = k < 0 ? nullptr : &work.rows.islands()[k];
    const JointProblem together(work.rows, island, settings, gravity_step, work, here);
    worst = std::max(worst, solve_together(work, together, island, here, thorough, iterations));
  }
  return worst;
}

}  // namespace

std::optional<SolveStatus> find_sides_together(const Model& model, Data& data, ImpulseWork& work,
                                               const RowSettings& settings, const Input& input,
                                               const State& state, double gravity_step, bool thorough,
                                               int& iterations) {
  Saturation sides = work.free.forces.saturation;
  std::vector<ServoRow> servos = list_servos(model, work.free.forces, sides);
  for (const ServoRow& servo : servos) *servo.side = 1;
  VectorX v_end(model.nv());
  if (servos.empty() ||
      free_velocity_again(model, data, work.free, settings.dt, input, v_end, sides) != StepStatus::ok)
    return {};
  const VectorX v_middle = velocity_in_the_middle(model, data, work.free, settings.dt, servos);
  build_rows(model, data, work, settings, state, v_middle, servos);
  // Islands without servos stay as they are.
  std::ignore = read_warm_start(work.again, work.rows, gravity_step);
  const SolveStatus status = solve_all(work, settings, gravity_step, thorough, servos, iterations);
  if (status == SolveStatus::inexact) return {};
  work.free.saturation = sides;
  write_warm_start(work.rows, settings.law, work.again);
  return status;
}

}  // namespace articula
