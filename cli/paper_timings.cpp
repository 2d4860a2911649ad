#include "cli/paper_timings.hpp"

#include <fmt/format.h>

#include "bench/gradients.hpp"

namespace articula::cli {

namespace {

struct NimbleRow {
  const char* robot;
  const char* ours;  // scene
  int dofs, contacts;
  double central, ridders;  // how many times faster than differences
};

constexpr NimbleRow nimble_rows[] = {{"atlas", "atlas", 33, 12, 45.8, 138.0},
                                     {"half_cheetah", "half_cheetah", 9, 2, 8.64, 28.0},
                                     {"jump_worm", "jump_worm", 5, 2, 6.36, 20.0},
                                     {"catapult", "catapult_planar", 5, 2, 6.40, 21.0}};

struct SimpleRow {
  const char* robot;
  int dofs;
  double gradients, speedup, step, mujoco_step;  // us, 1, us, us
};

constexpr SimpleRow simple_rows[] = {
    {"half_cheetah", 12, 14.7, 75.0, 15.8, 5.5}, {"humanoid", 27, 47.9, 115.0, 42.6, 40.3},
    {"ur5e", 7, 4.1, 98.0, 12.3, 12.3},          {"go1", 18, 93.0, 71.0, 62.6, 15.8},
    {"h1", 25, 54.3, 324.0, 139.0, 59.3},        {"atlas", 36, 95.2, 280.0, 127.0, 85.1}};

// Without its files a robot has no rows, and a note says so.
template <class Add>
void timed(Report& report, const char* scene, bool pyramid, bench::Blocks blocks, bool full, const Add& add) {
  try {
    add(bench::time_robot(scene, pyramid, blocks, full));
  } catch (const std::exception& error) {
    report.note(error.what());
  }
}

}  // namespace

void nimble_jacobians(Report& report, bool full) {
  for (const NimbleRow& row : nimble_rows) {
    timed(report, row.ours, true, bench::Blocks::step_by_forces, full, [&](const bench::RobotTimes& times) {
      const std::string name = fmt::format("nimble/jacobians/{}/", row.robot);
      report.add(name + "us", times.jacobians, "us");
      report.add(name + "speedup_central", times.central / times.jacobians, "1");
      report.add(name + "speedup_central/paper", row.central, "1");
      report.add(name + "speedup_ridders", times.ridders / times.jacobians, "1");
      report.add(name + "speedup_ridders/paper", row.ridders, "1");
      report.add(name + "contacts", times.contacts, "count");
      report.note(fmt::format("{}: ours has {} dofs and {:.1f} contacts on average, the paper's {} and {}",
                              row.robot, times.dofs, times.contacts, row.dofs, row.contacts));
    });
  }
  report.note(
      "Nimble, tables II and III: all step Jacobians, of (q, v)+ with respect to q, v and generalised "
      "forces, "
      "on one core, boxed LCP as there; each engine's analytic Jacobians against differences of its own "
      "steps "
      "by the same numbers. Differences take warm steps, two for each number, and Ridders' tables ten times "
      "as many");
}

void simple_timings(Report& report, bool full) {
  for (const SimpleRow& row : simple_rows) {
    timed(report, row.robot, false, bench::Blocks::velocity_by_forces, full,
          [&](const bench::RobotTimes& times) {
            const std::string name = fmt::format("simple/timings/{}/", row.robot);
            report.add(name + "gradients/us", times.jacobians, "us");
            report.add(name + "gradients/us/paper", row.gradients, "us");
            report.add(name + "speedup_finite_differences", times.central / times.jacobians, "1");
            report.add(name + "speedup_finite_differences/paper", row.speedup, "1");
            report.add(name + "step/us", times.step, "us");
            report.add(name + "step/us/paper", row.step, "us");
            report.add(name + "step/us/paper_mujoco", row.mujoco_step, "us");
            report.note(
                fmt::format("{}: {} dofs ({} in the paper), {:.1f} contacts on average; {} steps for central "
                            "differences",
                            row.robot, times.dofs, row.dofs, times.contacts, 2 * times.inputs));
          });
  }
  report.note(
      "Simple, table 3: times of the paper's machine beside those of this one; cones (NCP) as there. "
      "Gradients are, as there, those of v+ with respect to q, v and generalised forces, without a "
      "certificate, against central differences of our own warm steps by the same numbers. UR5e for its UR5");
}

}  // namespace articula::cli
