#include "model_tree.hpp"

#include <fmt/format.h>

namespace articula::python {

const char* joint_type_name(JointType type) {
  switch (type) {
    case JointType::fixed: return "fixed";
    case JointType::hinge: return "hinge";
    case JointType::slide: return "slide";
    case JointType::ball: return "ball";
    case JointType::free: return "free";
  }
  return "";
}

namespace {

// Longer trees are cut: a repr is for people.
constexpr int most_lines = 60;

struct Printer {
  const Model& model;
  std::vector<std::vector<int>> children;
  std::string text;
  int lines = 0;

  explicit Printer(const Model& m) : model(m), children(m.nbody()) {
    for (int b = 1; b < m.nbody(); ++b) children[m.structure().bodies[b].parent].push_back(b);
  }

  std::string joints(int body) const {
    std::string list;
    for (const JointIndex& joint : model.structure().joints) {
      if (joint.body == body)
        list += fmt::format("{}{} '{}'", list.empty() ? "" : ", ", joint_type_name(joint.type), joint.name);
    }
    if (list.empty()) list = model.structure().bodies[body].kinematic >= 0 ? "moved by the user" : "welded";
    return list;
  }

  void below(int body, const std::string& indent) {
    for (size_t i = 0; i < children[body].size(); ++i) {
      const int child = children[body][i];
      const bool last = i + 1 == children[body].size();
      if (++lines > most_lines) return;
      const BodyIndex& b = model.structure().bodies[child];
      text += fmt::format("\n{}{} {}: {}; {:.4g} kg", indent, last ? "└─" : "├─", b.name, joints(child),
                          model.theta()[b.inertia]);
      below(child, indent + (last ? "   " : "│  "));
    }
  }
};

}  // namespace

std::string model_tree(const Model& model) {
  Printer printer(model);
  printer.text =
      fmt::format("Model '{}': nq {}, nv {}, nu {}, na {}; {} bodies, {:.4g} kg; {} parameters\nworld",
                  model.description().name, model.nq(), model.nv(), model.nu(), model.na(), model.nbody() - 1,
                  model.total_mass(), model.theta().size());
  printer.below(0, "");
  if (printer.lines > most_lines)
    printer.text += fmt::format("\n... and more: {} bodies in all", model.nbody() - 1);
  return printer.text;
}

}  // namespace articula::python
