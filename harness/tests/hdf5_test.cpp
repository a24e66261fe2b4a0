// SPDX-License-Identifier: Apache-2.0
#include "harness/io/hdf5.hpp"

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace ropecheck {
namespace {

namespace fs = std::filesystem;

/// A directory of its own, gone at the end.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (fs::temp_directory_path() / "ropecheck-hdf5-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(const char* name) const { return (path_ / name).string(); }
  [[nodiscard]] std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

template <typename T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T(0));
  return values;
}

int h5py(const std::string& action, const std::string& path) {
  const std::string command =
      std::string("'" ROPECHECK_PYTHON "' '" ROPECHECK_HDF5_H5PY "' ") + action + " '" + path + "'";
  return std::system(command.c_str());
}

std::string message_of(const std::function<void()>& action, ErrorCode code = ErrorCode::load) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("no Error was thrown");
  return {};
}

void write_sample(const std::string& path) {
  Hdf5File file = Hdf5File::create(path);
  file.write("a/b/grid", counted<double>(24), {2, 3, 4});
  file.write("packed", counted<float>(130 * 70 * 20), {130, 70, 20}, {.deflate = 6});
  Hdf5Dataset tokens =
      file.write_column("i64", std::vector<std::int64_t>{-(std::int64_t{1} << 60), 3});
  tokens.set_attribute("units", "tokens");
  file.write_column("i32", std::vector<std::int32_t>{-7, 7});
  file.write_column("u8", std::vector<std::uint8_t>{0, 255});
  file.write_column("u16", std::vector<std::uint16_t>{1, 65535});
  file.write_f16("half", std::vector<std::uint16_t>{0x3800, 0xc000, 0x7bff, 0x0001}, {2, 2});
  file.write("none", std::vector<float>{}, {0, 3}, {.deflate = 6});
  file.write_strings("text", std::vector<std::string>{"plain", "größe", ""});
  Hdf5Group a = file.group("a");
  a.set_attribute("name", "to be replaced");
  a.set_attribute("name", "größe");
  a.set_attribute("count", 42);
  a.set_attribute("real", 0.1);
  a.set_attribute("lengths", std::vector<std::int64_t>{7, 1, 10});
  file.commit();
}

}  // namespace

TEST_CASE("what is written to an HDF5 file is read back") {
  const ScratchDirectory scratch;
  write_sample(scratch / "sample.h5");
  const Hdf5File file = Hdf5File::open(scratch / "sample.h5");

  CHECK(file.dataset("a/b/grid").shape() == Hdf5Shape{2, 3, 4});
  CHECK(file.read<double>("a/b/grid") == counted<double>(24));
  CHECK(file.group("a").read<float>("b/grid") == counted<float>(24));
  CHECK(file.read<float>("packed") == counted<float>(130 * 70 * 20));
  CHECK(file.read<std::int64_t>("i64").front() == -(std::int64_t{1} << 60));
  CHECK(file.read<std::int64_t>("u16") == std::vector<std::int64_t>{1, 65535});
  CHECK(file.read<double>("half") == std::vector<double>{0.5, -2.0, 65504.0, std::ldexp(1, -24)});
  CHECK(file.dataset("half").read_f16() ==
        std::vector<std::uint16_t>{0x3800, 0xc000, 0x7bff, 0x0001});
  CHECK(file.dataset("none").shape() == Hdf5Shape{0, 3});
  CHECK(file.read<float>("none").empty());
  CHECK(file.dataset("text").is_string());
  CHECK(file.read_strings("text") == std::vector<std::string>{"plain", "größe", ""});

  const Hdf5Group a = file.group("a");
  CHECK(a.attributes() == std::vector<std::string>{"count", "lengths", "name", "real"});
  CHECK(a.string_attribute("name") == "größe");
  CHECK(a.int_attribute("count") == 42);
  CHECK(a.double_attribute("real") == 0.1);
  CHECK(a.double_attribute("count") == 42.0);
  CHECK(a.ints_attribute("lengths") == std::vector<std::int64_t>{7, 1, 10});
  CHECK(file.dataset("i64").string_attribute("units") == "tokens");
  CHECK_FALSE(a.has_attribute("missing"));
}

TEST_CASE("a group lists its children in the order of their names") {
  const ScratchDirectory scratch;
  Hdf5File file = Hdf5File::create(scratch / "names.h5");
  for (const char* name : {"b", "c", "a10", "a2", "B"}) file.create_group(name);
  file.write("b/x", std::vector<double>{1}, {});
  CHECK(file.children() == std::vector<std::string>{"B", "a10", "a2", "b", "c"});
  CHECK(file.has("b/x"));
  CHECK_FALSE(file.has("b/y"));
  CHECK_FALSE(file.has("z/y"));
  CHECK_FALSE(file.has("b/x/y"));
  CHECK(file.is_group("b"));
  CHECK_FALSE(file.is_group("b/x"));
  CHECK_FALSE(file.is_group("z"));
  CHECK(file.create_group("b").has("x"));
  CHECK(file.group("b").dataset("x").shape().empty());
  CHECK(file.group("b").dataset("x").path() == "/b/x");
}

TEST_CASE("h5py reads the arrays, strings and attributes that are written") {
  const ScratchDirectory scratch;
  write_sample(scratch / "sample.h5");
  CHECK(h5py("check", scratch / "sample.h5") == 0);
}

TEST_CASE("files of h5py are read, whatever their types and byte order") {
  const ScratchDirectory scratch;
  REQUIRE(h5py("write", scratch / "h5py.h5") == 0);
  const Hdf5File file = Hdf5File::open(scratch / "h5py.h5");

  CHECK(file.dataset("deep/er/grid").shape() == Hdf5Shape{2, 3, 4});
  CHECK(file.read<double>("deep/er/grid") == counted<double>(24));
  CHECK(file.read<float>("big_endian") == counted<float>(15));
  CHECK(file.dataset("columns_first").shape() == Hdf5Shape{3, 4});
  CHECK(file.read<std::int64_t>("columns_first") == counted<std::int64_t>(12));
  CHECK(file.dataset("half").read_f16() ==
        std::vector<std::uint16_t>{0x3800, 0xc000, 0x7bff, 0x0001});
  CHECK(file.read<std::uint8_t>("bytes") == std::vector<std::uint8_t>{0, 7, 255});
  CHECK(file.read<std::uint8_t>("truth") == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(file.read<double>("scalar") == std::vector<double>{2.75});
  CHECK(file.dataset("none").shape() == Hdf5Shape{0, 3});
  CHECK(file.read_strings("fixed") == std::vector<std::string>{"ab", "abcd", ""});
  CHECK(file.read_strings("text") == std::vector<std::string>{"plain", "größe", ""});
  CHECK(file.read<double>("packed") == std::vector<double>(150000));

  const Hdf5Group deep = file.group("deep");
  CHECK(deep.string_attribute("text") == "größe");
  CHECK(deep.string_attribute("bytes") == "fixed");
  CHECK(deep.int_attribute("count") == 42);
  CHECK(deep.int_attribute("flag") == 3);
  CHECK(deep.double_attribute("real") == 0.1);
  CHECK(deep.ints_attribute("lengths") == std::vector<std::int64_t>{7, 1, 10});

  SECTION("a value that does not fit the asked integer type is an Error, not another value") {
    CHECK_THAT(message_of([&] { (void)file.read<std::int32_t>("large"); }),
               Catch::Matchers::Contains("/large"));
    CHECK_THROWS_AS(file.read<std::int64_t>("fraction"), Error);
    CHECK(file.read<std::int64_t>("large") == std::vector<std::int64_t>{std::int64_t{1} << 40, -5});
  }
  SECTION("a shape that nothing stored can fill is an Error, not 8 TiB of memory") {
    CHECK_THAT(message_of([&] { (void)file.read<double>("promised"); }),
               Catch::Matchers::Contains("8796093022208 bytes but 0 are stored"));
  }
  SECTION("an object or attribute of another kind is an Error that names it") {
    CHECK_THAT(message_of([&] { (void)file.read<double>("text"); }),
               Catch::Matchers::Contains("expected numbers"));
    CHECK_THAT(message_of([&] { (void)file.read_strings("half"); }),
               Catch::Matchers::Contains("expected strings"));
    CHECK_THAT(message_of([&] { (void)file.dataset("deep"); }), Catch::Matchers::Contains("/deep"));
    CHECK_THAT(message_of([&] { (void)deep.int_attribute("text"); }),
               Catch::Matchers::Contains("/deep@text"));
    CHECK_THAT(message_of([&] { (void)deep.int_attribute("lengths"); }),
               Catch::Matchers::Contains("expected rank 0, found rank 1"));
    CHECK_THAT(message_of([&] { (void)deep.string_attribute("missing"); }),
               Catch::Matchers::Contains("/deep@missing"));
    CHECK_THROWS_AS(file.dataset("nothing").shape(), Error);
  }
}

TEST_CASE("a file that is not committed leaves the one of its name as it was") {
  const ScratchDirectory scratch;
  write_sample(scratch / "sample.h5");
  {
    Hdf5File file = Hdf5File::create(scratch / "sample.h5");
    file.write_column("half_done", std::vector<double>{1});
  }
  CHECK(Hdf5File::open(scratch / "sample.h5").has("a/b/grid"));
  CHECK(scratch.num_files() == 1);

  Hdf5File file = Hdf5File::create(scratch / "sample.h5");
  CHECK(Hdf5File::open(scratch / "sample.h5").has("a/b/grid"));
  const Hdf5Group kept_open = file.create_group("new");
  file.commit();
  CHECK(scratch.num_files() == 1);
  CHECK(Hdf5File::open(scratch / "sample.h5").has("new"));
  CHECK_FALSE(Hdf5File::open(scratch / "sample.h5").has("a"));
}

TEST_CASE("the same content gives the same bytes") {
  const ScratchDirectory scratch;
  write_sample(scratch / "one.h5");
  ::sleep(1);
  write_sample(scratch / "two.h5");
  const auto bytes = [](const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string one = bytes(scratch / "one.h5");
  CHECK(one.size() > 1000);
  CHECK((one == bytes(scratch / "two.h5")));
}

TEST_CASE("a path that cannot be written or read is one sentence with the path and the reason") {
  const ScratchDirectory scratch;
  const std::string lost = scratch / "no/such/place.h5";
  CHECK_THAT(message_of([&] { (void)Hdf5File::create(lost); }),
             Catch::Matchers::Contains(lost) && Catch::Matchers::Contains("No such file"));
  CHECK_THAT(message_of([&] { (void)Hdf5File::open(lost); }), Catch::Matchers::Contains(lost));
  fs::create_directory(scratch / "folder");
  CHECK_THAT(message_of([&] { (void)Hdf5File::create(scratch / "folder"); }),
             Catch::Matchers::Contains("is a directory"));
  CHECK_THAT(message_of([&] { (void)Hdf5File::open(scratch / "folder"); }),
             Catch::Matchers::Contains("no regular file"));
}

TEST_CASE("a file that is no HDF5, or is cut short anywhere, gives an Error and nothing worse") {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "prose.h5") << "not an HDF5 file, however long it goes on";
  CHECK_THAT(message_of([&] { (void)Hdf5File::open(scratch / "prose.h5"); }),
             Catch::Matchers::Contains("prose.h5"));

  write_sample(scratch / "whole.h5");
  const std::uintmax_t size = fs::file_size(scratch / "whole.h5");
  for (int i = 0; i < 16; ++i) {
    INFO("first " << i << "/16 of the file");
    fs::copy_file(scratch / "whole.h5", scratch / "cut.h5", fs::copy_options::overwrite_existing);
    fs::resize_file(scratch / "cut.h5", size * static_cast<std::uintmax_t>(i) / 16);
    CHECK_THROWS_AS(Hdf5File::open(scratch / "cut.h5"), Error);
  }
}

TEST_CASE("a file with bytes overwritten at random is read or refused, but never crashes") {
  const ScratchDirectory scratch;
  write_sample(scratch / "whole.h5");
  const auto size = static_cast<std::uint64_t>(fs::file_size(scratch / "whole.h5"));
  std::uint64_t state = 1;
  const auto next = [&state] {
    return state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  };
  for (int i = 0; i < 100; ++i) {
    INFO("damage " << i);
    fs::copy_file(scratch / "whole.h5", scratch / "bad.h5", fs::copy_options::overwrite_existing);
    {
      std::fstream stream(scratch / "bad.h5", std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(
          static_cast<std::streamoff>((next() >> 11) % std::min<std::uint64_t>(size, 8192)));
      stream.put(static_cast<char>(next() >> 56));
    }
    try {
      const Hdf5File file = Hdf5File::open(scratch / "bad.h5");
      (void)file.read<double>("a/b/grid");
      (void)file.read<double>("packed");
      (void)file.group("a").int_attribute("count");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::load);
    }
  }
}

TEST_CASE("a caller's shape or name that cannot be is refused") {
  const ScratchDirectory scratch;
  Hdf5File file = Hdf5File::create(scratch / "refused.h5");
  CHECK_THAT(message_of(
                 [&] {
                   file.write("x", counted<double>(6), {2, 4});
                 },
                 ErrorCode::invalid_argument),
             Catch::Matchers::Contains("the shape holds 8 values, but 6 are given"));
  (void)message_of([&] { file.write("", counted<double>(6), {6}); }, ErrorCode::invalid_argument);
  (void)message_of(
      [&] { file.write_strings("s", std::vector<std::string>{std::string("a\0b", 3)}); },
      ErrorCode::invalid_argument);
  file.write("x", counted<double>(6), {6});
  CHECK_THAT(message_of([&] { file.write("x", counted<double>(6), {6}); }),
             Catch::Matchers::Contains("/x") && Catch::Matchers::Contains("exists"));
}

}  // namespace ropecheck
