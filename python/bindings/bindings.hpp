#pragma once
// One function per part of the interface, called in this order.

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>

#include "articula/simulation/batch.hpp"
#include "articula/simulation/simulation.hpp"

// A list of warm starts crosses the boundary as one object.
PYBIND11_MAKE_OPAQUE(std::vector<articula::WarmStart>)

namespace articula::python {

namespace py = pybind11;

void bind_model(py::module_& module);
void bind_state(py::module_& module);
void bind_step(py::module_& module);
void bind_simulation(py::module_& module);
void bind_modes(py::module_& module);
void bind_batch(py::module_& module);
void bind_gradients(py::module_& module);
void bind_rollout_gradients(py::module_& module);
void bind_kinematics(py::module_& module);
void bind_queries(py::module_& module);
void bind_sensors(py::module_& module);

// A step, and the names of what touches in it.
struct NamedStep : Step {
  std::shared_ptr<const Structure> structure;
};

// A step of a batch; it always keeps what it was taken from.
struct KeptBatchStep : BatchStep {
  std::shared_ptr<const Structure> structure;
};

// Steps that nobody holds any more, for the next ones to be written into: thousands of warm starts keep their
// memory.
class SpareSteps : public std::enable_shared_from_this<SpareSteps> {
 public:
  std::shared_ptr<KeptBatchStep> take();  // it comes back when the last owner goes

 private:
  void give_back(std::unique_ptr<KeptBatchStep> step);
  std::mutex mutex_;
  std::vector<std::unique_ptr<KeptBatchStep>> spare_;
};

// Threads do not survive a fork: a batch belongs to the process that made it.
struct OwnedBatch : Batch {
  OwnedBatch(Batch batch, bool one_model_each);
  bool variants = false;  // one model per environment
  int process = 0;
  std::shared_ptr<SpareSteps> spare = std::make_shared<SpareSteps>();

  void require_own_process() const;
  void require_step(const KeptBatchStep& step) const;
};

// What Python calls an input: None, controls (nu,), or an Input.
void read_input(py::handle given, const Model& model, Input& input);

// Settings as keyword arguments of Simulation and Batch.
SimulationSettings make_settings(std::optional<double> dt, const std::string& contact, double recovery_speed,
                                 std::optional<double> bounce_speed, bool implicit_gyroscopic,
                                 int most_contacts);
py::dict settings_dict(const SimulationSettings& settings);

// What a step calls a contact's geometry: its name, or its number and body.
struct NamedContact : StepContact {
  std::shared_ptr<const Structure> structure;
};
std::string geometry_name(const Structure& structure, int geometry);

// Throws Error, saying which number is not finite, for a step that was not taken.
[[noreturn]] void throw_failed_step(StepStatus status, const Model& model, const State& x,
                                    const Input& input);

void require_state(const State& x, const Model& model);
// Throws Error, naming the first joint whose quaternion in q has no direction.
void require_rotations(const Model& model, const ConstVectorRef& q);

}  // namespace articula::python
