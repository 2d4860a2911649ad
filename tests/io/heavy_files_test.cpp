// Files that are wrong in bulk: whatever a few lines can multiply, and whatever comes a million times, is
// refused or passed over within a second and 200 MB.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/load_attempt.hpp"

namespace articula::testing::heavy_files_test {
namespace {

namespace fs = std::filesystem;

std::string repeated(std::string_view text, int count) {
  std::string result;
  result.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

class HeavyFiles : public ::testing::Test {
 protected:
  HeavyFiles() { fs::create_directories(directory); }
  ~HeavyFiles() override { fs::remove_all(directory); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(directory / name, std::ios::binary) << text;
  }
  LoadAttempt attempt(std::string_view text, const std::string& name = "robot.xml") const {
    write(name, text);
    const LoadAttempt outcome = attempt_to_load((directory / name).string());
    expect_within_limits(outcome);
    return outcome;
  }
  void expect_refused(std::string_view text, std::initializer_list<std::string> parts,
                      const std::string& name = "robot.xml") const {
    const LoadAttempt outcome = attempt(text, name);
    for (const std::string& part : parts)
      EXPECT_NE(outcome.message.find(part), std::string::npos) << outcome.message << "\n  lacks " << part;
  }
  void expect_loaded(std::string_view text, const std::string& name = "robot.xml") const {
    EXPECT_EQ(attempt(text, name).message, "");
  }

  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_heavy_files_" + std::to_string(::getpid()));
};

std::string nested_classes(int depth, const std::string& attributes) {
  std::string text = "<default>";
  for (int i = 0; i < depth; ++i) text += fmt::format("<default class=\"c{}\"><geom {}/>", i, attributes);
  return text + repeated("</default>", depth) + "</default>\n";
}

TEST_F(HeavyFiles, deep_classes_cost_no_more_than_shallow_ones) {
  for (const char* attributes : {"size=\"0.1\"", "size=\"0.1 0.2 0.3\" rgba=\"1 0 0 1\" pos=\"0 0 1\"",
                                 "euler=\"1 0 0\" friction=\"1\" fromto=\"0 0 0 1 0 0\" type=\"capsule\""}) {
    expect_refused("<mujoco>\n" + nested_classes(190, attributes) +
                       "<worldbody><replicate count=\"50000\"><geom class=\"c189\" size=\"0.1\"/></replicate>"
                       "</worldbody>\n<equality><weld body1=\"nobody\"/></equality></mujoco>",
                   {"robot.xml:4: <weld>", "'nobody'"});
  }
}

TEST_F(HeavyFiles, replicas_beyond_the_limit_are_refused_before_they_are_made) {
  expect_refused("<mujoco>\n" + nested_classes(190, "size=\"0.1\"") +
                     "<worldbody>\n<replicate count=\"100000\"><geom class=\"c189\"/></replicate>"
                     "</worldbody></mujoco>",
                 {"robot.xml:4: <replicate>", "more than 100000 elements", "lower the count"});
}

TEST_F(HeavyFiles, attachments_that_multiply_are_counted) {
  for (int i = 0; i < 8; ++i) {
    std::string text = fmt::format(
        "<mujoco><asset><model name=\"next\" file=\"{}.xml\"/></asset><worldbody><geom size=\"1\"/>\n",
        i + 1);
    for (int k = 0; k < 10; ++k) text += fmt::format("<attach model=\"next\" prefix=\"p{}_\"/>", k);
    write(fmt::format("{}.xml", i), text + "</worldbody></mujoco>");
  }
  write("8.xml", "<mujoco><worldbody><body><geom size=\"1\"/></body></worldbody></mujoco>");
  std::ifstream first(directory / "0.xml");
  const std::string text{std::istreambuf_iterator<char>(first), {}};
  expect_refused(text, {".xml:2: <attach>", "more than 100000 elements", "<attach>"}, "0.xml");
}

// What is kept of a chain grows with the square of its length.
TEST_F(HeavyFiles, chains_of_tens_of_thousands_of_joints_are_refused) {
  constexpr int count = 40'000;
  std::string links = "<robot name=\"r\"><link name=\"l0\"/>\n";
  for (int i = 1; i < count; ++i) {
    links += fmt::format(
        "<link name=\"l{0}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>"
        "</link><joint name=\"j{0}\" type=\"continuous\"><parent link=\"l{1}\"/><child "
        "link=\"l{0}\"/></joint>",
        i, i - 1);
  }
  expect_refused(links + "</robot>", {"robot.urdf:2: <link name=\"l", "hangs on", "shorten it"},
                 "robot.urdf");
}

TEST_F(HeavyFiles, an_element_with_a_million_attributes) {
  std::string attributes;
  for (int i = 0; i < 1'000'000; ++i) attributes += fmt::format(" a{}=\"1\"", i);
  expect_refused("<mujoco>\n<worldbody><body" + attributes + "/></worldbody></mujoco>",
                 {"robot.xml:2: <body>", "more than 100 attributes"});
  expect_refused("<robot name=\"r\">\n<link name=\"l\"" + attributes + "/></robot>",
                 {"robot.urdf:2: <link name=\"l\">", "more than 100 attributes"}, "robot.urdf");
}

TEST_F(HeavyFiles, unknown_attributes_by_the_hundred_thousand_are_passed_over) {
  std::string bodies;
  for (int i = 0; i < 15'000; ++i) {
    bodies += "<site";
    for (int k = 0; k < 90; ++k) bodies += fmt::format(" a{}=\"1\"", k);
    bodies += "/>\n";
  }
  expect_loaded("<mujoco>\n<worldbody>" + bodies + "</worldbody></mujoco>");
}

TEST_F(HeavyFiles, unknown_children_by_the_hundred_thousand) {
  std::string children;
  for (int i = 0; i < 390'000; ++i) children += fmt::format("<x{}/>", i);
  expect_loaded("<robot name=\"r\"><link name=\"l\"/>" + children + "</robot>", "robot.urdf");
  expect_loaded("<sdf version=\"1.7\"><model name=\"m\"><static>1</static><link name=\"l\"/>" + children +
                    "</model></sdf>",
                "robot.sdf");
  for (int i = 0; i < 210'000; ++i) children += fmt::format("<y{}/>", i);
  expect_refused("<robot name=\"r\"><link name=\"l\"/>" + children + "</robot>",
                 {"robot.urdf:1: <", "more than", "elements"}, "robot.urdf");
  expect_refused("<mujoco><worldbody>" + children + "</worldbody></mujoco>",
                 {"robot.xml:1: <", "more than 100000 elements"});
}

TEST_F(HeavyFiles, a_wrong_name_behind_as_many_bodies_as_are_read) {
  const std::string weld = "\n<equality><weld body1=\"nobody\"/></equality></mujoco>";
  expect_refused("<mujoco><worldbody>" + repeated("<body><freejoint/><geom size=\"1\"/></body>", 33'000) +
                     "</worldbody>" + weld,
                 {"robot.xml:2: <weld>", "'nobody'"});
  expect_refused("<mujoco><worldbody>" + repeated("<body/>", 99'000) + "</worldbody>" + weld,
                 {"robot.xml:2: <weld>", "'nobody'"});
  expect_refused("<mujoco><worldbody>" + repeated("<body/>", 200'000) + "</worldbody>" + weld,
                 {"robot.xml:1: <body>", "more than 100000 elements"});
}

TEST_F(HeavyFiles, a_wrong_name_behind_a_long_chain_with_damping_ratios) {
  expect_refused(
      "<mujoco><worldbody>" + repeated("<body pos=\"0 0 1\"><joint name=\"\"/><geom size=\"0.1\"/>", 9'000) +
          "<body><joint name=\"j\"/><geom size=\"0.1\" pos=\"0 0 1\"/></body>" + repeated("</body>", 9'000) +
          "</worldbody><actuator><position joint=\"j\" kp=\"1\" dampratio=\"1\"/></actuator>"
          "\n<equality><weld body1=\"nobody\"/></equality></mujoco>",
      {"robot.xml:2: <weld>", "'nobody'"});
}

TEST_F(HeavyFiles, a_hundred_thousand_actuators_sensors_and_keyframes) {
  const std::string body =
      "<mujoco><worldbody><body name=\"b\"><joint name=\"j\"/><geom size=\"1\"/></body></worldbody>\n";
  expect_refused(body + "<actuator>" + repeated("<motor joint=\"j\"/>", 90'000) +
                     "\n<motor joint=\"jay\"/></actuator></mujoco>",
                 {"robot.xml:3: <motor>", "'jay'"});
  expect_refused(body + "<sensor>" + repeated("<jointpos joint=\"j\"/>", 90'000) +
                     "\n<jointpos joint=\"jay\"/></sensor></mujoco>",
                 {"robot.xml:3: <jointpos>", "'jay'"});
  expect_refused(
      body + "<keyframe>" + repeated("<key/>", 90'000) + "\n<key qpos=\"1 2\"/></keyframe></mujoco>",
      {"robot.xml:3: <key>", "2 numbers"});
  expect_refused("<mujoco><size nkey=\"1000000000\"/></mujoco>", {"robot.xml:1: <size>", "nkey"});
}

TEST_F(HeavyFiles, lists_of_ten_million_numbers_and_lines) {
  const std::string zeros = repeated("0 ", 15'000'000), lines(31'000'000, '\n');
  expect_refused("<mujoco>\n<option gravity=\"" + zeros + "\"/></mujoco>",
                 {"robot.xml:2: <option>", "15000000 numbers; it needs 3"});
  expect_refused("<mujoco>\n<worldbody/><keyframe><key qpos=\"" + zeros + "\"/></keyframe></mujoco>",
                 {"robot.xml:2: <key>", "15000000 numbers"});
  expect_refused("<mujoco>\n<asset><mesh name=\"m\" vertex=\"" + zeros +
                     "nan\"/></asset><worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>",
                 {"robot.xml:2: <mesh name=\"m\">", "'nan'"});
  expect_refused("<mujoco>" + lines + "<option timestep=\"0\"/></mujoco>",
                 {"robot.xml:1: ", "31000000 lines"});
}

TEST_F(HeavyFiles, names_of_a_million_letters_do_not_flood_the_message) {
  const std::string name(1'000'000, 'x');
  expect_refused(
      fmt::format("<mujoco><worldbody><body name=\"{0}\"/>\n<body name=\"{0}\"/></worldbody></mujoco>", name),
      {"robot.xml:2: <body", "another body"});
  expect_refused(
      fmt::format("<mujoco><worldbody><body>\n<geom size=\"1\" class=\"{}\"/></body></worldbody></mujoco>",
                  name),
      {"robot.xml:2: <geom", "no default class"});
  expect_refused(
      fmt::format("<mujoco><worldbody/>\n<equality><weld body1=\"{}\"/></equality></mujoco>", name),
      {"robot.xml:2: <weld", "is no body"});
  expect_refused(
      fmt::format("<robot name=\"r\"><link name=\"{0}\"/>\n<joint name=\"j\" type=\"fixed\"><parent "
                  "link=\"{0}\"/><child link=\"{0}\"/></joint></robot>",
                  name),
      {"robot.urdf:2: <joint", "xxx"}, "robot.urdf");
}

TEST_F(HeavyFiles, long_names_that_are_all_wrong) {
  std::string links, pairs;
  for (int i = 0; i < 3000; ++i) {
    links += fmt::format("<link name=\"{}{}\"/>", std::string(190, 'a'), i);
    if (i == 0) continue;
    links += fmt::format(
        "<joint name=\"{0}{1}\" type=\"fixed\"><parent link=\"{0}0\"/><child link=\"{0}{1}\"/>"
        "<mimic joint=\"{0}{2}\"/></joint>",
        std::string(190, 'a'), i, std::string(190, 'b'));
  }
  expect_loaded("<robot name=\"r\">" + links + "</robot>", "robot.urdf");
}

}  // namespace
}  // namespace articula::testing::heavy_files_test
