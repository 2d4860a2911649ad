#include "articula/derivatives/differences.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace articula {

void keep_better(Differences& best, const Differences& other) {
  if (best.derivative.size() == 0) {
    best = other;
    return;
  }
  for (Eigen::Index i = 0; i < other.derivative.size(); ++i) {
    // Not-a-number, where f could not be had, is worse than any error.
    if (other.error[i] < best.error[i] || std::isnan(best.error[i]))
      best.error[i] = other.error[i], best.derivative[i] = other.derivative[i],
      best.rounding[i] = other.rounding[i];
  }
}

namespace {

// Shorter steps would only bring rounding.
bool settled(const Differences& best) {
  return best.error.maxCoeff() < 1e-11 * best.derivative.cwiseAbs().maxCoeff();
}

// Neville's table of differences at steps that shrink by sqrt(2), for errors in powers of h^power; and what
// rounding becomes in it.
struct Extrapolation {
  double shrink;  // of the first power that is removed
  std::vector<VectorX> previous, current;
  std::vector<double> previous_rounding, rounding;

  explicit Extrapolation(int power, int levels) : shrink(power == 2 ? 2.0 : std::sqrt(2.0)) {
    current.reserve(static_cast<size_t>(levels));  // references into it stay valid
  }

  void add(const VectorX& difference, double noise, Differences& best) {
    const int level = static_cast<int>(previous.size());
    current.assign(1, difference);
    rounding.assign(1, noise);
    double factor = shrink;
    for (int k = 1; k <= level; ++k, factor *= shrink) {
      const VectorX& coarse = previous[k - 1];
      const VectorX& fine = current[k - 1];
      current.push_back((fine * factor - coarse) / (factor - 1.0));
      rounding.push_back(std::hypot(factor * rounding[k - 1], previous_rounding[k - 1]) / (factor - 1.0));
      if (k < 3) continue;  // few extrapolations may agree by chance
      const VectorX spread =
          (current.back() - fine).cwiseAbs().cwiseMax((current.back() - coarse).cwiseAbs());
      keep_better(best, {current.back(), (spread.array() + rounding.back()).matrix(),
                         VectorX::Constant(spread.size(), rounding.back())});
    }
    previous = current;
    previous_rounding = rounding;
  }
};

struct Look {
  VectorX difference;
  double largest;  // of the numbers that it came from; twice that where they were h/2 apart
};

// Tables, one for each first power of the errors, of differences look(h) at steps that shrink by sqrt(2).
template <class LookAt>
Differences extrapolate(const LookAt& look, double step, const std::vector<int>& powers, double noise,
                        const std::function<bool(const Differences&)>& enough) {
  constexpr int levels = 10;
  std::vector<Extrapolation> tables;
  for (const int power : powers) tables.emplace_back(power, levels);
  Differences best;
  double h = step;
  for (int level = 0; level < levels; ++level, h /= std::sqrt(2.0)) {
    const Look seen = look(h);
    // Short steps see f in quanta of rounding; entries may then agree exactly and be wrong together.
    const double rounding =
        std::max(std::numeric_limits<double>::epsilon() * seen.largest, noise) / std::abs(h);
    for (Extrapolation& table : tables) table.add(seen.difference, rounding, best);
    if (level >= 5 && settled(best)) break;
    // No entry to come has less rounding than these differences.
    if (level >= 3 && best.error.maxCoeff() <= rounding) break;
    if (level >= 3 && enough && enough(best)) break;
  }
  return best;
}

}  // namespace

Differences ridders_differences(const std::function<VectorX(double)>& f, double step, bool jumps,
                                double noise, const std::function<bool(const Differences&)>& enough) {
  const auto central = [&](double h) -> Look {
    const VectorX ahead = f(h), behind = f(-h);
    return {(ahead - behind) / (2.0 * h),
            std::max(ahead.cwiseAbs().maxCoeff(), behind.cwiseAbs().maxCoeff())};
  };
  return extrapolate(central, step, jumps ? std::vector{2, 1} : std::vector{2}, noise, enough);
}

Differences one_sided_differences(const std::function<VectorX(double)>& f, double step) {
  const auto to_one_side = [&](double h) -> Look {
    const VectorX far = f(h), near = f(0.5 * h);
    return {(far - near) / (0.5 * h), 2.0 * std::max(far.cwiseAbs().maxCoeff(), near.cwiseAbs().maxCoeff())};
  };
  return extrapolate(to_one_side, step, {1}, 0.0, nullptr);
}

Differences ridders_differences(const std::function<VectorX(double)>& f, std::initializer_list<double> steps,
                                bool jumps) {
  Differences best;
  for (const double step : steps) {
    const Differences found = ridders_differences(f, step, jumps);
    keep_better(best, found);
  }
  return best;
}

Differences mean_of_tables(const std::function<VectorX(double)>& f, double step, int tables, bool jumps,
                           double noise) {
  std::vector<VectorX> each;
  for (int i = 0; i < tables; ++i)
    each.push_back(ridders_differences(f, step * std::exp2(-0.5 * i / tables), jumps, noise).derivative);
  const Eigen::Index n = each[0].size();
  VectorX mean = VectorX::Zero(n), squares = mean, drift = mean;
  for (const VectorX& one : each) mean += one / tables;
  for (int i = 0; i < tables; ++i) {
    squares += (each[i] - mean).cwiseAbs2() / (tables - 1.0);
    drift += (2 * i < tables ? 2.0 : -2.0) / tables * each[i];
  }
  const VectorX of_mean = (squares / tables).cwiseSqrt();
  return {mean, 2.0 * of_mean + drift.cwiseAbs(), of_mean};
}

double relative_error(const MatrixX& A, const MatrixX& R) {
  if (A.size() == 0) return 0.0;
  const double floor = std::max(1e-3 * R.cwiseAbs().maxCoeff(), 1e-9);
  return ((A - R).cwiseAbs().array() / R.cwiseAbs().array().max(floor)).maxCoeff();
}

}  // namespace articula
