// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/concepts.hpp>
#include <brim/fill/work.hpp>
#include <brim/model/profile.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace brim {

/// Whether the replicas of a stage divide its refreshes among themselves.
enum class refresh_sharing : std::uint8_t {
  divided,   ///< each layer is refreshed and preconditioned by one replica, the results are shared
  repeated,  ///< every replica does all layers of its stage
};

/// Whether the damping of one side needs the trace of the other (π-damping, Martens and Grosse 2015, section 6.3).
enum class damping_split : std::uint8_t {
  pi,           ///< a layer's inversions wait for both of its statistics
  independent,  ///< each inversion waits for the statistic of its own side
};

/// The work of K-FAC on the layers of a profile: per microbatch an input-side statistic after the forward and an output-side
/// one after the backward, an inversion of each side after all microbatches of the step, preconditioning at the end of
/// every step.
///
/// Replicas of a stage are the holders on all routes (Chimera's twins) times `replicas`. Each holder takes the statistics of
/// its own microbatches; the sums are synchronised; the inversions are divided so that the lanes' work is as equal as whole
/// layers allow.
struct kfac_work {
  brim::profile profile;
  std::int32_t replicas = 1;  ///< data-parallel copies of the whole pipeline
  refresh_sharing sharing = refresh_sharing::divided;
  damping_split damping = damping_split::pi;
  ticks sync_statistic = 0;  ///< time of an asynchronous sum of one side of one layer over the replicas

  /// Errors: `bad_profile` where the profile does not fit the timeline or names no layers.
  [[nodiscard]] work_set work(const timeline_view& pipeline, const cut_limits& limits) const;
};
static_assert(work_source<kfac_work>);

namespace detail {

/// Builds the work set of `kfac_work` stage by stage, layer by layer.
class kfac_builder {
 public:
  kfac_builder(const kfac_work& source, const timeline_view& pipeline, const cut_limits& limits)
      : source_(source),
        pipeline_(pipeline),
        limits_(limits),
        lane_count_(source.replicas * pipeline.shape.devices) {}

  work_set build() {
    check();
    out_.replicas = source_.replicas;
    find_releases();
    assign_owners();
    for (std::int32_t s = 0; s < pipeline_.stages; ++s)
      for (std::size_t l = 0; l < layers(s).size(); ++l) add_unit(s, static_cast<std::int32_t>(l));
    add_tail();
    return std::move(out_);
  }

 private:
  /// A lane that holds a stage, and the data that its own microbatches release.
  struct holder {
    std::int32_t lane;
    route_index route;
    std::vector<work_release> inputs;  ///< for the input side, by time
    std::vector<work_release> errors;  ///< for the output side, by time
  };

  [[nodiscard]] const std::vector<layer_profile>& layers(std::int32_t s) const {
    return source_.profile.stage(stage_index(s)).layers;
  }
  [[nodiscard]] device_index device_of(std::int32_t lane) const { return device_index(lane % pipeline_.shape.devices); }
  [[nodiscard]] ticks on_lane(ticks time, std::int32_t lane) const {
    return source_.profile.on_device(time, device_of(lane));
  }

  void check() const {
    if (source_.replicas < 1 || source_.replicas > 4096)
      raise(error_code::bad_profile, text("kfac_work: replicas is ", source_.replicas, "; expected 1 … 4096"));
    if (source_.sync_statistic < 0 || source_.sync_statistic > longest_duration)
      raise(error_code::bad_profile,
            text("kfac_work: sync_statistic is ", source_.sync_statistic, " ticks; expected 0 … 2^50"));
    placement where{
        .devices = pipeline_.shape.devices, .routes = pipeline_.routes, .stages = pipeline_.stages, .holders = {}};
    where.holders.assign(pipeline_.holders.begin(), pipeline_.holders.end());
    check_profile(source_.profile, where);
    bool any = false;
    for (std::int32_t s = 0; s < pipeline_.stages; ++s) {
      any = any || !layers(s).empty();
      for (std::size_t l = 0; l < layers(s).size(); ++l) {
        const layer_profile& layer = layers(s)[l];
        check_used(s, l, "a", layer.statistic_a, layer.refresh_a);
        check_used(s, l, "b", layer.statistic_b, layer.refresh_b);
      }
    }
    if (!any)
      raise(error_code::bad_profile,
            "kfac_work: the profile lists no layers, so there is nothing to refresh; add stages[].layers");
  }

  void check_used(std::int32_t s, std::size_t l, const char* which, ticks statistic, ticks refresh) const {
    if (statistic > 0 && refresh == 0)
      raise(error_code::bad_profile,
            text("kfac_work: stage ", s, ", layer ", l, " (", layers(s)[l].name, "): statistic.", which, " is ",
                 statistic, " ticks and refresh.", which, " is 0, so nothing would use it"),
            {.stage = s, .layer = static_cast<std::int32_t>(l)});
  }

  /// Inputs exist after the forward, errors after the (input half of the) backward; both would be freed at the end of the
  /// whole backward.
  void find_releases() {
    holders_.resize(static_cast<std::size_t>(pipeline_.stages));
    for (std::int32_t s = 0; s < pipeline_.stages; ++s)
      for (std::int32_t replica = 0; replica < source_.replicas; ++replica)
        for (std::int32_t r = 0; r < pipeline_.routes; ++r)
          holders_[static_cast<std::size_t>(s)].push_back(
              {replica * pipeline_.shape.devices + pipeline_.device_of(route_index(r), stage_index(s)).value,
               route_index(r),
               {},
               {}});
    const auto cell = [&](const action& a) {
      return a.stage.at() * static_cast<std::size_t>(pipeline_.shape.microbatches) + a.microbatch.at();
    };
    std::vector<ticks> freed(
        static_cast<std::size_t>(pipeline_.stages) * static_cast<std::size_t>(pipeline_.shape.microbatches), 0);
    for (std::size_t i = 0; i < pipeline_.actions.size(); ++i) {
      const action_kind kind = pipeline_.actions[i].kind;
      if (kind == action_kind::backward || kind == action_kind::backward_weight)
        freed[cell(pipeline_.actions[i])] = pipeline_.times[i].end;
    }
    for (std::size_t i = 0; i < pipeline_.actions.size(); ++i) {
      const action& a = pipeline_.actions[i];
      if (a.kind == action_kind::backward_weight) continue;
      for (holder& h : holders_[a.stage.at()])
        if (h.route == a.route)
          (a.kind == action_kind::forward ? h.inputs : h.errors)
              .push_back({pipeline_.times[i].end, freed[cell(a)], a.microbatch});
    }
  }

  /// Longest layers first, each to the lane with the least work so far among those that hold its stage.
  void assign_owners() {
    struct candidate {
      std::int32_t stage, layer;
      ticks work;
    };
    std::vector<candidate> all;
    owners_.resize(static_cast<std::size_t>(pipeline_.stages));
    for (std::int32_t s = 0; s < pipeline_.stages; ++s) {
      owners_[static_cast<std::size_t>(s)].resize(layers(s).size());
      for (std::size_t l = 0; l < layers(s).size(); ++l)
        all.push_back({s, static_cast<std::int32_t>(l),
                       layers(s)[l].refresh_a + layers(s)[l].refresh_b + layers(s)[l].precondition});
    }
    std::stable_sort(all.begin(), all.end(), [](const candidate& a, const candidate& b) { return a.work > b.work; });
    std::vector<ticks> load(static_cast<std::size_t>(lane_count_), 0);
    for (const candidate& c : all) {
      std::vector<std::int32_t>& owners = owners_[static_cast<std::size_t>(c.stage)][static_cast<std::size_t>(c.layer)];
      const std::vector<holder>& holders = holders_[static_cast<std::size_t>(c.stage)];
      const holder* least = nullptr;
      for (const holder& h : holders) {
        if (h.inputs.empty()) continue;  // a route without microbatches has no part in the sums
        if (source_.sharing == refresh_sharing::repeated) owners.push_back(h.lane);
        if (least == nullptr || load[static_cast<std::size_t>(h.lane)] < load[static_cast<std::size_t>(least->lane)])
          least = &h;
      }
      if (least == nullptr) continue;
      if (source_.sharing == refresh_sharing::divided) owners.push_back(least->lane);
      for (const std::int32_t lane : owners) {
        ticks& sum = load[static_cast<std::size_t>(lane)];
        sum = std::min(sum + on_lane(c.work, lane), longest_schedule);
      }
    }
  }

  void add_unit(std::int32_t s, std::int32_t l) {
    const layer_profile& layer = layers(s)[static_cast<std::size_t>(l)];
    work_unit unit{.stage = stage_index(s),
                   .layer = layer_index(l),
                   .first_batch = static_cast<std::uint32_t>(out_.batches.size()),
                   .batch_count = 0,
                   .gates = 0};
    const bool joint = source_.damping == damping_split::pi && layer.refresh_a > 0 && layer.refresh_b > 0;
    const std::int32_t gate_a = 0;
    const std::int32_t gate_b = joint ? 0 : 1;
    const ticks following_a = layer.refresh_a + (joint ? layer.refresh_b : 0);
    const ticks following_b = layer.refresh_b + (joint ? layer.refresh_a : 0);
    for (const holder& h : holders_[static_cast<std::size_t>(s)]) {
      if (layer.refresh_a > 0)
        add_statistic(s, l, h, side::a, layer.statistic_a, layer.saved_inputs, gate_a, following_a);
      if (layer.refresh_b > 0)
        add_statistic(s, l, h, side::b, layer.statistic_b, layer.saved_errors, gate_b, following_b);
    }
    for (const std::int32_t lane : owners_[static_cast<std::size_t>(s)][static_cast<std::size_t>(l)]) {
      add_refresh(s, l, lane, side::a, layer.refresh_a, gate_a);
      add_refresh(s, l, lane, side::b, layer.refresh_b, gate_b);
    }
    unit.batch_count = static_cast<std::uint32_t>(out_.batches.size()) - unit.first_batch;
    unit.gates = joint ? 1 : 2;
    if (unit.batch_count == 0) return;
    out_.units.push_back(unit);
    out_.names.push_back(layer.name);
  }

  [[nodiscard]] work_batch batch(std::int32_t s, std::int32_t l, action_kind kind, side which, route_index route,
                                 std::int32_t lane, ticks duration) const {
    return {.what = {kind, which, route, stage_index(s), microbatch_index(-1), layer_index(l)},
            .lane = lane,
            .unit = static_cast<std::int32_t>(out_.units.size()),
            .duration = std::max<ticks>(duration, 1)};
  }

  /// A statistic is a sum over rows, so it may be cut into chunks of rows: where one microbatch is too long for every bubble,
  /// and where shorter pieces are wanted.
  void add_statistic(std::int32_t s, std::int32_t l, const holder& h, side which, ticks time, bytes kept,
                     std::int32_t gate, ticks following) {
    const std::vector<work_release>& releases = which == side::a ? h.inputs : h.errors;
    if (releases.empty()) return;
    const ticks whole = on_lane(time, h.lane);
    const ticks chunk = limits_.chunk_of(h.lane);
    const ticks longest = chunk > 0 ? chunk : limits_.longest_bubble_of(h.lane);
    const std::int64_t chunks = longest > 0 && whole > longest ? (whole + longest - 1) / longest : 1;
    work_batch b = batch(s, l, action_kind::statistic, which, h.route, h.lane, (whole + chunks - 1) / chunks);
    b.pieces = checked_pieces(b, static_cast<std::int64_t>(releases.size()), chunks);
    b.division = static_cast<std::int32_t>(chunks);
    b.first_release = static_cast<std::uint32_t>(out_.releases.size());
    b.release_count = static_cast<std::uint32_t>(releases.size());
    b.signals = gate;
    b.following = on_lane(following, h.lane);
    b.kept = kept;
    out_.releases.insert(out_.releases.end(), releases.begin(), releases.end());
    out_.batches.push_back(b);
  }

  /// Errors: `item_too_long` where the bubbles are so short that the pieces would be beyond number.
  [[nodiscard]] static std::int32_t checked_pieces(const work_batch& b, std::int64_t items, std::int64_t pieces) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    if (pieces > most / items)
      raise(error_code::item_too_long,
            text("kfac_work: ", name_of(b.what.kind), " ", name_of(b.what.side), " of stage ", b.what.stage.value,
                 ", layer ", b.what.layer.value, " would be cut into ", pieces,
                 " pieces to fit the bubbles of its device; at most 2^24 are planned"),
            {.stage = b.what.stage.value, .layer = b.what.layer.value});
    return static_cast<std::int32_t>(items * pieces);
  }

  /// Panels of equal length: a blocked factorisation may stop between panels.
  void add_refresh(std::int32_t s, std::int32_t l, std::int32_t lane, side which, ticks time, std::int32_t gate) {
    if (time == 0) return;
    const ticks whole = on_lane(time, lane);
    const ticks panel = limits_.panel_of(lane);
    const std::int64_t panels = panel > 0 ? (whole + panel - 1) / panel : 1;
    work_batch b = batch(s, l, action_kind::refresh, which, route_of(s, lane), lane, (whole + panels - 1) / panels);
    b.pieces = checked_pieces(b, 1, panels);
    b.waits = gate;
    b.delay = holders_[static_cast<std::size_t>(s)].size() > 1 ? source_.sync_statistic : 0;
    out_.batches.push_back(b);
  }

  [[nodiscard]] route_index route_of(std::int32_t s, std::int32_t lane) const {
    for (const holder& h : holders_[static_cast<std::size_t>(s)])
      if (h.lane == lane) return h.route;
    return route_index(0);
  }

  /// At the end of a step: the gradient sums of stages that have several holders, preconditioning by the owners, the shared
  /// results, the update of the weights; also where they take no time, because others wait for them. Collectives run on
  /// the links and take no time of the device here.
  void add_tail() {
    for (std::int32_t lane = 0; lane < lane_count_; ++lane) {
      for_each_held(lane, [&](std::int32_t s, const holder& h) {
        if (shared(s)) add_tail_work(action_kind::sync_gradient, h, s, -1, 0);
      });
      for_each_held(lane, [&](std::int32_t s, const holder& h) {
        for (std::size_t l = 0; l < layers(s).size(); ++l) {
          const std::vector<std::int32_t>& owners = owners_[static_cast<std::size_t>(s)][l];
          if (is_conditioned(s, l) && std::find(owners.begin(), owners.end(), lane) != owners.end())
            add_tail_work(action_kind::precondition, h, s, static_cast<std::int32_t>(l),
                          on_lane(layers(s)[l].precondition, lane));
        }
      });
      for_each_held(lane, [&](std::int32_t s, const holder& h) {
        for (std::size_t l = 0; l < layers(s).size(); ++l)
          if (is_conditioned(s, l) &&
              owners_[static_cast<std::size_t>(s)][l].size() < holders_[static_cast<std::size_t>(s)].size())
            add_tail_work(action_kind::sync_gradient, h, s, static_cast<std::int32_t>(l), 0);
      });
      for_each_held(lane, [&](std::int32_t s, const holder& h) {
        add_tail_work(action_kind::optimizer_step, h, s, -1,
                      on_lane(source_.profile.stage(stage_index(s)).cost.optimizer_step, lane));
      });
    }
  }

  [[nodiscard]] bool is_conditioned(std::int32_t s, std::size_t l) const {
    const layer_profile& layer = layers(s)[l];
    return layer.refresh_a > 0 || layer.refresh_b > 0 || layer.precondition > 0;
  }

  [[nodiscard]] bool shared(std::int32_t s) const { return holders_[static_cast<std::size_t>(s)].size() > 1; }

  template <class Use>
  void for_each_held(std::int32_t lane, Use use) {
    for (std::int32_t s = 0; s < pipeline_.stages; ++s)
      for (const holder& h : holders_[static_cast<std::size_t>(s)])
        if (h.lane == lane) use(s, h);
  }

  void add_tail_work(action_kind kind, const holder& h, std::int32_t s, std::int32_t l, ticks time) {
    out_.tail.push_back(
        {{kind, side::none, h.route, stage_index(s), microbatch_index(-1), layer_index(l)}, h.lane, time});
  }

  const kfac_work& source_;
  const timeline_view& pipeline_;
  const cut_limits& limits_;
  std::int32_t lane_count_;
  std::vector<std::vector<holder>> holders_;  ///< by stage
  std::vector<std::vector<std::vector<std::int32_t>>>
      owners_;  ///< by stage and layer: lanes that refresh and precondition
  work_set out_;
};

}  // namespace detail

inline work_set kfac_work::work(const timeline_view& pipeline, const cut_limits& limits) const {
  return detail::kfac_builder(*this, pipeline, limits).build();
}

}  // namespace brim
