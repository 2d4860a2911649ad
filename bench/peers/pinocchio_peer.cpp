// Pinocchio behind the interface of peer.h. States are converted to its convention before anything is timed,
// values and derivatives are converted back (pinocchio_convention.hpp).
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/peers/batch_timing.hpp"
#include "bench/peers/peer.h"
#include "bench/peers/pinocchio_model.hpp"

struct PeerModel {
  explicit PeerModel(articula::peers::PinocchioTree tree_in) : tree(std::move(tree_in)), data(tree.model) {}
  articula::peers::PinocchioTree tree;
  pinocchio::Data data;
};

namespace articula::peers {
namespace {

ConvertedState state_at(const PeerModel& model, const PeerStates& states, int i) {
  const Convention& convention = model.tree.convention;
  const auto row = [i](const double* array, int width) {
    return array == nullptr ? nullptr : array + i * width;
  };
  return convert_state(convention, row(states.q, convention.nq), row(states.v, convention.nv),
                       row(states.tau, convention.nv), row(states.a, convention.nv));
}

// -----------------------------------------------------------------------------------------------------------
// Quantities, in our convention.

// Pinocchio fills upper triangles only.
MatrixXd symmetric(const MatrixXd& upper) { return upper.selfadjointView<Eigen::Upper>(); }

MatrixXd mass_matrix(PeerModel& model, const ConvertedState& state) {
  pinocchio_crba(model.tree.model, model.data, state.q);
  return state.T.transpose() * symmetric(model.data.M) * state.T;
}

// c(q, v): inverse dynamics at a = 0, which is a_p = c in Pinocchio's coordinates.
MatrixXd bias(PeerModel& model, const ConvertedState& state) {
  pinocchio_rnea(model.tree.model, model.data, state.q, state.v, state.c);
  return state.T.transpose() * model.data.tau;
}

MatrixXd inverse_dynamics(PeerModel& model, const ConvertedState& state) {
  pinocchio_rnea(model.tree.model, model.data, state.q, state.v, state.a);
  return state.T.transpose() * model.data.tau;
}

MatrixXd forward_dynamics(PeerModel& model, const ConvertedState& state) {
  pinocchio_aba(model.tree.model, model.data, state.q, state.v, state.tau);
  return state.T.transpose() * (model.data.ddq - state.c);
}

MatrixXd smooth_acceleration(PeerModel& model, const ConvertedState& state) {
  const VectorXd force = state.tau_ours - model.tree.damping.cwiseProduct(state.v_ours);
  pinocchio_aba(model.tree.model, model.data, state.q, state.v, state.T * force);
  return state.T.transpose() * (model.data.ddq - state.c);
}

MatrixXd inverse_dynamics_dq(PeerModel& model, const ConvertedState& state) {
  pinocchio::Data& data = model.data;
  pinocchio_rnea_derivatives(model.tree.model, data, state.q, state.v, state.a);
  return inverse_dynamics_dq(model.tree.convention, state, data.tau, symmetric(data.M), data.dtau_dq,
                             data.dtau_dv);
}

MatrixXd inverse_dynamics_dv(PeerModel& model, const ConvertedState& state) {
  pinocchio_rnea_derivatives(model.tree.model, model.data, state.q, state.v, state.a);
  return inverse_dynamics_dv(model.tree.convention, state, symmetric(model.data.M), model.data.dtau_dv);
}

MatrixXd forward_dynamics_dq(PeerModel& model, const ConvertedState& state) {
  pinocchio::Data& data = model.data;
  pinocchio_aba_derivatives(model.tree.model, data, state.q, state.v, state.tau);
  return forward_dynamics_dq(model.tree.convention, state, data.ddq, data.ddq_dq, data.ddq_dv,
                             symmetric(data.Minv));
}

MatrixXd forward_dynamics_dv(PeerModel& model, const ConvertedState& state) {
  pinocchio_aba_derivatives(model.tree.model, model.data, state.q, state.v, state.tau);
  return forward_dynamics_dv(model.tree.convention, state, model.data.ddq_dv);
}

MatrixXd forward_dynamics_dtau(PeerModel& model, const ConvertedState& state) {
  pinocchio_aba_derivatives(model.tree.model, model.data, state.q, state.v, state.tau);
  return state.T.transpose() * symmetric(model.data.Minv) * state.T;
}

struct Quantity {
  const char* name;
  bool square;  // nv x nv, else nv
  MatrixXd (*compute)(PeerModel& model, const ConvertedState& state);
};

constexpr Quantity quantities[] = {
    {"mass_matrix", true, mass_matrix},
    {"bias", false, bias},
    {"inverse_dynamics", false, inverse_dynamics},
    {"forward_dynamics", false, forward_dynamics},
    {"smooth_acceleration", false, smooth_acceleration},
    {"inverse_dynamics_dq", true, inverse_dynamics_dq},
    {"inverse_dynamics_dv", true, inverse_dynamics_dv},
    {"forward_dynamics_dq", true, forward_dynamics_dq},
    {"forward_dynamics_dv", true, forward_dynamics_dv},
    {"forward_dynamics_dtau", true, forward_dynamics_dtau},
};

// -----------------------------------------------------------------------------------------------------------
// Kernels, in Pinocchio's convention.

struct Kernel {
  const char* name;
  void (*run)(const pinocchio::Model& model, pinocchio::Data& data, const ConvertedState& state);
};

constexpr Kernel kernels[] = {
    {"kinematics", [](const pinocchio::Model& model, pinocchio::Data& data,
                      const ConvertedState& state) { pinocchio_kinematics(model, data, state.q); }},
    {"rnea", [](const pinocchio::Model& model, pinocchio::Data& data,
                const ConvertedState& state) { pinocchio_rnea(model, data, state.q, state.v, state.a); }},
    {"crba_factor",
     [](const pinocchio::Model& model, pinocchio::Data& data, const ConvertedState& state) {
       pinocchio_crba(model, data, state.q);
       pinocchio_factor(model, data);
     }},
    {"aba", [](const pinocchio::Model& model, pinocchio::Data& data,
               const ConvertedState& state) { pinocchio_aba(model, data, state.q, state.v, state.tau); }},
    {"rnea_derivatives",
     [](const pinocchio::Model& model, pinocchio::Data& data, const ConvertedState& state) {
       pinocchio_rnea_derivatives(model, data, state.q, state.v, state.a);
     }},
    {"forward_dynamics_derivatives",
     [](const pinocchio::Model& model, pinocchio::Data& data, const ConvertedState& state) {
       pinocchio_aba_derivatives(model, data, state.q, state.v, state.tau);
     }},
};

// -----------------------------------------------------------------------------------------------------------
// The interface.

template <class Entry, std::size_t n>
const Entry* find(const Entry (&table)[n], std::string_view name) {
  const auto* entry =
      std::find_if(table, table + n, [&](const Entry& candidate) { return name == candidate.name; });
  return entry == table + n ? nullptr : entry;
}

PeerModel* create_from_tree(const PeerTree* tree, char* reason, int reason_size) {
  try {
    return new PeerModel(build_pinocchio_tree(*tree));
  } catch (const std::exception& error) {
    std::snprintf(reason, static_cast<std::size_t>(reason_size), "%s", error.what());
    return nullptr;
  }
}

void destroy(PeerModel* model) { delete model; }

int size(const PeerModel* model, const char* name) {
  const std::string_view wanted = name;
  return wanted == "nq" ? model->tree.model.nq : wanted == "nv" ? model->tree.model.nv : -1;
}

int quantity_size(const PeerModel* model, const char* name) {
  const Quantity* quantity = find(quantities, name);
  const int nv = model->tree.model.nv;
  return quantity == nullptr ? -1 : quantity->square ? nv * nv : nv;
}

PeerStatus evaluate(PeerModel* model, const char* name, const PeerStates* states, double* out) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Quantity* quantity = find(quantities, name);
  if (quantity == nullptr) {
    return PEER_NOT_AVAILABLE;
  }
  const int columns = quantity->square ? model->tree.model.nv : 1;
  for (int i = 0; i < states->count; ++i) {
    const ConvertedState state = state_at(*model, *states, i);
    Eigen::Map<RowMajor>(out + i * quantity_size(model, name), model->tree.model.nv, columns) =
        quantity->compute(*model, state);
  }
  return PEER_OK;
}

PeerStatus time_kernel(PeerModel* model, const char* name, const PeerStates* states, int repeats,
                       double* min_ns, double* median_ns) {
  const Kernel* kernel = find(kernels, name);
  if (kernel == nullptr) {
    return PEER_NOT_AVAILABLE;
  }
  if (states->count < 1) {
    return PEER_BAD_ARGUMENT;
  }
  std::vector<ConvertedState> converted;
  for (int i = 0; i < states->count; ++i) {
    converted.push_back(state_at(*model, *states, i));
  }
  const BatchTimes times = time_batches(states->count, repeats, [&](int i) {
    kernel->run(model->tree.model, model->data, converted[static_cast<std::size_t>(i)]);
  });
  *min_ns = times.min_ns;
  *median_ns = times.median_ns;
  return PEER_OK;
}

PeerStatus simulate(PeerModel*, const PeerStates*, int, const double*, double*, double*) {
  return PEER_NOT_AVAILABLE;
}

PeerStatus set_option(PeerModel*, const char*, double) { return PEER_NOT_AVAILABLE; }

std::string version() {
  const auto number = [](int value) { return std::to_string(value); };
  return std::string(PINOCCHIO_VERSION) + ", Eigen " + number(EIGEN_WORLD_VERSION) + "." +
         number(EIGEN_MAJOR_VERSION) + "." + number(EIGEN_MINOR_VERSION) + ", " ARTICULA_PEER_COMPILER;
}

}  // namespace
}  // namespace articula::peers

const PeerApi* articula_peer_api() {
  using namespace articula::peers;
  static const std::string engine = version();
  static const PeerApi api = {
      PEER_INTERFACE_VERSION,
      "pinocchio",
      engine.c_str(),
      create_from_tree,
      nullptr,
      nullptr,
      destroy,
      size,
      quantity_size,
      evaluate,
      time_kernel,
      simulate,
      set_option,
  };
  return &api;
}
