// SPDX-License-Identifier: Apache-2.0
#pragma once
// Private to harness/io: how HDF5's C functions are called, and its types.

#include "harness/io/hdf5.hpp"
#include "reference/error.hpp"

#include <hdf5.h>

#include <string>
#include <string_view>

namespace ropecheck {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "HDF5 1.10 identifiers have 64 bits");

/// Forgets HDF5's error stack and keeps it from printing, on the calling thread.
void hdf5_silence();

/// The message that the innermost function left on the error stack; empty if none.
[[nodiscard]] std::string hdf5_innermost_message();

/// Throws Error{load}: "HDF5 file F, object P: cannot <action>: <HDF5's message>".
[[noreturn]] void hdf5_fail(std::string_view file, std::string_view path, std::string_view action);

/// Returns what `call` returns; a negative number is a failure of `action`.
template <typename Call>
auto hdf5_call(std::string_view file, std::string_view path, std::string_view action, Call&& call) {
  hdf5_silence();
  const auto result = call();
  if (result < 0) hdf5_fail(file, path, action);
  return result;
}

/// The same for calls that make an identifier.
template <typename Call>
Hdf5Handle hdf5_make(std::string_view file, std::string_view path, std::string_view action,
                     Call&& call) {
  return Hdf5Handle(hdf5_call(file, path, action, std::forward<Call>(call)));
}

/// Name of a child: "/a" + "b" = "/a/b".
[[nodiscard]] std::string hdf5_join(std::string_view path, std::string_view name);

/// Type of a number, in memory or (little-endian) in a file.
[[nodiscard]] Hdf5Handle hdf5_memory_type(Hdf5Number number);
[[nodiscard]] Hdf5Handle hdf5_file_type(Hdf5Number number);

/// Variable-length UTF-8 string.
[[nodiscard]] Hdf5Handle hdf5_string_type();

/// A property list under which a conversion to an integer type fails where a value does not fit.
[[nodiscard]] Hdf5Handle hdf5_exact_integers();

/// Reads `count` strings of a dataset or attribute whose type is `stored_type`.
/// `read(memory_type, buffer)` calls HDF5; `space` is the dataspace of the strings.
template <typename Read>
std::vector<std::string> hdf5_read_strings(hid_t stored_type, hid_t space, std::size_t count,
                                           Read&& read) {
  std::vector<std::string> strings(count);
  if (count == 0) return strings;
  if (H5Tis_variable_str(stored_type) > 0) {
    std::vector<char*> pointers(count, nullptr);
    const Hdf5Handle memory_type(H5Tcopy(stored_type));
    read(memory_type.get(), static_cast<void*>(pointers.data()));
    for (std::size_t i = 0; i < count; ++i) {
      if (pointers[i] != nullptr) strings[i] = pointers[i];
    }
    H5Dvlen_reclaim(memory_type.get(), space, H5P_DEFAULT, pointers.data());
    return strings;
  }
  const std::size_t width = H5Tget_size(stored_type);
  std::vector<char> bytes(count * width);
  const Hdf5Handle memory_type(H5Tcopy(stored_type));
  read(memory_type.get(), static_cast<void*>(bytes.data()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view padded(bytes.data() + i * width, width);
    strings[i] = padded.substr(0, padded.find('\0'));
  }
  return strings;
}

}  // namespace ropecheck
