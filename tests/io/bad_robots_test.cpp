// Broken URDF and SDF files: the message has the file, the line and the element, and says what to do.

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/load_attempt.hpp"

namespace articula::testing::bad_robots_test {
namespace {

namespace fs = std::filesystem;

struct BadFile {
  std::string name;
  std::string text;
  int line;                            // where the message must point
  std::vector<std::string> mentioned;  // first the element, then what helps
};

std::string repeated(const std::string& text, int count) {
  std::string result;
  result.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

const std::string inertia =
    R"(<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>)";

std::string urdf(const std::string& inner) { return "<robot name=\"r\">\n" + inner + "\n</robot>"; }
std::string links(const std::string& names) {
  std::string text;
  for (char name : names) text += fmt::format("<link name=\"{}\">{}</link>", name, inertia);
  return text + "\n";
}
std::string joint(const std::string& name, const std::string& type, char parent, char child,
                  const std::string& inner = "") {
  return fmt::format(R"(<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>)", name,
                     type, parent, child, inner);
}
std::string shape(const std::string& inner) {
  return fmt::format("<link name=\"a\">\n<collision><geometry>{}</geometry></collision></link>", inner);
}
std::string sdf(const std::string& inner) {
  return "<sdf version=\"1.7\"><model name=\"m\">\n" + inner + "\n</model></sdf>";
}

std::vector<BadFile> bad_urdf_files() {
  return {
      {"not_closed", "<robot name=\"r\"><link name=\"a\">", 1, {"<link>", "well-formed", "closed"}},
      {"no_links", urdf(""), 1, {"<robot name=\"r\">", "no <link>", "at least one"}},
      {"srdf",
       "<robot name=\"r\"><disable_collisions link1=\"a\" link2=\"b\"/></robot>",
       1,
       {"<robot name=\"r\">", "SRDF", "goes with a URDF"}},
      {"twice_the_same_link", urdf(links("a") + links("a")), 3, {"<link name=\"a\">", "give each its own"}},
      {"twice_the_same_joint",
       urdf(links("abc") + joint("j", "fixed", 'a', 'b') + "\n" + joint("j", "fixed", 'a', 'c')),
       4,
       {"<joint name=\"j\">", "give each its own"}},
      {"unnamed_link", urdf("<link/>"), 2, {"<link>", "name is missing", "refer to links by name"}},
      {"unknown_parent",
       urdf(links("ab") + joint("j", "fixed", 'x', 'b')),
       3,
       {"<parent>", "'x'", "there are 'a', 'b'"}},
      {"unknown_type",
       urdf(links("ab") + joint("j", "hinge", 'a', 'b')),
       3,
       {"<joint name=\"j\">", "'hinge'", "one of 'revolute'"}},
      {"mimics_in_a_circle",
       urdf(links("abc") + joint("j", "continuous", 'a', 'b', "<mimic joint=\"k\"/>") + "\n" +
            joint("k", "continuous", 'b', 'c', "<mimic joint=\"j\"/>")),
       3,
       {"<mimic>", "'j' mimics itself by way of 'k'", "let one of them lead"}},
      {"two_roots", urdf(links("ab")), 2, {"<link name=\"b\">", "'a' and 'b'", "connect them"}},
      {"circle",
       urdf(links("ab") + joint("j", "fixed", 'a', 'b') + joint("k", "fixed", 'b', 'a')),
       1,
       {"<robot name=\"r\">", "circle", "cut"}},
      {"circle_beside_the_tree",
       urdf(links("abc") + joint("j", "fixed", 'b', 'c') + joint("k", "fixed", 'c', 'b')),
       2,
       {"<link name=\"b\">", "circle", "cut"}},
      {"two_parents",
       urdf(links("abc") + joint("i", "fixed", 'a', 'b') + joint("j", "fixed", 'a', 'c') + "\n" +
            joint("k", "fixed", 'b', 'c')),
       4,
       {"<joint name=\"k\">", "'c'", "joint 'j' already", "cut open"}},
      {"own_parent",
       urdf(links("a") + joint("j", "fixed", 'a', 'a')),
       3,
       {"<joint name=\"j\">", "own parent", "name another"}},
      {"zero_axis",
       urdf(links("ab") + joint("j", "continuous", 'a', 'b', "\n<axis xyz=\"0 0 0\"/>")),
       4,
       {"<axis>", "no length", "needs a direction"}},
      {"two_numbers",
       urdf(links("ab") + joint("j", "continuous", 'a', 'b', "\n<axis xyz=\"0 1\"/>")),
       4,
       {"<axis>", "2 numbers; it needs 3"}},
      {"nan",
       urdf(links("ab") + joint("j", "fixed", 'a', 'b', "\n<origin xyz=\"nan 0 0\"/>")),
       4,
       {"<origin>", "'nan' is not a finite number", "write numbers like"}},
      {"overflow",
       urdf(links("ab") + joint("j", "fixed", 'a', 'b', "\n<origin xyz=\"1e999 0 0\"/>")),
       4,
       {"<origin>", "'1e999' is not a finite number", "write numbers like"}},
      {"limits_swapped",
       urdf(links("ab") + joint("j", "revolute", 'a', 'b', "\n<limit lower=\"1\" upper=\"-1\"/>")),
       4,
       {"<limit>", "swap"}},
      {"negative_mass",
       urdf("<link name=\"a\"><inertial>\n<mass value=\"-1\"/><inertia ixx=\"1\" iyy=\"1\" "
            "izz=\"1\"/></inertial></link>"),
       3,
       {"<mass>", "is -1", "cannot be negative"}},
      {"no_mass",
       urdf("<link name=\"a\">\n<inertial><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"),
       3,
       {"<inertial>", "<mass value=\"...\"/> is missing", "add it"}},
      {"negative_damping",
       urdf(links("ab") + joint("j", "continuous", 'a', 'b', "\n<dynamics damping=\"-1\"/>")),
       4,
       {"<dynamics>", "damping is -1", "cannot be negative"}},
      {"negative_radius",
       urdf(shape("<sphere radius=\"-1\"/>")),
       3,
       {"<sphere>", "radius is -1", "must be positive"}},
      {"box_without_size", urdf(shape("<box/>")), 3, {"<box>", "size is missing", "add it"}},
      {"no_geometry",
       urdf("<link name=\"a\">\n<collision/></link>"),
       3,
       {"<collision>", "<geometry> is missing", "add it"}},
      {"unknown_shape", urdf(shape("<cone/>")), 3, {"<cone>", "use a box"}},
      {"missing_mesh",
       urdf(shape("<mesh filename=\"package://gone/foot.stl\"/>")),
       3,
       {"<mesh>", "foot.stl", "search path"}},
      {"network_mesh",
       urdf(shape("<mesh filename=\"https://example.org/foot.stl\"/>")),
       3,
       {"<mesh>", "download"}},
      {"broken_mesh",
       urdf(shape("<mesh filename=\"broken.stl\"/>")),
       3,
       {"<mesh>", "broken.stl:3", "export the mesh again"}},
      {"broken_dae",
       urdf(shape("<mesh filename=\"broken.dae\"/>")),
       3,
       {"<mesh>", "broken.dae", "export the mesh again"}},
      {"xacro",
       "<robot name=\"r\" xmlns:xacro=\"x\">\n<xacro:macro name=\"leg\"/></robot>",
       2,
       {"<xacro:macro", "xacro FILE"}},
      {"xacro_left",
       urdf("<link name=\"${prefix}a\"/>"),
       2,
       {"<link name=\"${prefix}a\">", "run the file through xacro"}},
      {"absurd_nesting",
       urdf(repeated("<a>", 20000) + repeated("</a>", 20000)),
       2,
       {"<a>", "nested more than", "flatten"}},
      {"gigantic",
       urdf(repeated("<link name=\"a\"/>\n", 600000)),
       400001,
       {"<link name=\"a\">", "more than 400000 elements", "split it"}},
      {"as_large_as_is_read",
       urdf(repeated("<link name=\"a\"/>\n", 390000)),
       3,
       {"<link name=\"a\">", "give each its own"}},
      {"two_documents", urdf(links("a")) + "<robot/>", 4, {"<robot>", "one outermost element"}},
  };
}

std::vector<BadFile> bad_sdf_files() {
  const std::string two = "<link name=\"a\"/><link name=\"b\"/>\n";
  const auto connected = [&](const std::string& type, const std::string& inner) {
    return sdf(two + "<joint name=\"j\" type=\"" + type + "\"><parent>a</parent><child>b</child>" + inner +
               "</joint>");
  };
  return {
      {"no_version", "<sdf><model name=\"m\"/></sdf>", 1, {"<sdf>", "version", "a number like 1.7"}},
      {"nothing", "<sdf version=\"1.7\"></sdf>", 1, {"<sdf>", "neither a <model> nor a <world>", "add one"}},
      {"two_worlds",
       "<sdf version=\"1.7\"><world name=\"a\"/>\n<world name=\"b\"/></sdf>",
       2,
       {"<world name=\"b\">", "several worlds", "keep one"}},
      {"unnamed_link", sdf("<link/>"), 2, {"<link>", "name is missing", "add it"}},
      {"twice_the_same_name",
       sdf("<link name=\"a\"/>\n<frame name=\"a\"/>"),
       3,
       {"<frame name=\"a\">", "names must differ"}},
      {"reserved_name",
       sdf("<link name=\"__model__\"/>"),
       2,
       {"<link name=\"__model__\">", "reserved", "choose another"}},
      {"no_child",
       sdf(two + "<joint name=\"j\" type=\"fixed\"><parent>a</parent></joint>"),
       3,
       {"<joint name=\"j\">", "<child> is missing", "name the link"}},
      {"unknown_child",
       sdf(two + "<joint name=\"j\" type=\"fixed\"><parent>a</parent>\n<child>c</child></joint>"),
       4,
       {"<child>", "'c'", "there are"}},
      {"world_as_child",
       sdf(two + "<joint name=\"j\" type=\"fixed\"><parent>a</parent>\n<child>world</child></joint>"),
       4,
       {"<child>", "the world cannot be moved", "make it the parent"}},
      {"same_link",
       sdf(two + "<joint name=\"j\" type=\"fixed\"><parent>a</parent><child>a</child></joint>"),
       3,
       {"<joint name=\"j\">", "same link", "name two"}},
      {"unknown_type",
       connected("hinge", "<axis><xyz>0 0 1</xyz></axis>"),
       3,
       {"<joint name=\"j\">", "'hinge'", "must be revolute"}},
      {"screw",
       connected("screw", "<axis><xyz>0 0 1</xyz></axis>"),
       3,
       {"<joint name=\"j\">", "screw", "not supported", "use revolute"}},
      {"no_axis", connected("revolute", ""), 3, {"<joint name=\"j\">", "<axis> is missing", "add it"}},
      {"zero_axis",
       connected("revolute", "\n<axis><xyz>0 0 0</xyz></axis>"),
       4,
       {"<axis>", "no length", "needs a direction"}},
      {"five_numbers",
       sdf("<link name=\"a\">\n<pose>0 0 0 0 0</pose></link>"),
       3,
       {"<pose>", "5 numbers; it needs 6"}},
      {"no_number",
       sdf("<link name=\"a\">\n<pose>0 0 x 0 0 0</pose></link>"),
       3,
       {"<pose>", "'x' is not a finite number", "write numbers like"}},
      {"circle_of_frames",
       sdf("<frame name=\"f\"><pose relative_to=\"g\"/></frame>\n<frame name=\"g\"><pose "
           "relative_to=\"f\"/></frame><link name=\"a\"><pose relative_to=\"f\"/></link>"),
       2,
       {"<frame name=\"f\">", "relative to itself", "break the circle"}},
      {"circle_of_attachments",
       sdf("<link name=\"a\"/><frame name=\"f\" attached_to=\"g\"/>\n<frame name=\"g\" attached_to=\"f\"/>"),
       2,
       {"<frame name=\"f\">", "attached to itself", "break the circle"}},
      {"unknown_frame",
       sdf("<link name=\"a\">\n<pose relative_to=\"mont\"/></link><frame name=\"mount\"/>"),
       2,
       {"<link name=\"a\">", "mont'", "did you mean 'm::mount'"}},
      {"negative_mass",
       sdf("<link name=\"a\">\n<inertial><mass>-1</mass></inertial></link>"),
       3,
       {"<inertial>", "<mass> is -1", "cannot be negative"}},
      {"limits_swapped",
       connected("revolute",
                 "<axis><xyz>0 0 1</xyz>\n<limit><lower>1</lower><upper>0</upper></limit></axis>"),
       4,
       {"<limit>", "swap"}},
      {"box_of_no_size",
       sdf("<link name=\"a\"><collision name=\"c\"><geometry>\n<box><size>1 0 "
           "1</size></box></geometry></collision></link>"),
       3,
       {"<box>", "must be positive"}},
      {"missing_mesh",
       sdf("<link name=\"a\"><collision "
           "name=\"c\"><geometry><mesh>\n<uri>model://gone/a.stl</uri></mesh></geometry></collision></link>"),
       3,
       {"<uri>", "search path"}},
      {"missing_include",
       "<sdf version=\"1.7\"><world name=\"w\"><include>\n<uri>model://gone</uri></include></world></sdf>",
       2,
       {"<uri>", "search path"}},
      {"includes_itself",
       "<sdf version=\"1.7\"><world "
       "name=\"w\"><include>\n<uri>includes_itself.sdf</uri></include></world></sdf>",
       2,
       {"<uri>", "includes itself", "remove the include"}},
      {"fuel",
       "<sdf version=\"1.7\"><world "
       "name=\"w\"><include>\n<uri>https://fuel.gazebosim.org/x</uri></include></world></sdf>",
       2,
       {"<uri>", "download"}},
      {"absurd_nesting",
       sdf(repeated("<model name=\"m\">", 5000) + repeated("</model>", 5000)),
       2,
       {"<model name=\"m\">", "nested more than", "flatten"}},
      {"moving_plane",
       "<sdf version=\"1.7\"><model name=\"m\"><link name=\"a\"><collision "
       "name=\"c\"><geometry>\n<plane/></geometry></collision></link></model></sdf>",
       2,
       {"<plane>", "static"}},
  };
}

class BadRobots : public ::testing::Test {
 protected:
  BadRobots() {
    fs::create_directories(directory);
    std::ofstream(directory / "broken.stl") << "solid nonsense\n facet normal 1 0\n";
    std::ofstream(directory / "broken.dae") << "<COLLADA><library_geometries><geometry id=\"a\"><mesh>";
  }
  ~BadRobots() override { fs::remove_all(directory); }

  // The message begins with file, line and element, and says what to do, in time and within bounds of memory.
  void check(const BadFile& bad, const std::string& extension) const {
    SCOPED_TRACE(bad.name);
    const fs::path file = directory / (bad.name + extension);
    std::ofstream(file) << bad.text;
    const LoadAttempt attempt = attempt_to_load(file.string());
    EXPECT_NE(attempt.message, "") << "it was loaded";
    const std::string place = fmt::format("{}:{}: {}", file.string(), bad.line, bad.mentioned.front());
    EXPECT_TRUE(attempt.message.starts_with(place)) << attempt.message << "\ndoes not begin with " << place;
    EXPECT_GE(bad.mentioned.size(), 2u) << "nothing is asked of the advice";
    for (const std::string& part : bad.mentioned) {
      EXPECT_NE(attempt.message.find(part), std::string::npos) << attempt.message << "\nlacks " << part;
    }
    expect_within_limits(attempt);
  }

  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_bad_robots_" + std::to_string(::getpid()));
};

TEST_F(BadRobots, every_bad_urdf_is_refused_with_file_line_element_and_advice) {
  for (const BadFile& bad : bad_urdf_files()) check(bad, ".urdf");
}

TEST_F(BadRobots, every_bad_sdf_is_refused_with_file_line_element_and_advice) {
  for (const BadFile& bad : bad_sdf_files()) check(bad, ".sdf");
}

}  // namespace
}  // namespace articula::testing::bad_robots_test
