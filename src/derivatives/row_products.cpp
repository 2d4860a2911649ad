#include "row_products.hpp"

#include <algorithm>

#include "articula/math/strips.hpp"
#include "math/transpose.hpp"

namespace articula {

void RowProducts::list(const ContactRows& rows, const Constraints& constraints,
                       const std::vector<char>& wanted) {
  groups_.clear();
  runs_.clear();
  for (const Item& item : rows.items()) {
    if (item.lane != 0) continue;
    for (int k = item.quad; k < item.quad + item.quads; ++k) {
      const Quad& quad = rows.quads()[k];
      const int first = rows.islands()[item.island].row_begin + quad.first;
      Group group{.begin = static_cast<int>(runs_.size())};
      for (int r = 0; r < quad.rows; ++r) {
        if (!wanted[first + r]) continue;
        group.lane[group.rows] = r;
        group.row[group.rows++] = first + r;
      }
      if (group.rows == 0) continue;
      for (int side = 0; side < 2; ++side) {
        if (quad.tree[side] < 0) continue;
        const int dof = constraints.trees[quad.tree[side]].dof_begin, at = quad.at[side];
        rows.for_each_run(k, side, [&](int begin, int end) {
          runs_.push_back({dof + begin, end - begin, &rows.W()[at + begin], &rows.J()[at + begin]});
        });
      }
      group.end = static_cast<int>(runs_.size());
      groups_.push_back(group);
    }
  }
}

namespace {

// Eight columns, or four, of `rows` rows in registers.
template <int rows, int registers>
struct Tile {
  Lanes x[rows][registers];

  template <class At>
  void load(const At& at) {
    for (int r = 0; r < rows; ++r) __builtin_memcpy(x[r], at(r), sizeof x[r]);
  }
  template <class At>
  void store(const At& at) const {
    for (int r = 0; r < rows; ++r) __builtin_memcpy(at(r), x[r], sizeof x[r]);
  }
};

// Four numbers for each dof of a run, of which rows take those in their lanes.
struct Factors {
  const Lanes* numbers;
  const int* lane;
  Lanes of(int i, int r) const {
    double number;
    __builtin_memcpy(&number, reinterpret_cast<const char*>(numbers + i) + sizeof number * lane[r],
                     sizeof number);
    return broadcast(number);
  }
};

template <int rows, int registers>
void add_velocity_run(Tile<rows, registers>& sum, Factors factors, int length, const double* x, int columns) {
  for (int i = 0; i < length; ++i, x += columns) {
    Lanes column[registers];
    __builtin_memcpy(column, x, sizeof column);
    for (int r = 0; r < rows; ++r) {
      const Lanes scale = factors.of(i, r);
      for (int k = 0; k < registers; ++k) sum.x[r][k] += column[k] * scale;
    }
  }
}

template <int rows, int registers>
void add_impulse_run(const Tile<rows, registers>& own, Factors factors, int length, double* z, int columns) {
  for (int i = 0; i < length; ++i, z += columns) {
    Lanes sum[registers];
    __builtin_memcpy(sum, z, sizeof sum);
    for (int r = 0; r < rows; ++r) {
      const Lanes scale = factors.of(i, r);
      for (int k = 0; k < registers; ++k) sum[k] += own.x[r][k] * scale;
    }
    __builtin_memcpy(z, sum, sizeof sum);
  }
}

template <class Call>
void in_strips(int columns, const Call& call) {
  int c = 0;
  for (; c + 8 <= columns; c += 8) call(std::integral_constant<int, 2>{}, c);
  if (c < columns) call(std::integral_constant<int, 1>{}, c);
}

template <class Call>
void by_rows(int rows, const Call& call) {
  switch (rows) {
    case 1: call(std::integral_constant<int, 1>{}); break;
    case 2: call(std::integral_constant<int, 2>{}); break;
    case 3: call(std::integral_constant<int, 3>{}); break;
    default: call(std::integral_constant<int, 4>{}); break;
  }
}

}  // namespace

void RowProducts::add_velocities(const double* x, int columns, double* out) const {
  for (const Group& group : groups_) {
    by_rows(group.rows, [&](auto rows) {
      in_strips(columns, [&](auto registers, int c) {
        Tile<rows.value, registers.value> sum;
        const auto at = [&](int r) { return out + static_cast<std::size_t>(group.row[r]) * columns + c; };
        sum.load(at);
        for (int k = group.begin; k < group.end; ++k) {
          const Run& run = runs_[k];
          add_velocity_run(sum, {run.W, group.lane}, run.length,
                           x + static_cast<std::size_t>(run.dof) * columns + c, columns);
        }
        sum.store(at);
      });
    });
  }
}

void RowProducts::add_impulses(const double* lam, int columns, double* z) const {
  for (const Group& group : groups_) {
    by_rows(group.rows, [&](auto rows) {
      in_strips(columns, [&](auto registers, int c) {
        Tile<rows.value, registers.value> own;
        own.load([&](int r) { return lam + static_cast<std::size_t>(group.row[r]) * columns + c; });
        for (int k = group.begin; k < group.end; ++k) {
          const Run& run = runs_[k];
          add_impulse_run(own, {run.W, group.lane}, run.length,
                          z + static_cast<std::size_t>(run.dof) * columns + c, columns);
        }
      });
    });
  }
}

void RowProducts::add_jacobian(int columns, double* out) const {
  for (const Group& group : groups_) {
    for (int r = 0; r < group.rows; ++r) {
      double* row = out + static_cast<std::size_t>(group.row[r]) * columns;
      for (int k = group.begin; k < group.end; ++k) {
        const Run& run = runs_[k];
        for (int i = 0; i < run.length; ++i) row[run.dof + i] += run.J[i][group.lane[r]];
      }
    }
  }
}

namespace {

// So many rows of a product, over eight columns or four.
template <int rows, int registers>
void product_tile(const double* values, const double* const* x, int inner, int c, double* y, int y_stride) {
  Tile<rows, registers> sum;
  const auto at = [&](int r) { return y + static_cast<std::size_t>(r) * y_stride + c; };
  sum.load(at);
  for (int k = 0; k < inner; ++k, values += rows) {
    Lanes from[registers];
    __builtin_memcpy(from, x[k] + c, sizeof from);
    for (int r = 0; r < rows; ++r) {
      const Lanes scale = broadcast(values[r]);
      for (int q = 0; q < registers; ++q) sum.x[r][q] += from[q] * scale;
    }
  }
  sum.store(at);
}

template <int rows>
void product_rows(const double* a, int a_stride, int inner, const double* const* x, int columns, double* y,
                  int y_stride) {
  constexpr int most = 128;
  double values[most * rows];
  const double* from[most];
  for (int begin = 0; begin < inner;) {
    int count = 0;
    for (; begin < inner && count < most; ++begin) {
      bool any = false;
      for (int r = 0; r < rows; ++r) {
        values[count * rows + r] = a[static_cast<std::size_t>(r) * a_stride + begin];
        any = any || values[count * rows + r] != 0.0;
      }
      from[count] = x[begin];
      count += any ? 1 : 0;
    }
    in_strips(columns, [&](auto registers, int c) {
      product_tile<rows, registers.value>(values, from, count, c, y, y_stride);
    });
  }
}

}  // namespace

// Rows go by fours, so that x is read once for all of them. What is zero in each of these is left out, a good
// part of null vectors and of inverses along a tree.
void add_product(const double* a, int a_stride, int rows, int inner, const double* const* x, int columns,
                 double* y, int y_stride) {
  for (int i = 0; i < rows; i += 4) {
    by_rows(std::min(4, rows - i), [&](auto count) {
      product_rows<count.value>(a + static_cast<std::size_t>(i) * a_stride, a_stride, inner, x, columns,
                                y + static_cast<std::size_t>(i) * y_stride, y_stride);
    });
  }
}

namespace {

// store(place, four numbers of a column) and store_one(place, number). Blocks of four rows and columns; the
// last ones reach back over those before, so that none is left over.
template <class Store, class StoreOne>
void transpose_to(const double* from, int from_stride, int rows, int columns, int to_stride,
                  const Store& store, const StoreOne& store_one) {
  const auto entry = [&](int i, int j) { return from + static_cast<std::size_t>(i) * from_stride + j; };
  const auto place = [&](int i, int j) { return static_cast<std::size_t>(j) * to_stride + i; };
  if (rows < 4 || columns < 4) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) store_one(place(i, j), *entry(i, j));
    }
    return;
  }
  const auto in_fours = [](int count, const auto& call) {
    for (int k = 0; k < count; k += 4) call(std::min(k, count - 4));
  };
  in_fours(rows, [&](int i) {
    in_fours(columns, [&](int j) {
      Lanes block[4];
      for (int r = 0; r < 4; ++r) block[r] = load_lanes(entry(i + r, j));
      transpose_four(block);
      for (int c = 0; c < 4; ++c) store(place(i, j + c), block[c]);
    });
  });
}

}  // namespace

void copy_transposed(const double* from, int from_stride, int rows, int columns, double* to, int to_stride) {
  transpose_to(
      from, from_stride, rows, columns, to_stride,
      [&](std::size_t at, Lanes column) { store_lanes(to + at, column); },
      [&](std::size_t at, double x) { to[at] = x; });
}

void copy_transposed(const double* from, int from_stride, int rows, int columns, double* to, double* scaled,
                     double factor, int to_stride) {
  const Lanes scale = broadcast(factor);
  transpose_to(
      from, from_stride, rows, columns, to_stride,
      [&](std::size_t at, Lanes column) {
        store_lanes(to + at, column);
        store_lanes(scaled + at, column * scale);
      },
      [&](std::size_t at, double x) {
        to[at] = x;
        scaled[at] = factor * x;
      });
}

}  // namespace articula
