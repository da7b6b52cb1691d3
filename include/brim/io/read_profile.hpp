// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/io/file.hpp>
#include <brim/io/json_cursor.hpp>
#include <brim/io/units.hpp>
#include <brim/model/profile.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace brim::detail {

/// The greatest numbers of things that a profile file may expand to with all its `count`s.
inline constexpr std::size_t most_profile_stages = std::size_t{1} << 16;
inline constexpr std::size_t most_profile_layers = std::size_t{1} << 18;
inline constexpr std::size_t most_profile_devices = std::size_t{1} << 16;

class profile_reader {
 public:
  profile_reader(const json_tape& tape, std::string_view origin) : in_(tape, origin) {}

  profile read() {
    profile made;
    json_cursor::postponed stages;
    json_cursor::postponed links;
    json_cursor::postponed devices;
    in_.object(required_field("format", [&] { format(); }),
               optional_field("name", [&] { made.name = in_.string(1024); }),
               optional_field("source", [&] { made.source = in_.string(4096); }),
               optional_field("time_unit", [&] { time_scale_ = unit(time_units); }),
               optional_field("memory_unit", [&] { memory_scale_ = unit(memory_units); }),
               required_field("stages", [&] { stages = in_.postpone(); }),
               optional_field("links", [&] { links = in_.postpone(); }),
               optional_field("devices", [&] { devices = in_.postpone(); }));
    in_.go_back(stages);  // the units are known now
    in_.array([&](std::size_t) { stage(made.stages); });
    if (made.stages.empty()) in_.fail_field("there are no stages; expected at least one");
    if (links.at != 0) {
      in_.go_back(links);
      link(made.links);
    }
    if (devices.at != 0) {
      in_.go_back(devices);
      in_.array([&](std::size_t) { device(made.devices); });
      if (made.devices.empty()) in_.fail_field("there are no devices; expected at least one, or no such field");
    }
    return made;
  }

 private:
  static constexpr ticks unknown = -1;

  void format() {
    if (in_.string(64) != "brim.profile/1") in_.fail_field("unknown format; expected \"brim.profile/1\"");
  }
  template <class Units>
  std::int64_t unit(const Units& units) {
    const std::string_view name = in_.string(16);
    std::string expected;
    for (const named_unit& u : units) {
      if (u.name == name) return u.scale;
      expected += text(expected.empty() ? "" : ", ", u.name);
    }
    in_.fail_field(text("unknown unit ", in_.quoted(name), "; expected one of ", expected));
  }
  ticks time() { return in_.scaled(time_scale_, longest_duration, "a time from 0 to 2^50 ns"); }
  bytes memory() { return in_.scaled(memory_scale_, largest_memory, "an amount from 0 to 2^50 bytes"); }
  std::int64_t count() { return in_.integer(1, std::int64_t{1} << 16); }

  void stage(std::vector<stage_profile>& stages) {
    stage_profile made;
    std::int64_t copies = 1;
    stage_cost& cost = made.cost;
    cost = {.forward = 0,
            .backward = unknown,
            .backward_input = unknown,
            .backward_weight = unknown,
            .recompute = unknown,
            .optimizer_step = 0};
    in_.object(optional_field("count", [&] { copies = count(); }),
               required_field("forward", [&] { cost.forward = time(); }),
               optional_field("backward", [&] { cost.backward = time(); }),
               optional_field("backward_input", [&] { cost.backward_input = time(); }),
               optional_field("backward_weight", [&] { cost.backward_weight = time(); }),
               optional_field("recompute", [&] { cost.recompute = time(); }),
               optional_field("optimizer_step", [&] { cost.optimizer_step = time(); }),
               optional_field("memory", [&] { stage_keeps(made.memory); }),
               optional_field("layers", [&] { in_.array([&](std::size_t) { layer(made.layers); }); }));
    backward(cost);
    if (cost.recompute == unknown) cost.recompute = cost.forward;
    const auto times = static_cast<std::size_t>(copies);
    if (times > most_profile_stages - stages.size())
      in_.fail_field(text("more than ", most_profile_stages, " stages in all, which is the limit"));
    if (made.layers.size() > (most_profile_layers - layers_) / times)
      in_.fail_field(text("more than ", most_profile_layers, " layers in all, which is the limit"));
    layers_ += made.layers.size() * times;
    stages.insert(stages.end(), times, made);
  }

  /// Completes the backward from its halves or the halves from it.
  void backward(stage_cost& cost) const {
    ticks& whole = cost.backward;
    ticks& input = cost.backward_input;
    ticks& weight = cost.backward_weight;
    if (whole == unknown) {
      if (input == unknown && weight == unknown)
        in_.fail_field("backward is missing, and required (or backward_input and backward_weight)");
      if (input == unknown) in_.fail_field("backward_input is missing, and required where there is no backward");
      if (weight == unknown) in_.fail_field("backward_weight is missing, and required where there is no backward");
      whole = input + weight;
      if (whole > longest_duration) in_.fail_field("backward_input + backward_weight is more than 2^50 ns");
    } else if (input == unknown && weight == unknown) {
      weight = whole / 2;
      input = whole - weight;
    } else if (input == unknown || weight == unknown) {
      ticks& other = input == unknown ? input : weight;
      other = whole - (input == unknown ? weight : input);
      if (other < 0) in_.fail_field("one half of the backward is longer than the whole");
    }
  }

  void stage_keeps(stage_memory& keeps) {
    bytes input = unknown;
    bytes weight = unknown;
    in_.object(optional_field("weights", [&] { keeps.weights = memory(); }),
               optional_field("activations", [&] { keeps.activations = memory(); }),
               optional_field("released_by_backward_input", [&] { input = memory(); }),
               optional_field("released_by_backward_weight", [&] { weight = memory(); }));
    const bytes all = keeps.activations;
    if (input == unknown) input = weight == unknown ? 0 : all - weight;
    if (weight == unknown) weight = all - input;
    constexpr bytes rounding = 1;  // of fractional units
    if (input < 0 || weight < 0 || input > all || weight > all - input + rounding)
      in_.fail_field("the halves of the backward release more than the activations");
    keeps.released_by_backward_input = input;
    keeps.released_by_backward_weight = weight;
  }

  void layer(std::vector<layer_profile>& layers) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    layer_profile made;
    std::int64_t copies = 1;
    in_.object(optional_field("name", [&] { made.name = in_.string(256); }),
               optional_field("count", [&] { copies = count(); }),
               optional_field("inputs", [&] { made.inputs = static_cast<std::int32_t>(in_.integer(0, most)); }),
               optional_field("outputs", [&] { made.outputs = static_cast<std::int32_t>(in_.integer(0, most)); }),
               optional_field("statistic", [&] { sides(made.statistic_a, made.statistic_b); }),
               optional_field("refresh", [&] { sides(made.refresh_a, made.refresh_b); }),
               optional_field("precondition", [&] { made.precondition = time(); }), optional_field("memory", [&] {
                 in_.object(optional_field("saved_inputs", [&] { made.saved_inputs = memory(); }),
                            optional_field("saved_errors", [&] { made.saved_errors = memory(); }),
                            optional_field("factors", [&] { made.factors = memory(); }));
               }));
    const auto times = static_cast<std::size_t>(copies);
    if (times > most_profile_layers - layers.size())
      in_.fail_field(text("more than ", most_profile_layers, " layers, which is the limit"));
    layers.insert(layers.end(), times, made);
  }
  void sides(ticks& a, ticks& b) {
    in_.object(optional_field("a", [&] { a = time(); }), optional_field("b", [&] { b = time(); }));
  }

  void link(link_profile& made) {
    in_.object(optional_field("latency", [&] { made.latency = time(); }), optional_field("p2p", [&] {
                 if (!in_.at_array())
                   made.p2p.push_back(time());
                 else
                   in_.array([&](std::size_t at) {
                     if (at >= most_profile_stages)
                       in_.fail_field(text("more than ", most_profile_stages, " boundaries, which is the limit"));
                     made.p2p.push_back(time());
                   });
               }));
  }

  void device(std::vector<device_profile>& devices) {
    device_profile made;
    std::int64_t copies = 1;
    in_.object(optional_field("count", [&] { copies = count(); }),
               optional_field("speed", [&] { made.speed = in_.number(1e-6, 1e6, "a number from 1e-6 to 1e6"); }),
               optional_field("memory", [&] { made.memory = memory(); }));
    const auto times = static_cast<std::size_t>(copies);
    if (times > most_profile_devices - devices.size())
      in_.fail_field(text("more than ", most_profile_devices, " devices in all, which is the limit"));
    devices.insert(devices.end(), times, made);
  }

  json_cursor in_;
  std::int64_t time_scale_ = 1;
  std::int64_t memory_scale_ = 1;
  std::size_t layers_ = 0;
};

}  // namespace brim::detail

namespace brim::io {

/// Reads a profile (`brim.profile/1`, docs/reference/io.md) from JSON text. `origin` is how errors call the text.
///
/// Times become nanoseconds and amounts bytes, rounded to the nearest one. Complexity: linear; at most 64 MiB of text.
/// Errors: `bad_file`, with line and column where the text is not JSON, otherwise with the path of the field
/// (`stages[2].layers[0].refresh.a`), its value and what was expected.
[[nodiscard]] inline profile parse_profile(std::string_view text, std::string_view origin = "profile") {
  const detail::json_tape tape = detail::read_json(text, origin, {});
  return detail::profile_reader(tape, origin).read();
}

/// `parse_profile` of a file. Errors: also `io_failure`.
[[nodiscard]] inline profile read_profile(const std::filesystem::path& path) {
  return parse_profile(read_file(path, detail::json_limits{}.size), path.string());
}

}  // namespace brim::io
