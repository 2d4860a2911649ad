#include "yielding.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <cmath>

#include "articula/contact/overruled.hpp"
#include "impulse_work.hpp"

namespace articula {

// grad g = (1, -lam_i / (mu_i^2 n)), and its derivatives by lam_k and mu_k.
YieldingBound cone_bound(const Block& block, const double* lam, double scale) {
  YieldingBound g{.dim = block.dim, .scale = scale};
  const int tangents = block.tangents();
  double squared = 0.0;
  for (int i = 0; i < tangents; ++i) squared += lam[1 + i] * lam[1 + i] / (block.mu[i] * block.mu[i]);
  const double n = std::sqrt(squared);
  g.gradient[0] = scale;
  for (int i = 0; i < tangents; ++i) {
    const double mu = block.mu[i], l = lam[1 + i], along = l / (mu * mu * n);
    g.gradient[1 + i] = -scale * along;
    g.by_friction[i] = scale * l * along / mu;
    for (int k = 0; k < tangents; ++k) {
      const double mu_k = block.mu[k], along_k = lam[1 + k] / (mu_k * mu_k * n);
      const double same = i == k ? 1.0 : 0.0;
      g.curvature[1 + i][1 + k] = scale * (along * along_k - same / (mu * mu)) / n;
      g.gradient_by_friction[1 + i][k] =
          scale * (2.0 * same * along / mu - along * along_k * lam[1 + k] / (mu_k * n));
    }
  }
  return g;
}

YieldingBound pyramid_bound(const Block& block, const double* lam, int tangent, double scale) {
  YieldingBound g{.dim = block.dim, .scale = scale};
  g.gradient[0] = scale * block.mu[tangent];
  g.gradient[1 + tangent] = lam[1 + tangent] > 0.0 ? -scale : scale;
  g.by_friction[tangent] = scale * lam[0];
  g.gradient_by_friction[0][tangent] = scale;
  return g;
}

// The bounds of an island, and the speeds tau that make softness solvable:
//   eta^T (law by sigma) (R lam - tau grad g) = 0 for all eta.
// softening: on entry R lam. False if there are no such speeds: the step does not have the smallest impulses.
bool ImpulseDerivatives::Work::find_yielding_speeds(int island, int first_choice,
                                                    std::vector<double>& softening) {
  constexpr double solvable = 1e-6;
  const ContactRows& rows = step->rows;
  const ContactProblem& problem = laws[island].problem();
  const size_t first = choice.yielding.size();
  std::vector<RowMode> yielded = modes;
  mark_yielding(rows, yielded);
  for (size_t k = 0; k < rows.items().size(); ++k) {
    const Item& item = rows.items()[k];
    if (item.island != island || item.kind != RowKind::contact) continue;
    const int row = rows.row_of(item);
    const Block& block = rows.block(item);
    const double *lam = rows.lam.data() + row, scale = std::sqrt(problem.mobility(block));
    const auto add = [&](YieldingBound bound) {
      bound.item = static_cast<int>(k);
      bound.row = row;
      choice.yielding.push_back(bound);
    };
    for (int i = 0; i < block.tangents(); ++i) {
      if (yielded[row + 1 + i] == modes[row + 1 + i]) continue;
      if (yielded[row + 1 + i] != RowMode::yield)
        add(pyramid_bound(block, lam, i, scale));
      else if (i == 0)
        add(cone_bound(block, lam, scale));
    }
  }
  const int many = static_cast<int>(choice.yielding.size() - first), choices = choice.count() - first_choice;
  if (many == 0) return true;
  MatrixX E(choices, many);
  VectorX q = VectorX::Zero(choices), size = q;
  for (int j = 0; j < choices; ++j) {
    const auto weighted = choice.weighted.col(first_choice + j);
    for (int i = 0; i < rows.size(); ++i) {
      q[j] += weighted[i] * softening[i];
      size[j] = std::max(size[j], std::abs(weighted[i] * softening[i]));
    }
    for (int y = 0; y < many; ++y) {
      const YieldingBound& bound = choice.yielding[first + y];
      E(j, y) = 0.0;
      for (int i = 0; i < bound.dim; ++i) E(j, y) += weighted[bound.row + i] * bound.gradient[i];
    }
  }
  const Eigen::ColPivHouseholderQR<MatrixX> factor(E);
  const VectorX speeds = factor.solve(q);
  if (factor.rank() < many || !((E * speeds - q).cwiseAbs().maxCoeff() <= solvable * size.maxCoeff()))
    return false;
  for (int y = 0; y < many; ++y) {
    YieldingBound& bound = choice.yielding[first + y];
    bound.speed = speeds[y];
    for (int i = 0; i < bound.dim; ++i) softening[bound.row + i] -= bound.speed * bound.gradient[i];
  }
  return true;
}

// What yields adds to conditions: the speeds, and their directions, which turn with impulses and friction;
// and its own conditions, from row `first` on, dg = 0.
void ImpulseDerivatives::Work::add_yielding(int first, bool with_parameters, MatrixX& H) {
  const int theta = residual.inputs().theta;
  for (size_t y = 0; y < choice.yielding.size(); ++y) {
    const YieldingBound& g = choice.yielding[y];
    const Item& item = step->rows.items()[g.item];
    const int at = first + static_cast<int>(y), lam = nv + g.row;
    VectorX by_theta(with_parameters ? residual.inputs().size - theta : 0);
    const auto friction_against = [&](const double* mu_bar, int condition) {
      if (!with_parameters) return;
      by_theta.setZero();
      parameters.friction_against(item, mu_bar, by_theta.data());
      choice.by_input.row(condition).tail(by_theta.size()) += by_theta.transpose();
    };
    for (int j = 0; j < first; ++j) {
      const auto weighted = choice.weighted.col(j);
      double mu_bar[5] = {};
      for (int i = 0; i < g.dim; ++i) {
        const double w = weighted[g.row + i];
        H(j, at) -= w * g.gradient[i];
        for (int k = 0; k < g.dim; ++k) choice.by_unknown(j, lam + k) -= g.speed * w * g.curvature[i][k];
        for (int k = 0; k + 1 < g.dim; ++k) mu_bar[k] -= g.speed * w * g.gradient_by_friction[i][k];
      }
      friction_against(mu_bar, j);
    }
    for (int i = 0; i < g.dim; ++i) choice.by_unknown(at, lam + i) = g.gradient[i];
    friction_against(g.by_friction, at);
  }
}

}  // namespace articula
