#include "bench/support/transition_rival.hpp"

#include <stdexcept>

#include "articula/io/mjcf_writer.hpp"

namespace articula::bench {

namespace {

PeerStates states_of(const Sample& s) {
  return {.count = 1,
          .q = s.state.q.data(),
          .v = s.state.v.data(),
          .tau = nullptr,
          .a = nullptr,
          .ctrl = s.input.controls.data(),
          .act = s.state.activation.data()};
}

}  // namespace

TransitionRival::TransitionRival(const PeerApi& api, const std::string& path, const Case& c)
    : api_(&api),
      case_(&c),
      model_(path.ends_with(".xml") ? peers::create_from_mjcf_file(api, path)
                                    : peers::create_from_mjcf_text(api, to_mjcf(c.model.description()))) {
  if (api.size(model_.get(), "nq") != c.model.nq() || api.size(model_.get(), "nu") != c.model.nu() ||
      api.size(model_.get(), "na") != c.model.na())
    throw std::runtime_error("MuJoCo counts other coordinates or controls");
  api.set_option(model_.get(), "newton", 1.0);
  api.set_option(model_.get(), "sensor", 0.0);
}

void TransitionRival::use(bool cone) { api_->set_option(model_.get(), "elliptic", cone ? 1.0 : 0.0); }

// Activations follow the controls alone, whatever the trajectory.
std::vector<Sample> TransitionRival::samples(const std::vector<Sample>& ours) const {
  const Case& c = *case_;
  const Model& model = c.model;
  const int steps = static_cast<int>(c.controls.cols());
  const auto every = static_cast<std::size_t>(steps) / ours.size();
  const PeerStates start{1,       c.start.q.data(), c.start.v.data(),         nullptr,
                         nullptr, nullptr,          c.start.activation.data()};
  MatrixX q(model.nq(), steps), v(model.nv(), steps);
  if (api_->simulate(model_.get(), &start, steps, c.controls.data(), q.data(), v.data()) != PEER_OK)
    return {};
  std::vector<Sample> samples;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    Sample& s = samples.emplace_back(Sample{ours[k].state, ours[k].input, {}});
    const auto taken = static_cast<Eigen::Index>((k + 1) * every) - 1;  // steps before this one
    s.state.q = taken > 0 ? VectorX(q.col(taken - 1)) : c.start.q;
    s.state.v = taken > 0 ? VectorX(v.col(taken - 1)) : c.start.v;
  }
  return samples;
}

double TransitionRival::contacts(const std::vector<Sample>& samples) const {
  double sum = 0.0;
  for (const Sample& s : samples) {
    const PeerStates states = states_of(s);
    double count = 0.0;
    if (api_->evaluate(model_.get(), "contact_count", &states, &count) == PEER_OK) sum += count;
  }
  return sum / static_cast<double>(samples.size());
}

double TransitionRival::us(const std::vector<Sample>& samples, int repeats) const {
  double sum = 0.0;
  for (const Sample& s : samples) {
    const PeerStates states = states_of(s);
    double least = 0.0, median = 0.0;
    if (api_->time_kernel(model_.get(), "transition_fd", &states, repeats, &least, &median) != PEER_OK)
      throw std::runtime_error("MuJoCo has no mjd_transitionFD");
    sum += 1e-3 * least;
  }
  return sum / static_cast<double>(samples.size());
}

}  // namespace articula::bench
