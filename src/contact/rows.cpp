#include "articula/contact/rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "articula/math/strips.hpp"
#include "math/transpose.hpp"
#include "row_builder.hpp"

namespace articula {

ContactRows::ContactRows(const Model& model, const Constraints& constraints, int most_contacts)
    : constraints_(&constraints) {
  int condim = 3;
  for (const GeometryDescription& g : model.description().geometries) condim = std::max(condim, g.condim);
  for (const ContactPairDescription& p : model.description().contact_pairs)
    condim = std::max(condim, p.condim);
  const int scalars =
      static_cast<int>(constraints.dry_dofs.size() + constraints.dry_tendons.size() +
                       2 * constraints.limited_joints.size() + 2 * constraints.limited_tendons.size());
  const int equalities = static_cast<int>(constraints.equalities.size());
  most_rows_ = scalars + 6 * equalities + condim * most_contacts;
  most_blocks_ = scalars + 2 * equalities + most_contacts;
  const int most_quads = scalars + 2 * equalities + (condim > 4 ? 2 : 1) * most_contacts;
  int widest = 0;
  for (const Tree& tree : constraints.trees) widest = std::max(widest, tree.width());
  support_words_ = (widest + 63) / 64;
  support_.reserve(static_cast<std::size_t>(2) * most_quads * support_words_);
  find_paths(model.structure());
  island_quads_.reserve(most_quads);
  items_.reserve(most_blocks_);
  idle_.reserve(most_blocks_);
  coasting_.reserve(constraints.dry_dofs.size());
  called_.reserve(4 * most_blocks_);  // pass after pass
  quads_.reserve(most_quads);
  islands_.reserve(constraints.trees.size() + 1);
  order_.reserve(most_blocks_);
  tree_island_.reserve(constraints.trees.size());
  island_of_.reserve(constraints.trees.size() + 1);
  item_blocks_.reserve(most_blocks_);
  blocks_.reserve(most_blocks_);
  frames_.reserve(most_contacts);
  any_tangents_.reserve(most_contacts);
  J_.reserve(static_cast<std::size_t>(2) * most_quads * widest);
  W_.reserve(static_cast<std::size_t>(2) * most_quads * widest);
  b_.reserve(most_rows_);
  bias_.reserve(most_rows_);
  scale_.reserve(model.nv());
  lam.reserve(most_rows_);
  sigma.reserve(most_rows_);
  mode.reserve(most_rows_);
  guess.reserve(most_rows_);
  guessed_slides.reserve(most_blocks_);
  G_.reserve(static_cast<std::size_t>(most_rows_) * (most_rows_ + 3));
  reserve_roots(most_quads, widest);
}

void ContactRows::find_paths(const Structure& s) {
  paths_.assign(static_cast<std::size_t>(s.nv) * support_words_, 0);
  for (int d = 0; d < s.nv; ++d) {
    const int begin = constraints_->trees[constraints_->tree_of_link[s.dofs[d].link]].dof_begin;
    std::uint64_t* words = paths_.data() + static_cast<std::size_t>(d) * support_words_;
    for (int a = d; a >= 0; a = s.dofs[a].parent)
      words[(a - begin) / 64] |= std::uint64_t{1} << ((a - begin) % 64);
  }
}

void ContactRows::add_support(int quad, int side, int dof) {
  std::uint64_t* words = support_.data() + support_at(quad, side);
  const std::uint64_t* path = paths_.data() + static_cast<std::size_t>(dof) * support_words_;
  for (int word = 0; word < support_words_; ++word) words[word] |= path[word];
}

// Trees that share a row move together.
void ContactRows::join_islands(const Structure& structure) {
  const int trees = static_cast<int>(constraints_->trees.size());
  tree_island_.resize(trees);
  std::iota(tree_island_.begin(), tree_island_.end(), 0);
  const auto root = [&](int tree) {
    while (tree_island_[tree] != tree) tree = tree_island_[tree] = tree_island_[tree_island_[tree]];
    return tree;
  };
  for (const Quad& quad : quads_) {
    if (quad.tree[0] < 0 || quad.tree[1] < 0) continue;
    const int a = root(quad.tree[0]), b = root(quad.tree[1]);
    tree_island_[std::max(a, b)] = std::min(a, b);
  }
  island_of_.assign(trees, -1);
  islands_.clear();
  for (Item& item : items_) {
    const int tree = root(quads_[item.quad].tree[0]);
    if (island_of_[tree] < 0) {
      island_of_[tree] = static_cast<int>(islands_.size());
      islands_.emplace_back();
    }
    item.island = island_of_[tree];
    ++islands_[item.island].item_count;
  }
  for (const CoastingDof& each : coasting_) {
    const int island = island_of_[root(constraints_->tree_of_link[structure.dofs[each.dof].link])];
    if (island < 0) continue;
    double& speed = islands_[island].coasting_speed;
    speed = std::max(speed, each.velocity);
  }
}

// Islands in the order of their first item; items within an island in canonical order.
void ContactRows::number_rows() {
  int begin = 0;
  for (Island& island : islands_) {
    island.item_begin = island.block_begin = begin;
    begin += island.item_count;
    island.item_count = island.rows = 0;
  }
  order_.resize(items_.size());
  blocks_.resize(items_.size());
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    Island& island = islands_[item.island];
    item.block = island.item_count++;
    order_[island.item_begin + item.block] = static_cast<int>(i);
    Block& block = blocks_[island.block_begin + item.block];
    block = item_blocks_[i];
    block.first = island.rows;
    if (item.lane == 0) {
      int row = island.rows;
      for (int k = 0; k < item.quads; ++k) {
        quads_[item.quad + k].first = row;
        row += quads_[item.quad + k].rows;
      }
    }
    island.rows += item.rows;
  }
  rows_ = 0;
  std::size_t G = 0;
  for (Island& island : islands_) {
    island.row_begin = rows_;
    island.stride = (island.rows + 3) / 4 * 4;
    island.G = G;
    rows_ += island.rows;
    G += static_cast<std::size_t>(island.rows) * island.stride;
  }
  G_.resize(G);
  b_.resize(rows_);
  bias_.assign(rows_, 0.0);
  lam.assign(rows_, 0.0);
  sigma.assign(rows_, 0.0);
  mode.resize(rows_);
  guess.resize(rows_);
  guessed_slides.resize(items_.size());
}

// w = D^-1/2 L^-T j: from the last dof that the row touches to the root, each finished entry is taken from
// those of its ancestors.
void ContactRows::project(const Model& model, const Data& data) {
  const Structure& s = model.structure();
  scale_.resize(s.nv);
  for (int d = 0; d < s.nv; ++d) scale_[d] = std::sqrt(data.inverse_diagonal[d]);
  W_.resize(J_.size());
  std::copy(J_.begin(), J_.end(), W_.begin());
  for (std::size_t k = 0; k < quads_.size(); ++k) {
    for (int side = 0; side < 2; ++side) {
      if (quads_[k].tree[side] < 0) continue;
      const int begin = constraints_->trees[quads_[k].tree[side]].dof_begin;
      Lanes* w = W_.data() + quads_[k].at[side];
      const std::uint64_t* words = support(static_cast<int>(k), side);
      for (int word = support_words_ - 1; word >= 0; --word) {
        for (std::uint64_t left = words[word]; left != 0;) {
          const int bit = 63 - std::countl_zero(left), d = begin + 64 * word + bit;
          left ^= std::uint64_t{1} << bit;
          const DofIndex& dof = s.dofs[d];
          const double* row = data.factor.data() + dof.row;
          const int* path = s.path.data() + dof.row;
          const Lanes x = w[d - begin];
          for (int m = 0; m < dof.depth; ++m) w[path[m] - begin] -= broadcast(row[m]) * x;
          w[d - begin] = x * broadcast(scale_[d]);
        }
      }
    }
  }
}

namespace {

// sum over dofs of w_a w_b^T, rows of a by rows of b: every other dof in sums of their own, so that two
// additions to each of them are under way at once.
struct Product {
  Lanes row[4]{}, odd[4]{};

  void add(const Lanes* a, const Lanes* b, int begin, int end, int rows) {
    const auto add_one = [&](Lanes* sums, int d) {
      const Lanes x = a[d], y = b[d];
      sums[0] += broadcast(x[0]) * y;
      sums[1] += broadcast(x[1]) * y;
      sums[2] += broadcast(x[2]) * y;
      if (rows > 3) sums[3] += broadcast(x[3]) * y;
    };
    int d = begin;
    for (; d + 1 < end; d += 2) {
      add_one(row, d);
      add_one(odd, d + 1);
    }
    if (d < end) add_one(row, d);
  }
  void finish() {
    for (int r = 0; r < 4; ++r) row[r] += odd[r];
  }

  // Over the dofs that both touch, run by run.
  void add_common(const Lanes* a, const std::uint64_t* support_a, const Lanes* b,
                  const std::uint64_t* support_b, int words, int rows) {
    for (int word = 0; word < words; ++word) {
      const std::uint64_t common = support_a[word] & support_b[word];
      for_each_run_of_bits(common, 64 * word, [&](int begin, int end) { add(a, b, begin, end, rows); });
    }
  }
};

// Registers in place of single numbers: what they write beyond a block is zero, as lanes without a row are,
// and belongs to blocks that are written later, or to the padding.
void write_block(const Lanes* product, int rows, int columns, double* first, std::size_t stride, bool fits) {
  for (int r = 0; r < rows; ++r) {
    double* row = first + r * stride;
    if (fits) {
      store_lanes(row, product[r]);
    } else {
      for (int c = 0; c < columns; ++c) row[c] = product[r][c];
    }
  }
}

}  // namespace

void ContactRows::fill_problem(const Island& island) {
  double* G = G_.data() + island.G;
  const std::size_t stride = island.stride;
  // The island's quads, each once: those where an item begins.
  island_quads_.clear();
  for (int k = 0; k < island.item_count; ++k) {
    const Item& item = items_[order_[island.item_begin + k]];
    for (int i = 0; item.lane == 0 && i < item.quads; ++i) island_quads_.push_back(item.quad + i);
  }
  // Most of a large island touches nothing else.
  const bool sparse = island.roots >= 0;
  if (sparse) std::fill_n(G, island.rows * stride, 0.0);
  const auto shares = [](const Quad& a, int tree) {
    return tree >= 0 && (a.tree[0] == tree || a.tree[1] == tree);
  };
  for (std::size_t k = 0; k < island_quads_.size(); ++k) {
    const Quad& a = quads_[island_quads_[k]];
    const bool fits = a.first + 4 <= island.stride;
    for (std::size_t w = 0; w <= k; ++w) {
      const Quad& b = quads_[island_quads_[w]];
      if (sparse && !shares(a, b.tree[0]) && !shares(a, b.tree[1])) continue;
      Product product;
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          if (a.tree[i] < 0 || a.tree[i] != b.tree[j]) continue;
          product.add_common(W_.data() + a.at[i], support(island_quads_[k], i), W_.data() + b.at[j],
                             support(island_quads_[w], j), support_words_, a.rows);
        }
      }
      product.finish();
      write_block(product.row, a.rows, b.rows, G + a.first * stride + b.first, stride,
                  b.first + 4 <= island.stride);
      if (w == k) continue;
      transpose_four(product.row);
      write_block(product.row, b.rows, a.rows, G + b.first * stride + a.first, stride, fits);
    }
  }
  const ContactProblem filled = problem(island, 0.0);
  for (int k = 0; k < island.item_count; ++k) {
    Block& block = blocks_[island.block_begin + k];
    block.mobility = filled.mobility_of(block.first, block.dim);
  }
}

void ContactRows::velocities(const VectorX& x, double* out) const { multiply(J_, x.data(), out); }
void ContactRows::projected_velocities(const VectorX& z, double* out) const { multiply(W_, z.data(), out); }

void ContactRows::multiply(const LaneVector& matrix, const double* x, double* out) const {
  for (const Item& item : items_) {
    if (item.lane != 0) continue;
    for (int k = 0; k < item.quads; ++k) {
      const Quad& quad = quads_[item.quad + k];
      Lanes sum{};
      for (int side = 0; side < 2; ++side) {
        if (quad.tree[side] < 0) continue;
        const double* values = x + constraints_->trees[quad.tree[side]].dof_begin;
        const Lanes* j = matrix.data() + quad.at[side];
        for_each_run(item.quad + k, side, [&](int begin, int end) {
          for (int d = begin; d < end; ++d) sum += j[d] * broadcast(values[d]);
        });
      }
      double* to = out + islands_[item.island].row_begin + quad.first;
      for (int r = 0; r < quad.rows; ++r) to[r] = sum[r];
    }
  }
}

double ContactRows::scalar_velocity(const Item& item, const double* x) const {
  const Quad& quad = quads_[item.quad];
  double sum = 0.0;
  for (int side = 0; side < 2; ++side) {
    if (quad.tree[side] < 0) continue;
    const int begin = constraints_->trees[quad.tree[side]].dof_begin;
    for (int d = 0; d < quad.used[side]; ++d) sum += J_[quad.at[side] + d][item.lane] * x[begin + d];
  }
  return sum;
}

void ContactRows::add_scalar_impulse(const Item& item, double impulse, double* force) const {
  const Quad& quad = quads_[item.quad];
  for (int side = 0; side < 2; ++side) {
    if (quad.tree[side] < 0) continue;
    const int begin = constraints_->trees[quad.tree[side]].dof_begin;
    for (int d = 0; d < quad.used[side]; ++d) force[begin + d] += J_[quad.at[side] + d][item.lane] * impulse;
  }
}

void ContactRows::add_impulses(const double* impulses, VectorX& force) const {
  for (const Item& item : items_) {
    if (item.lane != 0) continue;
    for (int k = 0; k < item.quads; ++k) {
      const Quad& quad = quads_[item.quad + k];
      const double* from = impulses + islands_[item.island].row_begin + quad.first;
      Lanes x{};
      for (int r = 0; r < quad.rows; ++r) x[r] = from[r];
      for (int side = 0; side < 2; ++side) {
        if (quad.tree[side] < 0) continue;
        double* values = force.data() + constraints_->trees[quad.tree[side]].dof_begin;
        const Lanes* j = J_.data() + quad.at[side];
        for_each_run(item.quad + k, side, [&](int begin, int end) {
          for (int d = begin; d < end; ++d) {
            const Lanes product = j[d] * x;
            values[d] += (product[0] + product[1]) + (product[2] + product[3]);
          }
        });
      }
    }
  }
}

void ContactRows::add_impulses(const double* impulses, VectorX& force, VectorX& projected) const {
  for (const Item& item : items_) {
    if (item.lane != 0) continue;
    for (int k = 0; k < item.quads; ++k) {
      const Quad& quad = quads_[item.quad + k];
      const double* from = impulses + islands_[item.island].row_begin + quad.first;
      Lanes x{};
      for (int r = 0; r < quad.rows; ++r) x[r] = from[r];
      for (int side = 0; side < 2; ++side) {
        if (quad.tree[side] < 0) continue;
        const int begin = constraints_->trees[quad.tree[side]].dof_begin;
        const Lanes *j = J_.data() + quad.at[side], *w = W_.data() + quad.at[side];
        for (int d = 0; d < quad.used[side]; ++d) {
          const Lanes by_j = j[d] * x, by_w = w[d] * x;
          const Lanes pairs = __builtin_shufflevector(by_j, by_w, 0, 4, 2, 6) +
                              __builtin_shufflevector(by_j, by_w, 1, 5, 3, 7);
          force[begin + d] += pairs[0] + pairs[2];
          projected[begin + d] += pairs[1] + pairs[3];
        }
      }
    }
  }
}

ContactProblem ContactRows::problem(const Island& island, double gravity_step) const {
  const double* b = b_.data() + island.row_begin;
  return {law_,
          {blocks_.data() + island.block_begin, static_cast<std::size_t>(island.item_count)},
          island.rows,
          G_.data() + island.G,
          island.stride,
          b,
          std::max(velocity_scale({b, b + island.rows}, gravity_step), island.coasting_speed),
          bias_.data() + island.row_begin,
          island.roots >= 0 ? &roots_[island.roots] : nullptr};
}

void ContactRows::build(const Model& model, const Data& data, const Constraints& constraints,
                        const collision::Colliders& colliders, const collision::Contacts& contacts,
                        const RowSettings& settings, const VectorX& q, const VectorX& v,
                        const VectorX& v_free, const VectorX& v_coast) {
  constraints_ = &constraints;
  law_ = settings.law;
  items_.clear();
  idle_.clear();
  quads_.clear();
  support_.clear();
  item_blocks_.clear();
  frames_.clear();
  any_tangents_.clear();
  J_.clear();
  Builder builder{*this, model, data, constraints, settings, q, v, v_free};
  builder.equalities();
  builder.dry_friction();
  builder.limits();
  builder.contacts(colliders, contacts);
  join_islands(model.structure());
  number_rows();
  if (rows_ == 0) return;
  project(model, data);
  velocities(v_coast, b_.data());
  for (const Item& item : items_) {
    if (item.lane != 0) continue;
    for (int k = 0; k < item.quads; ++k) {
      const Quad& quad = quads_[item.quad + k];
      double* to = bias_.data() + islands_[item.island].row_begin + quad.first;
      for (int r = 0; r < quad.rows; ++r) to[r] += quad.bias[r];
    }
  }
  for (int i = 0; i < rows_; ++i) b_[i] += bias_[i];
  find_roots();
  for (const Island& island : islands_) fill_problem(island);
}

}  // namespace articula
