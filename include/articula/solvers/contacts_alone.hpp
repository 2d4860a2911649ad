#pragma once
// Contacts among themselves while all other rows keep their modes. Rows h that hold are eliminated, those at
// a bound are loads that are known:
//   S  = G_cc - G_ch (G_hh + eps R)^-1 G_hc
//   b' = b_c + G_cf lam_f - G_ch (G_hh + eps R)^-1 (b_h + G_hf lam_f)
// so that Newton's method on the soft laws finds modes and directions of contacts at a fraction of what it
// costs with all rows. What it finds is a guess: the laws of the other rows are not looked at.

#include "articula/solvers/mode_system.hpp"

namespace articula {

class ContactsAlone {
 public:
  void reserve(int rows, int blocks);

  // mode, slides: those of all rows; of contacts replaced by what was found, with directions as `turn` leaves
  // them. False if nothing was found, or if too few other rows hold for this to be worthwhile: they stay as
  // they were then; and if what yields does not come to rest: directions are rounded then, and no more.
  [[nodiscard]] bool settle(const ContactProblem& problem, ModeSystem& system,
                            const std::vector<KnownMotion>& motion, RowMode* mode, SlideState* slides);
  // Directions of what slides or yields, from those given, with all modes held.
  [[nodiscard]] bool turn(const ContactProblem& problem, ModeSystem& system, const RowMode* mode,
                          SlideState* slides);

 private:
  bool eliminate(const ContactProblem& problem, ModeSystem& system, const RowMode* mode,
                 const SlideState* slides);
  void take(const RowMode* mode, const SlideState* slides, const ContactProblem& problem);
  void begin(double softness);
  bool find(double softness);
  bool turn_yielding();

  ModeSystem system_;  // of the contacts
  ContactProblem problem_;
  std::vector<Block> blocks_;
  std::vector<int> origin_;  // of blocks; negative: a row that holds and was not eliminated
  std::vector<RowMode> mode_;
  std::vector<SlideState> slides_;
  std::vector<KnownMotion> motion_;
  std::vector<double> velocity_, b_, lam_, soft_;
  std::vector<std::uint64_t> seen_;
};

}  // namespace articula
