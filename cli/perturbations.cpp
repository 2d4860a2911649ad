#include "cli/perturbations.hpp"

#include <algorithm>
#include <cmath>

#include "articula/error.hpp"
#include "articula/model/names.hpp"

namespace articula::cli {
namespace {

std::vector<double> numbers_of(const std::string& text, const std::string& whole, const char* option) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i <= text.size();) {
    const std::size_t next = std::min(text.find(',', i), text.size());
    const std::string word = text.substr(i, next - i);
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0' || !std::isfinite(numbers.back()))
      throw articula::Error("{} '{}': '{}' is not a finite number", option, whole, word);
    i = next + 1;
  }
  return numbers;
}

const KeyframeDescription& find_keyframe(const Model& model, const std::string& name) {
  std::vector<std::string> known;
  for (const KeyframeDescription& keyframe : model.description().keyframes) {
    if (keyframe.name == name) return keyframe;
    known.push_back(keyframe.name);
  }
  if (known.empty()) throw articula::Error("no keyframe '{}': the model has none", name);
  throw articula::Error("no keyframe '{}'{}", name, suggestion(name, known));
}

void copy_if_given(const std::vector<double>& from, VectorX& to) {
  if (from.empty()) return;
  to = Eigen::Map<const VectorX>(from.data(), static_cast<Eigen::Index>(from.size()));
}

void set_velocity(const Model& model, const std::string& text, State& state) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw articula::Error("--velocity '{}': JOINT=V is needed", text);
  const Structure& s = model.structure();
  const auto joint = static_cast<std::size_t>(model.joint(text.substr(0, equals)));
  const int begin = s.joints[joint].dof,
            end = joint + 1 < s.joints.size() ? s.joints[joint + 1].dof : model.nv();
  const std::vector<double> numbers = numbers_of(text.substr(equals + 1), text, "--velocity");
  if (static_cast<int>(numbers.size()) != end - begin)
    throw articula::Error("--velocity '{}': the joint moves in {} ways, {} numbers were given", text,
                          end - begin, numbers.size());
  for (int d = begin; d < end; ++d) state.v[d] = numbers[static_cast<std::size_t>(d - begin)];
}

}  // namespace

Start starting_point(const Model& model, const std::string& keyframe,
                     const std::vector<std::string>& velocities) {
  Start start{neutral_state(model), {}};
  if (!keyframe.empty()) {
    const KeyframeDescription& key = find_keyframe(model, keyframe);
    copy_if_given(key.q, start.state.q);
    copy_if_given(key.v, start.state.v);
    copy_if_given(key.activation, start.state.activation);
    copy_if_given(key.control, start.controls);
    start.state.time = key.time;
  }
  for (const std::string& text : velocities) set_velocity(model, text, start.state);
  return start;
}

std::vector<Push> parse_pushes(const Model& model, const std::vector<std::string>& texts, double from,
                               double to) {
  std::vector<Push> pushes;
  for (const std::string& text : texts) {
    const std::size_t colon = text.rfind(':'), at = text.find('@', colon == std::string::npos ? 0 : colon);
    if (colon == std::string::npos)
      throw articula::Error("--push '{}': BODY:FX,FY,FZ@TIME+DURATION is needed", text);
    const std::vector<double> force =
        numbers_of(text.substr(colon + 1, at == std::string::npos ? at : at - colon - 1), text, "--push");
    if (force.size() != 3) throw articula::Error("--push '{}': a force has three numbers", text);
    Push push{model.body(text.substr(0, colon)), {force[0], force[1], force[2]}, from, from + 0.1};
    if (push.body == 0) throw articula::Error("--push '{}': the world does not move", text);
    if (at != std::string::npos) {
      const std::size_t plus = text.find('+', at);
      push.begin = numbers_of(text.substr(at + 1, plus == std::string::npos ? plus : plus - at - 1), text,
                              "--push")[0];
      const double duration =
          plus == std::string::npos ? 0.1 : numbers_of(text.substr(plus + 1), text, "--push")[0];
      if (!(duration > 0.0)) throw articula::Error("--push '{}': the duration must be positive", text);
      push.end = push.begin + duration;
    }
    if (push.end <= from || push.begin >= to)
      throw articula::Error(
          "--push '{}': the simulation goes from {:g} to {:g} s, and the push is outside of it", text, from,
          to);
    pushes.push_back(push);
  }
  return pushes;
}

void apply(const std::vector<Push>& pushes, double time, double dt, const Model& model, Input& input) {
  if (pushes.empty()) return;
  input.wrenches.setZero(6, model.nbody());
  for (const Push& push : pushes) {
    const double overlap = std::min(push.end, time + dt) - std::max(push.begin, time);
    if (overlap > 0.0) input.wrenches.col(push.body).head<3>() += overlap / dt * push.force;
  }
}

}  // namespace articula::cli
