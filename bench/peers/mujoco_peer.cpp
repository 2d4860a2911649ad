// MuJoCo behind the interface of peer.h. State and velocity are already in our convention: nothing is
// converted.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench/peers/batch_timing.hpp"
#include "bench/peers/peer.h"

struct PeerModel {
  mjModel* m = nullptr;
  mjData* d = nullptr;
  std::vector<double> workspace;  // nv
};

namespace {

using articula::peers::BatchTimes;
using articula::peers::time_batches;

// One state's rows of PeerStates; null stands for zeros.
struct State {
  const double* q;
  const double* v;
  const double* tau;
  const double* a;
  const double* ctrl;
  const double* act;
};

State state_at(const PeerModel& model, const PeerStates& states, int i) {
  const auto row = [i](const double* array, auto width) {
    return array == nullptr ? nullptr : array + i * width;
  };
  const mjModel& m = *model.m;
  return {row(states.q, m.nq), row(states.v, m.nv),    row(states.tau, m.nv),
          row(states.a, m.nv), row(states.ctrl, m.nu), row(states.act, m.na)};
}

void load(double* target, const double* source, mjtSize size) {
  if (source == nullptr) {
    std::fill_n(target, size, 0.0);
  } else {
    std::copy_n(source, size, target);
  }
}

void load_state(PeerModel& model, const State& state) {
  const mjModel& m = *model.m;
  mj_resetData(&m, model.d);
  load(model.d->qpos, state.q, m.nq);
  load(model.d->qvel, state.v, m.nv);
  load(model.d->qfrc_applied, state.tau, m.nv);
  load(model.d->ctrl, state.ctrl, m.nu);
  load(model.d->act, state.act, m.na);
}

// -----------------------------------------------------------------------------------------------------------
// Kernels. Each starts from (q, v, tau or a): MuJoCo's stages before it are part of it, as they are in ours
// and in Pinocchio's. Differences that remain: mj_kinematics also places geoms and sites; MuJoCo has no ABA
// and no analytic derivatives of inverse dynamics.

struct Kernel {
  const char* name;
  void (*run)(PeerModel& model, const State& state);
};

void kinematics(PeerModel& model, const State& state) {
  load(model.d->qpos, state.q, model.m->nq);
  mj_kinematics(model.m, model.d);
  mj_comPos(model.m, model.d);
}

void rnea(PeerModel& model, const State& state) {
  kinematics(model, state);
  load(model.d->qvel, state.v, model.m->nv);
  load(model.d->qacc, state.a, model.m->nv);
  mj_comVel(model.m, model.d);
  mj_rne(model.m, model.d, 1, model.workspace.data());
}

void crba_factor(PeerModel& model, const State& state) {
  kinematics(model, state);
  mj_makeM(model.m, model.d);
  mj_factorM(model.m, model.d);
}

// M^-1 (tau - c) by way of M and its factor: what MuJoCo does for a smooth acceleration, less passive and
// actuator forces.
void aba(PeerModel& model, const State& state) {
  crba_factor(model, state);
  load(model.d->qvel, state.v, model.m->nv);
  mj_comVel(model.m, model.d);
  mj_rne(model.m, model.d, 0, model.d->qfrc_bias);
  load(model.d->qfrc_applied, state.tau, model.m->nv);
  for (mjtSize i = 0; i < model.m->nv; ++i) {
    model.workspace[static_cast<std::size_t>(i)] = model.d->qfrc_applied[i] - model.d->qfrc_bias[i];
  }
  mj_solveM(model.m, model.d, model.d->qacc, model.workspace.data(), 1);
}

constexpr Kernel kernels[] = {
    {"kinematics", kinematics},
    {"rnea", rnea},
    {"crba_factor", crba_factor},
    {"aba", aba},
};

// -----------------------------------------------------------------------------------------------------------
// Quantities. Where a kernel computes it, it is that kernel which is checked: what is timed is what is right.

struct Quantity {
  const char* name;
  mjtSize (*size)(const mjModel& m);
  void (*compute)(PeerModel& model, const State& state);  // into mjData
  void (*read)(PeerModel& model, const State& state, double* out);
};

// Everything, contacts included.
void forward(PeerModel& model, const State& state) {
  load_state(model, state);
  mj_forward(model.m, model.d);
}

mjtSize nv(const mjModel& m) { return m.nv; }
mjtSize nv_nv(const mjModel& m) { return m.nv * m.nv; }

// The kernel, after tendons, whose armature is part of M.
void tendons_and_crba(PeerModel& model, const State& state) {
  kinematics(model, state);
  mj_tendon(model.m, model.d);
  crba_factor(model, state);
}

void mass_matrix(PeerModel& model, const State&, double* out) {
  const mjtSize n = model.m->nv;
  std::vector<double>& unit = model.workspace;
  std::fill(unit.begin(), unit.end(), 0.0);
  for (mjtSize i = 0; i < n; ++i) {  // M is symmetric: its columns are its rows
    unit[static_cast<std::size_t>(i)] = 1.0;
    mj_mulM(model.m, model.d, out + i * n, unit.data());
    unit[static_cast<std::size_t>(i)] = 0.0;
  }
}

void inverse_dynamics(PeerModel& model, const State& state, double* out) {
  load(model.workspace.data(), state.a, model.m->nv);
  mj_mulM(model.m, model.d, out, model.workspace.data());
  for (mjtSize i = 0; i < model.m->nv; ++i) {
    out[i] += model.d->qfrc_bias[i];
  }
}

template <double* mjData::* field, mjtSize (*size)(const mjModel&)>
void copy_of(PeerModel& model, const State&, double* out) {
  std::copy_n(model.d->*field, size(*model.m), out);
}

mjtSize outputs(const mjModel& m) { return m.nout; }
mjtSize sensor_numbers(const mjModel& m) { return m.nsensordata; }
mjtSize bodies(const mjModel& m) { return m.nbody; }
mjtSize bodies_3(const mjModel& m) { return 3 * m.nbody; }
mjtSize bodies_9(const mjModel& m) { return 9 * m.nbody; }

constexpr Quantity quantities[] = {
    {"mass_matrix", nv_nv, tendons_and_crba, mass_matrix},
    {"bias", nv, forward, copy_of<&mjData::qfrc_bias, nv>},
    {"inverse_dynamics", nv, forward, inverse_dynamics},
    {"forward_dynamics", nv, aba, copy_of<&mjData::qacc, nv>},
    {"smooth_acceleration", nv, forward, copy_of<&mjData::qacc_smooth, nv>},
    {"actuator_generalised_forces", nv, forward, copy_of<&mjData::qfrc_actuator, nv>},
    {"passive_forces", nv, forward, copy_of<&mjData::qfrc_passive, nv>},
    {"actuator_forces", outputs, forward, copy_of<&mjData::actuator_force, outputs>},
    {"sensors", sensor_numbers, forward, copy_of<&mjData::sensordata, sensor_numbers>},
    {"body_positions", bodies_3, kinematics, copy_of<&mjData::xpos, bodies_3>},
    {"body_rotations", bodies_9, kinematics, copy_of<&mjData::xmat, bodies_9>},
    {"body_masses", bodies, kinematics,
     [](PeerModel& model, const State&, double* out) {
       std::copy_n(model.m->body_mass, model.m->nbody, out);
     }},
    {"contact_count", [](const mjModel&) { return mjtSize{1}; }, forward,
     [](PeerModel& model, const State&, double* out) { *out = model.d->ncon; }},
};

// -----------------------------------------------------------------------------------------------------------
// The interface.

template <class Entry, std::size_t n>
const Entry* find(const Entry (&table)[n], std::string_view name) {
  const auto* entry =
      std::find_if(table, table + n, [&](const Entry& candidate) { return name == candidate.name; });
  return entry == table + n ? nullptr : entry;
}

void ignore_warning(const char*) {}

PeerModel* wrap(mjModel* m, const char* error, char* reason, int reason_size) {
  if (m == nullptr) {
    std::snprintf(reason, static_cast<std::size_t>(reason_size), "%s", error);
    return nullptr;
  }
  return new PeerModel{m, mj_makeData(m), std::vector<double>(static_cast<std::size_t>(m->nv))};
}

PeerModel* create_from_mjcf_file(const char* path, char* reason, int reason_size) {
  mju_user_warning = ignore_warning;  // the default handler writes a log file into the working directory
  char error[1000] = "";
  return wrap(mj_loadXML(path, nullptr, error, sizeof error), error, reason, reason_size);
}

PeerModel* create_from_mjcf_text(const char* text, char* reason, int reason_size) {
  mju_user_warning = ignore_warning;
  char error[1000] = "";
  mjSpec* spec = mj_parseXMLString(text, nullptr, error, sizeof error);
  if (spec == nullptr) {
    return wrap(nullptr, error, reason, reason_size);
  }
  mjModel* m = mj_compile(spec, nullptr);
  PeerModel* model = wrap(m, mjs_getError(spec), reason, reason_size);
  mj_deleteSpec(spec);
  return model;
}

void destroy(PeerModel* model) {
  mj_deleteData(model->d);
  mj_deleteModel(model->m);
  delete model;
}

int size(const PeerModel* model, const char* name) {
  struct Size {
    const char* name;
    mjtSize value;
  };
  const mjModel& m = *model->m;
  const Size sizes[] = {
      {"nq", m.nq},
      {"nv", m.nv},
      {"nu", m.nu},
      {"na", m.na},
      {"nbody", m.nbody},
      {"ngeom", m.ngeom},
      {"nsensordata", m.nsensordata},
  };
  const Size* entry = find(sizes, name);
  return entry == nullptr ? -1 : static_cast<int>(entry->value);
}

int quantity_size(const PeerModel* model, const char* name) {
  const Quantity* quantity = find(quantities, name);
  return quantity == nullptr ? -1 : static_cast<int>(quantity->size(*model->m));
}

PeerStatus evaluate(PeerModel* model, const char* name, const PeerStates* states, double* out) {
  const Quantity* quantity = find(quantities, name);
  if (quantity == nullptr) {
    return PEER_NOT_AVAILABLE;
  }
  for (int i = 0; i < states->count; ++i) {
    const State state = state_at(*model, *states, i);
    mj_resetData(model->m, model->d);
    quantity->compute(*model, state);
    quantity->read(*model, state, out + i * quantity->size(*model->m));
  }
  return PEER_OK;
}

// -----------------------------------------------------------------------------------------------------------
// Collision, from poses that are ready: one mjData per state, kinematics done. "collision" is the whole
// stage; "narrowphase" the function for the first two geoms, without broad phase and without building the
// contacts.

void collision_stage(const mjModel* m, mjData* d) { mj_collision(m, d); }

void narrowphase(const mjModel* m, mjData* d) {
  mjPreContact contacts[mjMAXCONPAIR];
  const bool ordered = m->geom_type[0] <= m->geom_type[1];
  const int first = ordered ? 0 : 1, second = ordered ? 1 : 0;
  const mjfCollision function = mjCOLLISIONFUNC[m->geom_type[first]][m->geom_type[second]];
  if (function != nullptr) {
    function(m, d, contacts, first, second, 0.0);
  }
}

struct CollisionKernel {
  const char* name;
  void (*run)(const mjModel* m, mjData* d);
};

constexpr CollisionKernel collision_kernels[] = {{"collision", collision_stage},
                                                 {"narrowphase", narrowphase}};

PeerStatus time_collision(PeerModel& model, const CollisionKernel& kernel, const PeerStates& states,
                          int repeats, double* min_ns, double* median_ns) {
  std::vector<mjData*> placed;
  for (int i = 0; i < states.count; ++i) {
    placed.push_back(mj_makeData(model.m));
    load(placed.back()->qpos, state_at(model, states, i).q, model.m->nq);
    mj_kinematics(model.m, placed.back());
    mj_comPos(model.m, placed.back());
  }
  const BatchTimes times = time_batches(
      states.count, repeats, [&](int i) { kernel.run(model.m, placed[static_cast<std::size_t>(i)]); }, 1e6);
  for (mjData* d : placed) {
    mj_deleteData(d);
  }
  *min_ns = times.min_ns;
  *median_ns = times.median_ns;
  return PEER_OK;
}

// mjd_transitionFD, centred, on (x, u): one mjData per state, ready for its step.
PeerStatus time_transition_fd(PeerModel& model, const PeerStates& states, int repeats, double* min_ns,
                              double* median_ns) {
  const mjModel* m = model.m;
  std::vector<mjData*> ready;
  for (int i = 0; i < states.count; ++i) {
    mjData* d = mj_makeData(m);
    const State state = state_at(model, states, i);
    load(d->qpos, state.q, m->nq);
    load(d->qvel, state.v, m->nv);
    load(d->ctrl, state.ctrl, m->nu);
    load(d->act, state.act, m->na);
    mj_forward(m, d);
    ready.push_back(d);
  }
  const auto n = static_cast<std::size_t>(2 * m->nv + m->na);
  std::vector<double> A(n * n), B(n * static_cast<std::size_t>(std::max<long>(m->nu, 1)));
  const BatchTimes times = time_batches(
      states.count, repeats,
      [&](int i) {
        mjd_transitionFD(m, ready[static_cast<std::size_t>(i)], 1e-6, 1, A.data(),
                         m->nu > 0 ? B.data() : nullptr, nullptr, nullptr);
      },
      1e7);
  for (mjData* d : ready) {
    mj_deleteData(d);
  }
  *min_ns = times.min_ns;
  *median_ns = times.median_ns;
  return PEER_OK;
}

PeerStatus time_kernel(PeerModel* model, const char* name, const PeerStates* states, int repeats,
                       double* min_ns, double* median_ns) {
  if (states->count < 1) {
    return PEER_BAD_ARGUMENT;
  }
  if (const CollisionKernel* collision = find(collision_kernels, name)) {
    return time_collision(*model, *collision, *states, repeats, min_ns, median_ns);
  }
  if (std::string_view(name) == "transition_fd") {
    return time_transition_fd(*model, *states, repeats, min_ns, median_ns);
  }
  const Kernel* kernel = find(kernels, name);
  if (kernel == nullptr) {
    return PEER_NOT_AVAILABLE;
  }
  mj_resetData(model->m, model->d);
  const BatchTimes times =
      time_batches(states->count, repeats, [&](int i) { kernel->run(*model, state_at(*model, *states, i)); });
  *min_ns = times.min_ns;
  *median_ns = times.median_ns;
  return PEER_OK;
}

// MuJoCo resets a diverged state and only counts a warning.
bool diverged(const mjData& d) {
  return d.warning[mjWARN_BADQPOS].number + d.warning[mjWARN_BADQVEL].number +
             d.warning[mjWARN_BADQACC].number >
         0;
}

PeerStatus simulate(PeerModel* model, const PeerStates* start, int steps, const double* ctrl, double* q,
                    double* v) {
  if (start->count < 1) {
    return PEER_BAD_ARGUMENT;
  }
  const mjModel& m = *model->m;
  load_state(*model, state_at(*model, *start, 0));
  for (int step = 0; step < steps; ++step) {
    if (ctrl != nullptr) {
      std::copy_n(ctrl + step * m.nu, m.nu, model->d->ctrl);
    }
    mj_step(&m, model->d);
    if (q != nullptr) {
      std::copy_n(model->d->qpos, m.nq, q + step * m.nq);
    }
    if (v != nullptr) {
      std::copy_n(model->d->qvel, m.nv, v + step * m.nv);
    }
  }
  return diverged(*model->d) ? PEER_FAILED : PEER_OK;
}

PeerStatus set_option(PeerModel* model, const char* name, double value) {
  struct Flag {
    const char* name;
    int disable;
  };
  static constexpr Flag flags[] = {
      {"contact", mjDSBL_CONTACT},       {"limit", mjDSBL_LIMIT},   {"frictionloss", mjDSBL_FRICTIONLOSS},
      {"constraint", mjDSBL_CONSTRAINT}, {"sensor", mjDSBL_SENSOR},
  };
  const std::string_view option = name;
  mjOption& options = model->m->opt;
  if (option == "timestep") {
    options.timestep = value;
  } else if (option == "elliptic") {
    options.cone = value != 0.0 ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
  } else if (option == "newton") {
    options.solver = mjSOL_NEWTON;
    options.tolerance = 1e-8;
  } else if (const Flag* flag = find(flags, option)) {
    options.disableflags =
        value != 0.0 ? options.disableflags & ~flag->disable : options.disableflags | flag->disable;
  } else {
    return PEER_NOT_AVAILABLE;
  }
  return PEER_OK;
}

}  // namespace

const PeerApi* articula_peer_api() {
  static const PeerApi api = {
      PEER_INTERFACE_VERSION,
      "mujoco",
      mj_versionString(),
      nullptr,
      create_from_mjcf_file,
      create_from_mjcf_text,
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
