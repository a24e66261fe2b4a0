// SPDX-License-Identifier: Apache-2.0
#include "cases/case_id.hpp"

#include "cases/laws.hpp"
#include "reference/error.hpp"
#include "reference/profile.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace ropecheck {
namespace {

template <typename E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

constexpr auto kFamilies = std::to_array<std::pair<Family, std::string_view>>({
    {Family::padding, "padding"},
    {Family::mixed, "mixed"},
    {Family::packed, "packed"},
    {Family::decode, "decode"},
    {Family::packed_decode, "packed_decode"},
    {Family::chunked, "chunked"},
    {Family::shift, "shift"},
    {Family::interpolation, "interpolation"},
    {Family::ladder, "ladder"},
});
constexpr auto kLayouts = std::to_array<std::pair<PairLayout, std::string_view>>(
    {{PairLayout::half_split, "half"}, {PairLayout::interleaved, "inter"}});
constexpr auto kRopeTypes = std::to_array<std::pair<RopeType, std::string_view>>(
    {{RopeType::default_, "default"}, {RopeType::linear, "linear"}});
constexpr auto kPadPositions = std::to_array<std::pair<PadPositions, std::string_view>>(
    {{PadPositions::valid_rank, "rank"}, {PadPositions::physical_column, "column"}});
constexpr auto kSegmentPositions = std::to_array<std::pair<SegmentPositions, std::string_view>>(
    {{SegmentPositions::restart, "restart"}, {SegmentPositions::continued, "continued"}});
constexpr auto kSegmentVisibility = std::to_array<std::pair<SegmentVisibility, std::string_view>>(
    {{SegmentVisibility::isolated, "isolated"}, {SegmentVisibility::shared, "shared"}});
constexpr auto kLengths = std::to_array<std::pair<Lengths, std::string_view>>(
    {{Lengths::equal, "equal"}, {Lengths::ragged, "ragged"}, {Lengths::extreme, "extreme"}});
constexpr auto kEdits = std::to_array<std::pair<Edit, std::string_view>>(
    {{Edit::discard, "discard"}, {Edit::advance, "advance"}});
constexpr auto kForms = std::to_array<std::pair<Form, std::string_view>>(
    {{Form::padded, "padded"}, {Form::packed, "packed"}});
constexpr auto kPadSides = std::to_array<std::pair<PadSide, std::string_view>>({
    {PadSide::none, "none"},
    {PadSide::left, "left"},
    {PadSide::right, "right"},
    {PadSide::both, "both"},
    {PadSide::holes, "holes"},
});
constexpr auto kCacheOwners = std::to_array<std::pair<CacheOwner, std::string_view>>({
    {CacheOwner::none, "none"},
    {CacheOwner::caller, "caller"},
    {CacheOwner::backend, "backend"},
});
constexpr auto kSlotOrders = std::to_array<std::pair<SlotOrder, std::string_view>>(
    {{SlotOrder::by_rank, "rank"}, {SlotOrder::by_column, "column"}});
constexpr auto kGarbage = std::to_array<std::pair<Garbage, std::string_view>>({
    {Garbage::zeros, "zeros"},
    {Garbage::noise, "noise"},
    {Garbage::nan, "nan"},
    {Garbage::inf, "inf"},
    {Garbage::huge, "huge"},
    {Garbage::other_token, "other_token"},
});
constexpr auto kRowOrders =
    std::to_array<std::pair<bool, std::string_view>>({{false, "natural"}, {true, "shuffled"}});
constexpr auto kPositions =
    std::to_array<std::pair<bool, std::string_view>>({{true, "given"}, {false, "derived"}});
constexpr auto kRopeForms = std::to_array<std::pair<RopeForm, std::string_view>>({
    {RopeForm::rule, "rule"},
    {RopeForm::inv_freq, "inv_freq"},
    {RopeForm::tables_half, "tables_half"},
    {RopeForm::tables_full, "tables_full"},
    {RopeForm::tables_joined, "tables_joined"},
    {RopeForm::tables_by_token, "tables_by_token"},
    {RopeForm::rotated, "rotated"},
});
constexpr auto kIndexTypes = std::to_array<std::pair<IndexType, std::string_view>>(
    {{IndexType::i32, "i32"}, {IndexType::i64, "i64"}});
constexpr auto kQkvForms =
    std::to_array<std::pair<bool, std::string_view>>({{false, "separate"}, {true, "fused"}});
constexpr auto kInputKinds = std::to_array<std::pair<InputKind, std::string_view>>({
    {InputKind::normal, "normal"},
    {InputKind::mean, "mean"},
    {InputKind::ramp, "ramp"},
    {InputKind::one_hot, "one_hot"},
    {InputKind::peaked, "peaked"},
    {InputKind::outlier, "outlier"},
    {InputKind::tied, "tied"},
});

constexpr std::int64_t kMaxHeads = 1024;
constexpr std::int64_t kMaxDim = 4096;
constexpr std::int64_t kMaxRows = 1024;
constexpr std::int64_t kMaxLength = std::int64_t{1} << 21;
constexpr std::int64_t kMaxSteps = 4096;
/// Four times it and a few lengths still fit an int32 index.
constexpr std::int64_t kMaxCoordinate = std::int64_t{1} << 28;

/// Text of somebody else's in a message: printable, and short.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string result(text.substr(0, kShown));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kShown ? result + "..." : result;
}

template <typename E, std::size_t N>
std::string name_of(const Names<E, N>& names, E value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return std::string(name);
  }
  ROPECHECK_CHECK(false, "value {} of an axis has no name", static_cast<int>(value));
  return {};
}

template <typename E, std::size_t N>
bool read_name(const Names<E, N>& names, std::string_view text, E& value) {
  for (const auto& [candidate, name] : names) {
    if (name != text) continue;
    value = candidate;
    return true;
  }
  return false;
}

template <typename E, std::size_t N>
std::string list_names(const Names<E, N>& names) {
  std::string result;
  for (const auto& [value, name] : names) {
    if (!result.empty()) result += ", ";
    result += name;
  }
  return result;
}

template <typename T>
bool read_number(std::string_view text, std::int64_t low, std::int64_t high, T& value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if (number < low || number > high || text.front() == '-') return false;
  value = static_cast<T>(number);
  return true;
}

/// Shortest decimal text that reads back as the same number, without exponent; '-' for the point,
/// since '.' separates the parts of a value.
std::string write_decimal(double value) {
  std::array<char, 400> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
  ROPECHECK_CHECK(error == std::errc(), "a decimal does not fit its buffer");
  std::string text(buffer.data(), end);
  std::replace(text.begin(), text.end(), '.', '-');
  return text;
}

bool read_decimal(std::string_view text, double low, double high, double& value) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '-', '.');
  if (plain.empty() || plain.size() > 40 || !is_digit(text.front()) || !is_digit(text.back())) {
    return false;
  }
  double number = 0;
  const auto [end, error] =
      std::from_chars(plain.data(), plain.data() + plain.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != plain.data() + plain.size()) return false;
  if (text.find('.') != std::string_view::npos || !(number >= low && number <= high)) return false;
  value = number;
  return true;
}

/// The N parts between separators, or nothing if there are more or fewer.
template <std::size_t N>
std::optional<std::array<std::string_view, N>> split(std::string_view text) {
  std::array<std::string_view, N> parts;
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t point = text.find('.');
    if ((point == std::string_view::npos) != (i + 1 == N)) return std::nullopt;
    parts[i] = text.substr(0, point);
    if (i + 1 < N) text.remove_prefix(point + 1);
  }
  return parts;
}

template <auto kField, const auto& kNames>
constexpr Axis name_axis(std::string_view key) {
  return {
      key, [](const CaseSpec& spec) { return name_of(kNames, spec.*kField); },
      [](CaseSpec& spec, std::string_view text) { return read_name(kNames, text, spec.*kField); },
      [] { return "one of " + list_names(kNames); }};
}

template <auto kField, std::int64_t kLow, std::int64_t kHigh>
constexpr Axis number_axis(std::string_view key) {
  return {key, [](const CaseSpec& spec) { return fmt::format("{}", spec.*kField); },
          [](CaseSpec& spec, std::string_view text) {
            return read_number(text, kLow, kHigh, spec.*kField);
          },
          [] { return fmt::format("a whole number from {} to {}", kLow, kHigh); }};
}

bool read_profile(CaseSpec& spec, std::string_view text) {
  const auto presets = profile_presets();
  const bool known = std::any_of(presets.begin(), presets.end(),
                                 [&](const Profile& preset) { return preset.name == text; });
  if (known) spec.profile = text;
  return known;
}

std::string profile_names() {
  std::string names;
  for (const Profile& preset : profile_presets())
    names += (names.empty() ? "" : ", ") + preset.name;
  return "one of " + names;
}

bool read_law(CaseSpec& spec, std::string_view text) {
  const auto all = laws();
  const bool known = text == "none" || std::any_of(all.begin(), all.end(), [&](const Law& law) {
                       return law.name == text;
                     });
  if (known) spec.law = text;
  return known;
}

std::string law_names() {
  std::string names = "none";
  for (const Law& law : laws()) names += fmt::format(", {}", law.name);
  return "one of " + names;
}

std::string write_heads(const CaseSpec& spec) {
  return fmt::format("{}.{}", spec.heads.num_q_heads, spec.heads.num_kv_heads);
}

bool read_heads(CaseSpec& spec, std::string_view text) {
  const auto parts = split<2>(text);
  HeadShape heads = spec.heads;
  if (!parts || !read_number((*parts)[0], 1, kMaxHeads, heads.num_q_heads) ||
      !read_number((*parts)[1], 1, kMaxHeads, heads.num_kv_heads)) {
    return false;
  }
  spec.heads = heads;
  return true;
}

std::string write_dim(const CaseSpec& spec) {
  return fmt::format("{}.{}.{}", spec.heads.head_dim, spec.heads.v_head_dim, spec.rotary_dim);
}

bool read_dim(CaseSpec& spec, std::string_view text) {
  const auto parts = split<3>(text);
  HeadShape heads = spec.heads;
  int rotary_dim = 0;
  if (!parts || !read_number((*parts)[0], 1, kMaxDim, heads.head_dim) ||
      !read_number((*parts)[1], 1, kMaxDim, heads.v_head_dim) ||
      !read_number((*parts)[2], 1, kMaxDim, rotary_dim)) {
    return false;
  }
  spec.heads = heads;
  spec.rotary_dim = rotary_dim;
  return true;
}

std::string write_rope(const CaseSpec& spec) {
  return fmt::format("{}.{}.{}.{}", name_of(kRopeTypes, spec.rule.type),
                     write_decimal(spec.rule.factor), write_decimal(spec.rule.rope_theta),
                     spec.rule.original_max_position);
}

bool read_rope(CaseSpec& spec, std::string_view text) {
  const auto parts = split<4>(text);
  RopeRule rule;
  if (!parts || !read_name(kRopeTypes, (*parts)[0], rule.type) ||
      !read_decimal((*parts)[1], 0.001, 65536, rule.factor) ||
      !read_decimal((*parts)[2], 1, 1e12, rule.rope_theta) ||
      !read_number((*parts)[3], 1, kMaxCoordinate, rule.original_max_position)) {
    return false;
  }
  spec.rule = rule;
  return true;
}

std::string write_segments(const CaseSpec& spec) {
  return name_of(kSegmentPositions, spec.segment_positions) + "." +
         name_of(kSegmentVisibility, spec.segment_visibility);
}

bool read_segments(CaseSpec& spec, std::string_view text) {
  const auto parts = split<2>(text);
  SegmentPositions positions{};
  SegmentVisibility visibility{};
  if (!parts || !read_name(kSegmentPositions, (*parts)[0], positions) ||
      !read_name(kSegmentVisibility, (*parts)[1], visibility)) {
    return false;
  }
  spec.segment_positions = positions;
  spec.segment_visibility = visibility;
  return true;
}

std::string write_length(const CaseSpec& spec) {
  return fmt::format("{}.{}", spec.length, name_of(kLengths, spec.lengths));
}

bool read_length(CaseSpec& spec, std::string_view text) {
  const auto parts = split<2>(text);
  std::int64_t length = 0;
  Lengths lengths{};
  if (!parts || !read_number((*parts)[0], 1, kMaxLength, length) ||
      !read_name(kLengths, (*parts)[1], lengths)) {
    return false;
  }
  spec.length = length;
  spec.lengths = lengths;
  return true;
}

std::string write_edit(const CaseSpec& spec) {
  return fmt::format("{}.{}", name_of(kEdits, spec.edit), spec.delta);
}

bool read_edit(CaseSpec& spec, std::string_view text) {
  const auto parts = split<2>(text);
  Edit edit{};
  std::int64_t delta = 0;
  if (!parts || !read_name(kEdits, (*parts)[0], edit) ||
      !read_number((*parts)[1], 0, kMaxCoordinate, delta)) {
    return false;
  }
  spec.edit = edit;
  spec.delta = delta;
  return true;
}

bool read_seed(CaseSpec& spec, std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  spec.seed = seed;
  return true;
}

// The order is that of the keys in an id: model, contract, scenario, placement, inputs and checks.
constexpr auto kAxes = std::to_array<Axis>({
    {"profile", [](const CaseSpec& spec) { return spec.profile; }, read_profile, profile_names},
    {"heads", write_heads, read_heads,
     [] { return fmt::format("QUERY_HEADS.KV_HEADS, each 1 to {}", kMaxHeads); }},
    {"dim", write_dim, read_dim,
     [] { return fmt::format("HEAD_DIM.V_HEAD_DIM.ROTARY_DIM, each 1 to {}", kMaxDim); }},
    {"rope", write_rope, read_rope,
     [] {
       return "TYPE.FACTOR.THETA.TRAINED_LENGTH with type " + list_names(kRopeTypes) +
              ", factor 0-001 to 65536 and theta 1 to 10^12 ('-' for the decimal point)";
     }},
    name_axis<&CaseSpec::layout, kLayouts>("layout"),
    name_axis<&CaseSpec::pad_positions, kPadPositions>("pads"),
    {"seg", write_segments, read_segments,
     [] {
       return "POSITIONS.VISIBILITY with positions " + list_names(kSegmentPositions) +
              " and visibility " + list_names(kSegmentVisibility);
     }},
    number_axis<&CaseSpec::first_coordinate, 0, kMaxCoordinate>("first"),
    number_axis<&CaseSpec::rows, 1, kMaxRows>("rows"),
    {"len", write_length, read_length,
     [] {
       return fmt::format("LENGTH.DISTRIBUTION with length 1 to {} and distribution {}", kMaxLength,
                          list_names(kLengths));
     }},
    number_axis<&CaseSpec::steps, 0, kMaxSteps>("steps"),
    number_axis<&CaseSpec::chunk, 0, kMaxLength>("chunk"),
    {"edit", write_edit, read_edit,
     [] {
       return fmt::format("EDIT.DELTA with edit {} and delta 0 to {}", list_names(kEdits),
                          kMaxCoordinate);
     }},
    name_axis<&CaseSpec::form, kForms>("form"),
    name_axis<&CaseSpec::pad, kPadSides>("pad"),
    name_axis<&CaseSpec::cache, kCacheOwners>("cache"),
    name_axis<&CaseSpec::slots, kSlotOrders>("slots"),
    name_axis<&CaseSpec::garbage, kGarbage>("garbage"),
    name_axis<&CaseSpec::shuffled_rows, kRowOrders>("order"),
    name_axis<&CaseSpec::positions_given, kPositions>("pos"),
    name_axis<&CaseSpec::rope_form, kRopeForms>("handed"),
    name_axis<&CaseSpec::index_type, kIndexTypes>("index"),
    name_axis<&CaseSpec::fused_qkv, kQkvForms>("qkv"),
    name_axis<&CaseSpec::input, kInputKinds>("in"),
    {"law", [](const CaseSpec& spec) { return spec.law; }, read_law, law_names},
    number_axis<&CaseSpec::sampled_rows, 0, kMaxLength>("sample"),
    {"s", [](const CaseSpec& spec) { return fmt::format("{}", spec.seed); }, read_seed,
     [] { return std::string("a whole number from 0 to 2^64 - 1"); }},
});

std::string list_keys() {
  std::string keys;
  for (const Axis& axis : kAxes) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", axis.key);
  return keys;
}

/// Text up to the next '/', which is taken off together with it.
std::string_view take_part(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view part = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return part;
}

}  // namespace

std::span<const Axis> axes() { return kAxes; }

std::size_t axis_index(std::string_view key) {
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    if (kAxes[i].key == key) return i;
  }
  fail(ErrorCode::invalid_argument,
       "case id: unknown key '{}', expected one of {}; see cases/README.md", shown(key),
       list_keys());
}

void set_axis(CaseSpec& spec, const Axis& axis, std::string_view text) {
  if (axis.read(spec, text)) return;
  fail(ErrorCode::invalid_argument, "case id, key '{}': expected {}, got '{}'; see cases/README.md",
       axis.key, axis.expects(), shown(text));
}

Family parse_family(std::string_view name) {
  Family family{};
  if (read_name(kFamilies, name, family)) return family;
  fail(ErrorCode::invalid_argument,
       "case id: it begins with the family, expected one of {}, got '{}'; `ropecheck list` prints "
       "ids",
       list_names(kFamilies), shown(name));
}

std::span<const Family> families() {
  static constexpr auto kAll = [] {
    std::array<Family, kFamilies.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFamilies[i].first;
    return all;
  }();
  return kAll;
}

std::string_view to_string(Family family) {
  for (const auto& [candidate, name] : kFamilies) {
    if (candidate == family) return name;
  }
  return "?";
}

std::string to_id(const CaseSpec& spec) {
  std::string id(to_string(spec.family));
  for (const Axis& axis : kAxes) {
    id += '/';
    id += axis.key;
    id += '=';
    id += axis.write(spec);
  }
  return id;
}

CaseSpec parse_id(std::string_view id) {
  CaseSpec spec;
  std::string_view rest = id;
  spec.family = parse_family(take_part(rest));
  std::array<bool, kAxes.size()> seen{};
  while (!rest.empty()) {
    const std::string_view part = take_part(rest);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      fail(ErrorCode::invalid_argument,
           "case id: expected key=value between slashes, got '{}'; see cases/README.md",
           shown(part));
    }
    const std::size_t index = axis_index(part.substr(0, equals));
    if (std::exchange(seen[index], true)) {
      fail(ErrorCode::invalid_argument,
           "case id, key '{}': expected once, got it twice; leave one out", kAxes[index].key);
    }
    set_axis(spec, kAxes[index], part.substr(equals + 1));
  }
  return spec;
}

}  // namespace ropecheck
