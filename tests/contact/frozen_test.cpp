// Modes that are held, where contacts change their names.

#include <gtest/gtest.h>

#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/disturbed_step.hpp"

namespace articula::frozen_test {
namespace {

// A block on a slide, on a table of just its size: corners over corners.
Model equal_blocks() {
  return build(parse_mjcf(R"(<mujoco><worldbody>
      <geom name="table" type="box" size="0.1 0.1 0.05" pos="0 0 -0.05"/>
      <body name="block"><joint name="slide" type="slide" axis="0 0 1"/>
        <geom type="box" size="0.1 0.1 0.05" pos="0 0 0.05" mass="1"/></body></worldbody></mujoco>)"));
}

TEST(FrozenModes, contacts_of_equal_faces_keep_their_modes_when_corners_change) {
  const Model model = equal_blocks();
  State start = neutral_state(model);
  start.v[0] = -0.01;
  DisturbedStep step(model, complete(model, {}));
  ASSERT_TRUE(step.begin(start, {}));
  const auto held_contacts = [&] {
    const ContactRows& rows = step.contact()->rows;
    int count = 0;
    for (const Item& item : rows.items())
      count += item.kind == RowKind::contact && rows.mode[rows.row_of(item)] == RowMode::hold;
    return count;
  };
  ASSERT_EQ(held_contacts(), 4);
  EXPECT_NEAR(step.end().v[0], 0.0, 1e-12);
  step.hold_modes(true);
  const auto pose = model.parameters().matching("geometry/table/placement");
  ASSERT_FALSE(pose.empty());
  VectorX x(step.outputs());
  for (const Vector2& shift :
       {Vector2(1, 0), Vector2(0, 1), Vector2(1, 1), Vector2(1, -1), Vector2(-1, 0.3)}) {
    VectorX dz = VectorX::Zero(step.layout().size);
    dz.segment<2>(step.layout().theta + pose[0].offset) = shift;
    ASSERT_TRUE(step.at(dz, 1e-7, x));
    EXPECT_EQ(held_contacts(), 4);
    EXPECT_NEAR(x[1], 0.0, 1e-12);
  }
  // One that is gone for good is not found elsewhere.
  VectorX dz = VectorX::Zero(step.layout().size);
  dz[step.layout().theta + pose[0].offset] = 1.0;
  ASSERT_TRUE(step.at(dz, 0.05, x));
  EXPECT_EQ(held_contacts(), 2);
}

}  // namespace
}  // namespace articula::frozen_test
