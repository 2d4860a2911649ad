// Batch: many environments side by side. Rows of arrays are environments.

#include "articula/simulation/batch.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

using Warm = std::vector<WarmStart>;

BatchState make_state(const py::object& q, const py::object& v, const py::object& activation,
                      const py::object& time) {
  const auto rows = [](const char* what, const Numbers& array) {
    if (array.ndim() != 2)
      throw Error("{} has shape {}, not (N, n)", what, shape_text(array.shape(), array.ndim()));
    return MatrixX(as_columns(array, array.shape(1), array.shape(0)));
  };
  BatchState x;
  x.q = rows("q", numbers("q", q));
  x.v = rows("v", numbers("v", v));
  const Eigen::Index count = x.q.cols();
  if (x.v.cols() != count) throw Error("v has {} rows, but q has {}", x.v.cols(), count);
  x.activation =
      activation.is_none() ? MatrixX(0, count) : rows("activation", numbers("activation", activation));
  if (x.activation.cols() != count)
    throw Error("activation has {} rows, but q has {}", x.activation.cols(), count);
  x.time =
      time.is_none() ? VectorX(VectorX::Zero(count)) : VectorX(as_vector(numbers("time", time, {count})));
  return x;
}

template <MatrixX BatchState::* member>
void assign(BatchState& x, const py::object& values, const char* what) {
  MatrixX& target = x.*member;
  target = as_columns(numbers(what, values, {target.cols(), target.rows()}), target.rows(), target.cols());
}

// As Python counts: from the end where i is negative.
Eigen::Index environment(Eigen::Index i, Eigen::Index count) {
  if (i < -count || i >= count)
    throw py::index_error(fmt::format("no environment {}: there are {}", i, count));
  return i < 0 ? i + count : i;
}

void require_states(const OwnedBatch& batch, const BatchState& x) {
  const Model& model = batch.model(0);
  const auto require = [&](const char* what, const MatrixX& given, Eigen::Index rows) {
    if (given.cols() != batch.size() || given.rows() != rows)
      throw Error("{} has shape ({}, {}), not ({}, {})", what, given.cols(), given.rows(), batch.size(),
                  rows);
  };
  require("q", x.q, model.nq());
  require("v", x.v, model.nv());
  require("activation", x.activation, model.na());
}

std::shared_ptr<KeptBatchStep> step(const OwnedBatch& batch, const BatchState& x, const py::object& controls,
                                    const Warm* warm, bool keep_contacts) {
  batch.require_own_process();
  require_states(batch, x);
  const int nu = batch.model(0).nu(), count = batch.size();
  Numbers given;
  if (!controls.is_none()) given = numbers("controls", controls, {count, nu});
  const auto columns = as_columns(given, nu, controls.is_none() ? 0 : count);
  const py::gil_scoped_release released;
  const std::shared_ptr<KeptBatchStep> result = batch.spare->take();
  result->structure = batch.model(0).shared_structure();
  result->keep_start = true;
  result->keep_contacts = keep_contacts;
  if (!keep_contacts) result->contacts.clear();
  static const Warm cold;
  batch.step(x, columns, warm != nullptr ? *warm : cold, *result);
  return result;
}

std::shared_ptr<BatchRollout> roll_out(const OwnedBatch& batch, const BatchState& x,
                                       const py::object& controls, const Warm* warm) {
  batch.require_own_process();
  require_states(batch, x);
  const int nu = batch.model(0).nu(), count = batch.size();
  const Numbers given = numbers("controls", controls);
  if (given.ndim() != 3 || given.shape(0) != count || given.shape(2) != nu)
    throw Error("controls has shape {}, not ({}, steps, {})", shape_text(given.shape(), given.ndim()), count,
                nu);
  const int steps = static_cast<int>(given.shape(1));
  const auto columns = as_columns(given, nu, static_cast<Eigen::Index>(count) * steps);
  const py::gil_scoped_release released;
  return std::make_shared<BatchRollout>(batch.rollout(x, steps, columns, warm != nullptr ? *warm : Warm{}));
}

// ------------------------------------------------------------------ reports as arrays

template <class T, class Read>
py::array gather(const std::vector<StepReport>& reports, Read read) {
  py::array_t<T> result(static_cast<py::ssize_t>(reports.size()));
  T* out = result.mutable_data();
  for (const StepReport& report : reports) *out++ = read(report);
  return result;
}

py::array ok(const std::vector<StepReport>& reports) {
  return gather<bool>(reports, [](const StepReport& r) { return r.status == StepStatus::ok; });
}
py::array residual(const std::vector<StepReport>& reports) {
  return gather<double>(reports, [](const StepReport& r) { return r.residual; });
}
py::array contacts(const std::vector<StepReport>& reports) {
  return gather<std::int32_t>(reports, [](const StepReport& r) { return r.contacts; });
}

py::list contact_list(const KeptBatchStep& step, Eigen::Index i) {
  if (!step.keep_contacts)
    throw Error("this step did not keep its contacts: batch.step(..., keep_contacts=True)");
  py::list result;
  for (const StepContact& contact : step.contacts[environment(i, step.next.size())])
    result.append(NamedContact{contact, step.structure});
  return result;
}

// ------------------------------------------------------------------ classes

void bind_batch_state(py::module_& module) {
  py::class_<BatchState, std::shared_ptr<BatchState>> state(
      module, "BatchState", "States of N environments. The arrays are views: writing to them changes it.");
  exported(state)
      .def(py::init(&make_state), py::arg("q"), py::arg("v"), py::arg("activation") = py::none(),
           py::arg("time") = py::none(), "From arrays (N, nq), (N, nv), (N, na) and (N,), which are copied.")
      .def_property(
          "q", [](const py::object& s) { return view_rows(s.cast<BatchState&>().q, s); },
          [](BatchState& x, const py::object& values) { assign<&BatchState::q>(x, values, "q"); }, "(N, nq)")
      .def_property(
          "v", [](const py::object& s) { return view_rows(s.cast<BatchState&>().v, s); },
          [](BatchState& x, const py::object& values) { assign<&BatchState::v>(x, values, "v"); }, "(N, nv)")
      .def_property(
          "activation", [](const py::object& s) { return view_rows(s.cast<BatchState&>().activation, s); },
          [](BatchState& x, const py::object& values) {
            assign<&BatchState::activation>(x, values, "activation");
          },
          "(N, na)")
      .def_property(
          "time", [](const py::object& s) { return view(s.cast<BatchState&>().time, s); },
          [](BatchState& x, const py::object& values) {
            x.time = as_vector(numbers("time", values, {x.time.size()}));
          },
          "(N,) s")
      .def(
          "state",
          [](const BatchState& x, Eigen::Index i) {
            const Eigen::Index e = environment(i, x.size());
            return State{x.q.col(e), x.v.col(e), x.activation.col(e), x.time[e]};
          },
          py::arg("i"), "A copy of the state of environment i.")
      .def(
          "copy", [](const BatchState& x) { return BatchState(x); },
          "States of their own with the same numbers.")
      .def("__len__", [](const BatchState& x) { return x.size(); })
      .def("__repr__",
           [](const BatchState& x) {
             return fmt::format("<states of {} environments: nq {}, nv {}>", x.size(), x.q.rows(),
                                x.v.rows());
           })
      .def(py::pickle(
          [](const BatchState& x) {
            return py::make_tuple(copy_rows(x.q), copy_rows(x.v), copy_rows(x.activation), copy(x.time));
          },
          [](const py::tuple& kept) {
            if (kept.size() != 4) throw Error("these are no pickled states");
            return make_state(kept[0], kept[1], kept[2], kept[3]);
          }));

  py::class_<Warm, std::shared_ptr<Warm>> warm(module, "WarmStarts", "One warm start per environment.");
  exported(warm)
      .def("__len__", [](const Warm& w) { return w.size(); })
      .def("__getitem__",
           [](const Warm& w, Eigen::Index i) {
             return w[environment(i, static_cast<Eigen::Index>(w.size()))];
           })
      .def("__repr__",
           [](const Warm& w) { return fmt::format("<warm starts of {} environments>", w.size()); })
      .def(py::pickle(
          [](const Warm& w) {
            py::tuple kept(w.size());
            for (size_t e = 0; e < w.size(); ++e) kept[e] = py::cast(w[e]);
            return kept;
          },
          [](const py::tuple& kept) {
            Warm warm;
            for (const py::handle one : kept) warm.push_back(one.cast<const WarmStart&>());
            return warm;
          }));
}

void bind_results(py::module_& module) {
  using SharedStep = std::shared_ptr<KeptBatchStep>;
  py::class_<KeptBatchStep, SharedStep> step_class(
      module, "BatchStep",
      "The result of `Batch.step`. An environment whose step failed stays where it was; see `ok`.");
  exported(step_class)
      .def_property_readonly(
          "next", [](const SharedStep& s) { return std::shared_ptr<BatchState>(s, &s->next); },
          "The states after the step.")
      .def_property_readonly(
          "start", [](const SharedStep& s) { return BatchState(s->start); },
          "A copy of the states before the step.")
      .def_property_readonly(
          "warm", [](const SharedStep& s) { return std::shared_ptr<Warm>(s, &s->warm); },
          "For the next step, to make it faster.")
      .def_property_readonly(
          "reports", [](const KeptBatchStep& s) { return s.reports; }, "One StepReport per environment.")
      .def_property_readonly(
          "ok", [](const KeptBatchStep& s) { return ok(s.reports); }, "(N,) bool")
      .def_property_readonly(
          "residual", [](const KeptBatchStep& s) { return residual(s.reports); }, "(N,) relative")
      .def_property_readonly(
          "contacts", [](const KeptBatchStep& s) { return contacts(s.reports); }, "(N,): how many")
      .def("contact_list", &contact_list, py::arg("i"),
           "The contacts (StepContact) of environment i; the step must have kept them.")
      .def("__repr__",
           [](const KeptBatchStep& s) { return fmt::format("<step of {} environments>", s.next.size()); });

  using SharedRollout = std::shared_ptr<BatchRollout>;
  const auto path = [](MatrixX& x, const BatchRollout& r, const py::object& owner) {
    return view(x.data(), {r.time.cols(), r.time.rows(), x.rows()}, owner);
  };
  py::class_<BatchRollout, SharedRollout> rollout_class(module, "BatchRollout",
                                                        "The result of `Batch.rollout`.");
  exported(rollout_class)
      .def_property_readonly(
          "q",
          [path](const py::object& s) {
            auto& r = s.cast<BatchRollout&>();
            return path(r.q, r, s);
          },
          "(N, steps + 1, nq)")
      .def_property_readonly(
          "v",
          [path](const py::object& s) {
            auto& r = s.cast<BatchRollout&>();
            return path(r.v, r, s);
          },
          "(N, steps + 1, nv)")
      .def_property_readonly(
          "activation",
          [path](const py::object& s) {
            auto& r = s.cast<BatchRollout&>();
            return path(r.activation, r, s);
          },
          "(N, steps + 1, na)")
      .def_property_readonly(
          "time", [](const py::object& s) { return view_rows(s.cast<BatchRollout&>().time, s); },
          "(N, steps + 1) s")
      .def_readonly("steps", &BatchRollout::steps, "Steps asked for.")
      .def_property_readonly(
          "taken", [](const BatchRollout& r) { return py::array_t<int>(r.taken.size(), r.taken.data()); },
          "(N,): steps until one failed; states after it repeat its start")
      .def_property_readonly(
          "worst", [](const BatchRollout& r) { return r.worst; },
          "Per environment the worst status and residual, and sums of the counts.")
      .def_property_readonly(
          "ok", [](const BatchRollout& r) { return ok(r.worst); }, "(N,) bool")
      .def_property_readonly(
          "warm", [](const SharedRollout& r) { return std::shared_ptr<Warm>(r, &r->warm); },
          "For the next step or rollout.")
      .def("__repr__", [](const BatchRollout& r) {
        return fmt::format("<rollout of {} environments over {} steps>", r.taken.size(), r.steps);
      });
}

std::shared_ptr<OwnedBatch> make_batch(const py::object& models, std::optional<int> count, int threads,
                                       const SimulationSettings& settings) {
  if (threads < 0)
    throw Error("threads must not be negative, as {} is; 0: as many as the machine has", threads);
  if (py::isinstance<Model>(models)) {
    if (!count) throw py::type_error("Batch(model, count): how many environments?");
    return std::make_shared<OwnedBatch>(Batch(models.cast<const Model&>(), *count, settings, threads), false);
  }
  std::vector<Model> all;
  for (const py::handle model : models) {
    if (!py::isinstance<Model>(model))
      throw py::type_error("Batch(models): a Model, or a list of variants of one");
    all.push_back(model.cast<const Model&>());
  }
  if (count && *count != static_cast<int>(all.size()))
    throw Error("count is {}, but there are {} models", *count, all.size());
  return std::make_shared<OwnedBatch>(Batch(std::move(all), settings, threads), true);
}

py::tuple get_state(const OwnedBatch& batch) {
  py::object models;
  if (batch.variants) {
    py::list list;
    list.append(std::make_shared<Model>(batch.model(0)));
    for (int e = 1; e < batch.size(); ++e) list.append(copy(batch.model(e).theta()));
    models = list;
  } else {
    models = py::cast(std::make_shared<Model>(batch.model(0)));
  }
  return py::make_tuple(models, batch.size(), batch.threads(), settings_dict(batch.settings()));
}

std::shared_ptr<OwnedBatch> set_state(const py::tuple& kept) {
  if (kept.size() != 4) throw Error("this is no pickled batch");
  py::object models = kept[0];
  if (py::isinstance<py::list>(models)) {
    const py::list list = models;
    py::list variants;
    variants.append(list[0]);
    for (size_t e = 1; e < list.size(); ++e) variants.append(list[0].attr("with_")(list[e]));
    models = variants;
  }
  using namespace py::literals;
  return py::module_::import("articula")
      .attr("Batch")(models, kept[1], "threads"_a = kept[2], **kept[3].cast<py::dict>())
      .cast<std::shared_ptr<OwnedBatch>>();
}

}  // namespace

std::shared_ptr<KeptBatchStep> SpareSteps::take() {
  std::unique_ptr<KeptBatchStep> step;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      step = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (!step) step = std::make_unique<KeptBatchStep>();
  return {step.release(), [owner = weak_from_this()](KeptBatchStep* last) {
            std::unique_ptr<KeptBatchStep> gone(last);
            if (const auto batch = owner.lock()) batch->give_back(std::move(gone));
          }};
}

void SpareSteps::give_back(std::unique_ptr<KeptBatchStep> step) {
  constexpr size_t most = 2;  // a loop holds one step while it takes the next
  const std::lock_guard lock(mutex_);
  if (spare_.size() < most) spare_.push_back(std::move(step));
}

OwnedBatch::OwnedBatch(Batch batch, bool one_model_each)
    : Batch(std::move(batch)),
      variants(one_model_each),
      process(getpid()) {}

void OwnedBatch::require_own_process() const {
  if (process != getpid())
    throw Error(
        "this Batch was made before the process forked, and its threads are not here; make one in the child");
}

void OwnedBatch::require_step(const KeptBatchStep& step) const {
  require_own_process();
  if (step.structure.get() != &model(0).structure()) throw Error("this step was taken with another model");
  if (step.start.size() != size())
    throw Error("this step is of {} environments, not {}", step.start.size(), size());
}

void bind_batch(py::module_& module) {
  bind_batch_state(module);
  bind_results(module);
  using Shared = std::shared_ptr<OwnedBatch>;
  py::class_<OwnedBatch, Shared> batch(module, "Batch",
                                       "N environments stepped side by side, over threads. Each result "
                                       "depends on its own environment alone: the number of "
                                       "threads changes nothing, to the bit.");
  exported(batch)
      .def(py::init([](const py::object& models, std::optional<int> count, int threads,
                       std::optional<double> dt, const std::string& contact, double recovery_speed,
                       std::optional<double> bounce_speed, bool implicit_gyroscopic, int most_contacts) {
             return make_batch(models, count, threads,
                               make_settings(dt, contact, recovery_speed, bounce_speed, implicit_gyroscopic,
                                             most_contacts));
           }),
           py::arg("models"), py::arg("count") = py::none(), py::arg("threads") = 0, py::kw_only(),
           py::arg("dt") = py::none(), py::arg("contact") = "ncp", py::arg("recovery_speed") = 0.2,
           py::arg("bounce_speed") = py::none(), py::arg("implicit_gyroscopic") = true,
           py::arg("most_contacts") = 0,
           "Batch(model, N), or Batch(variants) with one model (`model.with_`) per environment. threads: 0 "
           "for as many as the "
           "machine has. Settings as for Simulation.")
      .def_property_readonly("threads", &OwnedBatch::threads, "How many were asked for, or the machine has.")
      .def_property_readonly(
          "dt", [](const OwnedBatch& b) { return *b.settings().dt; }, "s")
      .def_property_readonly(
          "settings", [](const OwnedBatch& b) { return settings_dict(b.settings()); },
          "What it was made with, as keyword arguments.")
      .def(
          "model",
          [](const Shared& b, int i) { return std::shared_ptr<Model>(b, const_cast<Model*>(&b->model(i))); },
          py::arg("i") = 0, "The model of environment i.")
      .def("neutral_states", &OwnedBatch::neutral_states,
           "The pose of each model as described, at rest, at time 0.")
      .def(
          "repeat",
          [](const OwnedBatch& b, const State& x) {
            require_state(x, b.model(0));
            return b.repeat(x);
          },
          py::arg("state"), "The same state for all environments.")
      .def("step", &step, py::arg("x"), py::arg("controls") = py::none(), py::arg("warm") = py::none(),
           py::arg("keep_contacts") = false,
           "One step of all environments, under controls (N, nu). keep_contacts: for `contact_list` and "
           "`contact_wrenches`.")
      .def("rollout", &roll_out, py::arg("x"), py::arg("controls"), py::arg("warm") = py::none(),
           "Many steps of all environments, under controls (N, steps, nu).")
      .def("__len__", &OwnedBatch::size)
      .def("__repr__",
           [](const OwnedBatch& b) {
             return text(fmt::format("<batch of {} x '{}'{}: dt {:g} s, contact {}, {} threads>", b.size(),
                                     b.model(0).description().name, b.variants ? " (variants)" : "",
                                     *b.settings().dt, to_string(b.settings().contact), b.threads()));
           })
      .def(py::pickle(&get_state, &set_state));
}

}  // namespace articula::python
