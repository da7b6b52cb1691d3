// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The schemes that brim ships. `m` microbatches, `p` devices, `v` chunks; f, b: forward and backward of a whole device,
/// i and w: the backward's input and weight half. Bubbles are those of the makespan with equal stages and free transfers.
///
/// | scheme                    | bubble of a device               | peak microbatches kept | take it when                          |
/// |---------------------------|----------------------------------|------------------------|---------------------------------------|
/// | `gpipe`                   | (p−1)(f+b)                       | m                      | memory is no concern, simplest order  |
/// | `one_f_one_b`             | (p−1)(f+b)                       | p − device             | the default                           |
/// | `eager_one_f_one_b`       | (p−1)(f+b)                       | 2(p − device) − 1      | transfers are slow                    |
/// | `seq_one_f_one_b`         | (p−1)(f+b) of a slice            | p − device + slices − 1 slices | sequences are long            |
/// | `interleaved_one_f_one_b` | (p−1)(f+b)/v                     | p + (p−1)/v, falling   | m is small and links are fast         |
/// | `looped_bfs`              | (p−1)(f+b)/v                     | m                      | as above, with sharded weights        |
/// | `chimera`                 | (p/2−1)(f+b) where f = b, m = p  | p/2+1 … p              | weights fit 2·pairs times             |
/// | `zero_bubble_h1`          | (p−1)(i + max(f−w, 0))           | p                      | memory is that of 1F1B                |
/// | `zero_bubble_h2`          | span: (p−1)max(0, f+i−2w, i−f)   | 2p − 1                 | steps follow without a barrier        |
/// | `interleaved_zero_bubble` | (p−1)(i + max(f−w, 0))/v         | p                      | links are fast                        |
/// | `grouped_interleave`      | (p−1)(f+i)/v, groups of p        | (group·(v−1) + p − device)/v | memory is short, links are fast |
/// | `zero_bubble_v`           | span: (p−1)(i−w) where w ≤ f ≤ i | p                      | f, i, w are near, memory is 1F1B's    |
/// | `v_half`                  | (3p−7)/2 where f = i = w = 1     | p/2 + 1                | memory is half of that                |
/// | `v_min`                   | (4p−5)/2 where f = i = w = 1     | ⌊(p+4)/3⌋              | memory is a third; f, i, w are equal  |
/// | `hanayo`                  | 2(p−1)f/v where f = b, p∣m       | p − (p−1)/v … p        | f = b, weights fit once               |
/// | `bitpipe`                 | (p/2−1)(f+b)/2 where f = b, p∣m  | at most p where f = b  | weights fit twice                     |
/// | `gems`                    | about (p−1)/(p+½) of the makespan | 1                     | nothing else fits                     |
///
/// Absent on purpose: a scheme with random orders, since a plan must be reproducible.

#include <brim/scheme/bitpipe.hpp>
#include <brim/scheme/chimera.hpp>
#include <brim/scheme/eager_one_f_one_b.hpp>
#include <brim/scheme/gems.hpp>
#include <brim/scheme/gpipe.hpp>
#include <brim/scheme/hanayo.hpp>
#include <brim/scheme/interleaved_one_f_one_b.hpp>
#include <brim/scheme/interleaved_zero_bubble.hpp>
#include <brim/scheme/looped_bfs.hpp>
#include <brim/scheme/make_order.hpp>
#include <brim/scheme/one_f_one_b.hpp>
#include <brim/scheme/seq_one_f_one_b.hpp>
#include <brim/scheme/v_half.hpp>
#include <brim/scheme/v_min.hpp>
#include <brim/scheme/zero_bubble_h.hpp>
#include <brim/scheme/zero_bubble_v.hpp>
