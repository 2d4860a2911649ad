#include "bench/support/allocation_counter.hpp"

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/support/allocations.hpp"

namespace articula::testing::allocation_counter_test {
namespace {

template <class T>
void keep(T* block) {
  asm volatile("" : : "r"(block) : "memory");  // an allocation nobody looks at may be optimised away
}

TEST(AllocationCounter, sees_each_way_to_the_heap) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  const auto count_and_free = [](auto allocate) {
    void* block = nullptr;
    const auto count = allocations_during([&] { keep(block = allocate()); });
    EXPECT_NE(block, nullptr);
    std::free(block);
    return count;
  };
  EXPECT_EQ(count_and_free([] { return std::malloc(8); }), 1U);
  EXPECT_EQ(count_and_free([] { return std::calloc(2, 8); }), 1U);
  EXPECT_EQ(count_and_free([] { return std::realloc(nullptr, 8); }), 1U);
  EXPECT_EQ(count_and_free([] { return std::aligned_alloc(64, 64); }), 1U);
  EXPECT_EQ(count_and_free([] {
              void* block = nullptr;
              EXPECT_EQ(posix_memalign(&block, 64, 64), 0);
              return block;
            }),
            1U);
}

TEST(AllocationCounter, sees_new_and_eigen_and_other_threads) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  EXPECT_EQ(allocations_during([] { keep(std::make_unique<int>(1).get()); }), 1U);
  EXPECT_EQ(allocations_during([] {
              Eigen::VectorXd x(100);
              keep(x.data());
            }),
            1U);
  EXPECT_GE(allocations_during([] { std::thread([] { keep(std::make_unique<int>(1).get()); }).join(); }), 2U);
}

TEST(AllocationCounter, arithmetic_allocates_nothing) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Eigen::Matrix3d a = Eigen::Matrix3d::Random();
  EXPECT_EQ(allocations_during([&] { keep((a = (a * a).eval()).data()); }), 0U);
}

}  // namespace
}  // namespace articula::testing::allocation_counter_test
