// SPDX-License-Identifier: Apache-2.0
#include "searching.hpp"

#include "words.hpp"

#include <brim/core/text.hpp>

#include <chrono>
#include <cstdio>
#include <utility>

#include <unistd.h>

namespace tool {
namespace {

using clock = std::chrono::steady_clock;

/// What the search is told when it asks whether to go on.
class watch {
 public:
  explicit watch(std::int64_t milliseconds)
      : end_(clock::now() + std::chrono::milliseconds(milliseconds)),
        limited_(milliseconds > 0),
        shows_(isatty(STDERR_FILENO) != 0) {}
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }

  [[nodiscard]] bool over() const { return limited_ && clock::now() >= end_; }
  brim::search_answer look(const brim::search_progress& progress) {
    const clock::time_point now = clock::now();
    if (shows_ && now >= next_) {
      const std::string line = brim::detail::text("\rsearching: ", milliseconds(progress.length),
                                                  ", no order is below ", milliseconds(progress.bound), "\033[K");
      std::fputs(line.c_str(), stderr);
      std::fflush(stderr);
      shown_ = true;
      next_ = now + std::chrono::milliseconds(100);
    }
    return over() ? brim::search_answer::stop : brim::search_answer::go_on;
  }

 private:
  clock::time_point end_;
  clock::time_point next_ = clock::now() + std::chrono::milliseconds(300);
  bool limited_;
  bool shows_;
  bool shown_ = false;
};

}  // namespace

brim::search_result search_order(const job& work, const search_wishes& wishes, const std::vector<brim::bytes>& limits) {
  watch clock_on_the_wall(wishes.milliseconds);
  brim::search_options options;
  options.goal = wishes.goal;
  options.memory_limits = limits;
  options.operations = wishes.operations;
  options.callback = [](void* context, const brim::search_progress& progress) {
    return static_cast<watch*>(context)->look(progress);
  };
  options.context = &clock_on_the_wall;
  if (wishes.milliseconds == 0) return search_lean(work.shape, work.costs, work.costs, options);
  // Ever longer searches from other random numbers, until the clock ends one.
  options.operations = 200'000;
  brim::search_result best = search_lean(work.shape, work.costs, work.costs, options);
  while (best.gap > 0 && !clock_on_the_wall.over()) {
    options.operations *= 2;
    ++options.seed;
    brim::search_result next = search_lean(work.shape, work.costs, work.costs, options);
    if (next.length < best.length) best = std::move(next);
  }
  return best;
}

}  // namespace tool
