// SPDX-License-Identifier: Apache-2.0
#include "harness/io/hdf5_calls.hpp"

#include <algorithm>
#include <limits>

namespace ropecheck {

namespace {

/// No filter that HDF5 ships packs more than this many bytes into one: deflate reaches 1032.
constexpr double kMaxPacking = 1100;
/// Datasets up to this size may be read though nothing is stored for them (all fill values).
constexpr double kFreeBytes = 1 << 20;

Hdf5Handle space_of(const Hdf5Dataset& dataset, hid_t id) {
  return hdf5_make(dataset.file(), dataset.path(), "read the shape",
                   [&] { return H5Dget_space(id); });
}

Hdf5Handle type_of(const Hdf5Dataset& dataset, hid_t id) {
  return hdf5_make(dataset.file(), dataset.path(), "read the type",
                   [&] { return H5Dget_type(id); });
}

/// Bytes of the file that can belong to the dataset.
double stored_bytes(const Hdf5Dataset& dataset, hid_t id) {
  const Hdf5Handle file = hdf5_make(dataset.file(), dataset.path(), "find the file",
                                    [&] { return H5Iget_file_id(id); });
  hsize_t file_bytes = 0;
  hdf5_call(dataset.file(), dataset.path(), "measure the file",
            [&] { return H5Fget_filesize(file.get(), &file_bytes); });
  return static_cast<double>(std::min<hsize_t>(H5Dget_storage_size(id), file_bytes));
}

}  // namespace

Hdf5Shape Hdf5Dataset::shape() const {
  const Hdf5Handle space = space_of(*this, handle_.get());
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    fail(ErrorCode::load, "HDF5 file '{}', object '{}': the dataset is empty of any shape", file_,
         path_);
  }
  const int rank = hdf5_call(file_, path_, "read the rank",
                             [&] { return H5Sget_simple_extent_ndims(space.get()); });
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  hdf5_call(file_, path_, "read the extents",
            [&] { return H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr); });
  Hdf5Shape shape;
  for (const hsize_t extent : extents) {
    if (extent > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max())) {
      fail(ErrorCode::load, "HDF5 file '{}', object '{}': impossible extent {}", file_, path_,
           extent);
    }
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

bool Hdf5Dataset::is_string() const {
  return H5Tget_class(type_of(*this, handle_.get()).get()) == H5T_STRING;
}

std::size_t Hdf5Dataset::checked_size(std::size_t element_bytes) const {
  const Hdf5Handle type = type_of(*this, handle_.get());
  const double stored_element_bytes = std::max(1.0, static_cast<double>(H5Tget_size(type.get())));
  // In floating point, where no product of extents can wrap around.
  double count = 1;
  for (const std::int64_t extent : shape()) count *= static_cast<double>(extent);
  const double bytes = count * std::max(stored_element_bytes, static_cast<double>(element_bytes));
  const double stored = stored_bytes(*this, handle_.get());
  const double widening = static_cast<double>(element_bytes) / stored_element_bytes;
  if (!(bytes <= kFreeBytes + kMaxPacking * std::max(widening, 1.0) * stored)) {
    fail(ErrorCode::load,
         "HDF5 file '{}', object '{}': the shape asks for {:.0f} bytes but {:.0f} are stored; the "
         "file is truncated or damaged",
         file_, path_, bytes, stored);
  }
  return static_cast<std::size_t>(count);
}

void Hdf5Dataset::read_into(Hdf5Number number, void* values) const {
  const Hdf5Handle type = type_of(*this, handle_.get());
  const H5T_class_t type_class = H5Tget_class(type.get());
  if (type_class != H5T_INTEGER && type_class != H5T_FLOAT && type_class != H5T_ENUM) {
    fail(ErrorCode::load, "HDF5 file '{}', object '{}': expected numbers, found another type",
         file_, path_);
  }
  const Hdf5Handle memory_type = hdf5_memory_type(number);
  const Hdf5Handle exact = hdf5_exact_integers();
  hdf5_call(file_, path_, "read the numbers", [&] {
    return H5Dread(handle_.get(), memory_type.get(), H5S_ALL, H5S_ALL, exact.get(), values);
  });
}

std::vector<std::uint16_t> Hdf5Dataset::read_f16() const {
  std::vector<std::uint16_t> bits(checked_size(sizeof(std::uint16_t)));
  read_into(Hdf5Number::f16, bits.data());
  return bits;
}

std::vector<std::string> Hdf5Dataset::read_strings() const {
  const Hdf5Handle type = type_of(*this, handle_.get());
  if (H5Tget_class(type.get()) != H5T_STRING) {
    fail(ErrorCode::load, "HDF5 file '{}', object '{}': expected strings, found another type",
         file_, path_);
  }
  const Hdf5Handle space = space_of(*this, handle_.get());
  return hdf5_read_strings(
      type.get(), space.get(), checked_size(1), [&](hid_t memory_type, void* buffer) {
        hdf5_call(file_, path_, "read the strings", [&] {
          return H5Dread(handle_.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
        });
      });
}

}  // namespace ropecheck
