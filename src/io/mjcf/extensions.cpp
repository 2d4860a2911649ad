// What our own writer keeps in <custom>, because MJCF has no words for it (mjcf_writer.hpp).

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

namespace {

// An inertia that no real body has, or with a mass (a seventh number) one too small for MJCF.
void read_inertia(Reader& reader, const Attributes& a, const std::string& name, bool real) {
  const std::vector<double> full = a.list("data");
  const std::size_t needed = real ? 7 : 6;
  for (BodyDescription& body : reader.description.bodies) {
    if (body.name != name || full.size() != needed) continue;
    body.inertia.inertia << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
    if (real) {
      body.inertia.mass = full[6];
    } else {
      body.inertia.principal_axes.reset();
      body.inertia.as_given = true;
    }
    return;
  }
  fail(a.element(), "it needs the name of a body and {} numbers", needed);
}

void read_restitution(Reader& reader, const Attributes& a, const std::string& name) {
  double restitution = 0.0;
  a.read("data", restitution);
  for (GeometryDescription& g : reader.description.geometries) {
    if (g.name == name) g.restitution = restitution;
  }
}

}  // namespace

void read_extensions(Reader& reader) {
  for (const Element& element : reader.section("custom")) {
    const std::string name = element.text("name");
    const auto rest_after = [&](std::string_view prefix) {
      return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string();
    };
    const std::string body = rest_after("articula/inertia/"), geometry = rest_after("articula/restitution/");
    const std::string light = rest_after("articula/light/");
    if (!body.empty()) read_inertia(reader, Attributes(element), body, false);
    if (!light.empty()) read_inertia(reader, Attributes(element), light, true);
    if (!geometry.empty()) read_restitution(reader, Attributes(element), geometry);
  }
}

}  // namespace articula::mjcf
