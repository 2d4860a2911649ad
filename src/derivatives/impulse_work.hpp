#pragma once
// The workspace of ImpulseDerivatives, shared by products (impulse.cpp), Jacobians (impulse_jacobians.cpp),
// certificates (certificate.cpp, followed.cpp), shared loads (load_choice.cpp) and slack (least_slack.cpp).

#include <Eigen/LU>

#include "articula/derivatives/impulse.hpp"
#include "articula/derivatives/step_output.hpp"
#include "contact_columns.hpp"
#include "contact_parameters.hpp"
#include "contact_rates.hpp"
#include "law_system.hpp"
#include "row_products.hpp"
#include "yielding.hpp"

namespace articula {

struct ImpulseDerivatives::Work {
  explicit Work(const Model& model);

  void solve(VectorRef r);
  void rates_along(const double* dq, const double* dv, const double* dtheta);
  void rates_against(const double* y1, VectorRef z_bar);
  void state_rates_against(const double* y1, VectorRef z_bar);
  void gather_positions(const double* y1, double* q_bar);
  void gather_velocities_before(double* q_bar, double* v_bar);
  void hold_contacts();
  bool touches_bodies() const;
  void sweep_after();
  bool factor_laws();
  void find_all_slots();
  void list_rows();
  void velocity_columns();
  void give_columns(int first, bool with_positions, MatrixRef to) const;
  void solve_constrained();
  void add_projected(const std::vector<Force>& wrenches, double sign, double* r);

  // certificate.cpp
  // An impact bounces with restitution if both are negative.
  struct Impact {
    double fast, meets;
    bool bounces() const { return fast < 0.0 && meets < 0.0; }
  };
  Impact impact_of(const Item& contact, double restitution);
  double bias_margin();

  // beginning_laws.cpp
  void add_friction_that_begins(const double* dtheta, VectorRef dr1) const;
  void add_friction_that_begins_against(const ConstVectorRef& y1, double* theta_bar) const;
  bool contact_law_begins(const std::vector<ParameterSlice>& asked);
  double gap_inconsistency(int island);

  // followed.cpp
  bool yields(int row) const;
  void note_yielding(const ConstVectorRef& dw);
  bool touches_idly();
  bool ties_matter();
  void solve_aside(VectorX& r);
  bool shift_matters(const ContactRates::Touch& t, Vec3 way, double counts);

  // least_slack.cpp
  bool grants_slack(bool with_parameters) const;
  void find_slack(bool with_parameters);
  bool find_slack_by_parameters();
  void add_slack_by_state(const double* y2, VectorX& by_z);
  void add_slack_row(int island, int row, double by);
  double slack_shift(const std::vector<double>& y) const;
  void find_slack_impulses();
  VectorX slack_covector(int island, const double* y2);
  bool add_slack_against(int island, const double* y2, VectorX& by_z);
  void slack_against(const double* y2, VectorRef z_bar);
  void add_slack_columns();

  // weight_rates.cpp
  bool add_weight_rate(const Item& item, bool with_parameters, double factor, VectorX& by_z);
  bool add_weight_rate_beside(const Item& item, double factor, VectorX& by_z);
  void impulses_against(const double* lam, const double* y, double* q_bar);
  void add_held_columns(double* residual, int stride);
  void inertia_against(const double* u, double factor, double* q_bar);

  // load_choice.cpp
  // Of all inputs, those before parameters.
  int used_inputs(bool with_parameters) const {
    return with_parameters ? residual.inputs().size : residual.inputs().theta;
  }
  // Columns of Jacobians are those of the first inputs, then, if wanted, of controls and of forces:
  // part(column, input, how many).
  template <class Part>
  void for_each_part_of_columns(const Part& part) const {
    const StepInputs& in = residual.inputs();
    const int first = by_control ? in.force : in.control;
    part(0, 0, first);
    if (by_force) part(first, in.force, nv);
  }
  int count_columns() const { return 2 * nv + na + (by_control ? nu : 0) + (by_force ? nv : 0); }
  bool may_choose() const;
  void find_choice(bool with_parameters);
  bool shift_step(const VectorX& v1, const std::vector<double>& lam1, const std::vector<double>& soft1,
                  double by, int side);
  bool begin_choices(int island, std::vector<double>& lam1, std::vector<double>& softening);
  void add_choice_vectors(int island, int index);
  void leave_out_of_shift(std::vector<double>& soft1);
  struct SlowShift {
    bool any = false;
    std::vector<double> soft, scale;  // rows: shifts of velocities, and one over how far along soft1
  };
  double find_shifts(const std::vector<double>& lam1, std::vector<double>& soft1, SlowShift& slow) const;
  bool add_slow(const std::vector<int>& island_of, const SlowShift& slow, bool with_parameters);
  bool find_conditions(const std::vector<int>& island_of, const std::vector<double>& lam1,
                       const std::vector<double>& softening, bool with_parameters);
  void add_difference(int island, int at, const VectorX& eta, double by, bool with_parameters);
  void add_softness(int island, int at);
  void add_weights(bool with_parameters);
  void choose_along(const ConstVectorRef& dz, VectorX& dw);
  void choose_against(VectorRef w_bar, VectorRef z_bar);
  void choose_columns();

  // yielding.cpp
  bool find_yielding_speeds(int island, int first_choice, std::vector<double>& softening);
  void add_yielding(int first, bool with_parameters, MatrixX& H);

  // soft_limit.cpp
  bool find_soft_limit(bool with_parameters, bool of_yielding);
  bool prepare_soft_sides(double eps);
  bool solve_softly(double softness, const std::vector<RowMode>& soft_modes, std::vector<double>& lam,
                    std::vector<double>& velocities);
  bool find_weight_rates(bool with_parameters);
  void find_soft_ways();
  bool softly(int island) const { return !softness.empty() && softness[island] > 0.0; }
  void soft_along(const ConstVectorRef& dz, VectorRef dw);
  void soft_against(VectorRef w_bar, VectorRef z_bar);
  void soft_product(int side, const ConstVectorRef& v_bar, bool with_parameters, VectorX& y, VectorX& part);
  void find_soft_columns(int inputs);
  void soft_columns();
  void add_softening_along(const ConstVectorRef& dz);
  void add_softening_against(VectorRef z_bar) const;
  void add_softening_columns();

  // The parameter that a coasting dof's friction is.
  int friction_of(const CoastingDof& coasting) const {
    const Structure& s = model->structure();
    return s.joints[s.dofs[coasting.dof].joint].dry_friction;
  }

  int nv, na, nu;
  SmoothResidual residual;
  StepOutput output;
  ContactRates rates;
  ContactParameterRates parameters;
  Data after;  // velocities for v+: link_v and psi_dot; the kinematics, too, when parameters need them
  ForceDerivativeWork movers;
  ParameterWork slots_after, slots_before;
  std::vector<LawSystem> laws;
  std::vector<RowMode> modes;  // what the laws are linearised with: the step's, unless relabelled
  bool solves = true;          // false: of a step beside another one only products are asked
  const std::vector<RowMode>* given_modes = nullptr;  // of a step beside another one: that one's
  bool wants_parameters = true;
  bool relabelled = false;
  bool after_ready = false, contacts_held = false;

  const Model* model = nullptr;
  Data* data = nullptr;
  const ImpulseWork* step = nullptr;
  ImpulseSettings settings;
  bool bounces = false, slots_found = false;
  VectorX acceleration;           // (v+ - v) / h
  VectorX scratch, mass_product;  // nv
  VectorX ignored;                // nv
  std::vector<BodyRate> bodies;
  std::vector<BodyRateBar> body_bars;
  std::vector<Force> dF;                                    // per body
  std::vector<Force> link_force, link_change, link_wrench;  // per link
  VectorX right_side, solution;                             // nv: of the last transposed solve with Mhat
  bool solved = false;                                      // they are there
  std::vector<Motion> Y;                                    // per body
  std::vector<double> dsigma, rho, c, dlam;
  std::vector<double> still;                    // rows: zeros
  std::vector<Motion> virtual_v, virtual_rate;  // per link, per dof: of the last inertia_against
  std::vector<double> before, freely;           // rows: velocities for v and v_free
  bool impacts_found = false;                   // they are those of the step
  WrenchField field;
  ContactColumns columns;
  PosedWrenches posed;                       // of contacts, for columns
  bool by_control = true, by_force = false;  // which columns are wanted
  RowMatrix blocks;                          // nv x columns: v+ by q, v, activations, controls, forces
  RowMatrix unwanted;                        // nv x nu: by controls, where activations alone are asked for
  RowMatrix row_columns;                     // rows x columns: sigma, then impulses
  MatrixX jacobian;                          // all columns of x+, for products against where these are better
  std::vector<char> in_equations, carries;   // per row
  RowProducts equations, carrying;

  // The step beside itself, along how softness moves it: its derivatives there and here differ by those of
  // the choice of loads.
  struct Shifted {
    explicit Shifted(const Model& model, const ImpulseWork& from)
        : data(model),
          step(from),
          derivatives(model) {}
    void take(const Data& from_data, const ImpulseWork& from);
    bool same = false;  // it is this step, but for velocities, impulses and what derivatives make of them
    Data data;
    ImpulseWork step;
    ImpulseDerivatives derivatives;
  };
  std::unique_ptr<Shifted> shifted[2];
  // Steps with soft laws, whose derivatives are extrapolated to hard ones.
  struct SoftLimit {
    static constexpr int sides = 5;
    bool active = false;
    bool whole = false;  // all of the motion is theirs
    std::vector<RowMode> modes;
    std::vector<double> softness[sides];  // per island
    std::unique_ptr<Shifted> side[sides];
    MatrixX weight_rates;   // items x inputs: dR/dz
    MatrixX ways, measure;  // Z: unknowns x choices; (top rows of Z)^+: choices x nv
    int columns_found = 0;
    RowMatrix columns;  // choices (or dofs, if all is theirs) x first inputs, so many of them
  } soft;
  // Of such a step: how soft the laws of each island are (or none is), and how its weights change.
  std::vector<double> softness;
  const MatrixX* weight_rates = nullptr;
  struct Choice {
    bool found = false, with_parameters = false;
    bool failed = false;  // loads could be shared otherwise, and how the choice changes is not known
    MatrixX by_input;     // choices x inputs: of the condition that makes it
    MatrixX by_unknown;   // choices x unknowns
    MatrixX weighted;     // rows x choices: what velocities do to the condition
    MatrixX ways;         // unknowns x choices: what it changes
    MatrixX eta;          // unknowns x choices: of eta^T r_w = 0
    std::vector<YieldingBound> yielding;  // their bounds are conditions, too, and their speeds choices
    Eigen::PartialPivLU<MatrixX> H;
    int count() const { return static_cast<int>(ways.cols()); }
  } choice;
  struct Slack {
    bool found = false, with_parameters = false;
    MatrixX by_input;        // rows x inputs: what the least slack adds to right-hand sides of rows that hold
    std::vector<double> y;   // rows: impulses that move nothing
    RowMatrix blocks, rows;  // nv and rows x dofs
  } slack;
  bool wants_choice = true;
  // Only whether parameters can be followed is asked: slack that the state does not feel is left alone.
  bool examines = false;
  double not_followed = 0.0;   // of the last direction: friction at its bound that it would make slide
  double cannot_follow = 0.0;  // of the parameters that were examined
  bool law_begins = false;     // with one of them
  VectorX chosen;              // unknowns
};

}  // namespace articula
