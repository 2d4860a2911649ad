#include "articula/model/model.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/model/names.hpp"

namespace articula {

Model::Model(std::shared_ptr<const Structure> structure, VectorX theta)
    : structure_(std::move(structure)),
      theta_(std::move(theta)),
      constants_(derive_constants(*structure_, theta_)) {}

Model Model::with(const ConstVectorRef& theta) const {
  if (theta.size() != theta_.size()) {
    throw Error(fmt::format("the model has {} parameters, {} were given", theta_.size(), theta.size()));
  }
  return Model(structure_, theta);
}

Model Model::with(std::string_view pattern, const ConstVectorRef& values) const {
  const std::vector<ParameterSlice> slices = parameters().matching(pattern);
  Eigen::Index count = 0;
  for (const ParameterSlice& slice : slices) count += slice.size;
  if (values.size() != count) {
    throw Error(fmt::format("'{}' names {} numbers, {} were given", pattern, count, values.size()));
  }
  VectorX theta = theta_;
  Eigen::Index from = 0;
  for (const ParameterSlice& slice : slices) {
    theta.segment(slice.offset, slice.size) = values.segment(from, slice.size);
    from += slice.size;
  }
  return Model(structure_, std::move(theta));
}

VectorX Model::parameter(std::string_view pattern) const {
  std::vector<double> values;
  for (const ParameterSlice& slice : parameters().matching(pattern)) {
    values.insert(values.end(), theta_.data() + slice.offset, theta_.data() + slice.offset + slice.size);
  }
  return Eigen::Map<const VectorX>(values.data(), static_cast<Eigen::Index>(values.size()));
}

namespace {

template <class Elements>
int find_by_name(const Elements& elements, std::string_view name, const char* kind) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].name == name) return static_cast<int>(i);
  }
  std::vector<std::string> known;
  for (const auto& element : elements) known.push_back(element.name);
  throw Error(fmt::format("no {} '{}'{}", kind, name, suggestion(name, known)));
}

}  // namespace

int Model::body(std::string_view name) const { return find_by_name(structure_->bodies, name, "body"); }
int Model::joint(std::string_view name) const { return find_by_name(structure_->joints, name, "joint"); }
int Model::frame(std::string_view name) const { return find_by_name(structure_->frames, name, "frame"); }

double Model::total_mass() const {
  double mass = 0.0;
  for (size_t k = 1; k < constants_.links.size(); ++k) mass += constants_.links[k].inertia.mass;
  return mass;
}

}  // namespace articula
