// SPDX-License-Identifier: Apache-2.0
#include "harness/io/hdf5_calls.hpp"

#include <algorithm>

namespace ropecheck {

namespace {

/// Where an attribute is, and how errors name it.
struct Place {
  hid_t object;
  std::string file;
  std::string path;  ///< of the attribute: "/group@name"
  std::string name;
};

Place place_of(hid_t object, const Hdf5Object& owner, std::string_view name) {
  return {object, owner.file(), fmt::format("{}@{}", owner.path(), name), std::string(name)};
}

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* names) noexcept {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

void write_attribute(const Place& at, hid_t file_type, hid_t memory_type, hid_t space,
                     const void* value) {
  hdf5_call(at.file, at.path, "replace the attribute", [&]() -> herr_t {
    const htri_t there = H5Aexists(at.object, at.name.c_str());
    return there > 0 ? H5Adelete(at.object, at.name.c_str()) : there;
  });
  const Hdf5Handle attribute = hdf5_make(at.file, at.path, "make the attribute", [&] {
    return H5Acreate2(at.object, at.name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT);
  });
  hdf5_call(at.file, at.path, "write the attribute",
            [&] { return H5Awrite(attribute.get(), memory_type, value); });
}

Hdf5Handle open_attribute(const Place& at) {
  return hdf5_make(at.file, at.path, "open the attribute",
                   [&] { return H5Aopen(at.object, at.name.c_str(), H5P_DEFAULT); });
}

/// Number of elements, of an attribute of the asked rank only.
std::size_t attribute_size(const Place& at, hid_t attribute, int rank) {
  const Hdf5Handle space = hdf5_make(at.file, at.path, "read the attribute's shape",
                                     [&] { return H5Aget_space(attribute); });
  const int stored_rank = H5Sget_simple_extent_ndims(space.get());
  const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
  if (kind == H5S_NULL || stored_rank != rank) {
    fail(ErrorCode::load, "HDF5 file '{}', attribute '{}': expected rank {}, found {}", at.file,
         at.path, rank, kind == H5S_NULL ? "no value" : fmt::format("rank {}", stored_rank));
  }
  return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
}

Hdf5Handle attribute_type(const Place& at, hid_t attribute) {
  return hdf5_make(at.file, at.path, "read the attribute's type",
                   [&] { return H5Aget_type(attribute); });
}

[[noreturn]] void fail_type(const Place& at, std::string_view expected) {
  fail(ErrorCode::load, "HDF5 file '{}', attribute '{}': expected {}, found another type", at.file,
       at.path, expected);
}

std::vector<std::int64_t> read_ints(const Place& at, int rank) {
  const Hdf5Handle attribute = open_attribute(at);
  const H5T_class_t type_class = H5Tget_class(attribute_type(at, attribute.get()).get());
  if (type_class != H5T_INTEGER && type_class != H5T_ENUM) fail_type(at, "an integer");
  std::vector<std::int64_t> values(attribute_size(at, attribute.get(), rank));
  hdf5_call(at.file, at.path, "read the attribute",
            [&] { return H5Aread(attribute.get(), H5T_NATIVE_INT64, values.data()); });
  return values;
}

}  // namespace

bool Hdf5Object::has_attribute(std::string_view name) const {
  const Place at = place_of(handle_.get(), *this, name);
  return hdf5_call(file_, at.path, "look for the attribute",
                   [&] { return H5Aexists(at.object, at.name.c_str()); }) > 0;
}

std::vector<std::string> Hdf5Object::attributes() const {
  std::vector<std::string> names;
  hdf5_call(file_, path_, "list the attributes", [&] {
    return H5Aiterate2(handle_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_name, &names);
  });
  std::ranges::sort(names);
  return names;
}

void Hdf5Object::set_attribute(std::string_view name, std::string_view value) {
  const Place at = place_of(handle_.get(), *this, name);
  if (value.find('\0') != std::string_view::npos) {
    fail(ErrorCode::invalid_argument,
         "HDF5 file '{}', attribute '{}': a string attribute cannot hold a NUL character", file_,
         at.path);
  }
  const std::string text(value);
  const char* pointer = text.c_str();
  const Hdf5Handle type = hdf5_string_type();
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR));
  write_attribute(at, type.get(), type.get(), scalar.get(), &pointer);
}

void Hdf5Object::set_attribute(std::string_view name, double value) {
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR));
  write_attribute(place_of(handle_.get(), *this, name), H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                  scalar.get(), &value);
}

void Hdf5Object::set_int_attribute(std::string_view name, std::int64_t value) {
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR));
  write_attribute(place_of(handle_.get(), *this, name), H5T_STD_I64LE, H5T_NATIVE_INT64,
                  scalar.get(), &value);
}

void Hdf5Object::set_attribute(std::string_view name, std::span<const std::int64_t> values) {
  const hsize_t extent = values.size();
  const Hdf5Handle line(H5Screate_simple(1, &extent, nullptr));
  write_attribute(place_of(handle_.get(), *this, name), H5T_STD_I64LE, H5T_NATIVE_INT64, line.get(),
                  values.data());
}

std::string Hdf5Object::string_attribute(std::string_view name) const {
  const Place at = place_of(handle_.get(), *this, name);
  const Hdf5Handle attribute = open_attribute(at);
  const Hdf5Handle type = attribute_type(at, attribute.get());
  if (H5Tget_class(type.get()) != H5T_STRING) fail_type(at, "a string");
  const std::size_t count = attribute_size(at, attribute.get(), 0);
  const Hdf5Handle scalar(H5Screate(H5S_SCALAR));
  return hdf5_read_strings(type.get(), scalar.get(), count,
                           [&](hid_t memory_type, void* buffer) {
                             hdf5_call(at.file, at.path, "read the attribute", [&] {
                               return H5Aread(attribute.get(), memory_type, buffer);
                             });
                           })
      .front();
}

std::int64_t Hdf5Object::int_attribute(std::string_view name) const {
  return read_ints(place_of(handle_.get(), *this, name), 0).front();
}

std::vector<std::int64_t> Hdf5Object::ints_attribute(std::string_view name) const {
  return read_ints(place_of(handle_.get(), *this, name), 1);
}

double Hdf5Object::double_attribute(std::string_view name) const {
  const Place at = place_of(handle_.get(), *this, name);
  const Hdf5Handle attribute = open_attribute(at);
  const H5T_class_t type_class = H5Tget_class(attribute_type(at, attribute.get()).get());
  if (type_class != H5T_FLOAT && type_class != H5T_INTEGER) fail_type(at, "a number");
  (void)attribute_size(at, attribute.get(), 0);
  double value = 0;
  hdf5_call(at.file, at.path, "read the attribute",
            [&] { return H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value); });
  return value;
}

}  // namespace ropecheck
