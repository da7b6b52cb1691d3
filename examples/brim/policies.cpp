// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"

#include <brim/fill/fill.hpp>

#include <tuple>

namespace tool {
namespace {

using namespace brim::fills;

constexpr std::tuple<oldest_longest, earliest_deadline, first_fit, best_fit, pipefisher_rule> all{};

}  // namespace

std::vector<std::string> policy_names() {
  return std::apply([](const auto&... policy) { return std::vector<std::string>{std::string(policy.name)...}; }, all);
}

brim::filled fill_named(std::string_view policy, const brim::timeline& pipeline, const brim::kfac_work& work,
                        const brim::fill_options& options) {
  brim::filled made;
  const auto try_one = [&](const auto& one) {
    if (one.name != policy) return false;
    made = brim::fill(pipeline, work, one, options);
    return true;
  };
  const bool found = std::apply([&](const auto&... one) { return (try_one(one) || ...); }, all);
  BRIM_EXPECT(found);
  return made;
}

}  // namespace tool
