// Loads that could be shared in many ways: as the limit of soft laws has them, wherever a solve starts, and
// with the derivatives of the step. Differences of the true step are the oracle.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/simulation.hpp"

namespace articula::testing::shared_loads_test {
namespace {

Model on_the_floor(const std::string& bodies) {
  return build(parse_mjcf(R"(<mujoco><compiler angle="radian"/><option timestep="0.002"/><worldbody>
      <geom type="plane" size="5 5 1" friction="0.8 0 0"/>)" +
                          bodies + "</worldbody></mujoco>"));
}

// Four corners of a box that slides and turns. What they could share otherwise is +1 and -1 in turn, and the
// limit of soft laws has  sum of +-R lam = 0, also where one of them carries next to nothing.
TEST(shared_loads, of_a_box_that_slides_are_balanced_to_the_last_digits) {
  const Model model = on_the_floor(R"(<geom type="box" pos="0 0 0.1" size="1 1 0.1" friction="0.7 0 0"/>
      <body pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="0.3" friction="0.7 0 0"/></body>)");
  const Simulation simulation(model, {.contact = Contact::ncp});
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  int slid = 0;
  for (int k = 0; k < 200; ++k) {
    State x = neutral_state(model);
    for (const int i : {0, 1, 5}) x.v[i] = normal(random);
    const Step step = simulation.step(x);
    const Simulation::Lease workspace(simulation, step.serial);
    const ImpulseWork& work = *workspace->contact;
    ASSERT_EQ(work.rows.items().size(), 4u);
    const ContactProblem problem = work.rows.problem(work.rows.islands()[0], 0.0);
    double sum = 0.0, largest = 0.0;
    bool loaded = true;
    for (const Item& item : work.rows.items()) {
      const int row = work.rows.row_of(item);
      const Vec3 corner = work.contacts.list[item.index].point.position;
      const double load = problem.mobility(work.rows.block(item)) * work.rows.lam[row];
      loaded = loaded && work.rows.mode[row + 1] == RowMode::slide && load > 0.0;
      largest = std::max(largest, load);
      sum += corner[0] * corner[1] > 0.0 ? load : -load;
    }
    if (!loaded) continue;
    ++slid;
    EXPECT_LT(std::abs(sum), 1e-11 * largest) << k;
  }
  EXPECT_GT(slid, 50);
}

// Links that lie on the floor touch it where they meet, both of them: at every joint two contacts share a
// load, and with it friction, as they like. Cold and warm starts have to find the same.
TEST(shared_loads, of_links_that_meet_on_the_floor_are_the_same_from_every_start) {
  std::string links, ends;
  for (int k = 0; k < 5; ++k) {
    links += (k == 0 ? R"(<body pos="0 0 0.02"><freejoint/>)"
                     : R"(<body pos="0.1 0 0"><joint type="ball" damping="0.002"/>)") +
             std::string(R"(<geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.015" mass="0.08"/>)");
    ends += "</body>";
  }
  const Model model = on_the_floor(links + ends);
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = law});
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    int touching = 0, apart = 0;
    for (int k = 0; k < 6; ++k) {
      Step step;
      step.next = neutral_state(model);
      for (double& v : step.next.v) v = 0.3 * normal(random);
      for (int i = 0; i < 150; ++i) {
        const State x = step.next;
        simulation.step(x, {}, step);
        ASSERT_TRUE(step.ok());
        if (i % 5 != 0 || step.contacts.size() < 6) continue;
        const Step cold = simulation.step(x);
        ++touching;
        apart += (cold.next.v - step.next.v).cwiseAbs().maxCoeff() > 1e-9;
      }
    }
    EXPECT_GT(touching, 60) << to_string(law);
    EXPECT_LT(apart, touching / 20) << to_string(law);
  }
}

std::vector<ContactMode> modes_of(const Step& step) {
  std::vector<ContactMode> modes;
  for (const StepContact& contact : step.contacts) modes.push_back(contact.mode);
  return modes;
}

// Wheels whose axes are as exact as "1.5707963" is: four of them share a load almost as they like, and three
// would do. A step next to singular knows its velocities to 1e-8 m/s: differences cannot be short.
TEST(shared_loads, of_wheels_that_are_nearly_dependent_have_the_derivatives_of_the_step) {
  std::string cart = R"(<body pos="0 0 0.11"><freejoint/><geom type="box" size="0.25 0.12 0.04" mass="4"/>)";
  for (const char* place : {"0.2 0.17 -0.03", "0.2 -0.17 -0.03", "-0.2 0.17 -0.03", "-0.2 -0.17 -0.03"})
    cart += std::string("<body pos=\"") + place + R"("><joint axis="0 1 0" damping="0.02"/>
        <geom type="cylinder" size="0.08 0.025" euler="1.5707963 0 0" mass="0.5"/></body>)";
  const Model model = on_the_floor(cart + "</body>");
  const int nv = model.nv();
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    const Simulation simulation(model, {.contact = law});
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    int compared = 0;
    for (int k = 0; k < 8; ++k) {
      Step step;
      step.next = neutral_state(model);
      for (const int i : {0, 1, 5, 6, 7, 8, 9}) step.next.v[i] = normal(random);
      for (int i = 0; i < 40; ++i) simulation.step(State(step.next), {}, step);
      const State x = step.next;
      const Step here = simulation.step(x);
      StepJacobians exact;
      simulation.jacobians(here, {}, exact);
      if (exact.certificate.one_sided || here.contacts.size() < 4) continue;
      for (int i = 0; i < nv; ++i) {
        bool alike = true;
        const auto slope = [&](double h) -> VectorX {
          State ahead = x, behind = x;
          ahead.v[i] += h, behind.v[i] -= h;
          const Step one = simulation.step(ahead), other = simulation.step(behind);
          alike = alike && modes_of(one) == modes_of(here) && modes_of(other) == modes_of(here);
          return (one.next.v - other.next.v) / (2.0 * h);
        };
        const VectorX coarse = slope(1e-4), fine = slope(5e-5), reference = (4.0 * fine - coarse) / 3.0;
        const double bend = (fine - coarse).cwiseAbs().maxCoeff();
        const VectorX ours = exact.by_state.col(nv + i).tail(nv);
        if (!alike || bend > 1e-3 * ours.cwiseAbs().maxCoeff()) continue;
        ++compared;
        EXPECT_LT((reference - ours).cwiseAbs().maxCoeff(),
                  3e-4 * std::max(1.0, ours.cwiseAbs().maxCoeff()) + 0.1 * bend)
            << to_string(law) << " " << k << " " << i;
      }
    }
    EXPECT_GT(compared, 30) << to_string(law);
  }
}

// A ball on the floor beside a wall that it touches, leaned on it by next to nothing: any difference takes
// that away, or makes it more.
TEST(shared_loads, of_next_to_nothing_are_at_a_switch) {
  const Model model = build(parse_mjcf(R"(<mujoco><default><geom condim="1"/></default><worldbody>
      <geom type="plane" size="5 5 1"/><geom type="box" pos="0.6 0 0.5" size="0.5 0.5 0.5"/>
      <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>)"));
  for (const Contact law : {Contact::lcp, Contact::ncp}) {
    for (const double force : {1e-11, 1.0}) {
      const Simulation simulation(model, {.contact = law});
      Input input;
      input.forces = VectorX::Zero(model.nv());
      input.forces[0] = force;
      const Step step = simulation.step(neutral_state(model), input);
      StepJacobians exact;
      simulation.jacobians(step, {}, exact);
      EXPECT_EQ(exact.certificate.one_sided, force < 1e-3) << to_string(law);
    }
  }
}

}  // namespace
}  // namespace articula::testing::shared_loads_test
