// SPDX-License-Identifier: Apache-2.0
#include "harness/io/hdf5.hpp"

#include "harness/io/hdf5_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

namespace ropecheck {

namespace {

/// Elements of a chunk: large enough to pack well, small enough for HDF5's chunk cache of 1 MiB.
constexpr hsize_t kChunkElements = 1 << 16;

herr_t collect_link(hid_t, const char* name, const H5L_info_t*, void* names) noexcept {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

std::vector<hsize_t> extents_of(std::string_view file, std::string_view path,
                                const Hdf5Shape& shape, std::size_t count) {
  std::vector<hsize_t> extents;
  std::size_t product = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) {
      fail(ErrorCode::invalid_argument, "HDF5 file '{}', object '{}': negative extent {}", file,
           path, extent);
    }
    product *= static_cast<std::size_t>(extent);
    extents.push_back(static_cast<hsize_t>(extent));
  }
  if (product != count) {
    fail(ErrorCode::invalid_argument,
         "HDF5 file '{}', object '{}': the shape holds {} values, but {} are given", file, path,
         product, count);
  }
  return extents;
}

/// The whole array, its slowest extents halved until a chunk is small enough.
std::vector<hsize_t> chunk_of(std::vector<hsize_t> extents) {
  hsize_t elements = 1;
  for (const hsize_t extent : extents) elements *= extent;
  for (hsize_t& extent : extents) {
    while (elements > kChunkElements && extent > 1) {
      elements /= extent;
      extent = (extent + 1) / 2;
      elements *= extent;
    }
  }
  return extents;
}

Hdf5Handle creation_list(const std::vector<hsize_t>& extents, std::size_t count,
                         const Hdf5Storage& storage) {
  Hdf5Handle list(H5Pcreate(H5P_DATASET_CREATE));
  bool good = H5Pset_obj_track_times(list.get(), false) >= 0;
  if (storage.deflate > 0 && count > 0 && !extents.empty()) {
    const std::vector<hsize_t> chunk = chunk_of(extents);
    good = good && H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0 &&
           H5Pset_shuffle(list.get()) >= 0 &&
           H5Pset_deflate(list.get(), static_cast<unsigned>(storage.deflate)) >= 0;
  }
  ROPECHECK_CHECK(good, "HDF5 refuses a storage layout (deflate {})", storage.deflate);
  return list;
}

Hdf5Handle link_list() {
  Hdf5Handle list(H5Pcreate(H5P_LINK_CREATE));
  ROPECHECK_CHECK(H5Pset_create_intermediate_group(list.get(), 1) >= 0 &&
                      H5Pset_char_encoding(list.get(), H5T_CSET_UTF8) >= 0,
                  "HDF5 refuses a link property");
  return list;
}

Hdf5Handle space_for(const std::vector<hsize_t>& extents) {
  return Hdf5Handle(extents.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(extents.size()),
                                                       extents.data(), nullptr));
}

/// HDF5 cannot open an object of an empty name.
void check_name(std::string_view file, std::string_view path, std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) {
    fail(ErrorCode::invalid_argument, "HDF5 file '{}', object '{}': '{}' is no name of an object",
         file, path, name);
  }
}

/// A name that no other file of this or another running process has.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}.{}-{}.partial", path, ::getpid(), counter++);
}

Hdf5Handle closing_all() {
  Hdf5Handle list(H5Pcreate(H5P_FILE_ACCESS));
  ROPECHECK_CHECK(H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG) >= 0,
                  "HDF5 refuses a close degree");
  return list;
}

Hdf5Handle open_root(const std::string& path, hid_t file) {
  return hdf5_make(path, "/", "open the root group",
                   [&] { return H5Gopen2(file, "/", H5P_DEFAULT); });
}

}  // namespace

bool Hdf5Group::has(std::string_view name) const {
  check_name(file_, path_, name);
  // HDF5 answers for the last part of a path only, if those before it exist.
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = name.find('/', end + 1);
    const std::string part(name.substr(0, end));
    const htri_t there = hdf5_call(file_, hdf5_join(path_, part), "look for the object", [&] {
      return H5Lexists(handle_.get(), part.c_str(), H5P_DEFAULT);
    });
    if (there == 0) return false;
    if (end != std::string_view::npos && !is_group(part)) return false;
  }
  return true;
}

std::vector<std::string> Hdf5Group::children() const {
  std::vector<std::string> names;
  hdf5_call(file_, path_, "list the group", [&] {
    return H5Literate(handle_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_link, &names);
  });
  std::ranges::sort(names);
  return names;
}

bool Hdf5Group::is_group(std::string_view name) const {
  check_name(file_, path_, name);
  hdf5_silence();
  const Hdf5Handle object(H5Oopen(handle_.get(), std::string(name).c_str(), H5P_DEFAULT));
  return object.get() >= 0 && H5Iget_type(object.get()) == H5I_GROUP;
}

Hdf5Group Hdf5Group::group(std::string_view name) const {
  check_name(file_, path_, name);
  const std::string path = hdf5_join(path_, name);
  Hdf5Handle handle = hdf5_make(file_, path, "open the group", [&] {
    return H5Gopen2(handle_.get(), std::string(name).c_str(), H5P_DEFAULT);
  });
  return Hdf5Group(std::move(handle), file_, path);
}

Hdf5Dataset Hdf5Group::dataset(std::string_view name) const {
  check_name(file_, path_, name);
  const std::string path = hdf5_join(path_, name);
  Hdf5Handle handle = hdf5_make(file_, path, "open the dataset", [&] {
    return H5Dopen2(handle_.get(), std::string(name).c_str(), H5P_DEFAULT);
  });
  return Hdf5Dataset(std::move(handle), file_, path);
}

Hdf5Group Hdf5Group::create_group(std::string_view name) {
  if (has(name)) return group(name);
  const std::string path = hdf5_join(path_, name);
  const Hdf5Handle links = link_list();
  Hdf5Handle handle = hdf5_make(file_, path, "make the group", [&] {
    return H5Gcreate2(handle_.get(), std::string(name).c_str(), links.get(), H5P_DEFAULT,
                      H5P_DEFAULT);
  });
  return Hdf5Group(std::move(handle), file_, path);
}

Hdf5Dataset Hdf5Group::write_from(std::string_view name, Hdf5Number number, const void* values,
                                  std::size_t count, const Hdf5Shape& shape,
                                  const Hdf5Storage& storage) {
  check_name(file_, path_, name);
  const std::string path = hdf5_join(path_, name);
  const std::vector<hsize_t> extents = extents_of(file_, path, shape, count);
  const Hdf5Handle space = space_for(extents);
  const Hdf5Handle file_type = hdf5_file_type(number);
  const Hdf5Handle memory_type = hdf5_memory_type(number);
  const Hdf5Handle creation = creation_list(extents, count, storage);
  const Hdf5Handle links = link_list();
  Hdf5Handle handle = hdf5_make(file_, path, "make the dataset", [&] {
    return H5Dcreate2(handle_.get(), std::string(name).c_str(), file_type.get(), space.get(),
                      links.get(), creation.get(), H5P_DEFAULT);
  });
  hdf5_call(file_, path, "write the numbers", [&]() -> herr_t {
    if (count == 0) return 0;
    return H5Dwrite(handle.get(), memory_type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  });
  return Hdf5Dataset(std::move(handle), file_, path);
}

Hdf5Dataset Hdf5Group::write_f16(std::string_view name, std::span<const std::uint16_t> bits,
                                 const Hdf5Shape& shape, const Hdf5Storage& storage) {
  return write_from(name, Hdf5Number::f16, bits.data(), bits.size(), shape, storage);
}

Hdf5Dataset Hdf5Group::write_strings(std::string_view name, std::span<const std::string> values) {
  check_name(file_, path_, name);
  const std::string path = hdf5_join(path_, name);
  std::vector<const char*> pointers;
  for (const std::string& value : values) {
    if (value.find('\0') != std::string::npos) {
      fail(ErrorCode::invalid_argument,
           "HDF5 file '{}', object '{}': string {} has a NUL character inside", file_, path,
           pointers.size());
    }
    pointers.push_back(value.c_str());
  }
  const std::vector<hsize_t> extents{values.size()};
  const Hdf5Handle space = space_for(extents);
  const Hdf5Handle type = hdf5_string_type();
  const Hdf5Handle creation = creation_list(extents, values.size(), {});
  const Hdf5Handle links = link_list();
  Hdf5Handle handle = hdf5_make(file_, path, "make the dataset", [&] {
    return H5Dcreate2(handle_.get(), std::string(name).c_str(), type.get(), space.get(),
                      links.get(), creation.get(), H5P_DEFAULT);
  });
  hdf5_call(file_, path, "write the strings", [&]() -> herr_t {
    if (values.empty()) return 0;
    return H5Dwrite(handle.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data());
  });
  return Hdf5Dataset(std::move(handle), file_, path);
}

Hdf5File::Hdf5File(Hdf5Handle file, Hdf5Handle root, std::string path, std::string temporary)
    : Hdf5Group(std::move(root), std::move(path), "/"),
      file_handle_(std::move(file)),
      temporary_(std::move(temporary)) {}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : Hdf5Group(std::move(other)),
      file_handle_(std::move(other.file_handle_)),
      temporary_(std::exchange(other.temporary_, {})) {}

Hdf5File::~Hdf5File() {
  handle_ = {};
  file_handle_ = {};
  if (temporary_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

Hdf5File Hdf5File::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    fail(ErrorCode::load, "HDF5 file '{}': cannot open it: {}", path,
         error ? error.message() : "it is no regular file");
  }
  const Hdf5Handle access = closing_all();
  Hdf5Handle file = hdf5_make(path, "/", "open the file",
                              [&] { return H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()); });
  Hdf5Handle root = open_root(path, file.get());
  return Hdf5File(std::move(file), std::move(root), path, {});
}

Hdf5File Hdf5File::create(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    fail(ErrorCode::load, "HDF5 file '{}': cannot write it: it is a directory; name a file", path);
  }
  const std::string temporary = temporary_name(path);
  const Hdf5Handle access = closing_all();
  Hdf5Handle file = hdf5_make(
      path, "/", "create the file (is its directory there and writable?)",
      [&] { return H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()); });
  Hdf5Handle root = open_root(path, file.get());
  return Hdf5File(std::move(file), std::move(root), path, temporary);
}

void Hdf5File::commit() {
  ROPECHECK_CHECK(!temporary_.empty(), "commit of '{}', which is not being written", file_);
  handle_ = {};
  // Closing writes what is buffered, so here a full disk shows.
  hdf5_call(file_, "/", "flush the file",
            [&] { return H5Fflush(file_handle_.get(), H5F_SCOPE_LOCAL); });
  hdf5_call(file_, "/", "close the file", [&] { return H5Fclose(file_handle_.release()); });
  std::error_code error;
  std::filesystem::rename(temporary_, file_, error);
  if (error) {
    fail(ErrorCode::load, "HDF5 file '{}': cannot rename '{}' to it: {}", file_, temporary_,
         error.message());
  }
  temporary_.clear();
}

}  // namespace ropecheck
