// SPDX-License-Identifier: Apache-2.0
#include "../unit/plan/sample.hpp"

#include <brim/brim.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/verify.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace brim;

namespace {

/// Executes a plan naively, streams in random order, and says what an executor would trip over: an action without its
/// input, a transfer that never ends, a refresh that has not seen all its statistics. Knows nothing of `verify`.
class random_execution {
 public:
  random_execution(const plan& p, std::uint64_t seed) : p_(p), random_(seed) {}

  /// Empty when everything went well.
  std::string run() {
    std::vector<std::uint32_t> next;
    for (const stream& s : p_.streams) next.push_back(s.begin);
    for (;;) {
      std::vector<std::size_t> ready;
      bool all_done = true;
      for (std::size_t k = 0; k < next.size(); ++k) {
        if (next[k] == p_.streams[k].end) continue;
        all_done = false;
        if (can_start(k, next)) ready.push_back(k);
      }
      if (all_done) return complete();
      if (ready.empty()) return "stuck";
      const std::size_t k = ready[random_() % ready.size()];
      const std::uint32_t at = next[k];
      for (const std::size_t other : partners(k, next)) {
        if (std::string fault = execute(p_.streams[other], next[other]); !fault.empty()) return fault;
        ++next[other];
      }
      if (std::string fault = execute(p_.streams[k], at); !fault.empty()) return fault;
      ++next[k];
    }
  }

 private:
  using cell = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  // step, stage, microbatch
  using place =
      std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, side>;  // device, stage, layer, cycle, side

  [[nodiscard]] bool events_recorded(const instruction& i) const {
    for (const event_index e : p_.waits_of(i))
      if (!recorded_.contains(e.value)) return false;
    return true;
  }
  static bool mirrors(action_kind a, action_kind b) {
    return (a == action_kind::send_activation && b == action_kind::recv_activation) ||
           (a == action_kind::send_gradient && b == action_kind::recv_gradient);
  }
  /// The other streams whose heads take part in the head of stream `k`; the other end of a rendezvous, or all members.
  [[nodiscard]] std::vector<std::size_t> partners(std::size_t k, const std::vector<std::uint32_t>& next) const {
    std::vector<std::size_t> out;
    const instruction& i = p_.instructions[next[k]];
    for (std::size_t o = 0; o < next.size(); ++o) {
      if (o == k || next[o] == p_.streams[o].end) continue;
      const instruction& other = p_.instructions[next[o]];
      if (!events_recorded(other)) continue;
      const bool pair = p_.transport != transport::buffered && other.tag == i.tag && other.step == i.step &&
                        p_.streams[o].device == i.peer && p_.streams[k].device == other.peer &&
                        (mirrors(i.what.kind, other.what.kind) || mirrors(other.what.kind, i.what.kind));
      const bool member = is_collective(i.what.kind) && other.what.kind == i.what.kind && other.tag == i.tag;
      if (pair || member) out.push_back(o);
    }
    return out;
  }
  [[nodiscard]] bool can_start(std::size_t k, const std::vector<std::uint32_t>& next) const {
    const instruction& i = p_.instructions[next[k]];
    if (!events_recorded(i)) return false;
    if (is_collective(i.what.kind)) {
      std::set<std::int32_t> holders;
      for (std::int32_t r = 0; r < p_.where.routes; ++r)
        holders.insert(p_.where.device_of(route_index(r), i.what.stage).value);
      return partners(k, next).size() + 1 == holders.size();
    }
    if (!is_send(i.what.kind) && !is_receive(i.what.kind)) return true;
    if (p_.transport != transport::buffered) return partners(k, next).size() == 1;
    return is_send(i.what.kind) || mail_.contains({i.peer.value, p_.streams[k].device.value, i.tag, i.step});
  }

  std::string execute(const stream& s, std::uint32_t at) {
    const instruction& i = p_.instructions[at];
    const action& a = i.what;
    const std::int32_t d = s.device.value;
    const cell here{i.step, a.stage.value, a.microbatch.value};
    const cell below{i.step, a.stage.value - 1, a.microbatch.value},
        above{i.step, a.stage.value + 1, a.microbatch.value};
    std::string fault;
    const auto need = [&](bool fine, const char* what) {
      if (!fine && fault.empty()) fault = detail::text(what, " at ", at);
    };
    const auto holder = [&](std::int32_t stage) { return p_.where.device_of(a.route, stage_index(stage)).value; };
    const detail::refresh_cycle c(i.step, i.origin_step, p_.steps);
    const place unit{d, a.stage.value, a.layer.value, c.step, a.side};
    switch (a.kind) {
      case action_kind::forward:
        if (a.stage.value > 0)
          need(holder(a.stage.value - 1) == d ? forwards_.contains(below) : activations_.contains(here),
               "forward without activation");
        need(forwards_.insert(here).second, "forward twice");
        break;
      case action_kind::backward:
      case action_kind::backward_input:
        need(forwards_.contains(here), "backward before forward");
        if (a.stage.value + 1 < p_.where.stages)
          need(holder(a.stage.value + 1) == d ? backwards_.contains(above) : gradients_.contains(here),
               "backward without gradient");
        need(backwards_.insert(here).second, "backward twice");
        if (a.kind == action_kind::backward) need(gradients_of_weights_.insert(here).second, "weight half twice");
        break;
      case action_kind::backward_weight:
        need(backwards_.contains(here), "weight half before its input half");
        need(gradients_of_weights_.insert(here).second, "weight half twice");
        break;
      case action_kind::send_activation:
        need(forwards_.contains(here), "nothing to send");
        mail_.insert({d, i.peer.value, i.tag, i.step});
        break;
      case action_kind::send_gradient:
        need(backwards_.contains(here), "nothing to send");
        mail_.insert({d, i.peer.value, i.tag, i.step});
        break;
      case action_kind::recv_activation: activations_.insert(here); break;
      case action_kind::recv_gradient: gradients_.insert(here); break;
      case action_kind::statistic: {
        const cell source{c.step, a.stage.value, a.microbatch.value};
        if (c.repetition == 0 && a.microbatch.value >= 0)
          need((a.side == side::a ? forwards_ : backwards_).contains(source), "premature statistic");
        ++statistics_[{unit, c.repetition}];
        break;
      }
      case action_kind::sync_statistic:
        sums_.insert({unit, c.repetition});
        need(seen(unit, c.repetition) == wanted(i), "sum without statistics");
        break;
      case action_kind::refresh:
        need(seen(unit, c.repetition) == wanted(i), "refresh without statistics");
        if (p_.where.routes > 1 && c.repetition == repetition_of_sum(unit))
          need(sums_.contains({unit, c.repetition}), "refresh without sum");
        ++refreshes_[{unit, c.repetition}];
        break;
      case action_kind::optimizer_step:
      case action_kind::precondition:
      case action_kind::sync_gradient:
        for (std::int32_t m = a.route.value; m < p_.shape.microbatches; m += p_.where.routes)
          need(gradients_of_weights_.contains({i.step, a.stage.value, m}), "end of the step before its last backward");
        if (a.kind == action_kind::sync_gradient && a.layer.value < 0)
          gradient_sums_.insert({i.step, d, a.stage.value});
        if (a.kind != action_kind::sync_gradient && p_.where.routes > 1)
          need(gradient_sums_.contains({i.step, d, a.stage.value}), "gradient not summed");
        if (a.kind == action_kind::precondition) ++conditions_[{i.step, d, a.stage.value}];
        if (a.kind == action_kind::sync_gradient && a.layer.value >= 0) {
          need(conditions_[{i.step, d, a.stage.value}] >= 1, "exchange before precondition");
          shared_.insert({i.step, d, a.stage.value});
        }
        if (a.kind == action_kind::optimizer_step && p_.where.routes > 1)
          need(shared_.contains({i.step, d, a.stage.value}), "update before exchange");
        if (a.kind == action_kind::optimizer_step)
          need(conditions_[{i.step, d, a.stage.value}] == 2, "update before precondition");
        break;
      default: break;
    }
    if (i.records.value >= 0) recorded_.insert(i.records.value);
    return fault;
  }

  /// Statistics that a cycle has seen when an entry of a repetition runs: earlier repetitions are over.
  std::int64_t seen(const place& unit, std::int64_t repetition) {
    std::int64_t n = 0;
    for (const auto& [key, count] : statistics_)
      if (key.first == unit && key.second == repetition) n += count;
    for (const instruction& i : p_.instructions) {
      const detail::refresh_cycle c(i.step, i.origin_step, p_.steps);
      if (i.what.kind == action_kind::statistic && c.repetition < repetition && c.step == std::get<3>(unit) &&
          i.what.stage.value == std::get<1>(unit) && i.what.layer.value == std::get<2>(unit) &&
          i.what.side == std::get<4>(unit) && p_.where.device_of(i.what.route, i.what.stage).value == std::get<0>(unit))
        ++n;
    }
    return n;
  }
  /// In the sample layer 0 has its statistics in two pieces.
  [[nodiscard]] std::int64_t wanted(const instruction& i) const {
    std::int64_t n = 0;
    for (std::int32_t m = i.what.route.value; m < p_.shape.microbatches; m += p_.where.routes) ++n;
    return n * (i.what.layer.value == 0 ? 2 : 1);
  }
  [[nodiscard]] std::int64_t repetition_of_sum(const place& unit) const {
    for (const instruction& i : p_.instructions) {
      const detail::refresh_cycle c(i.step, i.origin_step, p_.steps);
      if (i.what.kind == action_kind::sync_statistic && i.what.stage.value == std::get<1>(unit) &&
          i.what.layer.value == std::get<2>(unit) && i.what.side == std::get<4>(unit) && c.step == std::get<3>(unit))
        return c.repetition;
    }
    return -1;
  }
  [[nodiscard]] std::string complete() const {
    const std::size_t cells = static_cast<std::size_t>(p_.steps * p_.where.stages * p_.shape.microbatches);
    const bool all = forwards_.size() == cells && backwards_.size() == cells && gradients_of_weights_.size() == cells;
    return all ? "" : "incomplete";
  }

  const plan& p_;
  std::mt19937_64 random_;
  std::set<std::int32_t> recorded_;
  std::set<cell> forwards_, backwards_, gradients_of_weights_, activations_, gradients_;
  std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>> mail_;
  std::map<std::pair<place, std::int64_t>, std::int64_t> statistics_, refreshes_;
  std::set<std::pair<place, std::int64_t>> sums_;
  std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> gradient_sums_, shared_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, int> conditions_;
};

std::string execute(const plan& p, int times) {
  for (int seed = 0; seed < times; ++seed)
    if (std::string fault = random_execution(p, static_cast<std::uint64_t>(seed)).run(); !fault.empty()) return fault;
  return {};
}

std::vector<plan> small_plans() {
  std::vector<plan> out;
  for (const transport t : sample::transports) {
    out.push_back(
        lower(simulate(schemes::one_f_one_b{}, {.devices = 3, .microbatches = 3}, uniform_cost{}), {.transport = t}));
    out.push_back(lower(
        simulate(schemes::interleaved_one_f_one_b{}, {.devices = 2, .microbatches = 3, .chunks = 2}, uniform_cost{}),
        {.transport = t}));
    out.push_back(lower(simulate(schemes::zero_bubble_h1{}, {.devices = 3, .microbatches = 3}, uniform_cost{}),
                        {.transport = t}));
    out.push_back(
        lower(sample::two_step_cycle(schemes::chimera{}, {.devices = 2, .microbatches = 3}), {.transport = t}));
    out.push_back(lower(sample::two_step_cycle(schemes::gpipe{}, {.devices = 2, .microbatches = 2}), {.transport = t}));
  }
  return out;
}

std::string place_of(const plan& p, std::size_t at, const char* edit) {
  return detail::text(edit, " at ", at, " of ", p.scheme, " with ", name_of(p.transport));
}

/// A changed plan is refused, or it runs all the same.
void refused_or_right(const plan& changed, const std::string& edit) {
  if (find_fault(changed)) return;
  const std::string trouble = execute(changed, 4);
  INFO(edit);
  INFO(trouble);
  CHECK(trouble.empty());
}

}  // namespace

TEST_CASE("plan mutation: the executor runs right plans, and can fail") {
  for (const plan& p : small_plans()) {
    CHECK(!find_fault(p));
    CHECK(execute(p, 10) == "");
  }
  int failures = 0;
  for (plan p : small_plans())
    for (std::size_t i = 0; i < p.instructions.size(); ++i)
      if (p.instructions[i].wait_count > 0) {
        plan changed = p;
        sample::drop_wait(changed, i, 0);
        failures += execute(changed, 3).empty() ? 0 : 1;
      }
  CHECK(failures > 20);
}

TEST_CASE("plan mutation: no wait can be left out") {
  for (const plan& p : small_plans())
    for (std::size_t i = 0; i < p.instructions.size(); ++i)
      for (std::size_t w = 0; w < p.instructions[i].wait_count; ++w) {
        plan changed = p;
        sample::drop_wait(changed, i, w);
        INFO(place_of(p, i, "wait"));
        CHECK(find_fault(changed));
      }
}

TEST_CASE("plan mutation: no instruction can be left out or doubled") {
  for (const plan& p : small_plans())
    for (std::size_t i = 0; i < p.instructions.size(); ++i) {
      plan changed = p;
      sample::drop(changed, i);
      INFO(place_of(p, i, "instruction"));
      CHECK(find_fault(changed));
      changed = p;
      sample::duplicate(changed, i);
      CHECK(find_fault(changed));
    }
}

TEST_CASE("plan mutation: a changed plan is refused, or right") {
  for (const plan& p : small_plans())
    for (std::size_t i = 0; i < p.instructions.size(); ++i) {
      // Another event, one more wait, actions exchanged with the next one (with the times, and without).
      for (std::int32_t e = 0; e < p.events; e += 1 + p.events / 5) {
        plan changed = p;
        if (p.instructions[i].wait_count > 0) {
          changed.waits[p.instructions[i].first_wait] = event_index(e);
          refused_or_right(changed, place_of(p, i, "other event"));
          changed = p;
        }
        sample::add_wait(changed, i, event_index(e));
        refused_or_right(changed, place_of(p, i, "one more wait"));
      }
      if (i + 1 == p.instructions.size()) continue;
      plan changed = p;
      sample::exchange(changed, i, i + 1);
      refused_or_right(changed, place_of(p, i, "exchange"));
      changed.timeline.clear();
      refused_or_right(changed, place_of(p, i, "exchange without times"));
      std::swap(changed.instructions[i].records, changed.instructions[i + 1].records);
      refused_or_right(changed, place_of(p, i, "exchange with events"));
    }
}

TEST_CASE("plan mutation: every field of every instruction matters") {
  const auto each = [](const plan& p, std::size_t i, auto edit) {
    for (const std::int32_t by : {-1, 1}) {
      plan changed = p;
      edit(changed.instructions[i], by);
      INFO(place_of(p, i, "field"));
      CHECK(find_fault(changed));
      changed.timeline.clear();
      refused_or_right(changed, place_of(p, i, "field without times"));
    }
  };
  for (const plan& p : small_plans())
    for (std::size_t i = 0; i < p.instructions.size(); ++i) {
      each(p, i, [](instruction& x, std::int32_t by) { x.what.stage = stage_index(x.what.stage.value + by); });
      each(p, i,
           [](instruction& x, std::int32_t by) { x.what.microbatch = microbatch_index(x.what.microbatch.value + by); });
      each(p, i, [](instruction& x, std::int32_t by) { x.what.route = route_index(x.what.route.value + by); });
      each(p, i, [](instruction& x, std::int32_t by) { x.what.layer = layer_index(x.what.layer.value + by); });
      each(p, i, [](instruction& x, std::int32_t by) {
        x.what.kind = static_cast<action_kind>(static_cast<int>(x.what.kind) + by);
      });
      each(p, i, [](instruction& x, std::int32_t by) {
        x.what.side = static_cast<side>((static_cast<int>(x.what.side) + 3 + by) % 3);
      });
      each(p, i, [](instruction& x, std::int32_t by) { x.step += by; });
      each(p, i, [](instruction& x, std::int32_t by) { x.origin_step += by; });
      each(p, i, [](instruction& x, std::int32_t by) { x.piece += by; });
      each(p, i, [](instruction& x, std::int32_t by) { x.pieces += by; });
      each(p, i, [](instruction& x, std::int32_t by) { x.peer = device_index(x.peer.value + by); });
    }
}

TEST_CASE("plan mutation: garbage is refused or right, and never crashes") {
  const std::vector<plan> plans = small_plans();
  rc::check("random bytes over a plan's arrays", [&plans] {
    plan p = plans[*rc::gen::inRange<std::size_t>(0, plans.size())];
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
    const auto scribble = [&random](auto& list) {
      if (list.empty()) return;
      auto* bytes_of = reinterpret_cast<unsigned char*>(list.data());
      bytes_of[random() % (list.size() * sizeof(list[0]))] =
          static_cast<unsigned char>(random() % 4 == 0 ? random() : random() % 4);
    };
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) switch (random() % 8) {
        case 0: scribble(p.timeline); break;
        case 1: scribble(p.streams); break;
        case 2: scribble(p.waits); break;
        case 3: scribble(p.where.holders); break;
        case 4: p.instructions.resize(random() % (p.instructions.size() + 2)); break;
        case 5: (random() % 2 == 0 ? p.steps : p.shape.microbatches) = static_cast<std::int32_t>(random()); break;
        default: scribble(p.instructions);
      }
    if (random() % 2 == 0) p.timeline.clear();
    if (!find_fault(p)) RC_ASSERT(execute(p, 3).empty());
  });
}
