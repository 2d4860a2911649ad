#pragma once
// A state and its warm start as bytes, and back, bit for bit.
//
//   "ARTISNAP" | version u32 | crc32 of the rest u32 | structure of the model u64 | payload length u64 |
//   payload
// all little-endian; doubles as their bits.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "articula/simulation/step.hpp"

namespace articula {

struct Snapshot {
  State state;
  WarmStart warm;
};

std::vector<std::byte> to_bytes(const Model& model, const Snapshot& snapshot);

// Throws Error, saying what is wrong, for bytes that are no snapshot, end too early or go on too long, were
// damaged, come from a newer version, or belong to a model of another structure (variants share theirs).
Snapshot from_bytes(const Model& model, std::span<const std::byte> bytes);

// Joints, bodies, geometries and actuators by name, type and order: equal for variants of a model, and from
// run to run.
std::uint64_t structure_hash(const Model& model);

// Over all bits of the state: equal states have equal hashes.
std::uint64_t state_hash(const State& state);

}  // namespace articula
