#pragma once
// Pieces of the MJCF writer.

#include <fmt/format.h>
#include <pugixml.hpp>

#include <iterator>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "articula/io/mjcf_writer.hpp"

namespace articula::mjcf_writer {

struct Writer {
  const Description& description;
  std::filesystem::path directory;
  std::unordered_map<std::string, const Mesh*> meshes{};
  std::unordered_set<std::string> light_bodies{};  // they move, but MJCF asks for more mass than they have
  // Large meshes go into files beside the text, whose names begin with this; "": into the text like others.
  std::string file_prefix{};
  struct File {
    std::string name, bytes;
  };
  std::vector<File> files{};
};

// Numbers with spaces between them, each the shortest decimal that reads back as the same number.
class NumberList {
 public:
  template <class Number>
  void add(Number number) {
    if (text_.size() > 0) text_.push_back(' ');
    fmt::format_to(std::back_inserter(text_), "{}", number);
  }
  std::string text() const { return fmt::to_string(text_); }

 private:
  fmt::memory_buffer text_;
};

// ------------------------------------------------------------------ attributes

inline void set(pugi::xml_node node, const char* name, const std::string& text) {
  node.append_attribute(name).set_value(text.c_str());
}
inline void set_name(pugi::xml_node node, const std::string& name) {
  if (!name.empty()) set(node, "name", name);
}
void set(pugi::xml_node node, const char* name, std::span<const double> numbers);
inline void set(pugi::xml_node node, const char* name, double number) {
  set(node, name, std::span(&number, 1));
}
inline void set(pugi::xml_node node, const char* name, int number) {
  set(node, name, fmt::to_string(number));
}
inline void set(pugi::xml_node node, const char* name, const Vector3& v) {
  set(node, name, std::span(v.data(), 3));
}
// Left out where it is what MJCF takes when nothing is said.
template <class Value>
void set_unless(pugi::xml_node node, const char* name, const Value& value, const Value& absent) {
  if (value != absent) set(node, name, value);
}
void set_quat(pugi::xml_node node, const char* name, const Quaternion& rotation);
void set_pose(pugi::xml_node node, const Pose& pose);
// "limited" and "range", or whatever they are called.
void set_range(pugi::xml_node node, const char* limited, const char* range,
               const std::optional<Vector2>& value);

const char* shape_name(ShapeType type);

// ------------------------------------------------------------------ sections

void write_assets(Writer& writer, pugi::xml_node root);      // assets.cpp
void write_tree(const Writer& writer, pugi::xml_node root);  // tree.cpp: bodies and what is on them
void write_custom(const Writer& writer, pugi::xml_node root);
void write_constraints(const Writer& writer, pugi::xml_node root);  // elements.cpp
void write_tendons(const Writer& writer, pugi::xml_node root);
void write_actuators(const Writer& writer, pugi::xml_node root);
void write_sensors(const Writer& writer, pugi::xml_node root);
void write_keyframes(const Writer& writer, pugi::xml_node root);

}  // namespace articula::mjcf_writer
