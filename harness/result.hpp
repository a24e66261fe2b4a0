// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"
#include "reference/solve.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ropecheck {

/// What a check, a case or a pool came to.
enum class Verdict {
  passed,
  failed,
  unsupported,        ///< the backend does not offer it
  blind,              ///< could not have seen the fault that it is for
  profile_too_loose,  ///< limits that nothing could break
  crashed,
  timed_out,
  invalid,  ///< the backend calls valid arguments invalid, or answers an error
};
inline constexpr std::array kAllVerdicts = {Verdict::passed,
                                            Verdict::failed,
                                            Verdict::unsupported,
                                            Verdict::blind,
                                            Verdict::profile_too_loose,
                                            Verdict::crashed,
                                            Verdict::timed_out,
                                            Verdict::invalid};

[[nodiscard]] std::string_view to_string(Verdict verdict);  ///< as the enumerators

/// A backend's misbehaviour, or a miss: all but passed and unsupported.
[[nodiscard]] constexpr bool is_failure(Verdict verdict) {
  return verdict != Verdict::passed && verdict != Verdict::unsupported && verdict != Verdict::blind;
}

/// An element in terms of meaning.
struct Location {
  std::int64_t call = -1;  ///< number of the call in the scenario, from 0
  std::int64_t sequence = -1;
  std::int64_t token = -1;      ///< index in the sequence
  std::int64_t coordinate = 0;  ///< that RoPE rotates it by
  int head = -1;
  int channel = -1;
};

/// One check of a case at one observation point.
struct CheckResult {
  std::string check;  ///< "reference", "inputs_unchanged", "slots_untouched", or the name of a law
  Point point = Point::attention_output;
  Verdict verdict = Verdict::passed;
  std::string message;  ///< why, if not passed; one sentence

  std::int64_t elements = 0;         ///< compared
  std::int64_t bad_elements = 0;     ///< beyond the limit
  std::int64_t rows = 0;             ///< (token, head) rows compared
  std::int64_t ill_conditioned = 0;  ///< (token, head) rows left out
  double max_z = 0;                  ///< NaN where a number is due counts as infinity
  double rms_z = 0;
  double worst_row_rms_z = 0;
  double worst_head_rms_z = 0;
  double bias_z = 0;  ///< mean of signed z
  double max_abs_error = 0;
  std::int64_t max_ulp = 0;  ///< in spacings of the storage format
  Location worst;            ///< where max_z is
  double expected = 0;       ///< there
  double actual = 0;
  double sigma = 0;
  std::optional<bool> bitwise;  ///< laws: are the two sides the same bits
};

/// Tensors kept of a failing case, by name: "call0/query", "call0/attention_output/expected" ...
struct KeptTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

struct CaseResult {
  CaseSpec spec;
  std::string id;
  Verdict verdict = Verdict::passed;  ///< the worst of its checks; unsupported only if all are
  std::string message;
  std::vector<CheckResult> checks;
  double reference_seconds = 0;
  double backend_seconds = 0;
  double total_seconds = 0;
  bool only_after = false;  ///< failed in the run, passed when run again alone
  std::vector<KeptTensor> kept;
};

/// All elements of one family, profile and point that were compared with the reference.
struct PooledResult {
  Family family = Family::padding;
  std::string profile;
  Point point = Point::attention_output;
  std::int64_t cases = 0;
  std::int64_t elements = 0;
  double rms_z = 0;
  double max_z = 0;
  Verdict verdict =
      Verdict::passed;  ///< passed, failed (ill-conditioned rows) or profile_too_loose
  std::string message;
};

/// What was run, where, and with what.
struct RunInfo {
  std::string backend;       ///< as named on the command line
  std::string backend_name;  ///< as it calls itself
  std::string backend_version;
  std::string backend_path;
  std::string suite;
  std::uint64_t seed = 1;
  std::vector<std::string> profiles;
  std::string filter;
  std::string shard;
  std::string options;  ///< handed to the backend
  std::vector<std::pair<std::string, std::string>>
      environment;  ///< version, compiler, cpu, threads ...
  std::string command_line;
};

struct RunSummary {
  std::int64_t cases = 0;
  std::map<std::string, std::int64_t> verdicts;        ///< cases by verdict, every verdict present
  std::map<std::string, std::int64_t> check_verdicts;  ///< checks by verdict
  std::vector<PooledResult> pools;
  double max_z = 0;  ///< over all checks
  double seconds = 0;
  double reference_seconds = 0;  ///< summed over threads
  double backend_seconds = 0;
  double harness_seconds = 0;
  int exit_status = 0;  ///< 0 all passed, 1 something failed, 4 nothing ran
};

/// Everything about a run.
struct RunResult {
  RunInfo info;
  std::vector<CaseResult> cases;  ///< in suite order
  RunSummary summary;
};

/// Takes results while a run goes on; implemented by reports and by progress lines. Never called at once.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual void begin(const RunInfo& /*info*/, std::int64_t /*num_cases*/) {}
  /// A case has ended, in whatever order cases end.
  virtual void progress(const CaseResult& /*result*/) {}
  /// The results, in suite order.
  virtual void add(const CaseResult& /*result*/) {}
  virtual void end(const RunResult& /*result*/) {}
};

}  // namespace ropecheck
