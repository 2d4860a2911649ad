// The path of relaxed solutions, followed by arc length.
//
//   eta = G lam + b + kappa p,    gamma eta_N = kappa,    gamma psi + beta . w = kappa,   gamma w + psi beta
//   = 0
// At kappa_0 the point lam_N = start, eta_N = psi = kappa_0 / start, lam_T = 0 solves this, with p = (eta - G
// lam - b) / kappa_0. p lies inside the dual cones if kappa_0 is large enough, so that (as in Lemke's method,
// and for the same reason: lam . G lam >= 0, and b . lam >= 0 where G lam = 0) the curve of solutions that
// starts there has no other end than kappa = 0. But friction is not monotone: the curve may turn back, and
// kappa must grow on the way. So kappa is one more unknown, and the step is measured along the previous
// tangent t:
//   [ G + H   p - by_kappa ] [dlam  ]   [ eta - G lam - b - kappa p + constant ]
//   [  t^T S        t_k S  ] [dkappa] = [                stride                ]
// in the metric S in which impulses count relative to their normal (those of equalities to themselves, once
// they are large), and kappa relative to itself. Bodies that friction nearly jams end with loads of 1e5: then
// G lam is known to so many digits only, and eta_N = kappa / lam_N of what carries them is smaller. What the
// velocities miss each other by is an error where it is more than rounding, or no path would end there.

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"
#include "articula/solvers/interior_point.hpp"

namespace articula {

namespace {

// Relative errors of the products within which the path goes on; after it was lost, more is asked for.
constexpr double near_path = 0.05, nearer_path = 1e-4;
constexpr double to_boundary = 0.8;
constexpr double sharp_bend = 0.7;            // cosine between tangents of successive points
constexpr double most_relative_change = 0.6;  // of kappa, in a step
// Of many impulses the smallest. Loads times this is what the end of the path misses a solution by.
constexpr double path_softness = 1e-15;

}  // namespace

// On with kappa, downwards, from a point that is near the path of the problem itself: p = 0.
double InteriorPoint::resume_path() {
  const double kappa = restore_point();
  shift_.assign(size_, 0.0);
  tangent_.assign(size_ + 1, 0.0);
  tangent_[size_] = -1.0;
  return kappa;
}

double InteriorPoint::start_path(const ContactProblem& problem, double impulse) {
  list_cones(problem);
  lam_.assign(size_, 0.0);
  eta_.assign(size_, 0.0);
  shift_.assign(size_, 0.0);
  for (int n : normals_) lam_[n] = impulse;
  double largest = 1.0, mu = 1.0;
  product_.resize(size_);
  multiply(problem, lam_.data(), product_.data());
  for (int i = 0; i < size_; ++i) {
    shift_[i] = -b_[i] - product_[i];
    largest = std::max(largest, std::abs(shift_[i]));
  }
  for (const Block& block : problem.blocks) {
    for (double x : block.mu) mu = std::max(mu, x);
  }
  const double velocity = 2.0 * largest * (1.0 + 3.0 * mu), kappa = impulse * velocity;
  for (int n : normals_) {
    eta_[n] = velocity;
    shift_[n] += velocity;
  }
  for (double& x : shift_) x /= kappa;
  for (Cone& cone : cones_) cone.psi = cone.normal >= 0 ? velocity : kappa / cone.radius;
  tangent_.assign(size_ + 1, 0.0);
  tangent_[size_] = -1.0;
  return kappa;
}

// Relative errors of the products, with the velocities' own errors counted as such.
double InteriorPoint::path_error(const ContactProblem& problem, double kappa) {
  multiply(problem, lam_.data(), product_.data());
  double largest = 0.0;
  for (double x : lam_) largest = std::max(largest, std::abs(x));
  const double rounding = 1e-15 * largest;
  const auto gap = [&](int i) {
    const double missed = eta_[i] - b_[i] - kappa * shift_[i] - product_[i];
    return std::max(std::abs(missed) - rounding, 0.0);
  };
  double error = 0.0;
  for (int n : normals_) {
    error = std::max(error, std::abs(lam_[n] * eta_[n] / kappa - 1.0));
    error = std::max(error, gap(n) * lam_[n] / kappa);
  }
  for (const Cone& cone : cones_) {
    const double gamma = cone.normal >= 0 ? lam_[cone.normal] : cone.radius;
    double product = gamma * cone.psi;
    for (int i = 0; i < cone.count; ++i) {
      const double beta = lam_[cone.first + i] / cone.mu[i], w = eta_[cone.first + i] * cone.mu[i];
      product += beta * w;
      error = std::max(error, std::abs(gamma * w + cone.psi * beta) / kappa);
      error = std::max(error, gap(cone.first + i) * cone.mu[i] * gamma / kappa);
    }
    error = std::max(error, std::abs(product / kappa - 1.0));
  }
  return error;
}

// The new tangent, on the same side as the old one, and a step of length `stride` along it. Returns the
// cosine between the two: the path bends sharply where it is small, and may have been left.
double InteriorPoint::turn_along(double stride, std::vector<double>& step) {
  std::fill(tangent_.begin(), tangent_.end(), 0.0);
  tangent_[size_] = 1.0;
  solve_bordered(tangent_.data());
  double length = 0.0;
  for (int i = 0; i <= size_; ++i) length += tangent_[i] * metric_[i] * tangent_[i] * metric_[i];
  length = std::sqrt(length);
  if (!(length > 0.0) || !std::isfinite(length)) return 0.0;
  for (int i = 0; i <= size_; ++i) {
    step[i] += stride / length * tangent_[i];
    tangent_[i] *= metric_[i] / length;
  }
  return 1.0 / length;
}

// [K p; t d] with p = shift - by_kappa. By groups K alone is factored, and K^-1 p is kept.
bool InteriorPoint::factor_bordered(const ContactProblem& problem) {
  const int n = size_;
  border_.resize(n + 1);
  for (int i = 0; i <= n; ++i) border_[i] = tangent_[i] * metric_[i];
  if (by_groups_) {
    if (!factor(problem)) return false;
    solved_border_.resize(n);
    for (int i = 0; i < n; ++i) solved_border_[i] = shift_[i] - by_kappa_[i];
    grouped_.solve(solved_border_.data(), newton_precision);
    return true;
  }
  lu_.resize(n + 1);
  if (!factor(problem)) return false;
  std::copy(border_.begin(), border_.end(), lu_.row(n));
  for (int i = 0; i < n; ++i) lu_.row(i)[n] = shift_[i] - by_kappa_[i];
  return lu_.factor();
}

void InteriorPoint::solve_bordered(double* x) {
  if (!by_groups_) {
    lu_.solve(x);
    return;
  }
  grouped_.solve(x, newton_precision);
  const double rest = border_[size_] - strip_dot(border_.data(), solved_border_.data(), size_);
  x[size_] = (x[size_] - strip_dot(border_.data(), x, size_)) / rest;
  strip_add(x, solved_border_.data(), -x[size_], size_);
}

// One factorisation serves the correction back to the path and the way along it.
bool InteriorPoint::path_step(const ContactProblem& problem, double& kappa, double stride,
                              double least_cosine) {
  const int n = size_;
  assemble(problem, kappa);
  metric_.resize(n + 1);
  for (int i = 0; i < n; ++i) metric_[i] = 1.0 / std::max(1.0, std::abs(lam_[i]));
  for (int k : normals_) metric_[k] = 1.0 / lam_[k];
  for (const Cone& cone : cones_) {
    const double gamma = cone.normal >= 0 ? lam_[cone.normal] : cone.radius;
    for (int i = 0; i < cone.count; ++i) metric_[cone.first + i] = 1.0 / (gamma * cone.mu[i]);
  }
  metric_[n] = 1.0 / kappa;
  if (!factor_bordered(problem)) return false;

  std::vector<double>& correction = dlam_;
  correction.resize(n + 1);
  for (int i = 0; i < n; ++i)
    correction[i] = eta_[i] - b_[i] - kappa * shift_[i] - product_[i] + constant_[i];
  correction[n] = 0.0;
  solve_bordered(correction.data());

  if (stride > 0.0) {
    const double cosine = turn_along(stride, correction);
    if (!(cosine > least_cosine)) return false;
    keep_point(kappa);
  }
  for (double x : correction) {
    if (!std::isfinite(x)) return false;
  }
  double dkappa = correction[n];
  recover_velocities(kappa, dkappa);
  double alpha = longest_step(problem);
  if (alpha < 1.0) alpha *= to_boundary;
  if (std::abs(dkappa) * alpha > most_relative_change * kappa)
    alpha = most_relative_change * kappa / std::abs(dkappa);
  advance(alpha);
  kappa += alpha * dkappa;
  return std::isfinite(kappa);
}

void InteriorPoint::keep_point(double kappa) {
  kept_.assign(1, kappa);
  for (const std::vector<double>* part : {&lam_, &eta_, &tangent_})
    kept_.insert(kept_.end(), part->begin(), part->end());
  for (const Cone& cone : cones_) kept_.push_back(cone.psi);
}

double InteriorPoint::restore_point() {
  const double* from = kept_.data() + 1;
  for (std::vector<double>* part : {&lam_, &eta_, &tangent_}) {
    std::copy(from, from + part->size(), part->begin());
    from += part->size();
  }
  for (Cone& cone : cones_) cone.psi = *from++;
  return kept_[0];
}

int InteriorPoint::follow_path(const ContactProblem& problem, const PathSettings& settings, double* lam) {
  scale(problem, path_softness);
  const bool resumed = settings.resumed > 0.0 && !kept_.empty();
  double kappa = resumed ? resume_path() : start_path(problem, settings.start), stride = 0.5;
  const double end = resumed ? settings.resumed * kappa : settings.kappa;
  const double largest = (resumed ? 1e3 : 4.0) * kappa;
  kept_.clear();
  int iteration = 0, corrections = 0, cautious = 0;
  bool moved = false;  // since the last point that was kept
  for (; iteration < settings.most_iterations && kappa > end; ++iteration) {
    const double error = path_error(problem, kappa);
    const bool near = error <= (cautious > 0 ? nearer_path : near_path);
    if (near && corrections <= (cautious > 0 ? 2 : 0)) stride = std::min(2.0 * stride, 4.0);
    corrections = near ? 0 : corrections + 1;
    if (near) cautious = std::max(cautious - 1, 0);
    const bool lost = !(error < 1e3) || corrections > 6 || kappa > largest;
    if (!lost && path_step(problem, kappa, near ? stride : 0.0, moved ? sharp_bend : 0.0)) {
      moved |= near;
      continue;
    }
    if (kept_.empty()) break;
    // Back to the last point of the path: onto it more exactly, and on with a shorter step.
    kappa = restore_point();
    stride *= 0.25;
    corrections = 3;
    cautious = 5;
    moved = false;
    if (stride < 1e-9) break;
  }
  for (int i = 0; i < size_; ++i) lam[i] = unit_[i] * lam_[i];
  return iteration;
}

}  // namespace articula
