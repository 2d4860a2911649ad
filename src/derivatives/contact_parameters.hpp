#pragma once
// How rows, wrenches and laws change with the numbers of theta that only contact knows: friction,
// restitution, sizes and placements of shapes, ends of ranges, dry friction, coefficients of tendons, and the
// step itself.
//
// All of it is a short list of terms, each one number of theta times a constant, made when first needed;
// products along and against go through the same list.

#include "contact_rates.hpp"
#include "law_system.hpp"

namespace articula {

class ContactParameterRates {
 public:
  void prepare(const Model& model, const Data& data, const ImpulseWork& work, const ImpulseSettings& settings,
               ContactRates& rates, const std::vector<LawSystem>& laws);

  // Adds to dF (per body), dsigma and the right-hand sides rho (rows), and dtau (nv, change of J^T lam).
  void along(const double* dtheta, Force* dF, double* dsigma, double* rho, double* dtau);
  // Y: covector of dF (per body); sigma_bar, rho_bar, tau_bar: of the others.
  void against(const Motion* Y, const double* sigma_bar, const double* rho_bar, const double* tau_bar,
               double* theta_bar);
  // From a covector of a contact's coefficients mu, one for each tangent.
  void friction_against(const Item& contact, const double* mu_bar, double* theta_bar) const;

 private:
  struct RowTerm {
    int theta = 0, row = 0;
    double sigma = 0.0, rho = 0.0;
  };
  struct ForceTerm {
    int theta = 0, dof = 0;
    double factor = 0.0;
  };
  struct GeometryTerm {
    int theta = 0, touch = 0;
    collision::ContactRate rate;
  };

  void list_terms();
  void contact_terms(int touch);
  void friction_terms(const Item& item, const ContactRates::Touch& touch,
                      const collision::ContactParameters& p);
  void add_mixed_row(int row, double sigma, double rho, const collision::ColliderPair& pair,
                     int GeometryIndex::* number, int slot);
  void shape_terms(int touch);
  void limit_terms(const Item& item);
  void tendon_terms(const Item& item, int tendon, double sign, double slope);

  const Model* model_ = nullptr;
  const Data* data_ = nullptr;
  const ImpulseWork* work_ = nullptr;
  ContactRates* rates_ = nullptr;
  const std::vector<LawSystem>* laws_ = nullptr;
  ImpulseSettings settings_;
  bool listed_ = false;
  std::vector<RowTerm> row_terms_;
  std::vector<ForceTerm> force_terms_;
  std::vector<GeometryTerm> geometry_terms_;
};

}  // namespace articula
