#include "cli/controls.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "articula/error.hpp"
#include "articula/io/npz.hpp"

namespace articula::cli {
namespace {

// The numbers of a line, separated by commas or blanks; false if something else stands there.
bool numbers_of(std::string line, std::vector<double>& numbers) {
  for (char& c : line)
    if (c == ',' || c == ';' || c == '\t' || c == '\r') c = ' ';
  std::istringstream words(line);
  numbers.clear();
  for (std::string word; words >> word;) {
    const char* begin = word.c_str() + (word[0] == '+' ? 1 : 0);
    char* end = nullptr;
    numbers.push_back(std::strtod(begin, &end));
    if (end == begin || *end != '\0') return false;
  }
  return true;
}

// Names, none of which could be a number with a slip in it.
bool are_titles(std::string line) {
  for (char& c : line)
    if (c == ',' || c == ';') c = ' ';
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const char first = word[0];
    if (!std::isalpha(static_cast<unsigned char>(first)) && first != '_' && first != '"' && first != '\'')
      return false;
  }
  return true;
}

MatrixX read_csv(const std::string& path, int nu) {
  std::ifstream file(path);
  if (!file) throw articula::Error("{}: cannot be opened", path);
  std::vector<double> all, numbers;
  int line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    if (line.find_first_not_of(" \t\r") == std::string::npos || line[0] == '#') continue;
    if (!numbers_of(line, numbers)) {
      if (line_number == 1 && are_titles(line)) continue;
      throw articula::Error("{}, line {}: not a row of numbers", path, line_number);
    }
    if (static_cast<int>(numbers.size()) != nu)
      throw articula::Error("{}, line {}: {} numbers, but the model has {} controls", path, line_number,
                            numbers.size(), nu);
    for (double number : numbers)
      if (!std::isfinite(number))
        throw articula::Error("{}, line {}: a control is not a finite number", path, line_number);
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  if (all.empty()) throw articula::Error("{}: no controls in it", path);
  return Eigen::Map<const MatrixX>(all.data(), nu, static_cast<Eigen::Index>(all.size()) / nu);
}

MatrixX read_table(const std::string& path, int nu) {
  const NpzArrays arrays = read_npz(path);
  const auto found = arrays.find("controls");
  if (found == arrays.end()) {
    std::string others;
    for (const auto& [name, array] : arrays)
      others += fmt::format("{}'{}'", others.empty() ? "" : ", ", name);
    throw articula::Error("{}: no array 'controls' in it, only {}", path,
                          others.empty() ? "nothing" : others);
  }
  const NpyArray& array = found->second;
  if (array.shape.size() != 2 || array.shape[1] != static_cast<std::size_t>(nu))
    throw articula::Error(
        "{}: 'controls' has shape ({}), but (steps, {}) is needed: the model has {} controls", path,
        fmt::join(array.shape, ", "), nu, nu);
  for (std::size_t i = 0; i < array.values.size(); ++i)
    if (!std::isfinite(array.values[i]))
      throw articula::Error("{}: 'controls'[{}, {}] is not a finite number", path,
                            i / static_cast<std::size_t>(nu), i % static_cast<std::size_t>(nu));
  return Eigen::Map<const MatrixX>(array.values.data(), nu, static_cast<Eigen::Index>(array.shape[0]));
}

}  // namespace

Controls::Controls(const Model& model, const ControlOptions& options, const VectorX& keyframe)
    : options_(options),
      random_(options.seed) {
  const int nu = model.nu();
  low_ = VectorX::Constant(nu, -1.0);
  high_ = VectorX::Constant(nu, 1.0);
  for (int i = 0; i < nu; ++i) {
    const auto& range = model.description().actuators[static_cast<std::size_t>(i)].control_range;
    if (!range) continue;
    low_[i] = (*range)[0];
    high_[i] = (*range)[1];
  }
  half_range_ = 0.5 * (high_ - low_);
  const bool has_keyframe = keyframe.size() == nu;
  centre_ = has_keyframe ? keyframe : VectorX(0.5 * (low_ + high_));
  const std::string& source = options.source;
  if (source == "random") {
    kind_ = Kind::random;
  } else if (source == "sine") {
    kind_ = Kind::sine;
  } else if (source == "zero" || (source.empty() && !has_keyframe)) {
    centre_ = VectorX::Zero(nu);
  } else if (source == "keyframe") {
    if (!has_keyframe)
      throw articula::Error("--controls keyframe: no keyframe with controls was chosen (--keyframe)");
  } else if (source.ends_with(".csv") || source.ends_with(".npz")) {
    if (nu == 0) throw articula::Error("--controls {}: the model has no controls", source);
    from_file_ = true;
    table_ = source.ends_with(".csv") ? read_csv(source, nu) : read_table(source, nu);
  } else if (!source.empty()) {
    throw articula::Error("--controls: zero, keyframe, random, sine or a file (.csv, .npz), not '{}'",
                          source);
  }
  current_ = centre_;
}

const VectorX& Controls::at(int i, double time, double dt) {
  if (from_file_) {
    current_ = table_.col(i);
  } else if (kind_ == Kind::sine) {
    for (Eigen::Index k = 0; k < current_.size(); ++k)
      current_[k] =
          centre_[k] + options_.amplitude * half_range_[k] *
                           std::sin(2.0 * M_PI * options_.frequency * time + static_cast<double>(k));
  } else if (kind_ == Kind::random && time + 0.5 * dt >= next_change_) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (Eigen::Index k = 0; k < current_.size(); ++k)
      current_[k] = std::clamp(centre_[k] + options_.amplitude * half_range_[k] * uniform(random_),
                               std::min(low_[k], centre_[k]), std::max(high_[k], centre_[k]));
    next_change_ = time + options_.hold;
  }
  return current_;
}

}  // namespace articula::cli
