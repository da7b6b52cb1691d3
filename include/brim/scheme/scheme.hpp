// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The schemes that brim ships. `m` microbatches, `p` devices, `v` chunks; f, b: forward and backward of a whole device.
///
/// | scheme                    | bubble of a device, equal stages | peak microbatches kept | take it when                          |
/// |---------------------------|----------------------------------|------------------------|---------------------------------------|
/// | `gpipe`                   | (p−1)(f+b)                       | m                      | memory is no concern, simplest order  |
/// | `one_f_one_b`             | (p−1)(f+b)                       | p − device             | the default                           |
/// | `interleaved_one_f_one_b` | (p−1)(f+b)/v                     | p + (p−1)/v, falling   | m is small and links are fast         |
/// | `looped_bfs`              | (p−1)(f+b)/v                     | m                      | as above, with sharded weights        |
/// | `chimera`                 | (p/2−1)(f+b) where f = b, m = p  | p/2+1 … p              | weights fit 2·pairs times             |
///
/// Absent on purpose: schemes that split the backward (zero bubble, DualPipe) and waves (Hanayo); a scheme with random
/// orders, since a plan must be reproducible.

#include <brim/scheme/chimera.hpp>
#include <brim/scheme/gpipe.hpp>
#include <brim/scheme/interleaved_one_f_one_b.hpp>
#include <brim/scheme/looped_bfs.hpp>
#include <brim/scheme/make_order.hpp>
#include <brim/scheme/one_f_one_b.hpp>
