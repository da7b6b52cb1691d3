// SPDX-License-Identifier: Apache-2.0
#include "samples.hpp"

#include <doctest/doctest.h>
#include <brim/optimizer/kept_parameters.hpp>
#include <brim/optimizer/kept_residues.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<int> allocations{0};
}

// NOLINTBEGIN: counts what the program allocates
void* operator new(std::size_t size) {
  ++allocations;
  if (void* room = std::malloc(size == 0 ? 1 : size)) return room;
  std::abort();
}
void operator delete(void* room) noexcept { std::free(room); }
void operator delete(void* room, std::size_t) noexcept { std::free(room); }
// NOLINTEND

using namespace test_support;

TEST_CASE("no step, undo, keep or norm allocates") {
  std::mt19937 random(10);
  constexpr std::size_t size = 1000;
  for_each_optimizer([&](const char* name, const auto& optimizer) {
    CAPTURE(name);
    auto t = make_tensor(optimizer, mild<float>(random, size, 0.02));
    t.gradient = mild<float>(random, size, 1e-3);
    brim::kept_residues<float> residues(size, size);
    brim::kept_parameters<float> copies(size);
    const int before = allocations;
    const brim::grad_scale scale = scale_of(brim::norm_of(std::span<const float>(t.gradient)), {.max_norm = 1e-3});
    step(optimizer, t.state, residues, t.parameters, t.gradient, {});
    undo(optimizer, t.state, residues, t.parameters, t.gradient);
    step(optimizer, t.state, copies, t.parameters, t.gradient, scale);
    undo(optimizer, t.state, copies, t.parameters, t.gradient);
    step(optimizer, t.state, copies, t.parameters, t.gradient, scale);
    keep(optimizer, t.state, t.gradient);
    const int after = allocations;
    CHECK(after == before);
  });
  const int before = allocations;
  const std::vector<float> counted(1000);
  CHECK(allocations > before);  // the counter can fail
}
