// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace bench {

/// One form of a fill in the study: utilization in percent, worst layer's interval in steps, greatest age in steps, kept
/// memory in MiB; 0 where the study gives no number.
struct study_form {
  double utilization = 0;
  double interval = 0;
  std::int32_t age = 0;
  double kept = 0;
};

enum class study_scheme : std::uint8_t { gpipe, one_f_one_b, chimera, zero_bubble_h1, zero_bubble_v };

/// A case of the study that preceded brim: a throw-away prototype in another language, with the block times published with
/// PipeFisher (arXiv 2211.14133), 3 blocks a stage, microbatches of 32 sequences, a head estimated from its FLOPs. It cut
/// inversions nowhere ("auto") or everywhere ("auto+pan"), and decided step by step, as `fill_stream` does.
struct study_case {
  std::string_view name;
  std::string_view profile;  ///< of examples/profiles
  study_scheme scheme;
  std::int32_t devices;
  std::int32_t microbatches;
  double transfer_ms;  ///< between neighbours
  double base;         ///< utilization before, percent
  double load;
  double bound;
  study_form one_shot;
  study_form automatic;
  study_form panels;
};

using enum study_scheme;

// clang-format off
inline constexpr study_case study[] = {
    {"Base GPipe 4/4",            "bert-base-p100",         gpipe,       4, 4,  0, 57.1, 2.21, 100,  {89.1, 3.0, 4, 2304},   {99.85, 2.9, 3, 1668}, {99.88, 2.9, 3, 1344}},
    {"Base 1F1B 4/4",             "bert-base-p100",         one_f_one_b, 4, 4,  0, 57.1, 2.21, 100,  {87.2, 4.0, 6, 2304},   {99.80, 2.9, 3, 1668}, {99.81, 2.9, 3, 1328}},
    {"Base Chimera 4/4",          "bert-base-p100",         chimera,     4, 4,  0, 76.1, 5.28, 100,  {90.7, 9.1, 16, 2100},  {99.86, 6.1, 6, 584},  {99.79, 5.4, 7, 896}},
    {"Large Chimera 8/8",         "bert-large-p100",        chimera,     8, 8,  0, 68.1, 2.94, 100,  {91.7, 4.0, 6, 5536},   {99.85, 3.0, 3, 3061}, {99.81, 3.0, 3, 2880}},
    {"Base GPipe head 5 ms",      "bert-base-p100-head",    gpipe,       4, 4,  5, 42.6, 1.09, 90.2, {68.0, 3.0, 4, 2304},   {90.21, 2.0, 2, 1232}, {90.21, 2.0, 2, 1296}},
    {"Base 1F1B head 5 ms",       "bert-base-p100-head",    one_f_one_b, 4, 4,  5, 42.6, 1.09, 90.2, {68.0, 3.0, 4, 2304},   {90.21, 2.0, 2, 1232}, {90.21, 2.0, 2, 1296}},
    {"Base Chimera head 5 ms",    "bert-base-p100-head",    chimera,     4, 4,  5, 66.7, 3.27, 100,  {95.1, 6.1, 10, 1596},  {99.76, 5.1, 6, 1008}, {99.75, 5.0, 6, 1020}},
    {"Large Chimera head 5 ms",   "bert-large-p100-head",   chimera,     8, 8,  5, 58.5, 1.92, 100,  {90.4, 4.0, 6, 3755},   {99.59, 3.3, 4, 2320}, {99.61, 3.4, 4, 2480}},
    {"Large Chimera head 2 ms",   "bert-large-p100-head",   chimera,     8, 8,  2, 59.8, 2.05, 100,  {92.3, 4.0, 6, 3883},   {99.71, 3.8, 4, 2949}, {99.70, 3.8, 4, 2965}},
    {"Large ZB-H1 8/8",           "bert-large-p100",        zero_bubble_h1, 8, 8,  0, 75.4, 4.21, 100, {94.5, 6.1, 10, 6144},   {99.64, 5.0, 7, 3541},   {99.70, 5.0, 6, 3051}},
    {"Large ZB-H1 head 5 ms",     "bert-large-p100-head",   zero_bubble_h1, 8, 8,  5, 48.7, 1.41, 100, {77.0, 5.0, 8, 6144},    {99.81, 4.0, 5, 4784},   {99.74, 4.1, 5, 4848}},
    {"Large ZB-V 8/8",            "bert-large-p100",        zero_bubble_v,  8, 8,  0, 76.9, 4.59, 100, {93.5, 7.1, 12, 12288},  {99.74, 5.0, 6, 4341},   {99.80, 5.0, 5, 4112}},
    {"Large ZB-V 8/16",           "bert-large-p100",        zero_bubble_v,  8, 16, 0, 91.5, 12.8, 100, {98.8, 15.4, 28, 24352}, {99.43, 15.4, 16, 3141}, {99.78, 14.3, 15, 4096}},
    {"Base ZB-H1 4/4",            "bert-base-p100",         zero_bubble_h1, 4, 4,  0, 78.2, 5.95, 100, {93.7, 10.0, 18, 2304},  {99.79, 9.1, 10, 864},   {99.81, 6.1, 7, 480}},
    {"Base ZB-V 4/8",             "bert-base-p100",         zero_bubble_v,  4, 8,  0, 92.9, 17.1, 100, {98.3, 28.6, 52, 9160},  {99.83, 25.0, 26, 1540}, {99.71, 18.2, 20, 1336}},
    {"V100 Large Chimera 8/8",    "bert-large-v100",        chimera,     8, 8,  0, 68.6, 3.08, 0,    {92.9},                 {99.76, 3.3, 4},       {99.78, 3.3, 4}},
    {"V100 Large Chimera head",   "bert-large-v100-head",   chimera,     8, 8,  5, 57.0, 1.82, 0,    {88.5},                 {99.71, 3.0, 3},       {99.69, 3.0, 3}},
    {"V100 Base Chimera 4/4",     "bert-base-v100",         chimera,     4, 4,  0, 76.5, 5.85, 0,    {90.7},                 {99.75, 9.1, 10},      {99.44, 6.1, 6}},
    {"V100 Base GPipe 4/4",       "bert-base-v100",         gpipe,       4, 4,  0, 57.1, 2.40, 0,    {91.8},                 {99.77, 3.0, 3},       {99.83, 3.0, 3}},
    {"3090 Large Chimera 8/8",    "bert-large-rtx3090",     chimera,     8, 8,  0, 68.4, 3.21, 0,    {80.3},                 {94.1},                {99.74, 3.7, 4}},
    {"3090 Large Chimera head",   "bert-large-rtx3090-head", chimera,    8, 8,  5, 53.7, 1.64, 0,    {80.7},                 {99.76, 3.0, 3},       {99.73, 3.0, 3}},
    {"3090 Base Chimera 4/4",     "bert-base-rtx3090",      chimera,     4, 4,  0, 76.1, 6.52, 0,    {77.0},                 {94.0},                {99.71, 6.7, 8}},
    {"3090 Base GPipe 4/4",       "bert-base-rtx3090",      gpipe,       4, 4,  0, 57.1, 2.73, 0,    {86.3},                 {99.85, 3.8, 4},       {99.78, 3.0, 4}},
    // The line below the study's tables: utilization with panels, sometimes one-shot.
    {"Large 1F1B 8/8",            "bert-large-p100",        one_f_one_b, 8, 8,  0, 0,    0,    0,    {},                     {},                    {99.79}},
    {"Large GPipe 8/8",           "bert-large-p100",        gpipe,       8, 8,  0, 0,    0,    0,    {},                     {},                    {99.90}},
    {"Large 1F1B 8/32",           "bert-large-p100",        one_f_one_b, 8, 32, 0, 0,    0,    0,    {97.1},                 {},                    {99.90}},
    {"Large GPipe 8/16",          "bert-large-p100",        gpipe,       8, 16, 0, 0,    0,    0,    {},                     {},                    {99.92}},
    {"Large Chimera 8/16",        "bert-large-p100",        chimera,     8, 16, 0, 0,    0,    0,    {},                     {},                    {99.82}},
    {"Large 1F1B head 8/8",       "bert-large-p100-head",   one_f_one_b, 8, 8,  5, 0,    0,    85.18, {},                    {},                    {85.18}},
};
// clang-format on

[[nodiscard]] constexpr bool is_planned(study_scheme scheme) { return scheme >= zero_bubble_h1; }

/// What the paper's experiment on BERT-Large with Chimera on 8 devices is quoted with in the public review of arXiv
/// 2211.14133. The steps are first order and K-FAC; the times are those of one step, and of the whole.
struct published_run {
  double before_percent = 59.8;
  double after_percent = 97.6;
  double overhead_percent = 6.5;
  double first_order_steps = 7038;
  double first_order_step_ms = 2345.6;
  double first_order_minutes = 275.1;
  double kfac_steps = 5000;
  double kfac_step_ms = 2499.5;
  double kfac_minutes = 208.3;
};

}  // namespace bench
