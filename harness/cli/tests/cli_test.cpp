// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/backend_choice.hpp"
#include "harness/cli/names.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/selection.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace ropecheck {

using Catch::Matchers::Contains;

TEST_CASE("a glob stands for the whole of a text") {
  CHECK(glob_match("decode/*", "decode/len=3"));
  CHECK_FALSE(glob_match("decode/*", "packed_decode/len=3"));
  CHECK(glob_match("*len=3", "decode/len=3"));
  CHECK_FALSE(glob_match("*len=3", "decode/len=32"));
  CHECK(glob_match("*len=3?/*", "decode/len=32/seed=1"));
  CHECK(glob_match("d*e*=?", "decode/len=3"));
  CHECK(glob_match("*", ""));
  CHECK(glob_match("a**b", "ab"));
  CHECK_FALSE(glob_match("?", ""));
  CHECK(glob_match("*ab*ab", "ababab"));
  CHECK_FALSE(glob_match("*ab*abc", "ababab"));
}

TEST_CASE("a pattern without * and ? may stand anywhere") {
  CHECK(glob_match("law=batch", "padding/law=batch_order/seed=1"));
  CHECK(glob_match("", "padding"));
  CHECK_FALSE(glob_match("law=none", "padding/law=batch_order"));
}

TEST_CASE("a mistyped name is met by the nearest, and a strange one by none") {
  const std::vector<std::string> names = {"smoke", "default", "nightly"};
  CHECK(nearest_name("defalt", names) == "default");
  CHECK(nearest_name("smoek", names) == std::nullopt);
  CHECK(nearest_name("nigthly", names) == "nightly");
  CHECK(nearest_name("everything", names) == std::nullopt);
  CHECK_NOTHROW(require_name("suite", "smoke", names));
  CHECK_THROWS_WITH(require_name("suite", "smok", names),
                    "unknown suite 'smok': expected one of smoke, default, nightly; did you mean "
                    "'smoke'?");
}

TEST_CASE("a count is a whole number from 0 on") {
  for (const char* good : {"0", "20", "18446744073709551615"}) CHECK(refuse_as_count(good).empty());
  for (const char* wrong : {"", "-1", "many", "1.5", " 1", "18446744073709551616"}) {
    CHECK_THAT(refuse_as_count(wrong), Contains("'" + std::string(wrong) + "'"));
  }
}

TEST_CASE("shards are counted from 1") {
  CHECK(parse_shard("").count == 1);
  CHECK(parse_shard("2/4").index == 1);
  CHECK(parse_shard("4/4").index == 3);
  for (const char* wrong : {"0/4", "5/4", "1/0", "1", "/", "a/b", "1/2x", "-1/2", "1/2/3"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(parse_shard(wrong), Contains(wrong) && Contains("expected I/N"));
  }
}

TEST_CASE("the shards of a selection are all of it, each case once") {
  Selection all;
  all.suite = "smoke";
  const std::vector<CaseSpec> cases = select_cases(all).cases;
  std::vector<CaseSpec> joined(cases.size());
  std::size_t count = 0;
  for (std::size_t shard = 0; shard < 3; ++shard) {
    Selection part = all;
    part.shard = std::to_string(shard + 1) + "/3";
    const std::vector<CaseSpec> some = select_cases(part).cases;
    for (std::size_t i = 0; i < some.size(); ++i) joined.at(3 * i + shard) = some[i];
    count += some.size();
  }
  CHECK(count == cases.size());
  CHECK(joined == cases);
}

TEST_CASE("a filter selects the ids that it matches, and two select either") {
  Selection selection;
  selection.suite = "smoke";
  const std::size_t all = select_cases(selection).cases.size();
  selection.filters = {"decode/*"};
  const SelectedCases decode = select_cases(selection);
  CHECK(decode.cases.size() > 0);
  CHECK(decode.suite_cases == static_cast<std::int64_t>(all));
  for (const CaseSpec& spec : decode.cases) CHECK(spec.family == Family::decode);
  selection.filters = {"decode/*", "shift/*"};
  CHECK(select_cases(selection).cases.size() > decode.cases.size());
  selection.filters = {"no such case"};
  CHECK(select_cases(selection).cases.empty());
  CHECK_THAT(nothing_selected(selection, select_cases(selection)),
             Contains("--filter 'no such case'") && Contains("ropecheck list --suite smoke"));
}

TEST_CASE("options for the backend are key=value") {
  BackendChoice choice;
  choice.options = {"block=64", "mode=a=b"};
  CHECK(run_options(choice).backend_options == "block=64\nmode=a=b\n");
  for (const char* wrong : {"block", "=64", "", "a=b\nc=d"}) {
    INFO(wrong);
    choice.options = {wrong};
    CHECK_THROWS_AS(run_options(choice), Error);
  }
}

TEST_CASE("the progress line counts cases and failures and tells the time left") {
  CHECK(progress_text(0, 1520, 0, 0) == "     0/1520 cases, 0 failed");
  CHECK(progress_text(380, 1520, 2, 10) == "   380/1520 cases, 2 failed, 30 s left");
}

TEST_CASE("the progress line is gone at the end") {
  std::ostringstream terminal;
  ProgressLine line(terminal);
  line.begin({}, 2);
  line.progress({});
  line.end({});
  CHECK(terminal.str().ends_with("\r\x1b[K"));
  CHECK_THAT(terminal.str(), Contains("0/2 cases") && !Contains("\n"));
}

}  // namespace ropecheck
