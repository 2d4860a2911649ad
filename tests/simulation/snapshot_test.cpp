#include "articula/simulation/snapshot.hpp"

#include <gtest/gtest.h>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/simulation/rollout.hpp"

namespace articula::snapshot_test {
namespace {

struct Moving {
  Model model = load("quadruped");
  Simulation simulation{model};
  Rollout path = rollout(simulation, neutral_state(model), MatrixX::Constant(model.nu(), 150, 0.2));
  std::vector<std::byte> bytes = to_bytes(model, {path.last(), path.warm});
};

std::string complaint(const Model& model, const std::vector<std::byte>& bytes) {
  try {
    from_bytes(model, bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Snapshot, a_simulation_goes_on_bit_for_bit) {
  const Moving m;
  ASSERT_FALSE(m.path.warm.entries.empty());
  const Snapshot back = from_bytes(m.model, m.bytes);
  EXPECT_EQ(state_hash(back.state), state_hash(m.path.last()));
  EXPECT_EQ(to_bytes(m.model, back), m.bytes);
  const MatrixX u = MatrixX::Constant(m.model.nu(), 100, -0.3);
  const Rollout without = rollout(m.simulation, m.path.last(), u, m.path.warm);
  const Rollout with = rollout(m.simulation, back.state, u, back.warm);
  EXPECT_EQ(state_hash(without.last()), state_hash(with.last()));
}

TEST(Snapshot, every_cut_and_every_changed_byte_is_noticed) {
  const Moving m;
  for (std::size_t size = 0; size < m.bytes.size(); ++size) {
    const std::vector<std::byte> cut(m.bytes.begin(), m.bytes.begin() + static_cast<long>(size));
    EXPECT_NE(complaint(m.model, cut), "") << size;
  }
  for (std::size_t i = 0; i < m.bytes.size(); ++i) {
    std::vector<std::byte> changed = m.bytes;
    changed[i] ^= std::byte{0x10};
    EXPECT_NE(complaint(m.model, changed), "") << i;
  }
  std::vector<std::byte> longer = m.bytes;
  longer.push_back(std::byte{});
  EXPECT_NE(complaint(m.model, longer).find("1 bytes follow"), std::string::npos);
}

TEST(Snapshot, errors_say_what_is_wrong) {
  const Moving m;
  std::vector<std::byte> bytes = m.bytes;
  bytes[0] = std::byte{'P'};
  EXPECT_NE(complaint(m.model, bytes).find("no snapshot"), std::string::npos);
  bytes = m.bytes;
  bytes[8] = std::byte{9};
  EXPECT_NE(complaint(m.model, bytes).find("version 9"), std::string::npos);
  bytes = m.bytes;
  bytes.back() ^= std::byte{1};
  EXPECT_NE(complaint(m.model, bytes).find("checksum"), std::string::npos);
  EXPECT_NE(complaint(load("ant"), m.bytes).find("another model"), std::string::npos);
  bytes.resize(m.bytes.size() - 5);
  EXPECT_NE(complaint(m.model, bytes).find("5 bytes are missing"), std::string::npos);
}

TEST(Snapshot, belongs_to_variants_of_its_model_too) {
  const Moving m;
  const Model heavier = m.model.with("gravity", Vector3(0, 0, -5));
  EXPECT_EQ(state_hash(from_bytes(heavier, m.bytes).state), state_hash(m.path.last()));
}

}  // namespace
}  // namespace articula::snapshot_test
