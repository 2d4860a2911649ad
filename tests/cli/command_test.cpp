#include "cli/command.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include "articula/io/load.hpp"
#include "tests/support/environment.hpp"

namespace articula::cli {
namespace {

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

}  // namespace
}  // namespace articula::cli
