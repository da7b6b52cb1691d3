// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/text.hpp>
#include <brim/fill/filled.hpp>
#include <brim/fill/kfac_work.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

/// Judges a filled timeline by definition. It reads the table, the timeline and the numbers of the profile, and nothing
/// that the planner makes on its way: no work set, no bubbles, no run. Written naively on purpose.
namespace test_support {

/// A table of K-FAC work unrolled into absolute time, over so many cycles that one in the middle has its whole past and
/// future in sight.
class fill_judge {
 public:
  fill_judge(const brim::filled& table, const brim::timeline& pipeline, const brim::kfac_work& source,
             brim::ticks margin_permille)
      : table_(table),
        pipeline_(pipeline),
        source_(source),
        margin_permille_(margin_permille) {}

  /// What is wrong, one sentence each; empty where nothing is.
  std::vector<std::string> judge() {
    expect(table_.pipeline == pipeline_, "the pipeline has changed");
    read_timeline();
    check_tail();
    check_entries();
    if (!wrong_.empty()) return wrong_;  // what follows relies on entries that make sense
    unroll();
    check_overlaps(3);
    check_margins();
    check_layers();
    expect(seen_ == table_.work.size(), "entries belong to no layer");
    check_report();
    return wrong_;
  }

  /// The same for `cycle_length` steps that do not repeat and have no report: refreshes that start in `[first, last)` must be
  /// complete.
  std::vector<std::string> judge_steps(std::int32_t first, std::int32_t last) {
    read_timeline();
    check_tail();
    check_entries();
    if (!wrong_.empty()) return wrong_;
    sums_are_written_ = false;
    middle_ = first;
    end_ = last;
    for (const brim::placed_work& w : table_.work) add(w, 0);
    check_overlaps(1);
    check_margins();
    check_layers();
    return wrong_;
  }

 private:
  using ticks = brim::ticks;
  using kind = brim::action_kind;
  static constexpr std::size_t most_complaints = 20;

  struct cell {  ///< what the pipeline does with one microbatch on one stage
    std::int32_t route = -1;
    ticks input = -1, error = -1, freed = -1;  ///< end of the forward, of the (input half of the) backward, of all
  };
  struct piece {  ///< of an item, in absolute time
    ticks start, end;
    std::int32_t lane, index, count;
  };
  struct refresh_cycle {  ///< all entries of one layer with one statistics step
    std::map<std::tuple<brim::side, std::int32_t, std::int32_t>, std::vector<piece>>
        statistics;                                                                ///< side, replica, microbatch
    std::map<std::tuple<brim::side, std::int32_t>, std::vector<piece>> refreshes;  ///< side, lane
    std::map<std::tuple<brim::side, std::int32_t>, std::vector<piece>> sums;       ///< side, lane
    std::size_t entries = 0;
    ticks last_end = 0;
  };
  using layer_key = std::pair<std::int32_t, std::int32_t>;

  template <class... Parts>
  bool expect(bool holds, const Parts&... parts) {
    if (!holds && wrong_.size() < most_complaints) wrong_.push_back(brim::detail::text(parts...));
    return holds;
  }

  [[nodiscard]] std::int32_t devices() const { return pipeline_.program.shape.devices; }
  [[nodiscard]] std::int32_t stages() const { return pipeline_.program.where.stages; }
  [[nodiscard]] std::int32_t routes() const { return pipeline_.program.where.routes; }
  [[nodiscard]] std::int32_t microbatches() const { return pipeline_.program.shape.microbatches; }
  [[nodiscard]] std::int32_t lanes() const { return source_.replicas * devices(); }
  [[nodiscard]] std::int32_t cycle() const { return table_.cycle_length; }
  [[nodiscard]] ticks step() const { return table_.step_length; }
  [[nodiscard]] std::int32_t lane_of(const brim::placed_work& w) const {
    return w.replica * devices() + w.device.value;
  }
  [[nodiscard]] const std::vector<brim::layer_profile>& layers(std::int32_t s) const {
    return source_.profile.stage(brim::stage_index(s)).layers;
  }
  [[nodiscard]] ticks on_lane(ticks time, std::int32_t lane) const {
    return source_.profile.on_device(time, brim::device_index(lane % devices()));
  }
  [[nodiscard]] std::int32_t lane_of(std::int32_t replica, std::int32_t route, std::int32_t s) const {
    return replica * devices() +
           pipeline_.program.where.device_of(brim::route_index(route), brim::stage_index(s)).value;
  }
  [[nodiscard]] std::vector<std::int32_t> holders(std::int32_t s) const {
    std::vector<std::int32_t> out;
    for (std::int32_t replica = 0; replica < source_.replicas; ++replica)
      for (std::int32_t r = 0; r < routes(); ++r) out.push_back(lane_of(replica, r, s));
    return out;
  }
  static bool is_sync(kind k) {
    return k == kind::sync_statistic || k == kind::sync_refresh || k == kind::sync_gradient;
  }

  [[nodiscard]] static ticks statistic_time(const brim::layer_profile& l, brim::side which) {
    return which == brim::side::a ? l.statistic_a : l.statistic_b;
  }
  [[nodiscard]] static ticks refresh_time(const brim::layer_profile& l, brim::side which) {
    return which == brim::side::a ? l.refresh_a : l.refresh_b;
  }
  [[nodiscard]] bool pi() const { return source_.damping == brim::damping_split::pi; }
  static bool is_conditioned(const brim::layer_profile& l) {
    return l.refresh_a > 0 || l.refresh_b > 0 || l.precondition > 0;
  }

  void read_timeline() {
    cells_.assign(static_cast<std::size_t>(stages()), std::vector<cell>(static_cast<std::size_t>(microbatches())));
    for (std::size_t i = 0; i < pipeline_.times.size(); ++i) {
      const brim::action& a = pipeline_.program.actions[i];
      cell& c = cells_[a.stage.at()][a.microbatch.at()];
      const ticks end = pipeline_.times[i].end;
      makespan_ = std::max(makespan_, end);
      c.route = a.route.value;
      if (a.kind == kind::forward) c.input = end;
      if (a.kind == kind::backward || a.kind == kind::backward_input) c.error = end;
      if (a.kind == kind::backward || a.kind == kind::backward_weight) c.freed = end;
    }
  }

  /// When entries of the tail start: each after the one before it on its lane, the members of a collective together.
  [[nodiscard]] std::vector<ticks> tail_starts(const std::vector<brim::placed_work>& entries) const {
    std::map<std::tuple<kind, brim::stage_index, brim::layer_index>, std::vector<std::size_t>> collectives;
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (is_sync(entries[i].what.kind))
        collectives[{entries[i].what.kind, entries[i].what.stage, entries[i].what.layer}].push_back(i);
    std::vector<ticks> starts(entries.size(), makespan_);
    for (bool moved = true; moved;) {
      moved = false;
      const auto push = [&](std::size_t i, ticks to) {
        moved = moved || starts[i] < to;
        starts[i] = std::max(starts[i], to);
      };
      for (std::size_t i = 1; i < entries.size(); ++i)
        if (lane_of(entries[i]) == lane_of(entries[i - 1])) push(i, starts[i - 1] + entries[i - 1].time.length());
      for (const auto& [key, members] : collectives)
        for (const std::size_t i : members)
          for (const std::size_t j : members) push(i, starts[j]);
    }
    return starts;
  }

  /// On the path, from the end of the pipeline on: a precondition of each layer by its owner, an update by each holder.
  void check_tail() {
    tail_.assign(static_cast<std::size_t>(lanes()), 0);
    precondition_.assign(static_cast<std::size_t>(lanes()), 0);
    std::map<layer_key, std::set<std::int32_t>> preconditions;
    std::map<layer_key, std::multiset<std::int32_t>> results;
    std::map<std::pair<std::int32_t, std::int32_t>, int> updates;
    std::map<std::pair<std::int32_t, std::int32_t>, int> sums;
    const std::vector<ticks> starts = tail_starts(table_.tail);
    ticks end = makespan_;
    for (std::size_t i = 0; i < table_.tail.size(); ++i) {
      const brim::placed_work& t = table_.tail[i];
      const std::int32_t lane = lane_of(t);
      const std::int32_t s = t.what.stage.value;
      if (!expect(lane >= 0 && lane < lanes() && s >= 0 && s < stages() && t.step == 0, "a tail entry is nowhere"))
        return;
      expect(i == 0 || lane_of(table_.tail[i - 1]) <= lane, "the tail is out of order");
      expect(t.time.start == starts[i], "the tail of lane ", lane, " has a hole or starts too early");
      end = std::max(end, starts[i] + t.time.length());
      tail_[static_cast<std::size_t>(lane)] += t.time.length();
      if (t.what.kind == kind::precondition) {
        if (!expect(t.what.layer.at() < layers(s).size(), "precondition of no layer")) return;
        precondition_[static_cast<std::size_t>(lane)] += t.time.length();
        expect(preconditions[{s, t.what.layer.value}].insert(lane).second, "a layer is preconditioned twice on lane ",
               lane);
        expect(t.time.length() == on_lane(layers(s)[t.what.layer.at()].precondition, lane),
               "precondition has the wrong length");
      } else if (t.what.kind == kind::optimizer_step) {
        ++updates[{lane, s}];
        expect(t.time.length() == on_lane(source_.profile.stage(t.what.stage).cost.optimizer_step, lane),
               "an update has the wrong length");
      } else {
        expect(t.what.kind == kind::sync_gradient && t.time.length() == 0, "the tail holds ",
               brim::name_of(t.what.kind));
        if (t.what.layer.value < 0)
          ++sums[{lane, s}];
        else
          results[{s, t.what.layer.value}].insert(lane);
      }
    }
    expect(step() == end, "a step is ", step(), ", pipeline and tail take ", end);
    for (std::int32_t s = 0; s < stages(); ++s) {
      const std::vector<std::int32_t> held_by = holders(s);
      for (const std::int32_t lane : held_by) {
        expect(updates[{lane, s}] == 1, "updates of stage ", s, " on lane ", lane, " are wrong");
        expect(sums[{lane, s}] == (held_by.size() > 1 ? 1 : 0), "gradient sums of stage ", s, " on lane ", lane,
               " are wrong");
      }
      for (std::size_t l = 0; l < layers(s).size(); ++l) {
        if (!is_conditioned(layers(s)[l])) continue;
        const std::set<std::int32_t>& owners = preconditions[{s, static_cast<std::int32_t>(l)}];
        expect_owners(s, static_cast<std::int32_t>(l), owners, "precondition");
        for (const std::int32_t lane : held_by)
          expect(results[{s, static_cast<std::int32_t>(l)}].count(lane) == (owners.size() < held_by.size() ? 1 : 0),
                 "stage ", s, " layer ", l, " does not come to lane ", lane, " once");
      }
    }
  }

  /// Divided: one of the stage's holders, the same for all work of the layer. Repeated: all holders that have microbatches.
  void expect_owners(std::int32_t s, std::int32_t l, const std::set<std::int32_t>& owners, std::string_view what) {
    std::vector<std::int32_t> held_by;
    for (std::int32_t replica = 0; replica < source_.replicas; ++replica)
      for (std::int32_t r = 0; r < std::min(routes(), microbatches()); ++r) held_by.push_back(lane_of(replica, r, s));
    for (const std::int32_t lane : owners)
      expect(std::find(held_by.begin(), held_by.end(), lane) != held_by.end(), what, " of stage ", s, " on lane ", lane,
             ", which does not hold it");
    const std::size_t wanted = source_.sharing == brim::refresh_sharing::divided
                                   ? 1
                                   : std::set<std::int32_t>(held_by.begin(), held_by.end()).size();
    expect(owners.size() == wanted, what, " of stage ", s, " layer ", l, " has ", owners.size(), " owners instead of ",
           wanted);
    const auto [known, fresh] = owners_.try_emplace({s, l}, owners);
    expect(known->second == owners, "stage ", s, " layer ", l, " changes its owner");
  }

  void check_entries() {
    expect(cycle() >= 1, "an empty cycle");
    for (std::size_t i = 0; i < table_.work.size(); ++i) {
      const brim::placed_work& w = table_.work[i];
      const bool placed = w.replica >= 0 && w.replica < source_.replicas && w.device.value >= 0 &&
                          w.device.value < devices() && w.step >= 0 && w.step < cycle();
      if (!expect(placed, "entry ", i, " has no place in the table")) continue;
      expect(w.origin_step <= w.step, "entry ", i, " runs before the step of its statistics");
      expect(w.time.start >= 0, "entry ", i, " starts before its step");
      expect(w.what.kind == kind::statistic || w.what.kind == kind::refresh || w.what.kind == kind::sync_statistic,
             "entry ", i, " is no work of K-FAC");
      if (!is_sync(w.what.kind)) expect(w.time.length() > 0 && w.time.end <= step(), "entry ", i, " leaves its step");
      const bool known = w.what.stage.value >= 0 && w.what.stage.value < stages() && w.what.layer.value >= 0 &&
                         w.what.layer.at() < layers(w.what.stage.value).size() && w.what.side != brim::side::none;
      if (!expect(known, "entry ", i, " is of no layer")) continue;
      if (i == 0) continue;
      const brim::placed_work& before = table_.work[i - 1];
      expect(std::tuple(before.replica, before.device, before.step, before.time.start) <=
                 std::tuple(w.replica, w.device, w.step, w.time.start),
             "entry ", i, " is out of order");
    }
  }

  void unroll() {
    std::int32_t lag = 0;
    for (const brim::placed_work& w : table_.work) lag = std::max(lag, w.step - w.origin_step);
    const std::int32_t margin = lag / cycle() + 2;
    middle_ = margin * cycle();
    end_ = middle_ + cycle();
    for (std::int32_t c = 0; c < 2 * margin + 1; ++c)
      for (const brim::placed_work& w : table_.work) add(w, c * cycle());
  }

  void add(const brim::placed_work& w, std::int32_t first_step) {
    refresh_cycle& all = layers_[{w.what.stage.value, w.what.layer.value}][w.origin_step + first_step];
    const ticks begin = static_cast<ticks>(w.step + first_step) * step();
    const piece p{begin + w.time.start, begin + w.time.end, lane_of(w), w.piece, w.pieces};
    ++all.entries;
    if (!is_sync(w.what.kind)) all.last_end = std::max(all.last_end, p.end);
    if (w.what.kind == kind::statistic) {
      if (first_step == 0) check_place(w);
      all.statistics[{w.what.side, w.replica, w.what.microbatch.value}].push_back(p);
    } else if (w.what.kind == kind::refresh) {
      all.refreshes[{w.what.side, p.lane}].push_back(p);
    } else {
      all.sums[{w.what.side, p.lane}].push_back(p);
    }
  }

  /// A statistic runs where its microbatch was, which is on the microbatch's own route.
  void check_place(const brim::placed_work& w) {
    if (!expect(w.what.microbatch.value >= 0 && w.what.microbatch.value < microbatches(),
                "a statistic of no microbatch"))
      return;
    const cell& c = cells_[w.what.stage.at()][w.what.microbatch.at()];
    expect(w.what.route.value == c.route, "a statistic of microbatch ", w.what.microbatch.value, " on another route");
    expect(lane_of(w) == lane_of(w.replica, c.route, w.what.stage.value), "a statistic of stage ", w.what.stage.value,
           " on lane ", lane_of(w), ", which does not have its data");
  }

  void check_overlaps(std::int32_t cycles) {
    std::vector<std::vector<brim::interval>> busy(static_cast<std::size_t>(lanes()));
    const auto add = [&](std::int32_t lane, ticks begin, brim::interval t) {
      busy[static_cast<std::size_t>(lane)].push_back({begin + t.start, begin + t.end});
    };
    for (std::int32_t k = 0; k < cycles * cycle(); ++k) {
      const ticks begin = k * step();
      for (std::int32_t lane = 0; lane < lanes(); ++lane)
        for (const brim::interval& t : pipeline_.view().times_of(brim::device_index(lane % devices())))
          add(lane, begin, t);
      for (const brim::placed_work& t : table_.tail)
        if (!is_sync(t.what.kind)) add(lane_of(t), begin, t.time);
    }
    for (std::int32_t c = 0; c < cycles; ++c)
      for (const brim::placed_work& w : table_.work)
        if (!is_sync(w.what.kind)) add(lane_of(w), static_cast<ticks>(c * cycle() + w.step) * step(), w.time);
    for (std::size_t lane = 0; lane < busy.size(); ++lane) {
      std::sort(busy[lane].begin(), busy[lane].end(),
                [](const auto& x, const auto& y) { return std::pair(x.start, x.end) < std::pair(y.start, y.end); });
      for (std::size_t i = 1; i < busy[lane].size(); ++i)
        if (!expect(busy[lane][i - 1].end <= busy[lane][i].start, "lane ", lane, " does two things at ",
                    busy[lane][i].start))
          break;
    }
  }

  /// Each piece has its margin to the next thing that may not be late.
  void check_margins() {
    std::vector<std::vector<ticks>> borders(static_cast<std::size_t>(lanes()));
    for (std::int32_t lane = 0; lane < lanes(); ++lane) {
      std::vector<ticks>& own = borders[static_cast<std::size_t>(lane)];
      for (const brim::interval& t : pipeline_.view().times_of(brim::device_index(lane % devices())))
        own.push_back(t.start);
      own.push_back(step());
    }
    for (const brim::placed_work& t : table_.tail)
      if (t.time.length() > 0) borders[static_cast<std::size_t>(lane_of(t))].push_back(t.time.start);
    for (std::vector<ticks>& own : borders) std::sort(own.begin(), own.end());
    for (const brim::placed_work& w : table_.work) {
      if (is_sync(w.what.kind)) continue;
      const std::vector<ticks>& own = borders[static_cast<std::size_t>(lane_of(w))];
      const auto border = std::lower_bound(own.begin(), own.end(), w.time.end);
      const ticks length = w.time.length();
      if (!expect(border != own.end(), "a piece leaves its step")) continue;
      expect(w.time.end + length * margin_permille_ / 1000 <= *border, "a piece of ", length, " on lane ", lane_of(w),
             " at ", w.time.start, " has no margin");
    }
  }

  /// Equal pieces, each once, one after the other, that add up to `whole` (rounded up to whole pieces).
  ticks check_pieces(std::vector<piece>& pieces, ticks whole, const std::string& what) {
    std::sort(pieces.begin(), pieces.end(), [](const piece& x, const piece& y) { return x.start < y.start; });
    const auto count = static_cast<std::int32_t>(pieces.size());
    const ticks length = (std::max<ticks>(whole, 1) + count - 1) / count;
    for (std::int32_t i = 0; i < count; ++i) {
      const piece& p = pieces[static_cast<std::size_t>(i)];
      expect(p.count == count && p.index == i, what, ": piece ", i, " of ", count, " is called ", p.index, " of ",
             p.count);
      expect(p.end - p.start == length, what, ": a piece takes ", p.end - p.start, " instead of ", length);
    }
    return pieces.back().end;
  }

  void check_layers() {
    for (std::int32_t s = 0; s < stages(); ++s)
      for (std::int32_t l = 0; l < static_cast<std::int32_t>(layers(s).size()); ++l) check_layer(s, l);
  }

  void check_layer(std::int32_t s, std::int32_t l) {
    const brim::layer_profile& layer = layers(s)[static_cast<std::size_t>(l)];
    const auto found = layers_.find({s, l});
    if (layer.refresh_a == 0 && layer.refresh_b == 0) {
      expect(found == layers_.end(), "stage ", s, " layer ", l, " has nothing to do, and does something");
      return;
    }
    bool any = false;
    if (found != layers_.end())
      for (auto& [origin, all] : found->second) {
        if (origin < middle_ || origin >= end_) continue;
        any = true;
        seen_ += all.entries;
        check_cycle(s, l, origin, all);
        std::int32_t in_flight = 1;
        for (const auto& [earlier, other] : found->second)
          if (earlier < origin && other.last_end > static_cast<ticks>(origin) * step()) ++in_flight;
        expect(in_flight <= 2, "stage ", s, " layer ", l, " has ", in_flight, " refreshes in flight");
      }
    expect(any, "stage ", s, " layer ", l, " is never refreshed");
  }

  void check_cycle(std::int32_t s, std::int32_t l, std::int32_t origin, refresh_cycle& all) {
    const brim::layer_profile& layer = layers(s)[static_cast<std::size_t>(l)];
    const std::string name = brim::detail::text("stage ", s, " layer ", l, " of step ", origin - middle_);
    std::map<brim::side, ticks> done;
    std::map<brim::side, std::set<std::int32_t>> at_work;
    std::set<std::int32_t> all_lanes;
    for (const brim::side which : {brim::side::a, brim::side::b}) {
      if (refresh_time(layer, which) == 0) continue;
      for (std::int32_t replica = 0; replica < source_.replicas; ++replica)
        for (std::int32_t m = 0; m < microbatches(); ++m) {
          const auto at = all.statistics.find({which, replica, m});
          if (!expect(at != all.statistics.end(), name, ": no statistic ", brim::name_of(which), " of microbatch ", m,
                      " of replica ", replica))
            continue;
          const cell& c = cells_[static_cast<std::size_t>(s)][static_cast<std::size_t>(m)];
          const std::int32_t lane = lane_of(replica, c.route, s);
          const ticks end = check_pieces(at->second, on_lane(statistic_time(layer, which), lane), name + ": statistic");
          const ticks exists = static_cast<ticks>(origin) * step() + (which == brim::side::a ? c.input : c.error);
          expect(at->second.front().start >= exists, name, ": statistic ", brim::name_of(which), " of microbatch ", m,
                 " starts ", exists - at->second.front().start, " before its data exist");
          done[which] = std::max(done[which], end);
          at_work[which].insert(lane);
          all_lanes.insert(lane);
        }
    }
    const std::size_t wanted_items = at_work.size() * static_cast<std::size_t>(source_.replicas * microbatches());
    expect(all.statistics.size() == wanted_items, name, ": has ", all.statistics.size(), " statistics instead of ",
           wanted_items);
    for (const brim::side which : {brim::side::a, brim::side::b}) {
      std::set<std::int32_t> owners;
      for (auto& [key, pieces] : all.refreshes) {
        if (std::get<0>(key) != which) continue;
        owners.insert(std::get<1>(key));
        all_lanes.insert(std::get<1>(key));
        check_pieces(pieces, on_lane(refresh_time(layer, which), std::get<1>(key)), name + ": refresh");
        const ticks statistics = pi() ? std::max(done[brim::side::a], done[brim::side::b]) : done[which];
        const ticks from = statistics + (holders(s).size() > 1 ? source_.sync_statistic : 0);
        expect(pieces.front().start >= from, name, ": refresh ", brim::name_of(which), " starts ",
               from - pieces.front().start, " before its statistics are there");
      }
      if (refresh_time(layer, which) > 0)
        expect_owners(s, l, owners, "refresh");
      else
        expect(owners.empty(), name, ": an empty refresh is done");
    }
    if (sums_are_written_) check_sums(layer, name, all, all_lanes.size() > 1, done, at_work);
  }

  void check_sums(const brim::layer_profile& layer, const std::string& name, refresh_cycle& all, bool shared,
                  std::map<brim::side, ticks>& done, std::map<brim::side, std::set<std::int32_t>>& at_work) {
    std::size_t wanted = 0;
    for (const auto& [which, lanes_of_side] : at_work) {
      if (!shared) continue;
      for (const std::int32_t lane : lanes_of_side) {
        ++wanted;
        const auto at = all.sums.find({which, lane});
        if (!expect(at != all.sums.end() && at->second.size() == 1, name, ": lane ", lane,
                    " does not take part in the sum once"))
          continue;
        expect(at->second.front().start == done[which], name, ": the sum does not start when the statistics are done");
        const ticks delay = layer.refresh_a + layer.refresh_b > 0 ? source_.sync_statistic : 0;
        expect(at->second.front().end - at->second.front().start == delay, name, ": the sum has the wrong length");
      }
    }
    expect(all.sums.size() == wanted, name, ": there are ", all.sums.size(), " sums instead of ", wanted);
  }

  void expect_near(double ours, double theirs, std::string_view what, std::size_t lane) {
    expect(std::abs(ours - theirs) <= 1e-9 * std::max(1.0, std::abs(ours)), what, " of lane ", lane, " is ",
           std::to_string(ours), ", reported ", std::to_string(theirs));
  }

  /// Every number of the report once more.
  void check_report() {
    const auto count = static_cast<std::size_t>(lanes());
    if (!expect(table_.report.devices.size() == count, "the report has another number of devices")) return;
    std::vector<ticks> placed(count, 0);
    for (const brim::placed_work& w : table_.work)
      if (!is_sync(w.what.kind)) placed[static_cast<std::size_t>(lane_of(w))] += w.time.length();
    const std::vector<ticks> once = work_of_one_refresh();
    std::vector<brim::placed_work> plain_tail = table_.tail;
    std::erase_if(plain_tail, [](const brim::placed_work& t) { return t.what.kind == kind::precondition; });
    const std::vector<ticks> plain_starts = tail_starts(plain_tail);
    ticks plain_end = makespan_;
    for (std::size_t i = 0; i < plain_tail.size(); ++i)
      plain_end = std::max(plain_end, plain_starts[i] + plain_tail[i].time.length());
    const auto plain = static_cast<double>(plain_end);
    const auto length = static_cast<double>(step());
    brim::fill_report mean;
    for (std::size_t lane = 0; lane < count; ++lane) {
      const brim::device_report& said = table_.report.devices[lane];
      ticks busy = 0;
      for (const brim::interval& t :
           pipeline_.view().times_of(brim::device_index(static_cast<std::int32_t>(lane) % devices())))
        busy += t.length();
      const auto idle = static_cast<double>(step() - busy - tail_[lane]);
      const auto work = static_cast<double>(once[lane]);
      const bool filled = once[lane] > 0;
      const double before = plain == 0 ? 0 : static_cast<double>(busy + tail_[lane] - precondition_[lane]) / plain;
      const double used =
          length == 0
              ? 0
              : (static_cast<double>(busy + tail_[lane]) + static_cast<double>(placed[lane]) / cycle()) / length;
      const double bound = length == 0 ? 0 : (static_cast<double>(busy + tail_[lane]) + std::min(idle, work)) / length;
      expect_near(before, said.utilization_before, "utilization before", lane);
      expect_near(used, said.utilization, "utilization", lane);
      expect_near(bound, said.bound, "bound", lane);
      expect(said.utilization <= said.bound + 1e-9, "lane ", lane, " is above its bound");
      expect_near(filled && idle > 0 ? work / idle : 0, said.load, "load", lane);
      expect(said.precondition == precondition_[lane], "precondition of lane ", lane);
      const auto [interval, age] = freshness(static_cast<std::int32_t>(lane));
      expect_near(interval, said.refresh_interval, "refresh interval", lane);
      expect(age == said.greatest_age, "greatest age of lane ", lane, " is ", age, ", reported ", said.greatest_age);
      const brim::bytes kept = kept_by(static_cast<std::int32_t>(lane));
      expect(kept == said.kept, "lane ", lane, " keeps ", kept, " bytes, reported ", said.kept);
      mean.utilization_before += before / static_cast<double>(count);
      mean.utilization += used / static_cast<double>(count);
      mean.bound += bound / static_cast<double>(count);
      mean.load = std::max(mean.load, said.load);
      mean.refresh_interval = std::max(mean.refresh_interval, interval);
      mean.greatest_age = std::max(mean.greatest_age, age);
      mean.kept = std::max(mean.kept, kept);
    }
    expect_near(mean.utilization_before, table_.report.utilization_before, "mean utilization before", count);
    expect_near(mean.utilization, table_.report.utilization, "mean utilization", count);
    expect_near(mean.bound, table_.report.bound, "mean bound", count);
    expect_near(mean.load, table_.report.load, "greatest load", count);
    expect_near(mean.refresh_interval, table_.report.refresh_interval, "worst interval", count);
    expect(mean.greatest_age == table_.report.greatest_age, "greatest age");
    expect(mean.kept == table_.report.kept, "greatest memory");
    expect_near(plain == 0 ? 0 : length / plain - 1, table_.report.overhead, "overhead", count);
  }

  [[nodiscard]] std::vector<ticks> work_of_one_refresh() const {
    std::vector<ticks> sums(static_cast<std::size_t>(lanes()), 0);
    const auto add = [&](const auto& items) {
      for (const auto& [key, pieces] : items)
        for (const piece& p : pieces) sums[static_cast<std::size_t>(p.lane)] += p.end - p.start;
    };
    for (const auto& [key, cycles] : layers_) {
      const auto first = cycles.lower_bound(middle_);
      if (first == cycles.end()) continue;
      add(first->second.statistics);
      add(first->second.refreshes);
    }
    return sums;
  }

  /// Mean steps between two results of the item with the fewest, and the greatest age of a newest result at the end of
  /// the pipeline, where preconditioning starts; over all steps of the middle cycle.
  [[nodiscard]] std::pair<double, std::int32_t> freshness(std::int32_t lane) const {
    double interval = 0;
    std::int32_t age = 0;
    for (const auto& [key, cycles] : layers_)
      for (const brim::side which : {brim::side::a, brim::side::b}) {
        std::int32_t each_cycle = 0;
        std::vector<std::pair<std::int32_t, ticks>> results;
        for (const auto& [origin, all] : cycles) {
          const auto at = all.refreshes.find({which, lane});
          if (at == all.refreshes.end()) continue;
          ticks end = 0;
          for (const piece& p : at->second) end = std::max(end, p.end);
          results.emplace_back(origin, end);
          if (origin >= middle_ && origin < end_) ++each_cycle;
        }
        if (each_cycle == 0) continue;
        interval = std::max(interval, static_cast<double>(cycle()) / each_cycle);
        for (std::int32_t k = middle_; k < end_; ++k) {
          std::int32_t newest = -1;
          for (const auto& [origin, end] : results)
            if (end <= k * step() + makespan_) newest = std::max(newest, origin);
          age = std::max(age, k - newest);
        }
      }
    return {interval, age};
  }

  /// The greatest sum of inputs and errors that wait although the backward of their own microbatch is over.
  [[nodiscard]] brim::bytes kept_by(std::int32_t lane) const {
    std::vector<std::tuple<ticks, brim::bytes>> changes;
    for (const auto& [key, cycles] : layers_) {
      const brim::layer_profile& layer = layers(key.first)[static_cast<std::size_t>(key.second)];
      for (const auto& [origin, all] : cycles)
        for (const auto& [item, pieces] : all.statistics) {
          if (pieces.front().lane != lane) continue;
          const brim::bytes amount = std::get<0>(item) == brim::side::a ? layer.saved_inputs : layer.saved_errors;
          const ticks from =
              origin * step() +
              cells_[static_cast<std::size_t>(key.first)][static_cast<std::size_t>(std::get<2>(item))].freed;
          ticks end = 0;
          for (const piece& p : pieces) end = std::max(end, p.end);
          if (amount == 0 || end <= from) continue;
          changes.emplace_back(from, amount);
          changes.emplace_back(end, -amount);
        }
    }
    std::sort(changes.begin(), changes.end());  // at the same moment what ends goes first
    brim::bytes now = 0;
    brim::bytes peak = 0;
    const ticks begin = middle_ * step();
    const ticks end = begin + cycle() * step();
    for (const auto& [at, amount] : changes) {
      if (at > begin && at <= end) peak = std::max(peak, now);
      now += amount;
      if (at >= begin && at < end) peak = std::max(peak, now);
    }
    return peak;
  }

  const brim::filled& table_;
  const brim::timeline& pipeline_;
  const brim::kfac_work& source_;
  ticks margin_permille_;
  std::vector<std::string> wrong_;
  std::vector<std::vector<cell>> cells_;  ///< by stage and microbatch
  ticks makespan_ = 0;
  std::vector<ticks> tail_;
  std::vector<ticks> precondition_;
  std::map<layer_key, std::set<std::int32_t>> owners_;
  std::map<layer_key, std::map<std::int32_t, refresh_cycle>>
      layers_;               ///< by layer, then by statistics step from the first cycle
  std::int32_t middle_ = 0;  ///< first step of the cycle that is looked at
  std::int32_t end_ = 0;     ///< and the step after it
  bool sums_are_written_ = true;
  std::size_t seen_ = 0;
};

/// What is wrong with `table`, one sentence each.
inline std::vector<std::string> complaints_about(const brim::filled& table, const brim::timeline& pipeline,
                                                 const brim::kfac_work& source, brim::ticks margin_permille = 50) {
  return fill_judge(table, pipeline, source, margin_permille).judge();
}

}  // namespace test_support
