// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The part of brim that needs nothing but the standard library: shapes, profiles, schemes, timelines, fills, plans.
/// `brim/io`, `brim/graph` and the numerics are included one by one, since each needs a package.

#include <brim/fill/fill.hpp>
#include <brim/fill/kfac_work.hpp>
#include <brim/fill/stream.hpp>
#include <brim/model/profile.hpp>
#include <brim/plan/lower.hpp>
#include <brim/plan/plan.hpp>
#include <brim/plan/replay_length.hpp>
#include <brim/plan/verify.hpp>
#include <brim/schedule/lower_bound.hpp>
#include <brim/schedule/memory.hpp>
#include <brim/schedule/metrics.hpp>
#include <brim/schedule/simulate.hpp>
#include <brim/schedule/static_plan.hpp>
#include <brim/scheme/scheme.hpp>
#include <brim/version.hpp>
