// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace brim::detail {

/// Durations for a replay that only asks whether the plan can finish.
struct no_durations {
  static constexpr bool timed = false;
};

/// Runs the streams of a checked plan under its transport. A stream runs until it has to wait, for an event or for the
/// other members of a transfer or collective, and is woken by what it waits for; so every instruction is visited at most
/// once more than it waits. Complexity: linear in instructions and waits.
///
/// `Durations` gives `of(instruction position)` and `transfer(stage below the boundary)` where it is `timed`.
template <class Durations>
class plan_progress {
 public:
  plan_progress(const plan_index& index, const Durations& durations) : x_(index), p_(index.p), durations_(durations) {}

  /// Runs as far as possible; true when every stream has finished.
  bool run() {
    const std::size_t streams = p_.streams.size();
    next_.resize(streams);
    for (std::size_t s = 0; s < streams; ++s) next_[s] = p_.streams[s].begin;
    at_peer_.assign(streams, false);
    recorded_.assign(static_cast<std::size_t>(p_.events), not_recorded);
    first_waiter_.assign(static_cast<std::size_t>(p_.events), no_stream);
    next_waiter_.assign(streams, no_stream);
    arrived_.assign(x_.groups.size(), {});
    buffered_ = p_.transport == transport::buffered;
    if (buffered_) sent_.assign(p_.instructions.size(), not_recorded);
    if constexpr (Durations::timed) free_.assign(streams, 0);
    for (std::size_t s = streams; s-- > 0;) runnable_.push_back(static_cast<std::uint32_t>(s));
    while (!runnable_.empty()) {
      const std::uint32_t s = runnable_.back();
      runnable_.pop_back();
      run_stream(s);
    }
    return std::all_of(p_.streams.begin(), p_.streams.end(), [this](const stream& s) { return finished(s); });
  }

  /// The instruction that a stream has come to.
  [[nodiscard]] std::uint32_t head(const stream& s) const {
    return next_[static_cast<std::size_t>(&s - p_.streams.data())];
  }
  [[nodiscard]] bool finished(const stream& s) const { return head(s) == s.end; }
  [[nodiscard]] bool recorded(event_index e) const { return recorded_[e.at()] != -1; }
  /// Whether a stream waits at its head for its peers, with all its events recorded.
  [[nodiscard]] bool at_peer(const stream& s) const {
    return at_peer_[static_cast<std::size_t>(&s - p_.streams.data())];
  }
  /// The time at which the last stream has finished.
  [[nodiscard]] ticks length() const { return length_; }

 private:
  using stamp = std::conditional_t<Durations::timed, ticks, signed char>;  // without times only whether
  static constexpr stamp not_recorded = -1;
  static constexpr std::uint32_t no_stream = no_instruction;

  struct arrivals {
    std::uint32_t count = 0;
    ticks ready = 0;
  };

  void run_stream(std::uint32_t s) {
    while (next_[s] < p_.streams[s].end) {
      const std::uint32_t at = next_[s];
      const instruction& i = p_.instructions[at];
      ticks ready = 0;
      if (!events_recorded(i, s, ready)) return;
      if constexpr (Durations::timed) ready = std::max(ready, free_[s]);
      const action_kind kind = i.what.kind;
      if (!is_communication(kind)) {
        ticks end = 0;
        if constexpr (Durations::timed) end = ready + durations_.of(at);
        finish(s, at, end);
      } else if (is_collective(kind)) {
        if (!arrive(s, at, ready)) return;
      } else if (!meet(s, at, ready)) {
        return;
      }
    }
  }

  /// True when all events of an instruction are recorded; else the stream is woken by the first that is not.
  bool events_recorded(const instruction& i, std::uint32_t s, ticks& ready) {
    for (std::uint32_t w = i.first_wait; w < i.first_wait + i.wait_count; ++w) {
      const event_index e = p_.waits[w];
      if (recorded_[e.at()] == not_recorded) {
        next_waiter_[s] = first_waiter_[e.at()];
        first_waiter_[e.at()] = s;
        return false;
      }
      if constexpr (Durations::timed) ready = std::max(ready, recorded_[e.at()]);
    }
    return true;
  }

  void finish(std::uint32_t s, std::uint32_t at, ticks end) {
    next_[s] = at + 1;
    at_peer_[s] = false;
    // Streams take turns, so what follows in this one would else be fetched when it is needed: a third of the time.
    __builtin_prefetch(p_.instructions.data() + at + 2);
    if constexpr (Durations::timed) {
      free_[s] = end;
      length_ = std::max(length_, end);
    }
    const event_index e = p_.instructions[at].records;
    if (e.value < 0) return;
    recorded_[e.at()] = static_cast<stamp>(end);
    for (std::uint32_t waiter = first_waiter_[e.at()]; waiter != no_stream; waiter = next_waiter_[waiter])
      runnable_.push_back(waiter);
    first_waiter_[e.at()] = no_stream;
  }

  /// Finishes the current transfer of a stream and of the stream that waits at its other end; false where it has to wait.
  bool meet(std::uint32_t s, std::uint32_t at, ticks ready) {
    const std::uint32_t other = x_.partner[at];
    const std::uint32_t peer = x_.stream_of[other];
    const bool sends = is_send(p_.instructions[at].what.kind);
    const bool peer_waits = at_peer_[peer] && next_[peer] == other;
    ticks end = ready;
    if constexpr (Durations::timed) {
      if (!buffered_ && peer_waits) end = std::max(end, free_[peer]);
      if (!buffered_ || sends) end += transfer(at);
    }
    if (buffered_ && sends) {
      sent_[at] = static_cast<stamp>(end);  // when it arrives; the sender goes on at once
      finish(s, at, ready);
      if (peer_waits) finish(peer, other, std::max(end, blocked_since(peer))), runnable_.push_back(peer);
      return true;
    }
    if (buffered_ && sent_[other] != not_recorded) {
      finish(s, at, std::max(ready, ticks{sent_[other]}));
      return true;
    }
    if (buffered_ || !peer_waits) {
      at_peer_[s] = true;
      if constexpr (Durations::timed) free_[s] = ready;  // the time since which it waits
      return false;
    }
    finish(s, at, end);
    finish(peer, other, end);
    runnable_.push_back(peer);
    return true;
  }

  [[nodiscard]] ticks blocked_since(std::uint32_t s) const {
    if constexpr (Durations::timed) return free_[s];
    return 0;
  }
  [[nodiscard]] ticks transfer(std::uint32_t at) const {
    const action& a = p_.instructions[at].what;
    const bool below = a.kind == action_kind::send_activation || a.kind == action_kind::recv_gradient;
    return durations_.transfer(stage_index(below ? a.stage.value : a.stage.value - 1));
  }

  /// Adds a stream to its collective; the last member finishes it for all.
  bool arrive(std::uint32_t s, std::uint32_t at, ticks ready) {
    const collective_group& g = x_.groups[x_.partner[at]];
    arrivals& have = arrived_[x_.partner[at]];
    at_peer_[s] = true;
    ++have.count;
    have.ready = std::max(have.ready, ready);
    if (have.count < g.last - g.first) return false;
    ticks end = have.ready;
    if constexpr (Durations::timed) {
      ticks longest = 0;
      for (std::size_t m = g.first; m < g.last; ++m) longest = std::max(longest, durations_.of(x_.members[m]));
      end += longest;
    }
    for (std::size_t m = g.first; m < g.last; ++m) {
      const std::uint32_t member = x_.stream_of[x_.members[m]];
      finish(member, x_.members[m], end);
      if (member != s) runnable_.push_back(member);
    }
    return true;
  }

  const plan_index& x_;
  const plan& p_;
  const Durations& durations_;
  std::vector<std::uint32_t> next_;          ///< by stream: the instruction that it has come to
  std::vector<bool> at_peer_;                ///< by stream: whether it waits there for its peers
  std::vector<stamp> recorded_;              ///< by event: when
  std::vector<std::uint32_t> first_waiter_;  ///< by event: a stream that waits for it
  std::vector<std::uint32_t> next_waiter_;   ///< by stream: another one that waits for the same event
  std::vector<arrivals> arrived_;            ///< by collective
  std::vector<stamp> sent_;                  ///< by instruction, of `buffered` sends: when they arrive
  std::vector<ticks> free_;                  ///< by stream: end of its last instruction
  std::vector<std::uint32_t> runnable_;
  bool buffered_ = false;
  ticks length_ = 0;
};

}  // namespace brim::detail
