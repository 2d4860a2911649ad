// The laws with modes held: the step's equations without the search for modes. Softly where contacts yield,
// and by hard laws beside the step whose modes these are where soft ones would lose what is known of it.

#include "held_modes.hpp"

#include <algorithm>
#include <cmath>

#include "articula/contact/overruled.hpp"
#include "articula/math/scattered.hpp"

namespace articula {

namespace {

// How hard laws must be to tell where contacts slide to, however slowly.
double softness_for(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  constexpr double hardest = 1e-11, clearly = 30.0;
  double softness = usual_softness;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind != BlockKind::contact || block.dim == 1 || mode[block.first + 1] != RowMode::slide)
      continue;
    while (softness > hardest &&
           slides[k].speed < clearly * softness * problem.mobility(block) * slides[k].normal)
      softness *= 1e-2;
  }
  return softness;
}

bool solve_held(ModeSystem& system, const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                double softness, double* lam, double* sigma) {
  constexpr int most_steps = 30;
  constexpr double rough = 1e-6;
  system.begin(problem, nullptr, softness);
  for (int step = 0; step < most_steps; ++step) {
    double turned = 0.0;
    if (!system.soft_step(problem, mode, slides, lam, sigma, turned)) return false;
    if (turned < rough) return system.harden(problem, mode, slides, false, lam, sigma);
  }
  return false;
}

// With rows ever harder while that meets the equations far better: next to a singular place (a loop that is
// stretched) softness would hide what they say.
bool solve_held_exactly(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                        SlideState* slides, double* lam, double* sigma) {
  constexpr double exact = 1e-13, far_better = 0.1, harder = 1e-2, hardest = 1e-11;
  const std::vector<SlideState> before(slides, slides + problem.blocks.size());
  double softness = softness_for(problem, mode, slides);
  if (!solve_held(system, problem, mode, slides, softness, lam, sigma)) return false;
  double missed = system.equation_error();
  std::vector<SlideState> turned(before.size());
  std::vector<double> new_lam(problem.size), new_sigma(problem.size);
  while (missed > exact * problem.velocity_scale && softness > hardest) {
    softness *= harder;
    turned = before;
    if (!solve_held(system, problem, mode, turned.data(), softness, new_lam.data(), new_sigma.data())) break;
    if (!(system.equation_error() < far_better * missed)) continue;
    missed = system.equation_error();
    std::copy(turned.begin(), turned.end(), slides);
    std::copy(new_lam.begin(), new_lam.end(), lam);
    std::copy(new_sigma.begin(), new_sigma.end(), sigma);
  }
  return true;
}

// What yields stands still: once it is known how loads are shared, sigma = 0 says more of it than its cone,
// as in a step whose modes are found.
void stand_still(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                 const SlideState* slides, double* lam, double* sigma) {
  constexpr double rounding = 1e-15;
  std::vector<RowMode> still(mode, mode + problem.size);
  double motion = 0.0;
  bool yields = false;
  for (int i = 0; i < problem.size; ++i) {
    const bool gives =
        mode[i] == RowMode::yield || mode[i] == RowMode::yield_upper || mode[i] == RowMode::yield_lower;
    yields = yields || gives;
    if (gives) still[i] = RowMode::hold;
    if (still[i] == RowMode::hold) motion = std::max(motion, std::abs(sigma[i]));
  }
  if (!yields || motion <= rounding * problem.velocity_scale) return;
  std::vector<double> new_lam(lam, lam + problem.size), new_sigma(sigma, sigma + problem.size);
  if (!system.stand_still(problem, still.data(), slides, new_lam.data(), new_sigma.data())) return;
  std::copy(new_lam.begin(), new_lam.end(), lam);
  std::copy(new_sigma.begin(), new_sigma.end(), sigma);
}

bool yields(RowMode mode) {
  return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
}

bool something_creeps(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind == BlockKind::contact && block.dim > 1 && mode[block.first + 1] == RowMode::slide &&
        slides[k].speed < creeping_speed)
      return true;
  }
  return false;
}

// From the impulses and directions of the step whose modes these are, by hard laws if none yields.
bool solve_beside(ModeSystem& system, const ContactProblem& problem, const std::vector<RowMode>& mode,
                  SlideState* slides, const double* near, bool keeps_loads, double* lam, double* sigma) {
  const double softness = softness_for(problem, mode.data(), slides);
  std::copy(near, near + problem.size, lam);
  return something_creeps(problem, mode.data(), slides)
             ? system.solve_linearised(problem, mode.data(), slides, lam, sigma, softness, keeps_loads)
             : system.solve_beside(problem, mode.data(), slides, lam, sigma, softness, keeps_loads);
}

// What dependent rows cannot follow, with what yields held: of soft laws it would make loads of order 1 /
// eps, which turn what yields.
std::vector<double> missed_beside(ModeSystem& system, const ContactProblem& problem,
                                  std::vector<RowMode> still, std::vector<SlideState> slides,
                                  const double* near) {
  constexpr double rounding = 1e-12;  // of the velocities; soft laws would turn it into loads
  std::vector<double> lam(problem.size), sigma(problem.size), missed(problem.size, 0.0);
  std::replace_if(still.begin(), still.end(), yields, RowMode::hold);
  system.forget();
  if (solve_beside(system, problem, still, slides.data(), near, true, lam.data(), sigma.data()))
    system.missed(sigma.data(), missed);
  const auto counts = [&](double v) { return std::abs(v) > rounding * problem.velocity_scale; };
  if (std::none_of(missed.begin(), missed.end(), counts)) std::fill(missed.begin(), missed.end(), 0.0);
  return missed;
}

// By soft laws, which turn what slides very slowly unless they are soft about these impulses; and where they
// find nothing, where rows are missed (velocity: of the step), or something creeps, beside the step by hard
// ones.
bool solve_by_laws(ModeSystem& system, const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                   const double* near, const double* velocity, double* lam, double* sigma) {
  constexpr double rounding = 1e-12;  // of the velocities
  const std::vector<SlideState> before(slides, slides + problem.blocks.size());
  const auto again = [&] { std::copy(before.begin(), before.end(), slides); };
  const double granted = rounding * problem.velocity_scale;
  bool misses = false;
  for (int i = 0; i < problem.size; ++i)
    misses = misses || (mode[i] == RowMode::hold && std::abs(velocity[i]) > granted);
  const std::vector<RowMode> modes(mode, mode + problem.size);
  const bool may_be_hard = std::none_of(modes.begin(), modes.end(), yields);
  system.forget();
  if (may_be_hard && (misses || something_creeps(problem, mode, slides))) {
    if (solve_beside(system, problem, modes, slides, near, false, lam, sigma)) return true;
    again();
  }
  bool solved = solve_held_exactly(system, problem, mode, slides, lam, sigma);
  if (!solved) {
    again();
    solved = system.solve_near(problem, mode, slides, lam, sigma, near);
  }
  if (solved) {
    stand_still(system, problem, mode, slides, lam, sigma);
    return true;
  }
  again();
  return may_be_hard && solve_beside(system, problem, modes, slides, near, false, lam, sigma);
}

// The same where something yields, once dependent rows have missed what they cannot follow.
bool solve_held_island(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                       SlideState* slides, const double* near, const double* velocity, double* lam,
                       double* sigma) {
  if (std::none_of(mode, mode + problem.size, yields))
    return solve_by_laws(system, problem, mode, slides, near, velocity, lam, sigma);
  const std::vector<double> missed = missed_beside(system, problem, {mode, mode + problem.size},
                                                   {slides, slides + problem.blocks.size()}, near);
  std::vector<double> b(problem.b, problem.b + problem.size);
  for (int i = 0; i < problem.size; ++i) b[i] -= missed[i];
  ContactProblem followed = problem;
  followed.b = b.data();
  if (!solve_by_laws(system, followed, mode, slides, near, velocity, lam, sigma)) return false;
  for (int i = 0; i < problem.size; ++i) sigma[i] += missed[i];
  return true;
}

// What yields holds, and rows that hold are missed by the slack there was.
bool solve_keeping_loads(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                         SlideState* slides, const double* near, const double* slack, double* lam,
                         double* sigma) {
  std::vector<RowMode> still(mode, mode + problem.size);
  std::replace_if(still.begin(), still.end(), yields, RowMode::hold);
  std::vector<double> b(problem.b, problem.b + problem.size);
  for (int i = 0; i < problem.size; ++i) b[i] += still[i] == RowMode::hold ? slack[i] : 0.0;
  ContactProblem relaxed = problem;
  relaxed.b = b.data();
  system.forget();
  const bool solved = solve_beside(system, relaxed, still, slides, near, true, lam, sigma);
  for (int i = 0; i < problem.size; ++i) sigma[i] -= still[i] == RowMode::hold ? slack[i] : 0.0;
  return solved;
}

// Modes, directions and impulses that are held, row by row.
struct HeldRows {
  std::vector<RowMode> mode;
  std::vector<SlideState> slides;
  std::vector<double> near, slack;
  std::vector<bool> keeps_loads;  // per island
};

HeldRows read_held_rows(const ContactRows& rows, const FrozenModes& frozen) {
  const auto size = static_cast<std::size_t>(rows.size());
  HeldRows held{std::vector<RowMode>(size, RowMode::free), std::vector<SlideState>(rows.items().size()),
                std::vector<double>(size, 0.0), std::vector<double>(size, 0.0),
                std::vector<bool>(rows.islands().size(), false)};
  for (const Item& item : rows.items()) {
    const FrozenModes::Entry* found = frozen.find(item.key);
    if (found == nullptr || found->rows != item.rows) continue;
    const FrozenModes::Entry entry =
        item.kind == RowKind::contact ? FrozenModes::in_frame(*found, rows.frame(item)) : *found;
    for (int i = 0; i < item.rows; ++i) {
      held.mode[rows.row_of(item) + i] = entry.mode[i];
      held.near[rows.row_of(item) + i] = entry.lam[i];
      held.slack[rows.row_of(item) + i] = entry.slack[i];
    }
    held.slides[rows.islands()[item.island].block_begin + item.block] = entry.slide;
    if (entry.keeps_loads) held.keeps_loads[item.island] = true;
  }
  return held;
}

// Ends of ranges far away are rows of a step with held modes as well, and no measure of what is exact.
ContactProblem held_problem(const ContactRows& rows, const HeldRows& held, const Island& island,
                            double gravity_step) {
  ContactProblem problem = rows.problem(island, gravity_step);
  problem.velocity_scale = gravity_step;
  for (int i = 0; i < island.rows; ++i) {
    if (held.mode[island.row_begin + i] != RowMode::free)
      problem.velocity_scale = std::max(problem.velocity_scale, std::abs(problem.b[i]));
  }
  return problem;
}

// Whether friction of this row's contact is at its bound: then its loads are felt in the motion.
bool at_bound(const Block& block, const RowMode* mode) {
  return block.kind == BlockKind::contact &&
         std::any_of(mode + block.first + 1, mode + block.first + block.dim,
                     [](RowMode m) { return m != RowMode::hold && m != RowMode::free; });
}

// Whether soft laws lead to another motion in these modes than the step has, or to other loads that matter.
bool leads_elsewhere(ModeSystem& system, const ContactProblem& problem, const RowMode* mode,
                     std::vector<SlideState> slides, const double* near, const double* velocity,
                     double same) {
  std::vector<double> lam(problem.size, 0.0), sigma(problem.size, 0.0);
  if (!solve_by_laws(system, problem, mode, slides.data(), near, velocity, lam.data(), sigma.data()))
    return true;
  double largest = 0.0, off = 0.0, slipped = 0.0;
  for (const Block& block : problem.blocks) {
    const bool matters = at_bound(block, mode);
    for (int i = block.first; i < block.first + block.dim; ++i) {
      largest = std::max(largest, std::abs(near[i]));
      if (matters) off = std::max(off, std::abs(lam[i] - near[i]));
      if (mode[i] != RowMode::free) slipped = std::max(slipped, std::abs(sigma[i] - velocity[i]));
    }
  }
  return !(off <= same * largest && slipped <= same * problem.velocity_scale);
}

// Biases as gaps change when the robot moves a little: rows that depend on each other may not follow.
std::vector<double> biases_beside(const ContactProblem& problem, const RowMode* mode) {
  constexpr double little = 1e-6;
  std::vector<double> motion(problem.size, 0.0), b(problem.b, problem.b + problem.size);
  double largest = 0.0;
  for (int i = 0; i < problem.size; ++i) {
    const double load = scattered(i) - 0.5;
    for (int j = 0; j < problem.size; ++j) motion[j] += problem.g(j, i) * load;
  }
  const auto is_gap = [&](const Block& block) {
    return block.kind == BlockKind::unilateral || block.kind == BlockKind::contact;
  };
  for (const Block& block : problem.blocks) {
    if (is_gap(block) && mode[block.first] != RowMode::free)
      largest = std::max(largest, std::abs(motion[block.first]));
  }
  for (const Block& block : problem.blocks) {
    if (is_gap(block) && largest > 0.0)
      b[block.first] += little * problem.velocity_scale / largest * motion[block.first];
  }
  return b;
}

bool keeps_loads(const ImpulseWork& work, const HeldRows& held, const Island& island) {
  constexpr double same = 1e-5, much = 1e-4, granted = 1e-12;
  const ContactRows& rows = work.rows;
  const int at = island.row_begin;
  ContactProblem problem = held_problem(rows, held, island, 0.0);
  const RowMode* mode = held.mode.data() + at;
  const bool yielding = std::any_of(mode, mode + problem.size, yields);
  const bool slides_somewhere = std::find(mode, mode + problem.size, RowMode::slide) != mode + problem.size;
  double slack = 0.0;
  for (int i = 0; i < problem.size; ++i) {
    if (mode[i] == RowMode::hold) slack = std::max(slack, std::abs(rows.sigma[at + i]));
  }
  const bool may_lead_elsewhere = yielding || slides_somewhere || work.ambiguous;
  if (!may_lead_elsewhere && slack <= granted * problem.velocity_scale) return false;
  const auto first = held.slides.begin() + island.block_begin;
  const std::vector<SlideState> slides(first, first + static_cast<long>(problem.blocks.size()));
  const double *near = held.near.data() + at, *velocity = rows.sigma.data() + at;
  ModeSystem system;
  if (leads_elsewhere(system, problem, mode, slides, near, velocity, same)) return true;
  if (!yielding) return false;
  const std::vector<double> b = biases_beside(problem, mode);
  problem.b = b.data();
  return leads_elsewhere(system, problem, mode, slides, near, velocity, much);
}

}  // namespace

// The equations of prescribed modes, and the smallest impulses where they leave a choice.
bool solve_frozen(ImpulseWork& work, const FrozenModes& frozen, double gravity_step) {
  ContactRows& rows = work.rows;
  HeldRows held = read_held_rows(rows, frozen);
  rows.mode = held.mode;
  bool solved = true;
  work.solver.system.let_pull(true);
  for (std::size_t k = 0; k < rows.islands().size(); ++k) {
    const Island& island = rows.islands()[k];
    const int at = island.row_begin;
    const ContactProblem problem = held_problem(rows, held, island, gravity_step);
    const RowMode* mode = held.mode.data() + at;
    SlideState* slides = held.slides.data() + island.block_begin;
    double *lam = rows.lam.data() + at, *sigma = rows.sigma.data() + at;
    ModeSystem& system = work.solver.system;
    solved &= held.keeps_loads[k] ? solve_keeping_loads(system, problem, mode, slides, held.near.data() + at,
                                                        held.slack.data() + at, lam, sigma)
                                  : solve_held_island(system, problem, mode, slides, held.near.data() + at,
                                                      held.slack.data() + at, lam, sigma);
  }
  work.solver.system.let_pull(false);
  return solved;
}

std::vector<bool> islands_that_keep_loads(const ImpulseWork& work) {
  const HeldRows held = read_held_rows(work.rows, freeze(work.rows, work.contacts));
  std::vector<bool> keep;
  for (const Island& island : work.rows.islands()) keep.push_back(keeps_loads(work, held, island));
  return keep;
}

FrozenModes freeze(const ImpulseWork& work) {
  const ContactRows& rows = work.rows;
  FrozenModes frozen = freeze(rows, work.contacts);
  frozen.saturation = work.free.forces.saturation;
  const std::vector<bool> keep = islands_that_keep_loads(work);
  for (std::size_t k = 0; k < rows.items().size(); ++k) {  // entries are in their order
    const Item& item = rows.items()[k];
    FrozenModes::Entry& entry = frozen.entries[k];
    entry.keeps_loads = keep[item.island];
    for (int i = 0; i < item.rows; ++i) entry.slack[i] = -rows.sigma[rows.row_of(item) + i];
  }
  return frozen;
}

}  // namespace articula
