#include "servo_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "articula/dynamics/crba.hpp"
#include "articula/math/lu.hpp"
#include "solvers/mode_update.hpp"
#include "warm_start.hpp"

namespace articula {

namespace {

// A servo as an interval of forces along its dof.
struct ServoRow {
  int actuator = -1, joint = -1;  // whose range it is: one of them, joints as in ForceWork::limited
  int dof = 0;
  double gain = 0.0;                    // K
  double force = 0.0;                   // f, at v
  double low = 0.0, high = 0.0;         // its range
  double held = 0.0;                    // the force with the side 1
  int lower_side = -1, upper_side = 1;  // of the actuator or the joint, at these ends
  int island = -1;                      // that its tree is in; none: negative
  VectorX response;                     // Mhat^-1 e_d
  std::vector<double> motion;           // J response

  double middle() const { return 0.5 * (low + high); }
  double half_range() const { return 0.5 * (high - low); }
};

double gear_of(const Model& model, int actuator) {
  return model.theta()[model.structure().actuators[actuator].gear];
}

const Vector2& range_of(const Model& model, int actuator) {
  return *model.description().actuators[actuator].force_range;
}

ServoRow row_of_actuator(const Model& model, const ForceWork& forces, const SaturableServo& servo) {
  const int i = servo.actuator;
  const double gear = gear_of(model, i);
  const Vector2 range = gear * range_of(model, i);
  ServoRow row{.actuator = i, .dof = servo.dof, .gain = gear * servo.gain, .held = range[1]};
  row.force = gear * forces.raw_force[i];
  row.low = range.minCoeff();
  row.high = range.maxCoeff();
  if (gear < 0.0) std::swap(row.lower_side, row.upper_side);
  return row;
}

// The sum of a joint's actuators within its actuator_force_range. If one alone brakes, and has a range of its
// own, the sum is within what that leaves of it, too; of several each stays on its side.
ServoRow row_of_joint(const Model& model, const ForceWork& forces, int k) {
  constexpr double rounding = 1e-12;
  const int d = forces.limited[k].dof;
  const Vector2& range = *forces.limited[k].range;
  const double force = forces.before_limits[d], gain = forces.servo_gain[d];
  ServoRow row{.joint = k, .dof = d, .gain = gain, .force = force, .low = range[0], .high = range[1]};
  row.held = range[1];
  const auto here = [&](const SaturableServo& servo) { return servo.dof == d; };
  const auto servo = std::find_if(forces.saturable.begin(), forces.saturable.end(), here);
  if (std::count_if(forces.saturable.begin(), forces.saturable.end(), here) != 1) return row;
  const ServoRow one = row_of_actuator(model, forces, *servo);
  const bool within = forces.saturation.actuator[one.actuator] == 0;
  if (std::abs(gain - (within ? one.gain : 0.0)) > rounding * one.gain) return row;
  const double others = force - gear_of(model, one.actuator) * forces.force[one.actuator];
  row.gain = one.gain;
  row.force = others + one.force;
  row.low = std::max(range[0], others + one.low);
  row.high = std::min(range[1], others + one.high);
  row.lower_side = row.low > range[0] ? 0 : -1;
  row.upper_side = row.high < range[1] ? 0 : 1;
  return row;
}

// Those that brake.
std::vector<ServoRow> list_servos(const Model& model, const ForceWork& forces) {
  std::vector<ServoRow> servos;
  const auto add = [&](const ServoRow& row) {
    if (row.gain > 0.0 && row.high > row.low && std::isfinite(row.high - row.low)) servos.push_back(row);
  };
  for (int k = 0; k < static_cast<int>(forces.limited.size()); ++k) add(row_of_joint(model, forces, k));
  const auto has_limit = [&](int dof) {
    return std::any_of(forces.limited.begin(), forces.limited.end(),
                       [&](const LimitedJoint& joint) { return joint.dof == dof; });
  };
  for (const SaturableServo& servo : forces.saturable) {
    if (!has_limit(servo.dof)) add(row_of_actuator(model, forces, servo));
  }
  return servos;
}

// next: v+ of its dof, which tells the sides of the actuators of a joint.
void write_sides(const Model& model, const FreeMotionWork& free, const ServoRow& row, RowMode mode,
                 double next, Saturation& sides) {
  const int side = mode == RowMode::upper ? row.upper_side : mode == RowMode::lower ? row.lower_side : 0;
  (row.joint < 0 ? sides.actuator[row.actuator] : sides.joint[row.joint]) = static_cast<signed char>(side);
  if (row.joint < 0) return;
  for (const SaturableServo& servo : free.forces.saturable) {
    if (servo.dof != row.dof) continue;
    const double force = free.forces.raw_force[servo.actuator] - servo.gain * (next - free.v[row.dof]);
    const Vector2& range = range_of(model, servo.actuator);
    sides.actuator[servo.actuator] = static_cast<signed char>(force < range[0]   ? -1
                                                              : force > range[1] ? 1
                                                                                 : 0);
  }
}

// v_free with all servos in the middle of their ranges.
VectorX velocity_in_the_middle(const Model& model, const Data& data, const FreeMotionWork& free, double h,
                               const std::vector<ServoRow>& servos) {
  VectorX x = free.unbalanced;
  for (const ServoRow& servo : servos) x[servo.dof] += servo.middle() - servo.held;
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
  JointProblem(const JointProblem&) = delete;  // problem_ is a view of what is here
  JointProblem& operator=(const JointProblem&) = delete;
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
    bias_.push_back((servo.middle() - servo.force) / servo.gain - work.free.v[servo.dof]);
    b_.push_back(work.v_coast[servo.dof] + bias_.back());
  }

  ContactProblem problem_;
  std::size_t begin_ = 0, rows_ = 0, stride_ = 0;
  std::vector<Block> blocks_;
  AlignedVector G_;
  std::vector<double> b_, bias_;
};

// From the modes that the problem itself suggests, so that the guess of a step does not matter.
SolveStatus solve_together(const Model& model, ImpulseWork& work, const JointProblem& together,
                           const Island* island, const std::vector<ServoRow*>& servos, double h,
                           bool thorough, Saturation& sides, int& iterations) {
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
    const std::size_t i = rows + k;
    const double next = sigma[i] - lam[i] / (h * servos[k]->gain) - problem.bias[i];
    write_sides(model, work.free, *servos[k], mode[i], next, sides);
  }
  if (island == nullptr) return report.status;
  std::copy_n(guess.begin(), rows, work.rows.guess.begin() + island->row_begin);
  std::copy_n(lam.begin(), rows, work.rows.lam.begin() + island->row_begin);
  std::copy_n(slides.begin(), island->item_count, work.rows.guessed_slides.begin() + island->block_begin);
  return report.status;
}

SolveStatus solve_all(const Model& model, ImpulseWork& work, const RowSettings& settings, double gravity_step,
                      bool thorough, std::vector<ServoRow>& servos, Saturation& sides, int& iterations) {
  SolveStatus worst = SolveStatus::solved;
  const int islands = static_cast<int>(work.rows.islands().size());
  for (int k = -1; k < islands; ++k) {
    std::vector<ServoRow*> here;
    for (ServoRow& servo : servos) {
      if (servo.island == k) here.push_back(&servo);
    }
    if (here.empty()) continue;
    const Island* island = k < 0 ? nullptr : &work.rows.islands()[k];
    // Servos have no place in the roots of a pile of many bodies, without which it takes minutes.
    if (island != nullptr && island->roots >= 0) return SolveStatus::inexact;
    const JointProblem together(work.rows, island, settings, gravity_step, work, here);
    worst = std::max(
        worst, solve_together(model, work, together, island, here, settings.dt, thorough, sides, iterations));
  }
  return worst;
}

// What holds has a row in the step with these sides, too: with their v_free it may seem to part.
void call_rows(ContactRows& rows) {
  for (const Item& item : rows.items()) {
    if (rows.guess[rows.row_of(item)] == RowMode::hold) rows.call(item.key);
  }
}

}  // namespace

std::optional<SolveStatus> find_sides_together(const Model& model, Data& data, ImpulseWork& work,
                                               const RowSettings& settings, const Input& input,
                                               const State& state, double gravity_step, bool thorough,
                                               int& iterations) {
  Saturation sides = work.free.forces.saturation;
  std::vector<ServoRow> servos = list_servos(model, work.free.forces);
  for (const ServoRow& servo : servos)
    (servo.joint < 0 ? sides.actuator[servo.actuator] : sides.joint[servo.joint]) = 1;
  VectorX v_end(model.nv());
  if (servos.empty() ||
      free_velocity_again(model, data, work.free, settings.dt, input, v_end, sides) != StepStatus::ok)
    return {};
  const VectorX v_middle = velocity_in_the_middle(model, data, work.free, settings.dt, servos);
  build_rows(model, data, work, settings, state, v_middle, servos);
  // Islands without servos stay as they are.
  std::ignore = read_warm_start(work.again, work.rows, gravity_step);
  const SolveStatus status =
      solve_all(model, work, settings, gravity_step, thorough, servos, sides, iterations);
  if (status == SolveStatus::inexact) return {};
  work.free.saturation = sides;
  call_rows(work.rows);
  write_warm_start(work.rows, settings.law, work.again);
  return status;
}

void keep_impulses(ImpulseWork& work, double gravity_step, StepReport& report) {
  constexpr double exact = 1e-9, still = 1e-6;
  ContactRows& rows = work.rows;
  report.islands = static_cast<int>(rows.islands().size());
  report.guessed_islands = 0;
  report.residual = 0.0;
  for (const Island& island : rows.islands()) {
    const ContactProblem problem = rows.problem(island, gravity_step);
    double *lam = rows.lam.data() + island.row_begin, *sigma = rows.sigma.data() + island.row_begin;
    contact_velocities(problem, lam, sigma);
    modes_of_motion(problem, lam, sigma, still * problem.velocity_scale, rows.mode.data() + island.row_begin);
    const double residual = contact_residual(problem, lam, sigma) / problem.velocity_scale;
    report.residual = std::max(report.residual, residual);
  }
  report.contact = report.residual <= exact ? SolveStatus::multiple : SolveStatus::inexact;
  work.ambiguous = true;
}

}  // namespace articula
