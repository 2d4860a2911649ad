#include "cli/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "articula/contact/overruled.hpp"
#include "articula/derivatives/differences.hpp"
#include "articula/dynamics/force_switches.hpp"
#include "articula/kinematics/motion.hpp"
#include "cli/gradient_directions.hpp"

namespace articula::cli {

namespace {

constexpr ParameterKind kinds[] = {
    ParameterKind::inertia,   ParameterKind::friction, ParameterKind::restitution,
    ParameterKind::placement, ParameterKind::geometry, ParameterKind::damping,
    ParameterKind::stiffness, ParameterKind::armature, ParameterKind::dry_friction,
    ParameterKind::limits,    ParameterKind::gains,    ParameterKind::medium,
    ParameterKind::gravity,   ParameterKind::dt};

constexpr double accurate = 3e-8;   // relative error at which differences need not be better
constexpr double undecided = 1e-6;  // where differences are less sure than this they are not held against us
constexpr double turned = 0.98;     // cosine: what slides in another direction than this is another choice

}  // namespace

const std::vector<std::string>& block_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list{"state", "control", "force", "wrench"};
    for (const ParameterKind kind : kinds) list.emplace_back(to_string(kind));
    return list;
  }();
  return names;
}

// What must be the same in all evaluations: the modes of every row that carries something, which loops close
// as fast as they may, roughly where sliding contacts slide to (a law that is held goes on beyond a reversal,
// to another root), and the sides of all kinks of forces. Rows that come and go without carrying anything do
// not matter.
struct GradientCheck::Signature {
  struct Row {
    std::uint64_t key;
    std::array<RowMode, 6> mode;
    BiasMode bias;
    unsigned capped;                 // a bit for each row
    std::array<double, 7> slides{};  // the direction in the world, if it does: slip, spin, roll

    bool same(const Row& there) const {
      if (key != there.key || mode != there.mode || bias != there.bias || capped != there.capped)
        return false;
      const double cosine = std::inner_product(slides.begin(), slides.end(), there.slides.begin(), 0.0);
      return mode[1] != RowMode::slide || cosine > turned;
    }
  };
  std::vector<Row> rows;
  std::vector<int> sides;
  std::vector<ForceSwitch> switches;
  static constexpr int either_side = 2;

  static bool stands(RowMode mode) {
    return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
  }

  // Modes that are held are what they are, whatever their impulses say.
  void read_rows(const ContactRows& from, double recovery_speed, bool held = false) {
    rows.clear();
    std::vector<RowMode> modes = from.mode;
    if (!held) overrule_friction(from, modes);
    for (const Item& item : from.items()) {
      const int at = from.row_of(item);
      if (item.kind == RowKind::dry_friction && overruled(from, item, from.mode)) continue;
      Row row{item.key, {}, item.bias, 0};
      bool carries = false;
      for (int i = 0; i < item.rows; ++i) {
        row.mode[i] = stands(modes[at + i]) ? RowMode::hold : modes[at + i];
        carries |= row.mode[i] != RowMode::free;
      }
      if (item.kind == RowKind::equality) row.capped = capped_lanes(from, item, recovery_speed);
      if (item.kind == RowKind::contact && item.rows > 1 && row.mode[1] == RowMode::slide) {
        row.slides = world_slip(from, item);
      }
      if (carries) rows.push_back(row);
    }
  }

  // Tangents are a choice that may jump: directions are compared in the world.
  static std::array<double, 7> world_slip(const ContactRows& from, const Item& item) {
    const collision::ContactFrame& frame = from.frame(item);
    const Vec3 axes[5] = {frame.t1, frame.t2, {}, frame.t1, frame.t2};
    std::array<double, 7> slip{};
    double squared = 0.0;
    for (int i = 0; i + 1 < item.rows; ++i) {
      const double speed = from.block(item).mu[i] * from.sigma[from.row_of(item) + 1 + i];
      squared += speed * speed;
      if (i == 2) slip[3] = speed;
      for (int k = 0; k < 3 && i != 2; ++k) slip[(i < 2 ? 0 : 4) + k] += speed * axes[i][k];
    }
    for (double& x : slip) x /= std::sqrt(std::max(squared, 1e-300));
    return slip;
  }

  static unsigned capped_lanes(const ContactRows& from, const Item& item, double recovery_speed) {
    unsigned bits = 0;
    for (int k = 0; k < item.quads; ++k) {
      for (int lane = 0; lane < 4; ++lane) {
        if (std::abs(from.quads()[item.quad + k].bias[lane]) >= recovery_speed) bits |= 1u << (4 * k + lane);
      }
    }
    return bits;
  }

  bool same_rows(const Signature& there) const {
    return std::equal(rows.begin(), rows.end(), there.rows.begin(), there.rows.end(),
                      [](const Row& a, const Row& b) { return a.same(b); });
  }

  // What rests in a medium may move either way: the second derivative of its drag jumps, not the first.
  void read_sides(const Model& model, Data& data, const FreeMotionWork& free, double dt) {
    propagate_motion(model, data, free.v.data(), nullptr);  // a step may leave those of its end
    force_switches(model, data, free.forces,
                   {free.q.data(), free.v.data(), free.activation.data(), free.control.data(), dt}, switches);
    sides.clear();
    for (const ForceSwitch& each : switches) {
      const bool still = each.kind == ForceSwitch::Kind::drag_direction && each.margin < 1e-9;
      sides.push_back(still ? either_side : each.side);
    }
  }

  bool same_sides(const Signature& there) const {
    for (size_t i = 0; i < sides.size(); ++i) {
      if (sides[i] != there.sides[i] && sides[i] != either_side) return false;
    }
    return true;
  }
};

GradientCheck::GradientCheck(const Model& model, Contact contact)
    : model_(model),
      settings_(complete(model, {.contact = contact})),
      felt_(felt_inertia(model)),
      scales_(parameter_scales(model, felt_)),
      data_(model),
      work_(model),
      derivatives_(model),
      disturbed_(model, settings_),
      signature_(std::make_unique<Signature>()) {}

GradientCheck::~GradientCheck() = default;

bool GradientCheck::in_contact() const { return !signature_->rows.empty(); }

MatrixX GradientCheck::along(const MatrixX& directions) {
  inconsistency_ = 0.0;
  MatrixX columns(derivatives_.outputs(), directions.cols());
  VectorX w(derivatives_.unknowns()), dx(derivatives_.outputs());
  for (Eigen::Index i = 0; i < directions.cols(); ++i) {
    push_forward(derivatives_, directions.col(i), w, dx);
    columns.col(i) = dx;
    derivatives_.certify(certificate_);
    inconsistency_ = std::max(inconsistency_, certificate_.inconsistency);
  }
  return columns;
}

namespace {

// What f does not know of itself: third differences over steps in which nothing smooth could be seen.
template <class F>
double noise_of(const F& f, const bool& same) {
  double noise = 0.0;
  for (const double step : {1e-8, 1e-7, 1e-6}) {
    const VectorX third = f(3.0 * step) - 3.0 * f(step) + 3.0 * f(-step) - f(-3.0 * step);
    if (!same) break;
    noise = std::max(noise, 0.5 * third.cwiseAbs().maxCoeff());
  }
  return noise;
}

}  // namespace

// Of the step with its modes held, or as it is. A first step counts only if all evaluations share the
// signature of the undisturbed one. First steps are tried until the estimated error is far below what is
// asked for, in a block whose largest number is `scale`; functions may vary fast, and may be noisy. A kink
// that the signature does not know of may deceive a table's own estimate: `thorough` measures the noise, goes
// through all first steps and counts as error also what two tables that follow each other differ by. False if
// there is no such step.
bool GradientCheck::difference(const VectorX& dz, bool held, bool jumps, double scale, bool thorough,
                               VectorX& derivative, VectorX& rounding) {
  disturbed_.hold_modes(held);
  VectorX x(disturbed_.outputs());
  Signature there;
  bool same = true;
  const double dt_rate = dz[disturbed_.layout().theta + model_.structure().timestep];
  const auto evaluate = [&](double t) -> VectorX {
    same = disturbed_.at(dz, t, x) && same && disturbed_.report().contact != SolveStatus::inexact;
    if (!same) return x;
    there.read_rows(disturbed_.contact()->rows, settings_.recovery_speed, held);
    there.read_sides(model_, disturbed_.data(), disturbed_.motion(), *settings_.dt + t * dt_rate);
    same = signature_->same_rows(there) && signature_->same_sides(there);
    return x;
  };
  const double noise = thorough ? std::max(noise_, noise_of(evaluate, same)) : noise_;
  Differences best, previous;
  const double floor = std::max(1e-3 * scale, 1e-9);
  const auto error = [&](const Differences& of) {
    return (of.error.array() / of.derivative.cwiseAbs().array().max(floor)).maxCoeff();
  };
  const auto enough = [&](const Differences& so_far) {
    return !same || (!thorough && error(so_far) <= accurate);
  };
  constexpr double quick[] = {1e-2, 1e-3, 1e-1, 1e-4, 1e-5, 1e-6, 1e-7, 1.0};
  constexpr double all[] = {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
  // Steps that crossed a change of modes along other directions of the block come last: finding other modes
  // takes long.
  const auto look = [&](size_t k) {
    const double step = thorough ? all[k] : quick[k];
    same = true;
    evaluate(step);
    if (same) evaluate(-step);
    Differences found;
    if (same) found = ridders_differences(evaluate, step, jumps, noise, enough);
    if (!same) {
      ++crossed_[k];
      return false;
    }
    if (!thorough) {
      keep_better(best, found);
      return error(best) <= accurate;
    }
    const Differences own = found;
    if (previous.derivative.size() > 0) {
      found.error += (found.derivative - previous.derivative).cwiseAbs();
      keep_better(best, found);
    }
    previous = own;
    return false;
  };
  const std::array<int, 8> crossed = crossed_;
  bool sure = false;
  for (const bool often : {false, true}) {
    for (size_t k = 0; k < std::size(quick) && !sure; ++k) {
      if ((!thorough && crossed[k] > 1) == often) sure = look(k);
    }
    if (best.derivative.size() > 0) break;
  }
  if (best.derivative.size() == 0) best = previous;
  if (best.derivative.size() == 0) return false;
  derivative = best.derivative;
  rounding = best.rounding;
  uncertainty_ = std::max(uncertainty_, error(best));
  return true;
}

// Differences start from the modes that were found. Steps that start cold must find the same.
bool GradientCheck::found_cold(const VectorX& dz) {
  constexpr double step = 1e-6;
  VectorX warm(disturbed_.outputs()), cold = warm;
  disturbed_.hold_modes(false);
  const bool taken = disturbed_.at(dz, step, warm);
  disturbed_.start_warm(false);
  const bool again = disturbed_.at(dz, step, cold);
  disturbed_.start_warm(true);
  return taken && again && (warm - cold).cwiseAbs().maxCoeff() <= 1e-9 * (1.0 + warm.cwiseAbs().maxCoeff());
}

namespace {

// max |A - R| / max(|R|, 1e-3 max |R|, 1e-9), where what rounding alone puts into R is no difference, and a
// block that is zero need only be found below the smallest number that counts. No sum of terms of order 100
// (1 / h) is known to more than some 13 digits behind the point.
VectorX errors_of(const MatrixX& A, const MatrixX& R, const MatrixX& rounding) {
  constexpr double counts = 1e-9, digits = 2e-13;
  const double largest = R.cwiseAbs().maxCoeff(), floor = std::max(1e-3 * largest, counts);
  if (A.cwiseAbs().maxCoeff() < 10.0 * digits && largest < counts) return VectorX::Zero(A.cols());
  const auto off = ((A - R).cwiseAbs() - rounding).array() - digits;
  return (off.max(0.0) / R.cwiseAbs().array().max(floor)).colwise().maxCoeff();
}

}  // namespace

// Columns against their references, together: the error is relative to the whole block. Columns that disagree
// are looked at again, thoroughly.
void GradientCheck::compare(const MatrixX& derivative, const MatrixX& directions, bool jumps,
                            BlockResult& block) {
  block = {};
  if (directions.cols() == 0) return;
  block.present = true;
  block.one_sided = inconsistency_ > 1e-9 || certificate_.one_sided;
  block.largest = derivative.cwiseAbs().maxCoeff();
  MatrixX reference(derivative.rows(), directions.cols()), rounding = reference;
  for (const bool held : {true, false}) {
    bool& left_out = held ? block.frozen_left_out : block.true_left_out;
    left_out = !held && !found_cold(directions.col(0));
    VectorX errors = VectorX::Constant(directions.cols(), std::numeric_limits<double>::infinity());
    for (const bool thorough : {false, true}) {
      VectorX column, rounded;
      uncertainty_ = 0.0;
      crossed_.fill(0);
      for (Eigen::Index i = 0; i < directions.cols() && !left_out; ++i) {
        if (errors[i] <= undecided) continue;
        left_out = !difference(directions.col(i), held, jumps, block.largest, thorough, column, rounded);
        if (left_out) break;
        reference.col(i) = column;
        rounding.col(i) = rounded;
      }
      if (left_out) break;
      errors = errors_of(derivative, reference, rounding);
      if (errors.maxCoeff() <= undecided) break;
    }
    if (left_out) continue;
    const double error = errors.maxCoeff();
    // Steps short enough to keep the modes may be too short to tell: such differences decide nothing.
    left_out = !held && error > undecided && error < uncertainty_;
    if (!left_out) (held ? block.frozen_error : block.true_error) = error;
  }
}

void GradientCheck::check_adjoint(const MatrixX& by_state, const MatrixX& by_control, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  VectorX x_bar(derivatives_.outputs()), w(derivatives_.unknowns()), z_bar(derivatives_.layout().size);
  for (double& x : x_bar) x = uniform(random);
  pull_back(derivatives_, x_bar, w, z_bar);
  VectorX expected(by_state.cols() + by_control.cols());
  expected << by_state.transpose() * x_bar, by_control.transpose() * x_bar;
  adjoint_error_ = (z_bar.head(expected.size()) - expected).norm() / std::max(expected.norm(), 1e-9);
}

// Numbers with which there is no derivative, because the active rows cannot follow: the tilt of a planar
// robot whose feet would then have to stick in a direction they never moved in, the width of a box that fills
// a slot.
void GradientCheck::leave_out_what_cannot_change(MatrixX& directions) {
  const StepInputs& at = derivatives_.layout();
  VectorX dz = VectorX::Zero(at.size), w(derivatives_.unknowns()), dx(derivatives_.outputs());
  for (Eigen::Index i = at.theta; i < directions.rows(); ++i) {
    if (directions.row(i).isZero(0.0)) continue;
    dz[i] = 1.0;
    push_forward(derivatives_, dz, w, dx);
    derivatives_.certify(certificate_);
    if (certificate_.inconsistency > 1e-9) directions.row(i).setZero();
    dz[i] = 0.0;
  }
}

bool GradientCheck::run(const State& start, const Input& input, unsigned seed,
                        std::vector<BlockResult>& blocks) {
  std::mt19937 random(seed);
  const StepInputs& at = derivatives_.layout();
  const int nv = model_.nv(), nu = model_.nu(), n = derivatives_.outputs();
  State end = start;
  WarmStart cold;
  const ImpulseSettings settings = impulse_settings(settings_);
  blocks.assign(block_names().size(), {});
  signature_->rows.clear();
  if (impulse_step(model_, data_, work_, settings, input, end, cold).status != StepStatus::ok) return false;
  signature_->read_rows(work_.rows, settings_.recovery_speed);
  signature_->read_sides(model_, data_, work_.free, settings.dt);
  const double fastest = std::max(
      {work_.v_free.cwiseAbs().maxCoeff(), start.v.cwiseAbs().maxCoeff(), start.q.cwiseAbs().maxCoeff()});
  noise_ = 2.0 * std::numeric_limits<double>::epsilon() * fastest;
  disturbed_.start_warm(true);
  if (!disturbed_.begin(start, input) || !derivatives_.prepare(model_, data_, work_, settings)) return false;
  MatrixX by_state(n, n), by_control(n, nu);
  derivatives_.jacobians(by_state, by_control);
  check_adjoint(by_state, by_control, random);

  const MatrixX states = MatrixX::Identity(at.size, at.control);
  const double off = (along(states) - by_state).cwiseAbs().maxCoeff();
  jacobian_error_ = off / std::max(by_state.cwiseAbs().maxCoeff(), 1e-9);
  compare(by_state, states, in_medium(model_), blocks[0]);
  const VectorX control_scale = control_scales(model_);
  const auto diagonal = [&](int begin, const VectorX& scale) {
    MatrixX directions = MatrixX::Zero(at.size, scale.size());
    directions.middleRows(begin, scale.size()).diagonal() = scale;
    return directions;
  };
  const MatrixX controls = diagonal(at.control, control_scale);
  along(controls);
  compare(by_control * control_scale.asDiagonal(), controls, false, blocks[1]);
  const auto eight = [&](int begin, int size, double scale) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    MatrixX directions = MatrixX::Zero(at.size, 8);
    for (double& x : directions.middleRows(begin, size).reshaped()) x = scale * uniform(random);
    return directions;
  };
  MatrixX forces = eight(at.force, nv, 1.0);
  forces.middleRows(at.force, nv) = (100.0 * felt_).asDiagonal() * forces.middleRows(at.force, nv);
  compare(along(forces), forces, false, blocks[2]);
  MatrixX wrenches = eight(at.wrench, 6 * model_.nbody(), model_.total_mass());
  wrenches.middleRows(at.wrench, 6).setZero();  // nothing pushes the world
  compare(along(wrenches), wrenches, false, blocks[3]);
  const bool touches = work_.colliders.swept() || !work_.colliders.pairs().empty();
  for (size_t k = 0; k < std::size(kinds); ++k) {
    const bool of_contacts = kinds[k] == ParameterKind::friction || kinds[k] == ParameterKind::restitution ||
                             kinds[k] == ParameterKind::geometry;
    if (of_contacts && !touches) continue;  // shapes that meet nothing are for the eye
    MatrixX directions = parameter_directions(model_, kinds[k], scales_, random);
    if (kinds[k] == ParameterKind::placement || kinds[k] == ParameterKind::geometry)
      leave_out_what_cannot_change(directions);
    if (directions.cols() > 0) compare(along(directions), directions, in_medium(model_), blocks[4 + k]);
  }
  return true;
}

}  // namespace articula::cli
