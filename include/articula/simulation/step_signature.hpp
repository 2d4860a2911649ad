#pragma once
// What must be the same in all steps between which differences are taken: the modes of every row that carries
// something, which of them were granted slack, which loops close as fast as they may, roughly where sliding
// contacts slide to (a law that is held goes on beyond a reversal, to another root), and the sides of all
// kinks of forces. Rows that come and go without carrying anything do not matter.

#include <array>
#include <cstdint>
#include <vector>

#include "articula/contact/rows.hpp"
#include "articula/dynamics/force_switches.hpp"
#include "articula/steppers/free_motion.hpp"

namespace articula {

class StepSignature {
 public:
  // Modes that are held are what they are, whatever their impulses say. Contacts are told apart by `keys`.
  void read_rows(const Structure& structure, const ContactRows& from, const std::vector<std::uint64_t>& keys,
                 double recovery_speed, bool held = false);
  void read_sides(const Model& model, Data& data, const FreeMotionWork& free, double dt);
  void clear() { rows_.clear(); }

  bool same_rows(const StepSignature& there) const;
  bool same_sides(const StepSignature& there) const;

 private:
  struct Row {
    std::uint64_t key;
    std::array<RowMode, 6> mode;
    BiasMode bias;
    unsigned capped;     // a bit for each row
    unsigned slack = 0;  // a bit for each row: it holds, and moves; of modes that are held none counts
    std::array<double, 7> slides{};  // the direction in the world, if it does: slip, spin, roll
    bool creeps = false;             // so slowly that, held, it keeps to its law as linearised
    bool held = false;

    bool same(const Row& there) const;
  };
  std::vector<Row> rows_;
  std::vector<int> sides_;
  std::vector<ForceSwitch> switches_;
  std::vector<RowMode> modes_;
};

// By their features.
std::vector<std::uint64_t> contact_keys(const collision::Contacts& contacts);
// By their places: the key of the first of the contacts before that was there, of the same pair. Where
// features tie, one place may have several contacts, which come and go.
std::vector<std::uint64_t> contact_keys(const collision::Contacts& contacts,
                                        const collision::Contacts& before);

// Whether modes that were held let something through that carries nothing: then they are not those of the
// step as it is.
bool passes_through(const ContactRows& held);

}  // namespace articula
