// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <brim/core/maybe.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace brim {

/// What a send and a receive do to the device that issues them. A plan is made for one of these, and checked for it.
///
/// | transport             | a send waits until …                    | communication streams of a device      | typical of                        |
/// |-----------------------|-----------------------------------------|----------------------------------------|-----------------------------------|
/// | `buffered`            | never                                   | sends, receives, collectives           | `MPI_Bsend`, in-process mailboxes |
/// | `one_queue`           | the peer's queue has come to its receive | one for everything                     | one NCCL communicator             |
/// | `queue_per_direction` | as above, in the queue of its direction | activations, gradients, collectives    | two communicators                 |
/// | `queue_per_edge`      | as above, in the queue of its edge      | one each way for each peer, collectives | a communicator a directed pair    |
/// | `blocking`            | the peer itself has come to its receive | none: all in the device's own stream   | `MPI_Ssend` and `MPI_Recv`        |
enum class transport : std::uint8_t { buffered, one_queue, queue_per_direction, queue_per_edge, blocking };

inline constexpr std::size_t transport_count = 5;

/// As it is written in files and on the command line.
[[nodiscard]] constexpr std::string_view name_of(transport t) {
  switch (t) {
    case transport::buffered: return "buffered";
    case transport::one_queue: return "one_queue";
    case transport::queue_per_direction: return "queue_per_direction";
    case transport::queue_per_edge: return "queue_per_edge";
    case transport::blocking: return "blocking";
  }
  return "unknown";
}

/// The transport of that name; nothing where there is none.
[[nodiscard]] constexpr maybe<transport> transport_named(std::string_view name) {
  for (std::size_t i = 0; i < transport_count; ++i)
    if (name_of(static_cast<transport>(i)) == name) return static_cast<transport>(i);
  return {};
}

/// What a stream of instructions is for.
enum class stream_kind : std::uint8_t {
  compute,        ///< kernels; with `transport::blocking` everything
  communication,  ///< the one queue of `one_queue`
  activation,     ///< sends and receives of activations (`queue_per_direction`)
  gradient,       ///< sends and receives of gradients (`queue_per_direction`)
  send,           ///< sends to `peer` (`queue_per_edge`) or to everybody (`buffered`)
  receive,        ///< receives from `peer` (`queue_per_edge`) or from everybody (`buffered`)
  collective,     ///< collectives, where they have a queue of their own
};

inline constexpr std::size_t stream_kind_count = 7;

[[nodiscard]] constexpr std::string_view name_of(stream_kind kind) {
  switch (kind) {
    case stream_kind::compute: return "compute";
    case stream_kind::communication: return "communication";
    case stream_kind::activation: return "activation";
    case stream_kind::gradient: return "gradient";
    case stream_kind::send: return "send";
    case stream_kind::receive: return "receive";
    case stream_kind::collective: return "collective";
  }
  return "unknown";
}

/// The stream kind of that name; nothing where there is none.
[[nodiscard]] constexpr maybe<stream_kind> stream_kind_named(std::string_view name) {
  for (std::size_t i = 0; i < stream_kind_count; ++i)
    if (name_of(static_cast<stream_kind>(i)) == name) return static_cast<stream_kind>(i);
  return {};
}

}  // namespace brim
