#include "cli/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/derivatives/differences.hpp"
#include "articula/dynamics/felt_inertia.hpp"
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
constexpr double zero = 2e-12;      // a block below it is zero: its sums are known to no more digits
constexpr double trust = 3.0;       // by which a table may underestimate its error
constexpr double undecided = 1e-6;  // where differences are less sure than this they are not held against us

}  // namespace

const std::vector<std::string>& block_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list{"state", "control", "force", "wrench"};
    for (const ParameterKind kind : kinds) list.emplace_back(to_string(kind));
    return list;
  }();
  return names;
}

GradientCheck::GradientCheck(const Model& model, Contact contact)
    : model_(model),
      settings_(complete(model, {.contact = contact})),
      felt_(felt_inertia(model)),
      scales_(parameter_scales(model, felt_)),
      data_(model),
      work_(model),
      derivatives_(model),
      disturbed_(model, settings_) {}

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

// Differences of the given order between neighbours, so that of noise alone those of all orders are alike.
VectorX noise_by_differences(std::vector<VectorX> at, int order) {
  double squares = 1.0;  // of the binomial coefficients: (2n)! / n!^2
  for (int n = 1; n <= order; ++n) {
    for (size_t i = 0; i + 1 < at.size(); ++i) at[i] = VectorX(at[i + 1] - at[i]);
    at.pop_back();
    squares *= (4.0 * n - 2.0) / n;
  }
  VectorX mean = VectorX::Zero(at[0].size());
  for (const VectorX& each : at) mean += each.cwiseAbs2() / static_cast<double>(at.size());
  return (mean / squares).cwiseSqrt();
}

// What f does not know of itself between two places: twice the mean of differences. Something smooth may bend
// there, but the less the higher the order, and noise is alike in all of them.
template <class F>
double noise_between(double begin, double end, const F& f) {
  constexpr int places = 14;
  std::vector<VectorX> at;
  for (int i = 0; i < places; ++i) at.push_back(f(begin + (end - begin) * i / (places - 1)));
  return 2.0 * noise_by_differences(at, 5).cwiseMin(noise_by_differences(at, 9)).maxCoeff();
}

// Within `step`. Next to a pole, where rows become independent, it grows with the step. Where features tie, f
// may bend one way ahead and another way behind (t |t|): that is no noise, and neither side has it.
template <class F>
double noise_within(double step, double known, const F& f) {
  const double both = noise_between(-step, step, f);
  if (both <= known) return both;
  return std::min(both, std::max(noise_between(-step, -step / 14.0, f), noise_between(step / 14.0, step, f)));
}

}  // namespace

namespace {

// Of two tables the one with longer steps may see a function that has long bent off (a loop that closes as
// fast as it may, in another direction), and be sure of it: what does not lie within the errors of a shorter
// one is not the derivative at t = 0.
void leave_out_what_shorter_steps_exclude(const Differences& shorter, Differences& longer) {
  constexpr double sure = 10.0;
  const auto known = sure * (shorter.error + longer.error).array();
  const auto off = (shorter.derivative - longer.derivative).cwiseAbs().array();
  longer.error = (off <= known).select(longer.error, std::numeric_limits<double>::infinity());
}

}  // namespace

// A step from z + t dz, and whether it shares the signature of the undisturbed one.
VectorX GradientCheck::evaluate(const VectorX& dz, double t, bool held, bool& same) {
  VectorX x(disturbed_.outputs());
  same = same && disturbed_.at(dz, t, x) && disturbed_.report().contact != SolveStatus::inexact;
  if (!same) return x;
  const double dt_rate = dz[disturbed_.layout().theta + model_.structure().timestep];
  const ImpulseWork& work = *disturbed_.contact();
  const auto keys = tied_ ? contact_keys(work.contacts, work_.contacts) : contact_keys(work.contacts);
  moved_on_ = moved_on_ || disturbed_.modes().keys_of(work.contacts) != keys;
  there_.read_rows(model_.structure(), work.rows, keys, settings_.recovery_speed, held);
  there_.read_sides(disturbed_.model(), disturbed_.data(), disturbed_.motion(), *settings_.dt + t * dt_rate);
  same = (tied_ ? by_place_ : signature_).same_rows(there_) && signature_.same_sides(there_);
  return x;
}

// False where other modes are sure to be found, or these have no solution: finding others may take long.
bool GradientCheck::keeps_apart(const VectorX& dz, double t) {
  VectorX x(disturbed_.outputs());
  disturbed_.hold_modes(true);
  const bool passes = !disturbed_.at(dz, t, x) || passes_through(disturbed_.contact()->rows);
  disturbed_.hold_modes(false);
  return !passes;
}

// Of the step with its modes held, or as it is. A first step counts only if all evaluations share the
// signature of the undisturbed one. First steps are tried until the estimated error is far below what is
// asked for, in a block whose largest number is `scale`; functions may vary fast, and may be noisy. A kink
// that the signature does not know of may deceive a table's own estimate: `thorough` measures the noise
// within each first step, goes through all of them and counts as error also what two tables that follow each
// other differ by. False if there is no such step.
bool GradientCheck::difference(const VectorX& dz, bool held, bool jumps, double scale, bool thorough,
                               Reference& reference) {
  disturbed_.hold_modes(held);
  bool same = true;
  const auto f = [&](double t) { return evaluate(dz, t, held, same); };
  // Until it is measured, all of a step is taken to be known to the last digits of its largest numbers; less
  // noise than a twentieth of that cannot be told from none.
  double noise = thorough ? 0.05 * noise_ : noise_;
  Differences best, previous;
  const double floor = std::max(1e-3 * scale, 1e-9);
  const auto error = [&](const Differences& of) {
    return (of.error.array() / of.derivative.cwiseAbs().array().max(floor)).maxCoeff();
  };
  // Of a block that is zero it is enough to know that.
  const double wanted = scale < zero ? 0.1 : accurate;
  const auto enough = [&](const Differences& so_far) {
    return !same || (!thorough && error(so_far) <= wanted);
  };
  double largest = 0.0;                     // of what steps return
  const auto hopeless = [&](double step) {  // rounding alone would be more than the error is already
    const double rounding = std::max(std::numeric_limits<double>::epsilon() * largest, noise) / step;
    return best.derivative.size() > 0 && best.error.maxCoeff() <= rounding;
  };
  reference.outermost.clear();
  double least = std::numeric_limits<double>::infinity();  // error of a table
  // The shortest are for what slides slowly and is jammed: its direction turns within them.
  constexpr double quick[first_steps] = {1e-2, 1e-3, 1e-1, 1e-4,  1e-5,  1e-6, 1e-7,
                                         1.0,  1e-8, 1e-9, 1e-10, 1e-11, 1e-12};
  constexpr double all[first_steps] = {1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6,
                                       1e-5,  1e-4,  1e-3,  1e-2, 1e-1, 1.0};
  double crossing = std::numeric_limits<double>::infinity();  // the smallest first step that leads there
  const auto look = [&](size_t k) {
    const double step = thorough ? all[k] : quick[k];
    // Held modes that could not be solved in a short step may well be in a longer one.
    if (hopeless(step) || (!held && step > crossing)) return false;
    same = held || (keeps_apart(dz, step) && keeps_apart(dz, -step));
    const VectorX ahead = same ? f(step) : VectorX();
    const VectorX behind = same ? f(-step) : ahead;
    const auto known = [&](double t) { return t == step ? ahead : t == -step ? behind : f(t); };
    Differences found;
    const double measured = same && thorough ? noise_within(step, 4.0 * noise, known) : 0.0;
    if (same) noise = std::max(noise, measured);
    if (same) found = ridders_differences(known, step, jumps || thorough, noise, enough);
    if (!same) {
      crossing = step;
      ++crossed_[k];
      return false;
    }
    largest = std::max({largest, ahead.cwiseAbs().maxCoeff(), behind.cwiseAbs().maxCoeff()});
    reference.outermost.push_back({step, ahead, behind});
    if (!thorough) {
      keep_better(best, found);
      return error(best) <= wanted;
    }
    const Differences own = found;
    if (previous.derivative.size() > 0) {
      found.error += (found.derivative - previous.derivative).cwiseAbs();
      if (best.derivative.size() > 0) leave_out_what_shorter_steps_exclude(best, found);
      if (error(found) < least) least = error(found), reference.surest = step, reference.noise = noise;
      keep_better(best, found);
    }
    previous = own;
    return false;
  };
  // Steps that crossed a change of modes along other directions of the block come last: finding other modes
  // takes long.
  const std::array<int, first_steps> crossed = crossed_;
  bool sure = false;
  for (const bool often : {false, true}) {
    for (size_t k = 0; k < first_steps && !sure; ++k) {
      if ((!thorough && crossed[k] > 1) == often) sure = look(k);
    }
    if (best.derivative.size() > 0) break;
  }
  if (best.derivative.size() == 0) best = previous;
  if (best.derivative.size() == 0) return false;
  reference.derivative = best.derivative;
  reference.rounding = best.rounding;
  reference.unsure = best.error;
  reference.error = error(best);
  reference.thorough = thorough;
  return true;
}

// A table of the surest first step again and again, where what it does not know is noise. Unless that tells
// more the reference stays as it was; one that is sure, and contradicts, is right.
void GradientCheck::repeat(const VectorX& dz, bool held, double scale, Reference& reference) {
  constexpr int tables = 16;
  if (!(reference.surest > 0.0) || reference.error <= 0.1 * undecided) return;
  disturbed_.hold_modes(held);
  bool same = true;
  tied_ = reference.tied;
  const auto f = [&](double t) { return evaluate(dz, t, held, same); };
  const Differences found = mean_of_tables(f, reference.surest, tables, true, reference.noise);
  tied_ = false;
  const double floor = std::max(1e-3 * scale, 1e-9);
  const double error = (found.error.array() / found.derivative.cwiseAbs().array().max(floor)).maxCoeff();
  if (!same || !(error < reference.error)) return;
  reference.derivative = found.derivative;
  reference.rounding = found.rounding;
  reference.unsure = found.error;
  reference.error = error;
}

// Where features tie, as of equal faces on each other, contacts change them in short steps, and stay where
// they are: then places tell contacts apart. Steps so short that features stay, too, may not tell enough;
// what they do tell, others must not contradict.
bool GradientCheck::difference_if_any(const VectorX& dz, bool held, bool jumps, double scale, bool thorough,
                                      Reference& reference) {
  moved_on_ = false;
  reference.tied = false;
  const bool found = difference(dz, held, jumps, scale, thorough, reference);
  if (found && (!moved_on_ || reference.error <= accurate)) return true;
  Reference by_place;
  tied_ = by_place.tied = true;
  const bool found_by_place = difference(dz, held, jumps, scale, thorough, by_place);
  tied_ = false;
  if (found_by_place && (!found || (by_place.error < reference.error && agree(reference, by_place, scale))))
    reference = by_place;
  return found || found_by_place;
}

// Where the step as it is keeps its modes it is the step with modes held: one table serves both if the two
// agree at the table's ends.
bool GradientCheck::agrees_with_held(const VectorX& dz, double scale, const Reference& reference) {
  disturbed_.hold_modes(true);
  const double floor = std::max(1e-3 * scale, 1e-9);
  bool same = true;
  for (const auto& [step, ahead, behind] : reference.outermost) {
    for (const double sign : {1.0, -1.0}) {
      tied_ = reference.tied;
      const VectorX held = evaluate(dz, sign * step, true, same);
      tied_ = false;
      if (!same) return false;
      const double off = (held - (sign > 0.0 ? ahead : behind)).cwiseAbs().maxCoeff();
      if (!(off <= accurate * floor * step)) return false;
    }
  }
  return true;
}

// Whether the step as it is was, all along a table, the step with its modes held, to rounding.
bool GradientCheck::is_held(const VectorX& dz, const Reference& reference) {
  constexpr double rounding = 1e-12;
  disturbed_.hold_modes(true);
  bool same = !reference.outermost.empty();
  for (const auto& [step, ahead, behind] : reference.outermost) {
    for (const double sign : {1.0, -1.0}) {
      const VectorX& found = sign > 0.0 ? ahead : behind;
      const VectorX held = evaluate(dz, sign * step, true, same);
      if (!same) return false;
      const double largest = std::max(1.0, found.cwiseAbs().maxCoeff());
      if (!((held - found).cwiseAbs().maxCoeff() <= rounding * largest)) return false;
    }
  }
  return same;
}

// Two tables of one function, as far as they know. Modes that are held leave more to rounding than laws do
// where loads may be shared in many ways.
bool GradientCheck::agree(const Reference& one, const Reference& other, double scale) {
  const double floor = std::max(1e-3 * scale, 1e-9), known = trust * (one.error + other.error);
  return ((one.derivative - other.derivative).cwiseAbs().array() <=
          known * other.derivative.cwiseAbs().array().max(floor))
      .all();
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

// Where the laws have several solutions, and a step that starts from the one found has to search for one all
// the same: the step as it is may find any of them, and takes long. It is no function to be differenced.
bool GradientCheck::searches_again() {
  constexpr int search = 50;  // factorisations
  if (!work_.ambiguous) return false;
  VectorX x(disturbed_.outputs());
  disturbed_.hold_modes(false);
  return !disturbed_.at(VectorX::Zero(disturbed_.layout().size), 0.0, x) ||
         disturbed_.report().iterations > search;
}

namespace {

// max |A - R| / max(|R|, 1e-3 max |R|, 1e-9), where what rounding alone puts into R is no difference, and a
// block that is zero need only be found below the smallest number that counts, or, of motion that is known to
// few digits (a robot that lies on more points than it needs), below what references are sure of. No sum of
// terms of order 100 (1 / h) is known to more than some 13 digits behind the point.
VectorX errors_of(const MatrixX& A, const MatrixX& R, const MatrixX& rounding, const MatrixX& unsure) {
  constexpr double counts = 1e-9, least_known = 1e-7, digits = 0.1 * zero;
  const double largest = R.cwiseAbs().maxCoeff(), floor = std::max(1e-3 * largest, counts);
  const auto nothing = [&] {
    return (R.cwiseAbs() - rounding).maxCoeff() < counts ||
           (unsure.maxCoeff() < least_known && (R.cwiseAbs() - trust * unsure).maxCoeff() < counts);
  };
  if (A.cwiseAbs().maxCoeff() < zero && nothing()) return VectorX::Zero(A.cols());
  const auto off = ((A - R).cwiseAbs() - rounding).array() - digits;
  return (off.max(0.0) / R.cwiseAbs().array().max(floor)).colwise().maxCoeff();
}

}  // namespace

// Columns against their references, together: the error is relative to the whole block. Columns that disagree
// are looked at again, thoroughly; and once more where that is not sure of itself.
void GradientCheck::compare(const MatrixX& derivative, const MatrixX& directions, bool jumps,
                            BlockResult& block) {
  block = {};
  if (directions.cols() == 0) return;
  block.present = true;
  block.one_sided = inconsistency_ > 1e-9 || certificate_.one_sided;
  block.largest = derivative.cwiseAbs().maxCoeff();
  const double scale = block.largest;
  MatrixX references(derivative.rows(), directions.cols()), rounding = references, unsure = references;
  std::vector<Reference> as_it_is(static_cast<size_t>(directions.cols())), with_modes_held = as_it_is;
  VectorX as_it_is_errors;
  for (const bool held : {false, true}) {
    bool& left_out = held ? block.frozen_left_out : block.true_left_out;
    left_out = !held && (searches_again_ || !found_cold(directions.col(0)));
    VectorX errors = VectorX::Constant(directions.cols(), std::numeric_limits<double>::infinity());
    double uncertainty = 0.0;
    for (const Look look : {Look::quick, Look::thorough, Look::repeated}) {
      crossed_.fill(0);
      uncertainty = 0.0;
      for (Eigen::Index i = 0; i < directions.cols() && !left_out; ++i) {
        if (errors[i] <= undecided) continue;
        const VectorX dz = directions.col(i);
        Reference& reference = (held ? with_modes_held : as_it_is)[static_cast<size_t>(i)];
        const Reference& other = as_it_is[static_cast<size_t>(i)];
        if (look == Look::repeated)
          repeat(dz, held, scale, reference);
        else if (held && look == Look::quick && other.error <= undecided &&
                 agrees_with_held(dz, scale, other))
          reference = other;
        else
          left_out = !difference_if_any(dz, held, jumps, scale, look == Look::thorough, reference);
        if (left_out) break;
        // One that knows nothing of its noise, and agrees with nothing, is no better than one that does.
        const bool better =
            other.error < reference.error && (other.confirmed || other.thorough == reference.thorough);
        if (held && better && agree(reference, other, scale)) reference = other;
        references.col(i) = reference.derivative;
        rounding.col(i) = reference.rounding;
        unsure.col(i) = reference.unsure;
        uncertainty = std::max(uncertainty, reference.error);
      }
      if (left_out) break;
      errors = errors_of(derivative, references, rounding, unsure);
      for (Eigen::Index i = 0; i < errors.size() && !held; ++i)
        as_it_is[static_cast<size_t>(i)].confirmed = errors[i] <= undecided;
      if (errors.maxCoeff() <= undecided) break;
    }
    if (left_out) continue;
    const double error = errors.maxCoeff();
    // Steps short enough to keep the modes may be too short to tell: such differences decide nothing.
    left_out = !held && error > undecided && error < trust * uncertainty;
    if (!left_out) (held ? block.frozen_error : block.true_error) = error;
    if (!held) as_it_is_errors = errors;
  }
  // Alike where the step was the one with modes held, which longer steps have told to be right.
  if (block.true_left_out || !(block.true_error > undecided)) return;
  bool held = !block.frozen_left_out && block.frozen_error <= undecided;
  for (Eigen::Index i = 0; i < directions.cols() && held; ++i) {
    if (as_it_is_errors[i] > undecided) held = is_held(directions.col(i), as_it_is[static_cast<size_t>(i)]);
  }
  block.true_left_out = held;
  if (held) block.true_error = 0.0;
}

void GradientCheck::check_adjoint(const MatrixX& by_state, const MatrixX& by_control, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  VectorX x_bar(derivatives_.outputs()), w(derivatives_.unknowns()), z_bar(derivatives_.layout().size);
  for (double& x : x_bar) x = uniform(random);
  VectorX expected(by_state.cols() + by_control.cols());
  expected << by_state.transpose() * x_bar, by_control.transpose() * x_bar;
  adjoint_error_ = 0.0;
  for (const bool with_parameters : {false, true}) {
    derivatives_.want_parameters(with_parameters);
    pull_back(derivatives_, x_bar, w, z_bar);
    const double off = (z_bar.head(expected.size()) - expected).norm() / std::max(expected.norm(), 1e-9);
    adjoint_error_ = std::max(adjoint_error_, off);
  }
}

// Numbers with which there is no derivative, because the active rows cannot follow: the tilt of a planar
// robot whose feet would then have to stick in a direction they never moved in, the width of a box that fills
// a slot, the end of a range where fingers meet.
void GradientCheck::leave_out_what_cannot_change(MatrixX& directions) {
  const StepInputs& at = derivatives_.layout();
  VectorX w(derivatives_.unknowns()), dx(derivatives_.outputs());
  std::vector<bool> seen(static_cast<size_t>(directions.rows()), false);
  for (Eigen::Index i = at.theta; i < directions.rows(); ++i) {
    if (seen[static_cast<size_t>(i)] || directions.row(i).isZero(0.0)) continue;
    VectorX dz = VectorX::Zero(at.size);
    const Eigen::RowVectorXd own = directions.row(i);
    for (Eigen::Index k = i; k < directions.rows(); ++k) {  // what is equal moves as one
      if (directions.row(k) == own) dz[k] = 1.0, seen[static_cast<size_t>(k)] = true;
    }
    push_forward(derivatives_, dz, w, dx);
    derivatives_.certify(certificate_);
    if (!(certificate_.inconsistency > 1e-9)) continue;
    for (Eigen::Index k = i; k < directions.rows(); ++k) {
      if (dz[k] != 0.0) directions.row(k).setZero();
    }
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
  signature_.clear();
  by_place_.clear();
  if (impulse_step(model_, data_, work_, settings, input, end, cold).status != StepStatus::ok) return false;
  signature_.read_rows(model_.structure(), work_.rows, contact_keys(work_.contacts),
                       settings_.recovery_speed);
  signature_.read_sides(model_, data_, work_.free, settings.dt);
  by_place_.read_rows(model_.structure(), work_.rows, contact_keys(work_.contacts, work_.contacts),
                      settings_.recovery_speed);
  const double fastest = std::max(
      {work_.v_free.cwiseAbs().maxCoeff(), start.v.cwiseAbs().maxCoeff(), start.q.cwiseAbs().maxCoeff()});
  noise_ = 2.0 * std::numeric_limits<double>::epsilon() * fastest;
  disturbed_.start_warm(true);
  if (!disturbed_.begin(start, input) || !derivatives_.prepare(model_, data_, work_, settings)) return false;
  searches_again_ = searches_again();
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
    for (int i = 0; i < scale.size(); ++i) directions(begin + i, i) = scale[i];
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
  MatrixX wrenches = eight(at.wrench, 6 * model_.nbody(), 1.0);
  wrenches.middleRows(at.wrench, 6 * model_.nbody()) =
      wrench_scales(model_).asDiagonal() * wrenches.middleRows(at.wrench, 6 * model_.nbody());
  compare(along(wrenches), wrenches, false, blocks[3]);
  const bool touches = work_.colliders.swept() || !work_.colliders.pairs().empty();
  for (size_t k = 0; k < std::size(kinds); ++k) {
    const bool of_contacts = kinds[k] == ParameterKind::friction || kinds[k] == ParameterKind::restitution ||
                             kinds[k] == ParameterKind::geometry;
    if (of_contacts && !touches) continue;  // shapes that meet nothing are for the eye
    MatrixX directions = parameter_directions(model_, kinds[k], scales_, random);
    if (kinds[k] == ParameterKind::placement || kinds[k] == ParameterKind::geometry ||
        kinds[k] == ParameterKind::limits)
      leave_out_what_cannot_change(directions);
    if (directions.cols() > 0) compare(along(directions), directions, in_medium(model_), blocks[4 + k]);
  }
  return true;
}

}  // namespace articula::cli
