// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ropecheck {

/// Extents of an array, slowest first (C order). Empty: a scalar.
using Hdf5Shape = std::vector<std::int64_t>;

/// The numbers that datasets hold. f16 is the 16-bit IEEE type, which h5py reads as numpy.float16.
enum class Hdf5Number { f64, f32, f16, i64, i32, u8, u16 };

/// The Hdf5Number of a C++ type; a 16-bit integer is u16, never f16.
template <typename T>
[[nodiscard]] constexpr Hdf5Number hdf5_number_of() {
  if constexpr (std::same_as<T, double>)
    return Hdf5Number::f64;
  else if constexpr (std::same_as<T, float>)
    return Hdf5Number::f32;
  else if constexpr (std::same_as<T, std::int64_t>)
    return Hdf5Number::i64;
  else if constexpr (std::same_as<T, std::int32_t>)
    return Hdf5Number::i32;
  else if constexpr (std::same_as<T, std::uint8_t>)
    return Hdf5Number::u8;
  else {
    static_assert(std::same_as<T, std::uint16_t>, "no HDF5 number of ours has this type");
    return Hdf5Number::u16;
  }
}

/// How a dataset is stored.
struct Hdf5Storage {
  int deflate = 0;  ///< 0: contiguous; 1 to 9: byte shuffle and zlib at that level, chunked
};

/// Owns one HDF5 identifier of any kind.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  explicit Hdf5Handle(std::int64_t id) : id_(id) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Hdf5Handle();

  [[nodiscard]] std::int64_t get() const { return id_; }
  [[nodiscard]] std::int64_t release() { return std::exchange(id_, -1); }

 private:
  std::int64_t id_ = -1;
};

/// Whatever carries attributes: a group or a dataset. Move-only; dead once its file is closed.
/// HDF5 is used from one thread at a time.
/// Errors: every call that fails throws Error{load}, one sentence with file, object and HDF5's
/// innermost message. A name that is no valid argument throws Error{invalid_argument}.
class Hdf5Object {
 public:
  [[nodiscard]] const std::string& path() const { return path_; }  ///< "/" for the root
  [[nodiscard]] const std::string& file() const { return file_; }  ///< the name it was opened by

  [[nodiscard]] bool has_attribute(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> attributes() const;  ///< names, ascending

  /// Writes an attribute, in the place of one of that name.
  void set_attribute(std::string_view name, std::string_view value);
  void set_attribute(std::string_view name, double value);
  void set_attribute(std::string_view name, std::span<const std::int64_t> values);
  template <std::integral T>
  void set_attribute(std::string_view name, T value) {
    set_int_attribute(name, static_cast<std::int64_t>(value));
  }

  /// Reads an attribute. Errors: also for another type than the asked one (an integer is a number
  /// for double_attribute), and for a shape other than scalar, or 1-d for ints_attribute.
  [[nodiscard]] std::string string_attribute(std::string_view name) const;
  [[nodiscard]] std::int64_t int_attribute(std::string_view name) const;
  [[nodiscard]] double double_attribute(std::string_view name) const;
  [[nodiscard]] std::vector<std::int64_t> ints_attribute(std::string_view name) const;

 protected:
  Hdf5Object() = default;
  Hdf5Object(Hdf5Handle handle, std::string file, std::string path)
      : handle_(std::move(handle)), file_(std::move(file)), path_(std::move(path)) {}

  void set_int_attribute(std::string_view name, std::int64_t value);

  Hdf5Handle handle_;
  std::string file_;
  std::string path_;
};

/// An array in a file.
class Hdf5Dataset : public Hdf5Object {
 public:
  [[nodiscard]] Hdf5Shape shape() const;
  [[nodiscard]] bool is_string() const;

  /// All elements, C order, converted to T.
  /// Errors: also for fractions or values out of range where T is an integer type, for strings, and
  /// for a shape that the stored bytes cannot fill (so memory stays in proportion to the file).
  template <typename T>
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(checked_size(sizeof(T)));
    read_into(hdf5_number_of<T>(), values.data());
    return values;
  }

  /// All elements as bit patterns of the 16-bit IEEE type, converted if they are stored otherwise.
  [[nodiscard]] std::vector<std::uint16_t> read_f16() const;

  /// All elements of a string dataset, of fixed or variable length.
  [[nodiscard]] std::vector<std::string> read_strings() const;

 private:
  friend class Hdf5Group;
  using Hdf5Object::Hdf5Object;

  [[nodiscard]] std::size_t checked_size(std::size_t element_bytes) const;
  void read_into(Hdf5Number number, void* values) const;
};

/// A group: named groups and datasets. Names may be paths, "a/b/c", relative to the group.
class Hdf5Group : public Hdf5Object {
 public:
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> children() const;   ///< names, ascending
  [[nodiscard]] bool is_group(std::string_view name) const;  ///< false too if there is none

  [[nodiscard]] Hdf5Group group(std::string_view name) const;
  [[nodiscard]] Hdf5Dataset dataset(std::string_view name) const;

  /// Makes a group with those above it; opens it if it is there.
  Hdf5Group create_group(std::string_view name);

  /// Writes a new dataset, with the groups above it. Times are not recorded: the same content gives
  /// the same bytes.
  /// Shape:  product of `shape` = number of values. Errors: throws Error{invalid_argument}.
  template <std::ranges::contiguous_range Range>
  Hdf5Dataset write(std::string_view name, const Range& values, const Hdf5Shape& shape,
                    const Hdf5Storage& storage = {}) {
    using T = std::ranges::range_value_t<Range>;
    return write_from(name, hdf5_number_of<T>(), std::ranges::data(values),
                      std::ranges::size(values), shape, storage);
  }

  /// A 1-d dataset: one column of a table.
  template <std::ranges::contiguous_range Range>
  Hdf5Dataset write_column(std::string_view name, const Range& values,
                           const Hdf5Storage& storage = {}) {
    return write(name, values, {static_cast<std::int64_t>(std::ranges::size(values))}, storage);
  }

  /// Bit patterns of the 16-bit IEEE type, stored as such a type.
  Hdf5Dataset write_f16(std::string_view name, std::span<const std::uint16_t> bits,
                        const Hdf5Shape& shape, const Hdf5Storage& storage = {});

  /// A 1-d dataset of variable-length UTF-8 strings.
  /// Errors: throws Error{invalid_argument} for a string with a NUL inside.
  Hdf5Dataset write_strings(std::string_view name, std::span<const std::string> values);

  /// Short for dataset(name).read<T>() and the like.
  template <typename T>
  [[nodiscard]] std::vector<T> read(std::string_view name) const {
    return dataset(name).read<T>();
  }
  [[nodiscard]] std::vector<std::string> read_strings(std::string_view name) const {
    return dataset(name).read_strings();
  }

 protected:
  using Hdf5Object::Hdf5Object;
  Hdf5Group() = default;

 private:
  Hdf5Dataset write_from(std::string_view name, Hdf5Number number, const void* values,
                         std::size_t count, const Hdf5Shape& shape, const Hdf5Storage& storage);
};

/// A file, which is also its root group.
class Hdf5File : public Hdf5Group {
 public:
  /// Opens a file for reading.
  [[nodiscard]] static Hdf5File open(const std::string& path);

  /// Begins a file beside `path`, under a temporary name. It takes the name `path` on commit(), and
  /// goes away if that never happens: a good file is never replaced by a broken one.
  [[nodiscard]] static Hdf5File create(const std::string& path);

  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File& operator=(Hdf5File&& other) = delete;
  ~Hdf5File();

  /// Closes a created file and gives it its name. Every object of it is dead afterwards.
  void commit();

 private:
  Hdf5File(Hdf5Handle file, Hdf5Handle root, std::string path, std::string temporary);

  Hdf5Handle file_handle_;
  std::string temporary_;  ///< empty for a file opened for reading, or committed
};

}  // namespace ropecheck
