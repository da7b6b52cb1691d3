// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/error.hpp>
#include <brim/core/text.hpp>
#include <brim/fill/bubbles.hpp>
#include <brim/fill/work.hpp>
#include <brim/model/action.hpp>
#include <brim/schedule/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brim {

namespace detail {

/// Refuses a work set that no fill could place, or whose sums would not fit their types, so that what follows adds and
/// indexes unchecked. Linear in the work, times the longest chain of gates in a unit.
class work_check {
 public:
  work_check(const work_set& work, const timeline_view& pipeline) : work_(work), pipeline_(pipeline) {}

  /// Errors: `no_fill`, naming the entry, its field and value.
  void run() {
    if (work_.replicas < 1 || work_.replicas > 4096) fail(text("replicas is ", work_.replicas, "; expected 1 … 4096"));
    lanes_ = std::int64_t{work_.replicas} * pipeline_.shape.devices;
    if (lanes_ > most_work_pieces) fail(text("there are ", lanes_, " lanes; expected at most 2^26"));
    std::uint32_t batches = 0;
    for (std::size_t u = 0; u < work_.units.size(); ++u) check_unit(u, batches);
    enter("", 0);
    if (batches != work_.batches.size()) fail("batches stand behind those of the last unit");
    check_tail();
  }

 private:
  void enter(const char* list, std::size_t at) {
    list_ = list;
    at_ = at;
  }
  [[noreturn]] void fail(const std::string& rule) const {
    raise(error_code::no_fill,
          *list_ == 0 ? text("work_set: ", rule) : text("work_set: ", list_, " ", at_, ": ", rule));
  }

  void check_unit(std::size_t u, std::uint32_t& batches) {
    enter("unit", u);
    const work_unit& unit = work_.units[u];
    const std::size_t left = work_.batches.size() - batches;
    if (unit.first_batch != batches) fail(text("first_batch is ", unit.first_batch, "; expected ", batches));
    if (unit.batch_count < 1 || unit.batch_count > left)
      fail(text("batch_count is ", unit.batch_count, "; expected 1 … ", left));
    if (unit.gates < 0 || unit.gates > most_work_pieces - gates_) fail(text("it has ", unit.gates, " gates"));
    gates_ += unit.gates;
    batches += unit.batch_count;
    for (std::uint32_t b = unit.first_batch; b < batches; ++b) {
      enter("batch", b);
      const work_batch& batch = work_.batches[b];
      if (batch.unit != static_cast<std::int64_t>(u)) fail(text("unit is ", batch.unit, "; expected ", u));
      const action_kind kind = batch.what.kind;
      if (kind != action_kind::statistic && kind != action_kind::refresh && kind != action_kind::user)
        fail(text("kind ", static_cast<int>(kind), " is no work for a bubble"));
      check_place(batch.what, batch.lane);
      check_size(batch);
      check_start(batch, unit.gates);
    }
    enter("unit", u);
    check_gates(unit);
  }

  void check_place(const action& what, std::int32_t lane) const {
    if (!is_optional_work(what.kind)) fail(text("kind ", static_cast<int>(what.kind), " is no optional work"));
    if (lane < 0 || lane >= lanes_) fail(text("there is no lane ", lane, "; expected 0 … ", lanes_ - 1));
    if (what.layer.value < -1) fail(text("there is no layer ", what.layer.value));
    if (what.stage.value == -1 && (what.kind == action_kind::user || what.kind == action_kind::sync_norm)) return;
    if (what.stage.value < 0 || what.stage.value >= pipeline_.stages)
      fail(text("there is no stage ", what.stage.value));
    if (what.route.value < 0 || what.route.value >= pipeline_.routes)
      fail(text("there is no route ", what.route.value));
    if (pipeline_.device_of(what.route, what.stage).value != lane % pipeline_.shape.devices)
      fail(text("device ", lane % pipeline_.shape.devices, " does not hold stage ", what.stage.value, " of route ",
                what.route.value));
  }

  void check_size(const work_batch& b) {
    if (b.duration < 1 || b.duration > longest_schedule)
      fail(text("duration is ", b.duration, " ticks; expected 1 … 2^61"));
    if (b.pieces < 1 || b.division < 1 || b.pieces % b.division != 0)
      fail(text("it has ", b.pieces, " pieces in divisions of ", b.division));
    if (b.duration > (longest_schedule - ticks_) / b.pieces)
      fail("one refresh of everything would take more than 2^61 ticks");
    ticks_ += b.duration * b.pieces;
    pieces_ += b.pieces;
    if (pieces_ > most_work_pieces) fail("one refresh of everything would have more than 2^26 pieces");
    if (b.following < 0) fail(text("following is ", b.following, " ticks; expected at least 0"));
  }

  void check_start(const work_batch& b, std::int32_t gates) {
    if (b.waits < -1 || b.waits >= gates) fail(text("it waits for gate ", b.waits, " of ", gates));
    if (b.signals < -1 || b.signals >= gates) fail(text("it signals gate ", b.signals, " of ", gates));
    if (b.delay < 0 || b.delay > longest_duration) fail(text("delay is ", b.delay, " ticks; expected 0 … 2^50"));
    if (b.kept < 0 || b.kept > largest_memory) fail(text("kept is ", b.kept, " bytes; expected 0 … 2^50"));
    if ((b.release_count > 0) == (b.waits >= 0)) fail("it needs either releases or a gate to wait for");
    if (b.release_count == 0) return;
    if (b.first_release > work_.releases.size() || b.release_count > work_.releases.size() - b.first_release)
      fail(text("it names releases ", b.first_release, " + ", b.release_count, " of ", work_.releases.size()));
    if (b.release_count != static_cast<std::uint32_t>(b.pieces / b.division))
      fail(text("it has ", b.release_count, " releases; expected one for each ", b.division, " of its ", b.pieces,
                " pieces"));
    if (b.kept > (largest_kept - kept_) / b.release_count) fail("what all batches keep exceeds 2^60 bytes");
    kept_ += b.kept * b.release_count;
    ticks before = 0;
    for (std::uint32_t r = b.first_release; r < b.first_release + b.release_count; ++r) {
      const work_release& release = work_.releases[r];
      if (release.at < before) fail(text("release ", r, " is at ", release.at, "; expected at least ", before));
      const std::int32_t m = release.microbatch.value;
      if (m < -1 || m >= pipeline_.shape.microbatches) fail(text("release ", r, ": there is no microbatch ", m));
      if (b.what.kind == action_kind::statistic && m >= 0 && m % pipeline_.routes != b.what.route.value)
        fail(text("release ", r, ": microbatch ", m, " takes another route"));
      if (release.kept_from < 0)
        fail(text("release ", r, " is kept from ", release.kept_from, "; expected at least 0"));
      before = release.at;
    }
  }

  /// Every awaited gate opens at last: somebody signals it, and none waits for itself through others.
  void check_gates(const work_unit& unit) {
    missing_.assign(static_cast<std::size_t>(unit.gates), 0);
    waiting_.clear();
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b) {
      const work_batch& batch = work_.batches[b];
      if (batch.signals < 0) continue;
      ++missing_[static_cast<std::size_t>(batch.signals)];
      waiting_.push_back({batch.waits, batch.signals});
    }
    for (std::uint32_t b = unit.first_batch; b < unit.first_batch + unit.batch_count; ++b)
      if (const std::int32_t gate = work_.batches[b].waits; gate >= 0 && missing_[static_cast<std::size_t>(gate)] == 0)
        fail(text("nothing signals gate ", gate));
    const auto opens = [&](const gate_pair& p) {
      if (p.waits >= 0 && missing_[static_cast<std::size_t>(p.waits)] > 0) return false;
      --missing_[static_cast<std::size_t>(p.signals)];
      return true;
    };
    while (std::erase_if(waiting_, opens) > 0) {
    }
    if (!waiting_.empty()) fail("its gates wait for each other");
  }

  void check_tail() {
    std::int32_t lane = 0;
    ticks sum = 0;
    for (std::size_t k = 0; k < work_.tail.size(); ++k) {
      enter("tail entry", k);
      const tail_work& t = work_.tail[k];
      check_place(t.what, t.lane);
      if (t.lane < lane) fail(text("it is on lane ", t.lane, ", behind one of lane ", lane));
      if (t.duration < 0 || t.duration > longest_schedule - sum)
        fail(text("duration is ", t.duration, " ticks; expected at least 0, and at most 2^61 for all together"));
      lane = t.lane;
      sum += t.duration;
    }
  }

  static constexpr bytes largest_kept = bytes{1} << 60;
  struct gate_pair {
    std::int32_t waits, signals;
  };

  const work_set& work_;
  const timeline_view& pipeline_;
  const char* list_ = "";
  std::size_t at_ = 0;
  std::int64_t lanes_ = 0;
  ticks ticks_ = 0;
  std::int64_t pieces_ = 0;
  std::int64_t gates_ = 0;
  bytes kept_ = 0;
  std::vector<std::int64_t> missing_;  ///< batches that have not signalled yet, by gate
  std::vector<gate_pair> waiting_;
};

/// Refuses a step that is too long, and data that come after its end. Errors: `no_fill`.
inline void check_step(const work_set& work, const bubble_set& bubbles) {
  if (bubbles.step_length > longest_filled_step)
    raise(error_code::no_fill,
          text("fill: a step takes ", bubbles.step_length, " ticks; expected at most 2^44, 4.9 hours in nanoseconds"));
  for (std::size_t r = 0; r < work.releases.size(); ++r)
    if (const ticks last = std::max(work.releases[r].at, work.releases[r].kept_from); last > bubbles.step_length)
      raise(error_code::no_fill,
            text("work_set: release ", r, " is at ", last, "; the step ends at ", bubbles.step_length));
}

}  // namespace detail
}  // namespace brim
