// SPDX-License-Identifier: Apache-2.0
#include "cases/suite_axes.hpp"

namespace ropecheck {
namespace {

// One axis, one line.
// clang-format off

// An axis that neither the common values nor those of the family name has one value, that of a
// default case; the profile is set by the options of the suite.

// ---- smoke: every family, every rope form, every law somewhere; tiny.

constexpr AxisValues kSmokeCommon[] = {
    {"heads", "4.2 2.1 2.2"},
    {"dim", "16.32.16 32.16.16"},
    {"rope", "default.1.10000.4096 linear.4.500000.8192"},
    {"layout", "half inter"},
    {"rows", "3"},
    {"len", "12.ragged 9.ragged"},
    {"pad", "left right"},
    {"garbage", "noise nan"},
    {"pos", "given derived"},
    {"index", "i64 i32"},
    {"qkv", "separate fused"},
    {"in", "normal ramp"},
};
constexpr AxisValues kSmokePadding[] = {
    {"pads", "rank column"},
    {"len", "12.equal 9.ragged"},
    {"pad", "left right both holes"},
    {"handed", "rule tables_half"},
    {"law", "none padding_removed pad_content composition"},
};
constexpr AxisValues kSmokeMixed[] = {
    {"len", "12.ragged 12.extreme"},
    {"pad", "left right both"},
    {"order", "natural shuffled"},
    {"handed", "rule inv_freq tables_full"},
    {"in", "normal one_hot"},
    {"law", "none batch_order token_by_token inverse"},
};
constexpr AxisValues kSmokePacked[] = {
    {"form", "packed"},
    {"seg", "restart.isolated continued.isolated restart.shared continued.shared"},
    {"len", "12.ragged 12.extreme 9.equal"},
    {"pad", "none"},
    {"garbage", "noise"},
    {"handed", "rule tables_joined rotated"},
    {"in", "normal mean"},
    {"law", "none packed_is_separate head_order pair_norm"},
};
constexpr AxisValues kSmokeDecode[] = {
    {"steps", "3"},
    {"cache", "none caller backend"},
    {"slots", "rank column"},
    {"handed", "rule tables_by_token"},
    {"in", "normal tied"},
    {"law", "none chunking value_untouched tail_untouched"},
};
constexpr AxisValues kSmokePackedDecode[] = {
    {"form", "packed"},
    {"seg", "restart.isolated continued.isolated"},
    {"pad", "none"},
    {"steps", "2"},
    {"cache", "none caller backend"},
    {"handed", "rule inv_freq"},
    {"law", "none batch_neighbours gqa_is_mha"},
};
constexpr AxisValues kSmokeChunked[] = {
    {"chunk", "4 5"},
    {"cache", "none caller backend"},
    {"slots", "rank column"},
    {"handed", "rule tables_half"},
    {"in", "normal peaked"},
    {"law", "none chunking linear_in_values origin_identity"},
};
constexpr AxisValues kSmokeShift[] = {
    {"len", "12.ragged 9.equal"},
    {"pad", "none left right"},
    {"steps", "2"},
    {"edit", "discard.1 advance.9"},
    {"cache", "none caller backend"},
    {"handed", "rule inv_freq tables_half"},
    {"law", "none shift_is_encoded run_to_run"},
};
constexpr AxisValues kSmokeInterpolation[] = {
    {"rope", "linear.1.10000.4096 linear.2.10000.4096 linear.2-5.10000.4096 linear.4.10000.4096 "
             "linear.8.10000.4096"},
    {"first", "0 20000"},
    {"len", "12.ragged"},
    {"garbage", "noise"},
    {"handed", "rule inv_freq"},
    {"in", "normal"},
    {"law", "none linear_is_scaled_position factor_one"},
};
constexpr AxisValues kSmokeLadder[] = {
    {"rope", "default.1.10000.4096 linear.4.10000.4096"},
    {"first", "0 1 256 4096 65536 1048576"},
    {"len", "12.ragged"},
    {"garbage", "noise"},
    {"handed", "rule"},
    {"in", "normal outlier"},
    {"law", "none common_shift layout_permutation"},
};
constexpr FamilyValues kSmokeFamilies[] = {
    {Family::padding, kSmokePadding},
    {Family::mixed, kSmokeMixed},
    {Family::packed, kSmokePacked},
    {Family::decode, kSmokeDecode},
    {Family::packed_decode, kSmokePackedDecode},
    {Family::chunked, kSmokeChunked},
    {Family::shift, kSmokeShift},
    {Family::interpolation, kSmokeInterpolation},
    {Family::ladder, kSmokeLadder},
};

// ---- default: every value of every axis somewhere; rows of one or two dozen tokens.

constexpr AxisValues kDefaultCommon[] = {
    {"heads", "2.2 4.2 4.1 8.2"},
    {"dim", "32.32.32 64.64.64 80.80.40 64.32.64 128.128.128 128.64.32"},
    {"rope", "default.1.10000.4096 default.1.500000.8192 linear.4.10000.4096 "
             "linear.2-5.1000000.32768"},
    {"layout", "half inter"},
    {"first", "0 5 4000"},
    {"rows", "2 3 4"},
    {"len", "10.ragged 17.ragged 24.ragged 20.extreme"},
    {"pad", "left right both holes"},
    {"cache", "none caller backend"},
    {"slots", "rank column"},
    {"garbage", "noise nan inf huge zeros other_token"},
    {"order", "natural shuffled"},
    {"pos", "given derived"},
    {"handed", "rule inv_freq tables_half tables_full tables_joined tables_by_token rotated"},
    {"index", "i64 i32"},
    {"qkv", "separate fused"},
    {"in", "normal mean ramp one_hot peaked outlier tied"},
};
constexpr AxisValues kDefaultPadding[] = {
    {"pads", "rank column"},
    {"rows", "1 2 3 4"},
    {"len", "9.equal 24.equal 16.ragged 24.ragged"},
    {"pad", "none left right both holes"},
    {"law", "none run_to_run padding_removed batch_neighbours pad_content token_by_token "
            "layout_permutation pair_norm tail_untouched origin_identity composition inverse"},
};
constexpr AxisValues kDefaultMixed[] = {
    {"law", "none padding_removed batch_order batch_neighbours pad_content token_by_token "
            "head_order gqa_is_mha linear_in_values common_shift value_untouched composition"},
};
constexpr AxisValues kDefaultPacked[] = {
    {"form", "packed"},
    {"seg", "restart.isolated continued.isolated restart.shared continued.shared"},
    {"rows", "1 2 3 5"},
    {"len", "9.equal 17.ragged 24.ragged 20.extreme"},
    {"pad", "none"},
    {"slots", "rank"},
    {"order", "natural"},
    {"law", "none run_to_run batch_neighbours packed_is_separate gqa_is_mha head_order "
            "layout_permutation linear_in_values common_shift pad_content pair_norm"},
};
constexpr AxisValues kDefaultDecode[] = {
    {"pads", "rank column"},
    {"len", "12.equal 10.ragged 24.ragged 20.extreme"},
    {"pad", "none left right both holes"},
    {"steps", "1 3 6"},
    {"law", "none padding_removed batch_order batch_neighbours pad_content chunking common_shift "
            "linear_is_scaled_position value_untouched run_to_run"},
};
constexpr AxisValues kDefaultPackedDecode[] = {
    {"form", "packed"},
    {"seg", "restart.isolated continued.isolated"},
    {"rows", "1 2 3 4"},
    {"len", "9.equal 17.ragged 24.ragged 20.extreme"},
    {"pad", "none"},
    {"steps", "1 4"},
    {"slots", "rank"},
    {"order", "natural"},
    {"law", "none batch_neighbours packed_is_separate pad_content head_order gqa_is_mha "
            "common_shift value_untouched linear_in_values"},
};
constexpr AxisValues kDefaultChunked[] = {
    {"len", "12.equal 10.ragged 24.ragged 20.extreme"},
    {"pad", "none left right both holes"},
    {"chunk", "1 4 7"},
    {"law", "none chunking token_by_token padding_removed batch_order pad_content "
            "batch_neighbours common_shift value_untouched factor_one"},
};
constexpr AxisValues kDefaultShift[] = {
    {"len", "12.equal 17.ragged 24.ragged"},
    {"pad", "none left right both holes"},
    {"steps", "1 4"},
    {"edit", "discard.1 discard.2 advance.3 advance.500"},
    {"law", "none shift_is_encoded padding_removed batch_order batch_neighbours pad_content "
            "common_shift layout_permutation head_order run_to_run"},
};
constexpr AxisValues kDefaultInterpolation[] = {
    {"rope", "linear.1.10000.4096 linear.2.10000.4096 linear.2-5.10000.4096 linear.4.10000.4096 "
             "linear.8.10000.4096"},
    {"first", "0 4000 18000 100000"},
    {"len", "12.equal 17.ragged 24.ragged"},
    {"pad", "none left right"},
    {"law", "none linear_is_scaled_position factor_one common_shift layout_permutation pair_norm "
            "origin_identity composition inverse"},
};
constexpr AxisValues kDefaultLadder[] = {
    {"first", "0 1 16 256 1024 4096 16384 65536 262144 1048576"},
    {"len", "12.equal 17.ragged 24.ragged"},
    {"pad", "none left right"},
    {"law", "none common_shift linear_is_scaled_position layout_permutation factor_one "
            "token_by_token pair_norm tail_untouched composition inverse"},
};
constexpr FamilyValues kDefaultFamilies[] = {
    {Family::padding, kDefaultPadding},
    {Family::mixed, kDefaultMixed},
    {Family::packed, kDefaultPacked},
    {Family::decode, kDefaultDecode},
    {Family::packed_decode, kDefaultPackedDecode},
    {Family::chunked, kDefaultChunked},
    {Family::shift, kDefaultShift},
    {Family::interpolation, kDefaultInterpolation},
    {Family::ladder, kDefaultLadder},
};

// Long rows: a mean in V over thousands of keys, the end of the ladder, and sampled rows.
constexpr std::string_view kDefaultExtras[] = {
    "padding/heads=2.1/dim=64.64.64/rows=1/len=2048.equal/in=mean",
    "ladder/heads=2.1/dim=64.64.64/first=1048576/rows=1/len=512.equal/in=normal",
    "padding/heads=2.2/dim=64.64.64/rows=1/len=4608.equal/in=normal/sample=24",
};

// ---- nightly: longer rows, across the borders of blocks of 16, 32, 64 and 128 keys.

constexpr AxisValues kNightlyCommon[] = {
    {"heads", "1.1 2.2 4.2 4.1 8.2 6.3"},
    {"dim", "16.16.16 32.32.32 64.64.64 80.80.40 96.96.96 64.32.64 128.128.128 128.64.32 64.64.2"},
    {"rope", "default.1.10000.4096 default.1.500000.8192 default.1.1000000.32768 "
             "linear.4.10000.4096 linear.2-5.1000000.32768 linear.8.10000.2048"},
    {"layout", "half inter"},
    {"first", "0 1 5 4000 15000 200000"},
    {"rows", "2 3 4 7"},
    {"len", "17.ragged 33.ragged 48.extreme 65.ragged 100.extreme 130.ragged"},
    {"pad", "left right both holes"},
    {"cache", "none caller backend"},
    {"slots", "rank column"},
    {"garbage", "noise nan inf huge zeros other_token"},
    {"order", "natural shuffled"},
    {"pos", "given derived"},
    {"handed", "rule inv_freq tables_half tables_full tables_joined tables_by_token rotated"},
    {"index", "i64 i32"},
    {"qkv", "separate fused"},
    {"in", "normal mean ramp one_hot peaked outlier tied"},
};
constexpr AxisValues kNightlyPadding[] = {
    {"pads", "rank column"},
    {"rows", "1 2 3 4 7"},
    {"len", "16.equal 33.ragged 64.equal 65.ragged 129.equal 130.ragged"},
    {"pad", "none left right both holes"},
    {"law", "none run_to_run padding_removed batch_order batch_neighbours pad_content "
            "token_by_token common_shift gqa_is_mha head_order layout_permutation "
            "linear_is_scaled_position factor_one linear_in_values pair_norm tail_untouched "
            "value_untouched origin_identity composition inverse"},
};
constexpr AxisValues kNightlyMixed[] = {
    {"law", "none run_to_run padding_removed batch_order batch_neighbours pad_content "
            "token_by_token common_shift gqa_is_mha head_order layout_permutation "
            "linear_is_scaled_position factor_one linear_in_values value_untouched composition "
            "inverse"},
};
constexpr AxisValues kNightlyPacked[] = {
    {"form", "packed"},
    {"seg", "restart.isolated continued.isolated restart.shared continued.shared"},
    {"rows", "1 2 3 4 7"},
    {"len", "16.equal 33.ragged 48.extreme 65.ragged 100.extreme"},
    {"pad", "none"},
    {"slots", "rank"},
    {"order", "natural"},
    {"law", "none run_to_run batch_neighbours packed_is_separate pad_content common_shift "
            "gqa_is_mha head_order layout_permutation linear_is_scaled_position factor_one "
            "linear_in_values pair_norm tail_untouched value_untouched"},
};
constexpr AxisValues kNightlyDecode[] = {
    {"pads", "rank column"},
    {"len", "16.equal 33.ragged 48.extreme 64.equal 100.extreme 127.ragged"},
    {"pad", "none left right both holes"},
    {"steps", "1 3 9 17"},
    {"law", "none run_to_run padding_removed batch_order batch_neighbours pad_content chunking "
            "common_shift gqa_is_mha head_order layout_permutation linear_is_scaled_position "
            "factor_one linear_in_values value_untouched"},
};
constexpr AxisValues kNightlyPackedDecode[] = {
    {"form", "packed"},
    {"seg", "restart.isolated continued.isolated"},
    {"rows", "1 2 3 4 7"},
    {"len", "16.equal 33.ragged 48.extreme 65.ragged 100.extreme"},
    {"pad", "none"},
    {"steps", "1 4 17"},
    {"slots", "rank"},
    {"order", "natural"},
    {"law", "none run_to_run batch_neighbours packed_is_separate pad_content common_shift "
            "gqa_is_mha head_order layout_permutation linear_in_values value_untouched"},
};
constexpr AxisValues kNightlyChunked[] = {
    {"len", "16.equal 33.ragged 48.extreme 65.ragged 100.extreme"},
    {"pad", "none left right both holes"},
    {"chunk", "1 4 7 15"},
    {"law", "none run_to_run chunking token_by_token padding_removed batch_order batch_neighbours "
            "pad_content common_shift gqa_is_mha head_order layout_permutation "
            "linear_is_scaled_position factor_one linear_in_values value_untouched"},
};
constexpr AxisValues kNightlyShift[] = {
    {"len", "16.equal 33.ragged 65.ragged 100.ragged"},
    {"pad", "none left right both holes"},
    {"steps", "1 4 9"},
    {"edit", "discard.1 discard.2 discard.7 advance.3 advance.500 advance.100000"},
    {"law", "none run_to_run shift_is_encoded padding_removed batch_order batch_neighbours "
            "pad_content common_shift gqa_is_mha head_order layout_permutation factor_one "
            "linear_in_values value_untouched"},
};
constexpr AxisValues kNightlyInterpolation[] = {
    {"rope", "linear.1.10000.4096 linear.2.10000.4096 linear.2-5.10000.4096 linear.4.10000.4096 "
             "linear.8.10000.4096 linear.8.500000.8192"},
    {"first", "0 1000 4000 18000 100000 1000000"},
    {"len", "16.equal 33.ragged 65.ragged 130.ragged"},
    {"pad", "none left right both holes"},
    {"law", "none linear_is_scaled_position factor_one common_shift layout_permutation gqa_is_mha "
            "token_by_token pair_norm tail_untouched origin_identity composition inverse"},
};
constexpr AxisValues kNightlyLadder[] = {
    {"first", "0 1 16 256 1024 4096 16384 65536 262144 1048576"},
    {"len", "16.equal 33.ragged 65.ragged 130.ragged"},
    {"pad", "none left right both holes"},
    {"law", "none common_shift linear_is_scaled_position layout_permutation factor_one "
            "token_by_token head_order pair_norm tail_untouched origin_identity composition "
            "inverse"},
};
constexpr FamilyValues kNightlyFamilies[] = {
    {Family::padding, kNightlyPadding},
    {Family::mixed, kNightlyMixed},
    {Family::packed, kNightlyPacked},
    {Family::decode, kNightlyDecode},
    {Family::packed_decode, kNightlyPackedDecode},
    {Family::chunked, kNightlyChunked},
    {Family::shift, kNightlyShift},
    {Family::interpolation, kNightlyInterpolation},
    {Family::ladder, kNightlyLadder},
};
constexpr std::string_view kNightlyExtras[] = {
    "padding/heads=2.1/dim=64.64.64/rows=1/len=2048.equal/in=mean",
    "padding/heads=4.2/dim=128.128.128/rows=2/len=1024.equal/in=peaked",
    "ladder/heads=2.1/dim=64.64.64/first=1048576/rows=1/len=2048.equal/in=normal",
    "padding/heads=2.2/dim=64.64.64/rows=1/len=8192.equal/in=normal/sample=32",
};

// clang-format on

constexpr SuiteDefinition kSuites[] = {
    {"smoke", 100, kSmokeCommon, kSmokeFamilies, {}},
    {"default", 1520, kDefaultCommon, kDefaultFamilies, kDefaultExtras},
    {"nightly", 10000, kNightlyCommon, kNightlyFamilies, kNightlyExtras},
};

}  // namespace

std::span<const SuiteDefinition> suite_definitions() { return kSuites; }

}  // namespace ropecheck
