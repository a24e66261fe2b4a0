// SPDX-License-Identifier: Apache-2.0
#include "reports/hdf5_report.hpp"

#include "harness/io/hdf5.hpp"
#include "reference/error.hpp"
#include "reports/hdf5_table.hpp"
#include "reports/printable.hpp"
#include "reports/rows.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace ropecheck {

namespace {

constexpr std::string_view kFormat = "ropecheck report";

/// A text attribute of the root, and the member that it fills.
struct TextAttribute {
  const char* name;
  std::string RunInfo::*member;
};
constexpr TextAttribute kTextAttributes[] = {
    {"backend", &RunInfo::backend},
    {"backend_name", &RunInfo::backend_name},
    {"backend_version", &RunInfo::backend_version},
    {"backend_path", &RunInfo::backend_path},
    {"suite", &RunInfo::suite},
    {"filter", &RunInfo::filter},
    {"shard", &RunInfo::shard},
    {"command_line", &RunInfo::command_line},
};

struct NumberAttribute {
  const char* name;
  double RunSummary::*member;
};
constexpr NumberAttribute kNumberAttributes[] = {
    {"max_z", &RunSummary::max_z},
    {"seconds", &RunSummary::seconds},
    {"reference_seconds", &RunSummary::reference_seconds},
    {"backend_seconds", &RunSummary::backend_seconds},
    {"harness_seconds", &RunSummary::harness_seconds},
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

void write_info(Hdf5File& file, const RunInfo& info) {
  file.set_attribute("format", kFormat);
  file.set_attribute("format_version", kReportFormatVersion);
  file.set_attribute("ropecheck_version", ropecheck_version());
  for (const auto& [name, member] : kTextAttributes) {
    file.set_attribute(name, printable_text(info.*member));
  }
  // One "key=value" a line, so line breaks stay.
  std::string options;
  for (const std::string& option : split(info.options, '\n')) {
    options += printable_text(option) + "\n";
  }
  file.set_attribute("options", options);
  file.set_attribute("profiles", fmt::format("{}", fmt::join(info.profiles, ",")));
  file.set_attribute("seed", info.seed);
  Hdf5Group environment = file.create_group("environment");
  for (const auto& [key, value] : info.environment) {
    environment.set_attribute(key, printable_text(value));
  }
}

RunInfo read_info(const Hdf5File& file) {
  RunInfo info;
  for (const auto& [name, member] : kTextAttributes) info.*member = file.string_attribute(name);
  info.options = file.string_attribute("options");
  info.profiles = split(file.string_attribute("profiles"), ',');
  info.seed = static_cast<std::uint64_t>(file.int_attribute("seed"));
  const Hdf5Group environment = file.group("environment");
  for (const std::string& key : environment.attributes()) {
    info.environment.emplace_back(key, environment.string_attribute(key));
  }
  return info;
}

void write_counts(Hdf5Group group, const std::map<std::string, std::int64_t>& counts) {
  for (const Verdict verdict : kAllVerdicts) {
    const auto found = counts.find(std::string(to_string(verdict)));
    group.set_attribute(to_string(verdict), found == counts.end() ? 0 : found->second);
  }
}

std::map<std::string, std::int64_t> read_counts(const Hdf5Group& group) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& name : group.attributes()) counts[name] = group.int_attribute(name);
  return counts;
}

void write_summary(Hdf5File& file, const RunSummary& summary) {
  file.set_attribute("cases", summary.cases);
  file.set_attribute("exit_status", summary.exit_status);
  for (const auto& [name, member] : kNumberAttributes) file.set_attribute(name, summary.*member);
  write_counts(file.create_group("verdicts"), summary.verdicts);
  write_counts(file.create_group("check_verdicts"), summary.check_verdicts);
}

RunSummary read_summary(const Hdf5File& file) {
  RunSummary summary;
  summary.cases = file.int_attribute("cases");
  summary.exit_status = static_cast<int>(file.int_attribute("exit_status"));
  for (const auto& [name, member] : kNumberAttributes) {
    summary.*member = file.double_attribute(name);
  }
  summary.verdicts = read_counts(file.group("verdicts"));
  summary.check_verdicts = read_counts(file.group("check_verdicts"));
  return summary;
}

void write_kept(Hdf5Group kept, const std::vector<CaseResult>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].kept.empty()) continue;
    Hdf5Group group = kept.create_group(std::to_string(i));
    group.set_attribute("case_id", cases[i].id);
    for (const KeptTensor& tensor : cases[i].kept) {
      group.write(tensor.name, tensor.values, tensor.shape, kReportStorage);
    }
  }
}

void collect_tensors(const Hdf5Group& group, const std::string& prefix,
                     std::vector<KeptTensor>& tensors) {
  for (const std::string& child : group.children()) {
    if (group.is_group(child)) {
      collect_tensors(group.group(child), prefix + child + "/", tensors);
    } else {
      const Hdf5Dataset dataset = group.dataset(child);
      tensors.push_back({prefix + child, dataset.shape(), dataset.read<double>()});
    }
  }
}

void read_kept(const Hdf5Group& kept, std::vector<CaseResult>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = std::to_string(i);
    if (kept.has(name)) collect_tensors(kept.group(name), "", cases[i].kept);
  }
}

void check_format(const Hdf5File& file) {
  if (!file.has_attribute("format") || file.string_attribute("format") != kFormat) {
    fail(ErrorCode::load,
         "HDF5 file '{}': it is no report: expected the root attribute format = '{}'; name a file "
         "that `ropecheck run --report` wrote",
         file.file(), kFormat);
  }
  const std::int64_t version = file.int_attribute("format_version");
  if (version != kReportFormatVersion) {
    fail(ErrorCode::load,
         "report '{}': format version {}, expected {}; read it with the ropecheck that wrote it "
         "({}), or run again",
         file.file(), version, kReportFormatVersion, file.string_attribute("ropecheck_version"));
  }
}

}  // namespace

std::string_view ropecheck_version() { return ROPECHECK_VERSION; }

void write_hdf5_report(const std::string& path, const RunResult& result) {
  Hdf5File file = Hdf5File::create(path);
  write_info(file, result.info);
  write_summary(file, result.summary);
  write_table(file.create_group("cases"), case_columns(), case_rows(result.cases));
  write_table(file.create_group("checks"), check_columns(), check_rows(result.cases));
  write_table(file.create_group("pools"), pool_columns(), pool_rows(result.summary.pools));
  write_kept(file.create_group("kept"), result.cases);
  file.commit();
}

RunResult read_hdf5_report(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  check_format(file);
  RunResult result;
  result.info = read_info(file);
  result.summary = read_summary(file);
  const auto cases = read_table(file.group("cases"), case_columns());
  const auto checks = read_table(file.group("checks"), check_columns());
  const auto pools = read_table(file.group("pools"), pool_columns());
  try {
    result.cases = cases_from_rows(cases, checks);
    result.summary.pools = pools_from_rows(pools);
  } catch (const Error& error) {
    fail(ErrorCode::load, "report '{}': {}", path, error.what());
  }
  read_kept(file.group("kept"), result.cases);
  return result;
}

}  // namespace ropecheck
