// SPDX-License-Identifier: Apache-2.0
#include "reference/profile.hpp"

#include "reference/error.hpp"

#include <fmt/ranges.h>

#include <array>
#include <numbers>
#include <vector>

namespace ropecheck {
namespace {

constexpr double kFloat32 = 0x1p-24;

/// Keys that a blocked kernel sums before it carries on: the widest tile in common use.
constexpr double kFlashBlock = 128;

/// Every stage in float32, sums as plain loops over all keys.
Profile strict_f32() {
  Profile profile;
  profile.name = "strict_f32";
  profile.storage = profile.output_format = FloatFormat::f32;
  profile.phase = profile.table = profile.rotated = kFloat32;
  profile.logits = profile.special = profile.probs = kFloat32;
  profile.sum = profile.output = kFloat32;
  return profile;
}

/// Fused, blocked: all arithmetic in float32; rotated q and k, probabilities and output in 16 bit.
Profile flash(std::string name, FloatFormat format) {
  Profile profile = strict_f32();
  profile.name = std::move(name);
  profile.storage = profile.output_format = format;
  profile.rotated = profile.probs = profile.output = unit_roundoff(format);
  profile.row_block = kFlashBlock;
  return profile;
}

/// One operator at a time, each result stored in 16 bit, softmax and the inside of sums in float32.
/// Two roundings in a row count as one of sqrt(2) u: a table entry and the product with it, whose
/// sum is `rotated`; a dot product and its scaling.
Profile eager(std::string name, FloatFormat format) {
  Profile profile = strict_f32();
  const double u = unit_roundoff(format);
  profile.name = std::move(name);
  profile.storage = profile.output_format = format;
  profile.table = profile.logits = std::numbers::sqrt2 * u;
  profile.rotated = profile.probs = profile.output = u;
  profile.probs_spacing = smallest_subnormal(format);
  return profile;
}

}  // namespace

double Profile::row_chain(double num_keys) const {
  return row_block > 0 ? row_block + num_keys / row_block : num_keys;
}

std::span<const Profile> profile_presets() {
  static const std::array presets = {
      strict_f32(), flash("flash_f16", FloatFormat::f16), flash("flash_bf16", FloatFormat::bf16),
      eager("eager_f16", FloatFormat::f16), eager("eager_bf16", FloatFormat::bf16)};
  return presets;
}

const Profile& find_profile(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Profile& profile : profile_presets()) {
    if (profile.name == name) return profile;
    names.push_back(profile.name);
  }
  fail(ErrorCode::not_found, "profile '{}' does not exist; choose one of {}", name,
       fmt::join(names, ", "));
}

}  // namespace ropecheck
