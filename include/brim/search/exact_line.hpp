// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/search/line_order.hpp>
#include <brim/search/line_problem.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brim {

/// What branch and bound says of a line.
struct exact_answer {
  bool complete = false;   ///< whether every order was looked at or ruled out; if not, `nodes` were used up
  bool found = false;      ///< whether there is an order of at most the length that was asked for
  ticks length = 0;        ///< of the shortest such order; with `complete`, no order is shorter
  std::int64_t nodes = 0;  ///< actions placed

  friend constexpr bool operator==(const exact_answer&, const exact_answer&) = default;
};

namespace detail {

/// Places one action after another in order of their starts, each as early as it can, and goes back where the rest cannot
/// end in time. An action is not placed after a gap that could have held a half of a backward as a whole: that half could move
/// there, which only frees memory and results earlier.
class branch_and_bound {
 public:
  branch_and_bound(const line_problem& problem, std::int64_t nodes)
      : problem_(problem),
        count_(problem.devices.size()),
        row_(static_cast<std::size_t>(problem.microbatches)),
        m_(problem.microbatches),
        most_nodes_(nodes),
        lanes_(count_),
        forwards_(count_ * row_ + 1),
        gradients_(count_ * row_ + 1),
        order_(count_, row_) {
    for (std::size_t d = 0; d < count_; ++d) {
      origins_.push_back(problem.origin(d));
      const line_device& here = problem.devices[d];
      if (here.forward == 0 || here.backward_input == 0 || here.backward_weight == 0) instant_ = true;
    }
  }

  /// Pre: `limit` is a length that the search may not exceed.
  exact_answer run(ticks limit, line_order* best) {
    limit_ = limit;
    best_ = best;
    place_next(0, 0);
    answer_.complete = answer_.nodes < most_nodes_;
    return answer_;
  }

 private:
  struct lane {
    ticks free = 0;
    std::int32_t forwards = 0, inputs = 0, weights = 0;
  };
  static constexpr ticks never = -1;

  [[nodiscard]] ticks start_of(std::size_t d, std::uint8_t kind) const {
    const lane& here = lanes_[d];
    const line_device& costs = problem_.devices[d];
    if (kind == forward_kind) {
      if (here.forwards == m_ || (d > 0 && here.forwards == lanes_[d - 1].forwards)) return never;
      const bytes used = (here.forwards + 1 - here.inputs) * costs.taken + (here.inputs - here.weights) * costs.kept;
      if (used > costs.limit) return never;
      return d == 0 ? here.free : std::max(here.free, forwards_[d * row_ + static_cast<std::size_t>(here.forwards)]);
    }
    if (kind == backward_weight_kind) return here.weights < here.inputs ? here.free : never;
    if (here.inputs == here.forwards) return never;
    if (d + 1 == count_) return here.free;
    if (here.inputs == lanes_[d + 1].inputs) return never;
    return std::max(here.free, gradients_[d * row_ + static_cast<std::size_t>(here.inputs)]);
  }

  /// Whether the rest can still end within the limit: each device has its work left, and results of the last microbatch have
  /// to go down and come back.
  [[nodiscard]] bool hopeful() const {
    std::array<ticks, 2> before{};  // end of the last forward above
    ticks down = 0;
    for (std::size_t d = 0; d < count_; ++d) {
      const lane& here = lanes_[d];
      const line_device& costs = problem_.devices[d];
      if (here.forwards < m_) {
        down = std::max(here.free + (m_ - here.forwards) * costs.forward, before[0] + costs.forward);
        before[0] = down + costs.hop;
      } else {
        before[0] = 0;
      }
    }
    ticks up = down;
    for (std::size_t d = count_; d-- > 0;) {
      const lane& here = lanes_[d];
      const line_device& costs = problem_.devices[d];
      ticks end = here.free;
      if (here.inputs < m_) {
        end += (m_ - here.forwards) * costs.forward + (m_ - here.inputs) * costs.backward_input;
        end = std::max(end, up + costs.backward_input);
        up = end + (d > 0 ? problem_.devices[d - 1].hop : 0);
        end = std::max(end + costs.backward_weight, here.free + (m_ - here.forwards) * costs.forward +
                                                        (m_ - here.inputs) * costs.backward_input +
                                                        (m_ - here.weights) * costs.backward_weight);
      } else {
        end += (m_ - here.weights) * costs.backward_weight;
        up = 0;
      }
      if (end - origins_[d] > limit_) return false;
    }
    return true;
  }

  void place_next(ticks last_start, std::size_t last_device) {
    if (!hopeful()) return;
    bool complete = true;
    for (std::size_t d = 0; d < count_; ++d) {
      if (lanes_[d].weights < m_) complete = false;
      const std::array starts{start_of(d, 0), start_of(d, 1), start_of(d, 2)};
      for (std::uint8_t kind = 0; kind < 3; ++kind) {
        const ticks start = starts[kind];
        if (start == never || start < last_start) continue;
        if (start == last_start && d < last_device && !instant_) continue;
        if (gap_wasted(d, start, starts)) continue;
        if (answer_.nodes >= most_nodes_) return;
        ++answer_.nodes;
        place(d, kind, start);
      }
    }
    if (complete) accept();
  }
  [[nodiscard]] bool gap_wasted(std::size_t d, ticks start, const std::array<ticks, 3>& starts) const {
    const line_device& costs = problem_.devices[d];
    const bool weight = starts[2] != never && costs.backward_weight > 0 && starts[2] + costs.backward_weight <= start;
    const bool input = starts[1] != never && costs.backward_input > 0 && starts[1] + costs.backward_input <= start;
    return weight || input;
  }

  void place(std::size_t d, std::uint8_t kind, ticks start) {
    lane& here = lanes_[d];
    const lane saved = here;
    const line_device& costs = problem_.devices[d];
    order_.put(d,
               static_cast<std::size_t>(here.forwards) + static_cast<std::size_t>(here.inputs) +
                   static_cast<std::size_t>(here.weights),
               kind);
    if (kind == forward_kind) {
      here.free = start + costs.forward;
      if (d + 1 < count_) forwards_[(d + 1) * row_ + static_cast<std::size_t>(here.forwards)] = here.free + costs.hop;
      ++here.forwards;
    } else if (kind == backward_input_kind) {
      here.free = start + costs.backward_input;
      if (d > 0)
        gradients_[(d - 1) * row_ + static_cast<std::size_t>(here.inputs)] = here.free + problem_.devices[d - 1].hop;
      ++here.inputs;
    } else {
      here.free = start + costs.backward_weight;
      ++here.weights;
    }
    place_next(start, d);
    lanes_[d] = saved;
  }

  void accept() {
    ticks length = 0;
    for (std::size_t d = 0; d < count_; ++d) length = std::max(length, lanes_[d].free - origins_[d]);
    if (length > limit_) return;
    answer_.found = true;
    answer_.length = length;
    if (best_ != nullptr) *best_ = order_;
    limit_ = length - 1;  // from here on only shorter ones
  }

  const line_problem& problem_;
  std::size_t count_;
  std::size_t row_;
  std::int32_t m_;
  std::int64_t most_nodes_;
  ticks limit_ = 0;
  bool instant_ = false;  ///< there are actions that take no time: several may start at once
  std::vector<lane> lanes_;
  std::vector<ticks> forwards_;
  std::vector<ticks> gradients_;
  std::vector<ticks> origins_{};
  line_order order_;
  line_order* best_ = nullptr;
  exact_answer answer_{};
};

}  // namespace detail

/// The shortest schedule of at most `limit` ticks, by branch and bound; for a few microbatches on a few devices. The certificate:
/// `complete` and not `found` says that no order is that short; `complete` and `found`, that none is shorter than
/// `length`. Complexity: exponential; stops after `nodes` placed actions.
[[nodiscard]] inline exact_answer solve_exactly(const line_problem& problem, ticks limit, std::int64_t nodes,
                                                detail::line_order* best = nullptr) {
  return detail::branch_and_bound(problem, nodes).run(limit, best);
}

}  // namespace brim
