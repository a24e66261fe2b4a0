// SPDX-License-Identifier: Apache-2.0
#include "reports/junit_report.hpp"

#include "harness/tests/catch.hpp"
#include "reports/tests/sample_run.hpp"

namespace ropecheck {

using Catch::Matchers::Contains;

TEST_CASE("XML holds no character that it reserves or forbids") {
  CHECK(xml_escaped("a<b>&\"c'\n\x02\xFF") == "a&lt;b&gt;&amp;&quot;c&apos;  ?");
  CHECK(xml_escaped("größe \xEF\xBF\xBF") == "größe ?");
}

TEST_CASE("JUnit has a testsuite for each family, with its counts") {
  const std::string xml = junit_report(sample_run());
  CHECK_THAT(
      xml, Contains(R"(<testsuite name="padding" tests="1" failures="0" errors="0" skipped="0")"));
  CHECK_THAT(xml,
             Contains(R"(<testsuite name="decode" tests="2" failures="1" errors="1" skipped="0")"));
  CHECK_THAT(xml,
             Contains(R"(<testsuite name="shift" tests="1" failures="0" errors="0" skipped="1")"));
  CHECK_THAT(xml, Contains(R"(<testsuite name="pools" tests="1" failures="1")"));
}

TEST_CASE("JUnit says failure, error and skipped with the message") {
  const std::string xml = junit_report(sample_run());
  CHECK_THAT(xml, Contains(R"(<failure type="failed" message="z above the limit">)"));
  CHECK_THAT(xml, Contains(R"(<error type="crashed" message="signal 11">)"));
  CHECK_THAT(xml, Contains(R"(<skipped message="no cache here"/>)"));
  CHECK_THAT(xml, Contains("it&apos;s &lt;&quot;odd&quot;&gt; &amp;   größe second line ? ]]&gt;"));
}

}  // namespace ropecheck
