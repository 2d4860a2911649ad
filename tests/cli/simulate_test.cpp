#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "articula/io/load.hpp"
#include "articula/io/npz.hpp"
#include "articula/simulation/rollout.hpp"
#include "cli/command.hpp"

namespace articula::cli::simulate_test {
namespace {

struct Outcome {
  int code;
  std::string out, err;
};

Outcome simulate(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"articula", "simulate"});
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run(static_cast<int>(argv.size()), argv.data());
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

// A directory of its own that vanishes with the test.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("articula_" + std::to_string(::getpid()) + "_" +
                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name, const std::string& text = "") const {
    if (!text.empty()) std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

TEST(Simulate, nonsense_exits_with_2_and_says_what_is_wrong) {
  const Folder folder;
  const std::string wide = folder.file("wide.csv", "1,2,3,4\n"), broken = folder.file("nan.csv", "0,0,nan\n"),
                    short_one = folder.file("short.csv", "0 0 0\n0 0 0\n"),
                    slip = folder.file("slip.csv", "0,o.5,0\n0,0,0\n"), other = folder.file("other.npz"),
                    both = folder.file("both"), both_again = folder.file("./both");
  write_npz(other, {{"u", {{2, 3}, std::vector<double>(6, 0.0)}}});
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"hopper", "--dt", "0"}, "dt must be positive"},
      {{"hopper", "--dt=-0.01"}, "dt must be positive"},
      {{"hopper", "--dt", "nan"}, "dt must be positive"},
      {{"hoper"}, "hopper"},
      {{"hopper", "--keyframe", "hom"}, "home"},
      {{"hopper", "--solver", "magic"}, "ncp, lcp or none"},
      {{"hopper", "--controls", wide}, "4 numbers, but the model has 3 controls"},
      {{"hopper", "--controls", broken}, "line 1: a control is not a finite number"},
      {{"hopper", "--controls", slip}, "line 1: not a row of numbers"},
      {{"hopper", "--controls", short_one, "--steps", "3"}, "controls for 2 steps"},
      {{"hopper", "--controls", "/no/such.csv"}, "/no/such.csv"},
      {{"hopper", "--controls", other}, "no array 'controls' in it, only 'u'"},
      {{"hopper", "--steps", "1", "--csv", both, "--npz", both}, "--csv and --npz are one file"},
      {{"hopper", "--steps", "1", "--csv", both, "--npz", both_again}, "--csv and --npz are one file"},
      {{"hopper", "--steps", "1", "--csv", ""}, "--csv: a name is needed"},
      {{"hopper", "--steps", "1", "--npz", ""}, "--npz: a name is needed"},
      {{"hopper", "--steps", "1", "--keyframe", ""}, "--keyframe: a name is needed"},
      {{"hopper", "--controls", "keyframe"}, "--keyframe"},
      {{"hopper", "--steps=-4"}, "negative"},
      {{"hopper", "--push", "torso"}, "BODY:FX,FY,FZ"},
      {{"hopper", "--push", "tors:1,0,0"}, "torso"},
      {{"hopper", "--steps", "3", "--push", "torso:1,0,0@5"}, "outside"},
      {{"hopper", "--velocity", "nowhere=1"}, "nowhere"},
      {{"hopper", "--steps", "3", "--seconds", "1"}, "--seconds"},
      {{"hopper", "--controls", "sine", "--amplitude", "nan"}, "--amplitude must be finite"},
      {{"hopper", "--controls", "sine", "--frequency", "nan"}, "--frequency must be finite"},
      {{"hopper", "--controls", "random", "--hold", "inf"}, "--hold must be finite"},
      {{"hopper", "--dt", "1e-10"}, "is not a number of steps"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = simulate(arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.out, "") << message;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err << "\nexpected: " << message;
  }
}

TEST(Simulate, a_file_of_controls_may_begin_with_titles) {
  const Folder folder;
  const std::string titled = folder.file("titled.csv", "thigh,leg,foot\n0,0,0\n0,0,0\n");
  const Outcome outcome = simulate({"hopper", "--controls", titled, "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  double steps = 0.0;
  const auto parsed = nlohmann::json::parse(outcome.out);
  for (const auto& row : parsed["rows"])
    if (row["name"] == "hopper/ncp/simulate/steps") steps = row["value"];
  EXPECT_EQ(steps, 2.0);
}

TEST(Simulate, the_summary_has_what_people_want) {
  const Outcome outcome = simulate({"quadruped", "--steps", "50", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::map<std::string, double> rows;
  const auto parsed = nlohmann::json::parse(outcome.out);
  for (const auto& row : parsed["rows"]) rows[row["name"]] = row["value"];
  const std::string prefix = "quadruped/ncp/simulate/";
  EXPECT_EQ(rows.at(prefix + "steps"), 50);
  EXPECT_NEAR(rows.at(prefix + "simulated_time"), 0.1, 1e-12);
  EXPECT_GT(rows.at(prefix + "real_time_factor"), 0.0);
  EXPECT_GT(rows.at(prefix + "step/us"), 0.0);
  EXPECT_GE(rows.at(prefix + "contacts/max"), 4);
  EXPECT_LT(rows.at(prefix + "deepest_penetration"), 1e-3);
  EXPECT_LT(rows.at(prefix + "largest_residual"), 1e-6);
  EXPECT_GT(rows.at(prefix + "energy/start"), rows.at(prefix + "energy/end"));
  for (const char* name :
       {"contacts/mean", "guess_hit_rate", "status/solved", "status/infeasible_bias", "status/inexact"})
    EXPECT_TRUE(rows.contains(prefix + name)) << name;
}

TEST(Simulate, recordings_hold_the_trajectory_of_the_library) {
  const Folder folder;
  const std::string npz = folder.file("t.npz"), csv = folder.file("t.csv");
  ASSERT_EQ(simulate({"hopper", "--steps", "20", "--controls", "random", "--seed", "3", "--npz", npz, "--csv",
                      csv, "--velocity", "root_x=0.5"})
                .code,
            0);
  const NpzArrays arrays = read_npz(npz);
  const Model model = load("hopper");
  const auto nq = static_cast<std::size_t>(model.nq()), nu = static_cast<std::size_t>(model.nu());
  ASSERT_EQ(arrays.at("q").shape, (std::vector<std::size_t>{21, nq}));
  State x = neutral_state(model);
  x.v[model.structure().joints[static_cast<std::size_t>(model.joint("root_x"))].dof] = 0.5;
  const Eigen::Map<const MatrixX> u(arrays.at("controls").values.data(), static_cast<int>(nu), 21);
  const Rollout path = rollout(Simulation(model), x, u.leftCols(20));
  const Eigen::Map<const MatrixX> q(arrays.at("q").values.data(), model.nq(), 21);
  EXPECT_EQ((path.q - q).cwiseAbs().maxCoeff(), 0.0);
  EXPECT_GT(u.cwiseAbs().maxCoeff(), 0.1);

  std::ifstream file(csv);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) ++lines;
  EXPECT_EQ(lines, 22);
  // Its own recording drives it again.
  EXPECT_EQ(simulate({"hopper", "--controls", npz}).code, 0);
}

TEST(Simulate, a_recording_of_no_steps_is_its_start) {
  const Folder folder;
  const std::string npz = folder.file("t.npz"), csv = folder.file("t.csv");
  const Outcome outcome =
      simulate({"cart_pole", "--steps", "0", "--velocity", "slider=0.5", "--csv", csv, "--npz", npz});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const NpzArrays arrays = read_npz(npz);
  EXPECT_EQ(arrays.at("v").values, (std::vector<double>{0.5, 0.0}));
  EXPECT_EQ(arrays.at("controls").values, std::vector<double>{0.0});
  std::ifstream file(csv);
  std::string titles, start, more;
  std::getline(file, titles);
  std::getline(file, start);
  EXPECT_EQ(titles, "time,q0,q1,v0,v1,u0,contacts,penetration,residual,status");
  EXPECT_EQ(start, "0,0,0,0.5,0,0,0,0,0,solved");
  EXPECT_FALSE(std::getline(file, more));
}

TEST(Simulate, a_push_moves_what_it_pushes) {
  const Folder folder;
  const std::string npz = folder.file("t.npz");
  ASSERT_EQ(simulate({"drone", "--solver", "none", "--seconds", "1", "--push", "frame:1.325,0,0@0.5+0.2",
                      "--npz", npz})
                .code,
            0);
  const NpzArrays arrays = read_npz(npz);
  const std::vector<double>& v = arrays.at("v").values;
  // 1 m/s^2 for 0.2 s; the body also turns a little, because its centre of mass is not its origin.
  EXPECT_NEAR(v[v.size() - 6], 0.2, 0.02);
}

// Half a step that begins within one: 2 m/s^2 for 1 ms of 2 ms.
TEST(Simulate, a_push_that_is_shorter_than_a_step_has_its_impulse) {
  const Folder folder;
  const std::string npz = folder.file("t.npz");
  ASSERT_EQ(simulate({"drone", "--solver", "none", "--dt", "0.002", "--steps", "20", "--push",
                      "frame:2.65,0,0@0.0105+0.001", "--npz", npz})
                .code,
            0);
  const NpzArrays arrays = read_npz(npz);
  const std::vector<double>& v = arrays.at("v").values;
  EXPECT_NEAR(v[v.size() - 6], 0.002, 0.0002);
}

}  // namespace
}  // namespace articula::cli::simulate_test
