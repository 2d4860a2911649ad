#include "articula/solvers/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr double kept_of_step = 0.99;
constexpr double proximal = 1e-10;  // keeps redundant equalities apart
constexpr double smallest = 1e-12;  // of many impulses the smallest

// Largest alpha in [0, 1] with (a + alpha da, x + alpha dx) in the second-order cone ‖x‖ <= a.
double cone_step(double a, double da, const double* x, const double* dx, int n) {
  double xx = 0.0, xd = 0.0, dd = 0.0;
  for (int i = 0; i < n; ++i) {
    xx += x[i] * x[i];
    xd += x[i] * dx[i];
    dd += dx[i] * dx[i];
  }
  double alpha = 1.0;
  if (da < 0.0) alpha = std::min(alpha, -a / da);
  // (a + alpha da)^2 - ‖x + alpha dx‖^2 = c + 2 b alpha + k alpha^2
  const double c = std::max(a * a - xx, 0.0), b = a * da - xd, k = da * da - dd;
  const double discriminant = b * b - k * c;
  if (k < 0.0 || (b < 0.0 && discriminant > 0.0)) {
    const double root = c / (-b + std::sqrt(std::max(discriminant, 0.0)));
    if (root > 0.0) alpha = std::min(alpha, root);
    if (root <= 0.0) alpha = 0.0;
  }
  return alpha;
}

}  // namespace

void InteriorPoint::reserve(int rows, int blocks, int columns, int groups) {
  grouped_.reserve(rows, columns, groups);
  H_.reserve(static_cast<std::size_t>(6) * rows);
  row_of_H_.reserve(rows);
  cones_.reserve(rows);
  normals_.reserve(blocks);
  G_.reserve(static_cast<std::size_t>(rows) * rows);
  for (std::vector<double>* vector :
       {&unit_, &b_, &lam_, &eta_, &dlam_, &deta_, &constant_, &by_kappa_, &shift_, &tangent_, &metric_,
        &root_unit_, &product_, &scaled_, &border_, &solved_border_})
    vector->reserve(rows + 1);
  kept_.reserve(4 * rows + 2);
  lu_.reserve(rows + 1);  // and kappa, on the path
}

void InteriorPoint::scale(const ContactProblem& problem, double softness) {
  size_ = problem.size;
  softness_ = softness;
  by_groups_ = GroupFactor::serves(problem);
  unit_.assign(size_, 1.0);
  double largest = 0.0;
  for (const Block& block : problem.blocks) {
    const double unit = 1.0 / std::sqrt(problem.mobility(block));
    for (int i = block.first; i < block.first + block.dim; ++i) {
      unit_[i] = unit;
      largest = std::max(largest, unit * std::abs(problem.b[i]));
    }
  }
  if (!(largest > 0.0)) largest = 1.0;
  b_.resize(size_);
  for (int i = 0; i < size_; ++i) b_[i] = problem.b[i] * unit_[i] / largest;
  root_unit_ = unit_;
  if (!by_groups_) {
    G_.resize(static_cast<std::size_t>(size_) * size_);
    for (int i = 0; i < size_; ++i) {
      for (int j = 0; j < size_; ++j) G_[i * size_ + j] = problem.g(i, j) * unit_[i] * unit_[j];
      G_[i * size_ + i] += softness;
    }
  }
  for (double& u : unit_) u *= largest;  // lam = unit lam_scaled
}

// out = G x
void InteriorPoint::multiply(const ContactProblem& problem, const double* x, double* out) {
  if (!by_groups_) {
    for (int i = 0; i < size_; ++i) out[i] = strip_dot(&G_[i * size_], x, size_);
    return;
  }
  scaled_.resize(size_);
  for (int i = 0; i < size_; ++i) scaled_[i] = root_unit_[i] * x[i];
  std::fill(out, out + size_, 0.0);
  add_velocities(problem, scaled_.data(), out);
  for (int i = 0; i < size_; ++i) out[i] = root_unit_[i] * out[i] + softness_ * x[i];
}

void InteriorPoint::list_cones(const ContactProblem& problem) {
  cones_.clear();
  normals_.clear();
  for (const Block& block : problem.blocks) {
    const int n = block.first;
    if (block.kind == BlockKind::unilateral || block.kind == BlockKind::contact) normals_.push_back(n);
    if (block.kind == BlockKind::interval)
      cones_.push_back(
          {.radius = std::max(block.bound / unit_[n], 1e-12), .first = n, .count = 1, .mu = &one_});
    if (block.kind != BlockKind::contact) continue;
    if (problem.law == FrictionLaw::cone && block.dim > 1)
      cones_.push_back({.normal = n, .first = n + 1, .count = block.tangents(), .mu = block.mu});
    for (int i = 0; i < block.tangents() && problem.law == FrictionLaw::pyramid; ++i)
      cones_.push_back({.normal = n, .first = n + 1 + i, .count = 1, .mu = block.mu + i});
  }
}

InteriorPoint::Linearised InteriorPoint::linearise(const Cone& cone, double kappa) const {
  Linearised l;
  const int n = cone.count;
  l.gamma = cone.normal >= 0 ? lam_[cone.normal] : cone.radius;
  double product = l.gamma * cone.psi, squared = 0.0;
  for (int i = 0; i < n; ++i) {
    l.beta[i] = lam_[cone.first + i] / cone.mu[i];
    l.w[i] = eta_[cone.first + i] * cone.mu[i];
    product += l.beta[i] * l.w[i];
    squared += l.beta[i] * l.beta[i];
  }
  l.defect = kappa - product;
  // (gamma - beta beta^T / gamma)^-1 = (1 + beta beta^T / (gamma^2 - beta^2)) / gamma
  const double outer = 1.0 / std::max(l.gamma * l.gamma - squared, 1e-300);
  const auto apply = [&](const double* x, double* y) {
    double along = 0.0;
    for (int i = 0; i < n; ++i) along += l.beta[i] * x[i];
    for (int i = 0; i < n; ++i) y[i] = (x[i] + l.beta[i] * along * outer) / l.gamma;
  };
  double x[5], y[5];
  for (int i = 0; i < n; ++i)
    x[i] = -(l.gamma * l.w[i] + cone.psi * l.beta[i]) - l.beta[i] * l.defect / l.gamma;
  apply(x, l.constant);
  for (int i = 0; i < n; ++i) x[i] = -l.beta[i] / l.gamma;
  apply(x, l.by_kappa);
  for (int i = 0; i < n; ++i) x[i] = l.w[i] - l.beta[i] * cone.psi / l.gamma;
  apply(x, l.by_gamma);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) x[i] = (i == j ? cone.psi : 0.0) - l.beta[i] * l.w[j] / l.gamma;
    apply(x, y);
    for (int i = 0; i < n; ++i) l.by_beta[i][j] = y[i];
  }
  return l;
}

// H, the constants and their derivatives with respect to kappa.
void InteriorPoint::assemble(const ContactProblem& problem, double kappa) {
  constant_.assign(size_, 0.0);
  by_kappa_.assign(size_, 0.0);
  H_.clear();
  row_of_H_.resize(size_);
  for (const Block& block : problem.blocks) {
    for (int i = 0; i < block.dim; ++i)
      row_of_H_[block.first + i] = static_cast<int>(H_.size()) + i * block.dim - block.first;
    H_.resize(H_.size() + block.dim * block.dim, 0.0);
  }
  for (int n : normals_) {
    H(n, n) += eta_[n] / lam_[n];
    constant_[n] = kappa / lam_[n] - eta_[n];
    by_kappa_[n] = 1.0 / lam_[n];
  }
  for (const Block& block : problem.blocks) {
    if (block.kind != BlockKind::equality) continue;
    for (int i = block.first; i < block.first + block.dim; ++i) {
      H(i, i) += proximal;
      constant_[i] = -eta_[i];
    }
  }
  for (const Cone& cone : cones_) {
    const Linearised l = linearise(cone, kappa);
    for (int i = 0; i < cone.count; ++i) {
      const int row = cone.first + i;
      constant_[cone.first + i] = l.constant[i] / cone.mu[i];
      by_kappa_[cone.first + i] = l.by_kappa[i] / cone.mu[i];
      if (cone.normal >= 0) H(row, cone.normal) += l.by_gamma[i] / cone.mu[i];
      for (int j = 0; j < cone.count; ++j)
        H(row, cone.first + j) += l.by_beta[i][j] / (cone.mu[i] * cone.mu[j]);
    }
  }
}

// deta = constant + by_kappa dkappa - H dlam, and dpsi.
void InteriorPoint::recover_velocities(double kappa, double dkappa) {
  deta_.resize(size_);
  for (int i = 0; i < size_; ++i) deta_[i] = constant_[i] + by_kappa_[i] * dkappa;
  for (int n : normals_) deta_[n] -= eta_[n] / lam_[n] * dlam_[n];
  for (Cone& cone : cones_) {
    const Linearised l = linearise(cone, kappa);
    const double dgamma = cone.normal >= 0 ? dlam_[cone.normal] : 0.0;
    cone.dpsi = l.defect + dkappa - cone.psi * dgamma;
    for (int i = 0; i < cone.count; ++i) {
      double dw = l.constant[i] + l.by_kappa[i] * dkappa - l.by_gamma[i] * dgamma;
      for (int j = 0; j < cone.count; ++j) dw -= l.by_beta[i][j] * dlam_[cone.first + j] / cone.mu[j];
      deta_[cone.first + i] = dw / cone.mu[i];
      cone.dpsi -= l.w[i] * dlam_[cone.first + i] / cone.mu[i] + l.beta[i] * dw;
    }
    cone.dpsi /= l.gamma;
  }
}

// G + H into lu_, or as a matrix of small blocks and what moves.
bool InteriorPoint::factor(const ContactProblem& problem) {
  if (by_groups_) {
    grouped_.begin(problem);
    for (int k = 0; k < static_cast<int>(problem.blocks.size()); ++k) {
      const Block& block = problem.blocks[k];
      const GroupFactor::Matrices of = grouped_.add(k, block.dim);
      for (int i = 0; i < block.dim; ++i) {
        for (int j = 0; j < block.dim; ++j) of.S[i * block.dim + j] = H(block.first + i, block.first + j);
        of.S[i * block.dim + i] += softness_;
        of.A[i * block.dim + i] = of.B[i * block.dim + i] = root_unit_[block.first + i];
      }
    }
    return grouped_.factor(false);
  }
  for (int i = 0; i < size_; ++i) std::copy(&G_[i * size_], &G_[i * size_] + size_, lu_.row(i));
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i) {
      for (int j = block.first; j < block.first + block.dim; ++j) lu_.row(i)[j] += H(i, j);
    }
  }
  return true;
}

// (G + H) dlam = eta - G lam - b + constant,   deta = constant - H dlam
bool InteriorPoint::step(const ContactProblem& problem, double kappa) {
  assemble(problem, kappa);
  for (int n : normals_) H(n, n) += proximal;
  for (const Cone& cone : cones_) {
    for (int i = cone.first; i < cone.first + cone.count; ++i) H(i, i) += proximal;
  }
  dlam_.resize(size_);
  for (int i = 0; i < size_; ++i) dlam_[i] = eta_[i] - b_[i] - product_[i] + constant_[i];
  if (!by_groups_) lu_.resize(size_);
  if (!factor(problem) || !(by_groups_ || lu_.factor())) return false;
  by_groups_ ? grouped_.solve(dlam_.data(), newton_precision) : lu_.solve(dlam_.data());
  recover_velocities(kappa, 0.0);
  for (int i = 0; i < size_; ++i) {
    if (!std::isfinite(dlam_[i]) || !std::isfinite(deta_[i])) return false;
  }
  return true;
}

void InteriorPoint::advance(double alpha) {
  for (int i = 0; i < size_; ++i) {
    lam_[i] += alpha * dlam_[i];
    eta_[i] += alpha * deta_[i];
  }
  for (Cone& cone : cones_) cone.psi += alpha * cone.dpsi;
}

double InteriorPoint::longest_step(const ContactProblem&) const {
  double alpha = 1.0;
  for (int n : normals_) {
    if (dlam_[n] < 0.0) alpha = std::min(alpha, -lam_[n] / dlam_[n]);
    if (deta_[n] < 0.0) alpha = std::min(alpha, -eta_[n] / deta_[n]);
  }
  for (const Cone& cone : cones_) {
    double beta[5], dbeta[5], w[5], dw[5];
    for (int i = 0; i < cone.count; ++i) {
      beta[i] = lam_[cone.first + i] / cone.mu[i];
      dbeta[i] = dlam_[cone.first + i] / cone.mu[i];
      w[i] = eta_[cone.first + i] * cone.mu[i];
      dw[i] = deta_[cone.first + i] * cone.mu[i];
    }
    const double gamma = cone.normal >= 0 ? lam_[cone.normal] : cone.radius;
    const double dgamma = cone.normal >= 0 ? dlam_[cone.normal] : 0.0;
    alpha = std::min(alpha, cone_step(gamma, dgamma, beta, dbeta, cone.count));
    alpha = std::min(alpha, cone_step(cone.psi, cone.dpsi, w, dw, cone.count));
  }
  return alpha;
}

// Mean of the products that should be kappa.
double InteriorPoint::gap(const ContactProblem&) const {
  double sum = 0.0;
  for (int n : normals_) sum += lam_[n] * eta_[n];
  for (const Cone& cone : cones_) {
    sum += (cone.normal >= 0 ? lam_[cone.normal] : cone.radius) * cone.psi;
    for (int i = 0; i < cone.count; ++i) sum += lam_[cone.first + i] * eta_[cone.first + i];
  }
  const std::size_t count = normals_.size() + cones_.size();
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

// G lam into product_; the largest |eta - b - G lam|.
double InteriorPoint::velocity_error(const ContactProblem& problem) {
  product_.resize(size_);
  multiply(problem, lam_.data(), product_.data());
  double error = 0.0;
  for (int i = 0; i < size_; ++i) error = std::max(error, std::abs(eta_[i] - b_[i] - product_[i]));
  return error;
}

int InteriorPoint::solve(const ContactProblem& problem, const Settings& settings, double* lam) {
  constexpr double well_inside = 0.9, centred = 0.5;
  constexpr int most_stalled = 6;
  constexpr int most_idle = 3;  // iterations in which rounding took what they gained
  scale(problem, smallest);
  scaled_.resize(size_);
  shift_.assign(size_, 0.0);
  kept_.clear();
  if (!settings.resumed) {
    list_cones(problem);
    lam_.assign(size_, 0.0);
    eta_.assign(size_, 0.0);
    for (int n : normals_) lam_[n] = eta_[n] = settings.start;
    for (Cone& cone : cones_) cone.psi = settings.start;
  }
  int iteration = 0;
  int stalled = 0, idle = 0;
  double centring = 0.2, best = std::numeric_limits<double>::infinity();
  for (; iteration < settings.most_iterations; ++iteration) {
    const double now = gap(problem);
    const double error = velocity_error(problem);
    if (now <= 2.0 * settings.kappa && error < 1e-13) break;
    if (settings.enough > 0.0 && now < settings.enough) {
      for (int i = 0; i < size_; ++i) scaled_[i] = unit_[i] * lam_[i];
      const double residual = contact_residual(problem, scaled_.data());
      idle = residual < 0.5 * best ? 0 : idle + 1;
      if (residual < best) std::copy(scaled_.begin(), scaled_.end(), lam);
      best = std::min(best, residual);
      if (best <= settings.enough * problem.velocity_scale || idle == most_idle) return iteration;
    }
    if (stalled > most_stalled) break;
    if (!step(problem, std::max(settings.kappa, centring * now))) break;
    const double alpha = std::min(1.0, kept_of_step * longest_step(problem));
    stalled = alpha < 0.05 ? stalled + 1 : 0;
    centring = alpha > 0.9 ? settings.patience : alpha > 0.5 ? std::max(settings.patience, 0.2) : 0.8;
    advance(alpha);
    const double kappa = gap(problem);
    if (alpha > well_inside || path_error(problem, kappa) < centred) keep_point(kappa);
  }
  if (std::isinf(best)) {
    for (int i = 0; i < size_; ++i) lam[i] = unit_[i] * lam_[i];
  }
  return iteration;
}

}  // namespace articula
