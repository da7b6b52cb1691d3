// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/plan/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace brim::detail {

/// Which streams the devices have under a transport, and which of them a transfer takes. Streams are numbered device by
/// device, the compute stream of a device first; those that stay empty are left out at the end.
class stream_layout {
 public:
  stream_layout(const placement& where, transport t) : where_(where), transport_(t) {
    if (t == transport::queue_per_edge) find_peers();
    for (std::int32_t d = 0; d < where.devices; ++d) {
      first_.push_back(streams_.size());
      add(d, stream_kind::compute);
      switch (t) {
        case transport::buffered:
          add(d, stream_kind::send);
          add(d, stream_kind::receive);
          break;
        case transport::one_queue: add(d, stream_kind::communication); break;
        case transport::queue_per_direction:
          add(d, stream_kind::activation);
          add(d, stream_kind::gradient);
          break;
        case transport::queue_per_edge:
          for (const std::int32_t peer : peers_of(d)) {
            add(d, stream_kind::send, peer);
            add(d, stream_kind::receive, peer);
          }
          break;
        case transport::blocking: break;
      }
      if (t != transport::one_queue && t != transport::blocking) add(d, stream_kind::collective);
    }
    first_.push_back(streams_.size());
  }

  [[nodiscard]] std::vector<stream>& streams() { return streams_; }
  [[nodiscard]] std::size_t compute(device_index d) const { return first_[d.at()]; }
  [[nodiscard]] std::size_t collective(device_index d) const { return first_[d.at() + 1] - 1; }

  /// The stream on `own` for a transfer to or from `peer`.
  [[nodiscard]] std::size_t transfer(device_index own, device_index peer, bool sends, bool gradient) const {
    const std::size_t first = first_[own.at()];
    switch (transport_) {
      case transport::buffered: return first + (sends ? 1 : 2);
      case transport::one_queue: return first + 1;
      case transport::queue_per_direction: return first + (gradient ? 2 : 1);
      case transport::queue_per_edge: {
        const auto peers = peers_of(own);
        const auto at = std::lower_bound(peers.begin(), peers.end(), peer.value) - peers.begin();
        return first + 1 + 2 * static_cast<std::size_t>(at) + (sends ? 0 : 1);
      }
      case transport::blocking: break;
    }
    return first;
  }

 private:
  void add(std::int32_t d, stream_kind kind, std::int32_t peer = -1) {
    streams_.push_back({.device = device_index(d), .kind = kind, .peer = device_index(peer)});
  }

  [[nodiscard]] std::span<const std::int32_t> peers_of(std::int32_t d) const {
    return std::span(peers_).subspan(
        peer_offsets_[static_cast<std::size_t>(d)],
        peer_offsets_[static_cast<std::size_t>(d) + 1] - peer_offsets_[static_cast<std::size_t>(d)]);
  }
  [[nodiscard]] std::span<const std::int32_t> peers_of(device_index d) const { return peers_of(d.value); }

  void find_peers() {
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::int32_t r = 0; r < where_.routes; ++r)
      for (std::int32_t s = 0; s + 1 < where_.stages; ++s) {
        const std::int32_t x = where_.device_of(route_index(r), stage_index(s)).value;
        const std::int32_t y = where_.device_of(route_index(r), stage_index(s + 1)).value;
        if (x != y) pairs.insert(pairs.end(), {{x, y}, {y, x}});
      }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    peer_offsets_.push_back(0);
    auto pair = pairs.begin();
    for (std::int32_t d = 0; d < where_.devices; ++d) {
      for (; pair != pairs.end() && pair->first == d; ++pair) peers_.push_back(pair->second);
      peer_offsets_.push_back(peers_.size());
    }
  }

  const placement& where_;
  transport transport_;
  std::vector<stream> streams_;
  std::vector<std::size_t> first_;  ///< `devices + 1` positions in `streams_`
  std::vector<std::int32_t> peers_;
  std::vector<std::size_t> peer_offsets_;
};

}  // namespace brim::detail
