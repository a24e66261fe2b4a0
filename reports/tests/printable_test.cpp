// SPDX-License-Identifier: Apache-2.0
#include "reports/printable.hpp"

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"
#include "reports/output_file.hpp"
#include "reports/tests/scratch.hpp"
#include "reports/text_table.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace ropecheck {

TEST_CASE("printable text is one line of valid UTF-8") {
  CHECK(printable_text("plain größe €") == "plain größe €");
  CHECK(printable_text("a\tb\r\nc\x7F") == "a b  c ");
  CHECK(printable_text(std::string("a\0b", 3)) == "a b");
  CHECK(printable_text("\xF0\x9F\x98\x80") == "\xF0\x9F\x98\x80");
  CHECK(printable_text("\xC3") == "?");
  CHECK(printable_text("\x80x") == "?x");
  CHECK(printable_text("\xC0\xAF") == "??");            // overlong
  CHECK(printable_text("\xED\xA0\x80") == "???");       // surrogate
  CHECK(printable_text("\xF4\x90\x80\x80") == "????");  // beyond U+10FFFF
  CHECK(printable_text("\xE2\x82") == "??");            // cut short
}

TEST_CASE("a shell word is quoted only where a shell would read something else") {
  CHECK(shell_word("tiled") == "tiled");
  CHECK(shell_word("./libmine.so") == "./libmine.so");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("python3 mine.py") == "'python3 mine.py'");
  CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
}

TEST_CASE("numbers and counts read well") {
  CHECK(short_number(812.34) == "812");
  CHECK(short_number(1.0 / 0.0) == "inf");
  CHECK(counted(1, "case") == "1 case");
  CHECK(counted(0, "case") == "0 cases");
}

TEST_CASE("columns of a table are as wide as their widest cell") {
  TextTable table;
  table.add_column("name", TextTable::Align::left);
  table.add_column("z");
  table.add_row({"a", "10000"});
  table.add_row({"longer", "2"});
  CHECK(table.to_string() == "name        z\na       10000\nlonger      2\n");
  CHECK_THROWS_AS(table.add_row({"alone"}), Error);
}

TEST_CASE("a text file is written whole, and nothing else is left") {
  const Scratch scratch;
  std::ofstream(scratch / "run.txt") << "old";
  check_writable(scratch / "run.txt");
  CHECK(std::filesystem::file_size(scratch / "run.txt") == 3);
  write_text_file(scratch / "run.txt", "new text");
  std::ifstream stream(scratch / "run.txt");
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == "new text");
  CHECK(std::distance(std::filesystem::directory_iterator(scratch / ""), {}) == 1);
}

TEST_CASE("a path that cannot be written is refused by name, with the reason") {
  const Scratch scratch;
  CHECK_THROWS_WITH(check_writable(scratch / "no/such/run.txt"),
                    Catch::Matchers::Contains("no/such/run.txt") &&
                        Catch::Matchers::Contains("No such file or directory") &&
                        Catch::Matchers::Contains("make its directory first"));
  CHECK_THROWS_WITH(check_writable(scratch / ""), Catch::Matchers::Contains("it is a directory"));
  CHECK_THROWS_WITH(write_text_file("", "x"), Catch::Matchers::Contains("the name is empty"));
}

}  // namespace ropecheck
