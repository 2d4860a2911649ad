// What our own writer keeps in <custom>, because MJCF has no words for it (mjcf_writer.hpp).

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

namespace {

// An inertia that no real body has, or with a mass (a seventh number) one too small for MJCF.
void read_inertia(BodyDescription* body, const Attributes& a, bool real) {
  const std::vector<double> full = a.list("data");
  const std::size_t needed = real ? 7 : 6;
  if (body == nullptr || full.size() != needed)
    fail(a.element(), "it needs the name of a body and {} numbers", needed);
  body->inertia.inertia << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
  if (real) {
    body->inertia.mass = full[6];
  } else {
    body->inertia.principal_axes.reset();
    body->inertia.as_given = true;
  }
}

template <class Described>
class ByName {
 public:
  explicit ByName(std::vector<Described>& elements) {
    for (Described& element : elements) known_.emplace(element.name, &element);
  }
  Described* find(const std::string& name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, Described*> known_;
};

}  // namespace

void read_extensions(Reader& reader) {
  const std::vector<Element> elements = reader.section("custom");
  if (elements.empty()) return;
  const ByName bodies(reader.description.bodies);
  const ByName geometries(reader.description.geometries);
  for (const Element& element : elements) {
    const std::string name = element.text("name");
    const auto rest_after = [&](std::string_view prefix) {
      return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
    };
    const std::string body = rest_after("articula/inertia/"), geometry = rest_after("articula/restitution/");
    const std::string light = rest_after("articula/light/");
    if (!body.empty()) read_inertia(bodies.find(body), Attributes(element), false);
    if (!light.empty()) read_inertia(bodies.find(light), Attributes(element), true);
    if (GeometryDescription* g = geometry.empty() ? nullptr : geometries.find(geometry))
      Attributes(element).read("data", g->restitution);
  }
}

}  // namespace articula::mjcf
