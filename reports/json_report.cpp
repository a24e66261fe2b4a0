// SPDX-License-Identifier: Apache-2.0
#include "reports/json_report.hpp"

#include "reports/findings.hpp"
#include "reports/hdf5_report.hpp"
#include "reports/json_text.hpp"

namespace ropecheck {

namespace {

Json verdict_counts(const std::map<std::string, std::int64_t>& verdicts) {
  Json json = Json::object();
  for (const Verdict verdict : kAllVerdicts) {
    const std::string name(to_string(verdict));
    const auto found = verdicts.find(name);
    json[name] = found == verdicts.end() ? 0 : found->second;
  }
  return json;
}

Json location_json(const Location& location) {
  return {{"call", location.call},   {"sequence", location.sequence},
          {"token", location.token}, {"coordinate", location.coordinate},
          {"head", location.head},   {"channel", location.channel}};
}

Json check_json(const CheckResult& check) {
  Json json = {{"check", check.check},
               {"point", to_string(check.point)},
               {"verdict", to_string(check.verdict)},
               {"z", json_number(check.max_z)},
               {"rms_z", json_number(check.rms_z)},
               {"elements", check.elements},
               {"bad_elements", check.bad_elements},
               {"expected", json_number(check.expected)},
               {"actual", json_number(check.actual)},
               {"sigma", json_number(check.sigma)},
               {"worst", location_json(check.worst)},
               {"bitwise", nullptr},
               {"message", check.message}};
  if (check.bitwise) json["bitwise"] = *check.bitwise;
  return json;
}

/// The worst check of a failing case stands at the top level of its entry.
Json failure_json(const RunInfo& info, const Failure& failure) {
  Json json = {{"id", failure.result->id}, {"case_verdict", to_string(failure.result->verdict)}};
  json.update(check_json(failure.worst != nullptr ? *failure.worst : CheckResult{}));
  if (failure.worst == nullptr) {
    json["check"] = nullptr;
    json["point"] = nullptr;
    json["verdict"] = to_string(failure.result->verdict);
    json["z"] = nullptr;
    json["message"] = failure.result->message;
  }
  json["only_after"] = failure.result->only_after;
  json["other_failed_checks"] = failure.other_failed_checks;
  json["replay"] = replay_line(info, failure.result->id);
  return json;
}

Json pool_json(const PooledResult& pool) {
  return {{"family", to_string(pool.family)}, {"profile", pool.profile},
          {"point", to_string(pool.point)},   {"cases", pool.cases},
          {"elements", pool.elements},        {"max_z", json_number(pool.max_z)},
          {"rms_z", json_number(pool.rms_z)}, {"verdict", to_string(pool.verdict)},
          {"message", pool.message}};
}

Json law_json(const LawLine& line) {
  return {{"check", line.check},
          {"cases", line.cases},
          {"failed", line.failed},
          {"unsupported", line.unsupported},
          {"bitwise_equal", line.bitwise_equal},
          {"bitwise_compared", line.bitwise_compared}};
}

Json info_json(const RunInfo& info) {
  Json json = {{"backend", info.backend},
               {"backend_name", info.backend_name},
               {"backend_version", info.backend_version},
               {"backend_path", info.backend_path},
               {"options", info.options},
               {"suite", info.suite},
               {"seed", info.seed},
               {"profiles", info.profiles},
               {"filter", info.filter},
               {"shard", info.shard},
               {"command_line", info.command_line},
               {"environment", Json::object()}};
  for (const auto& [key, value] : info.environment) json["environment"][key] = value;
  return json;
}

}  // namespace

std::string json_report(const RunResult& run) {
  const RunSummary& summary = run.summary;
  Json json = {{"cases", summary.cases},
               {"verdicts", verdict_counts(summary.verdicts)},
               {"check_verdicts", verdict_counts(summary.check_verdicts)},
               {"max_z", json_number(summary.max_z)},
               {"exit_status", summary.exit_status},
               {"failures", Json::array()},
               {"pools", Json::array()},
               {"laws", Json::array()},
               {"unseen_points", Json::array()},
               {"seconds", summary.seconds},
               {"reference_seconds", summary.reference_seconds},
               {"backend_seconds", summary.backend_seconds},
               {"harness_seconds", summary.harness_seconds},
               {"ropecheck_version", ropecheck_version()},
               {"run", info_json(run.info)}};
  for (const Failure& failure : failures(run)) {
    json["failures"].push_back(failure_json(run.info, failure));
  }
  for (const PooledResult& pool : summary.pools) json["pools"].push_back(pool_json(pool));
  for (const LawLine& line : law_lines(run)) json["laws"].push_back(law_json(line));
  for (const UnseenPoint& point : unseen_points(run)) {
    json["unseen_points"].push_back({{"point", to_string(point.point)},
                                     {"checks", point.checks},
                                     {"unsupported", point.unsupported},
                                     {"consequence", point.consequence}});
  }
  return json_text(json);
}

}  // namespace ropecheck
