// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/model/concepts.hpp>
#include <brim/scheme/concepts.hpp>

#include <string_view>

/// For each concept a type that models it and nothing more: no copy, no default constructor, the least that a return
/// type may be. What compiles with them asks for no more than the concept says.
namespace test_support {

/// Converts to a `To` and can do nothing else.
template <class To>
struct only_converts {
  To value;
  constexpr operator To() const { return value; }  // NOLINT(google-explicit-constructor)
};

struct archetype_base {
  constexpr explicit archetype_base(int) {}
  archetype_base(const archetype_base&) = delete;
  archetype_base& operator=(const archetype_base&) = delete;
};

/// `pipeline_scheme`: all forwards, then all backwards, on one stage a device.
struct scheme_archetype : archetype_base {
  using archetype_base::archetype_base;
  static constexpr const char* name = "archetype";
  constexpr void order(const brim::pipeline_shape& shape, brim::device_index device, brim::order_sink& out) const {
    for (const brim::microbatch_index m : brim::microbatches(shape)) out.forward(brim::stage_of(device), m);
    for (const brim::microbatch_index m : brim::microbatches(shape)) out.backward(brim::stage_of(device), m);
  }
};

/// `pipeline_scheme` with the two optional members.
struct full_scheme_archetype : scheme_archetype {
  using scheme_archetype::scheme_archetype;
  [[nodiscard]] constexpr std::string_view refusal(const brim::pipeline_shape& shape) const {
    return shape.chunks == 1 ? "" : "no chunks";
  }
  [[nodiscard]] constexpr only_converts<brim::placement> placement(const brim::pipeline_shape& shape) const {
    return {brim::one_stage_a_device(shape)};
  }
};

/// `preparable_scheme`: the archetype above, prepared.
struct preparable_scheme_archetype : scheme_archetype {
  using scheme_archetype::scheme_archetype;
  struct prepared : archetype_base {
    using archetype_base::archetype_base;
    constexpr void order(const brim::pipeline_shape& shape, brim::device_index device, brim::order_sink& out) const {
      scheme_archetype(0).order(shape, device, out);
    }
  };
  [[nodiscard]] constexpr prepared prepare(const brim::pipeline_shape&) const { return prepared(0); }
};

/// `cost_model`: forward 1, everything else 2, transfer 3.
struct cost_archetype : archetype_base {
  using archetype_base::archetype_base;
  [[nodiscard]] constexpr only_converts<brim::ticks> duration(const brim::action& a, brim::device_index) const {
    return {a.kind == brim::action_kind::forward ? 1 : 2};
  }
  [[nodiscard]] constexpr only_converts<brim::ticks> transfer(brim::stage_index) const { return {3}; }
};

/// `preparable_cost_model`: `prepare` gives the archetype above.
struct preparable_cost_archetype : cost_archetype {
  using cost_archetype::cost_archetype;
  struct prepared {
    [[nodiscard]] constexpr only_converts<brim::ticks> duration(const brim::action& a, brim::device_index) const {
      return {a.kind == brim::action_kind::forward ? 10 : 20};
    }
    [[nodiscard]] constexpr only_converts<brim::ticks> transfer(brim::stage_index) const { return {30}; }
  };
  [[nodiscard]] constexpr prepared prepare(const brim::placement&) const { return {}; }
};

/// `memory_model`: a forward keeps one byte, a backward gives it back.
struct memory_archetype : archetype_base {
  using archetype_base::archetype_base;
  [[nodiscard]] constexpr only_converts<brim::bytes> at_start(const brim::action& a, brim::device_index) const {
    return {a.kind == brim::action_kind::forward ? 1 : 0};
  }
  [[nodiscard]] constexpr only_converts<brim::bytes> at_end(const brim::action& a, brim::device_index) const {
    return {a.kind == brim::action_kind::backward ? -1 : 0};
  }
  [[nodiscard]] constexpr only_converts<brim::bytes> resident(brim::route_index, brim::stage_index) const {
    return {100};
  }
};

}  // namespace test_support
