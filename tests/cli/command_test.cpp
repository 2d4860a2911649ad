#include "cli/command.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "articula/io/load.hpp"
#include "tests/support/environment.hpp"

namespace articula::cli::command_test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome run_with(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv{"articula"};
  argv.insert(argv.end(), arguments);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run(static_cast<int>(argv.size()), argv.data());
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST(Command, help_succeeds_and_names_every_command) {
  const Outcome help = run_with({"--help"});
  EXPECT_EQ(help.code, 0);
  // A command is typed with dashes where its C++ name has underscores.
  const auto typed = [](std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  };
#define ARTICULA_EXPECT(name) EXPECT_NE(help.out.find(typed(#name)), std::string::npos);
  ARTICULA_COMMANDS(ARTICULA_EXPECT)
#undef ARTICULA_EXPECT
}

TEST(Command, bad_arguments_exit_with_2_and_complain_on_standard_error) {
  for (const auto& outcome :
       {run_with({}), run_with({"no-such-command"}), run_with({"models", "--no-such-flag"})}) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err, "");
  }
}

TEST(Command, bad_input_exits_with_2_and_names_the_culprit) {
  const testing::Environment models("ARTICULA_MODELS", "/no/such/directory");
  const Outcome outcome = run_with({"models"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("/no/such/directory"), std::string::npos);
}

TEST(CommandDeathTest, output_that_cannot_be_written_fails_and_says_so) {
  const auto into_a_full_disk = [](std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"articula"};
    argv.insert(argv.end(), arguments);
    if (std::freopen("/dev/full", "w", stdout) == nullptr) std::_Exit(3);
    std::_Exit(run(static_cast<int>(argv.size()), argv.data()));
  };
  const auto fails = ::testing::ExitedWithCode(1);
  EXPECT_EXIT(into_a_full_disk({"--help"}), fails, "standard output");
  EXPECT_EXIT(into_a_full_disk({"simulate", "hopper", "--steps", "1"}), fails, "standard output");
  EXPECT_EXIT(into_a_full_disk({"simulate", "hopper", "--steps", "1", "--json"}), fails, "standard output");
}

// Nimble, VII-C: the exact gradient does not lift the drone, the complementarity-aware one does.
TEST(Command, reproduces_the_drone_that_escapes_from_the_ground) {
  const Outcome outcome = run_with({"reproduce", "nimble/drone"});
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

TEST(Command, info_tells_of_every_own_model_as_a_table_and_as_json) {
  for (const std::string& name : model_names()) {
    const Outcome table = run_with({"info", name.c_str()}), json = run_with({"info", name.c_str(), "--json"});
    EXPECT_EQ(table.code, 0) << name << table.err;
    EXPECT_EQ(json.code, 0) << name << json.err;
    const Model model = load(name);
    const nlohmann::json parsed = nlohmann::json::parse(json.out);
    EXPECT_EQ(parsed["nq"], model.nq()) << name;
    ASSERT_EQ(parsed["sensors"].size(), model.description().sensors.size()) << name;
    for (std::size_t i = 0; i < parsed["sensors"].size(); ++i)
      EXPECT_EQ(parsed["sensors"][i]["name"], model.description().sensors[i].name) << name;
  }
}

// The search path takes one directory each time, so that the model may stand behind it.
TEST(Command, info_convert_and_simulate_read_urdf_as_they_are_told) {
  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_command_" + std::to_string(::getpid()));
  fs::create_directories(directory / "packages/hand/meshes");
  std::ofstream(directory / "packages/hand/meshes/a.obj")
      << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  std::ofstream(directory / "robot.urdf") << R"(<robot name="r"><link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>
      <mesh filename="package://hand/meshes/a.obj"/></geometry></collision></link></robot>)";
  std::ofstream(directory / "robot.srdf") << R"(<robot name="r"><disable_collisions link1="a" link2="bee"/>
      </robot>)";
  const std::string urdf = directory / "robot.urdf", srdf = directory / "robot.srdf",
                    packages = directory / "packages", out = directory / "out.xml";
  EXPECT_EQ(run_with({"info", urdf.c_str()}).code, 2);
  const Outcome info = run_with({"info", "--floating-base", "--srdf", srdf.c_str(), "--search-path",
                                 packages.c_str(), urdf.c_str(), "--json"});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(nlohmann::json::parse(info.out)["nq"], 7);
  EXPECT_NE(info.out.find("'bee'"), std::string::npos);
  EXPECT_EQ(run_with({"info", "--keep-overlaps", "--search-path", packages.c_str(), urdf.c_str()}).code, 0);
  EXPECT_EQ(run_with({"convert", "--search-path", packages.c_str(), urdf.c_str(), out.c_str()}).code, 0);
  EXPECT_EQ(run_with({"simulate", "--search-path", packages.c_str(), urdf.c_str(), "--steps", "1"}).code, 0);
  fs::remove_all(directory);
}

}  // namespace
}  // namespace articula::cli::command_test
