// SPDX-License-Identifier: Apache-2.0
#include "harness/io/hdf5_calls.hpp"

namespace ropecheck {

namespace {

herr_t take_description(unsigned, const H5E_error2_t* error, void* message) {
  auto& text = *static_cast<std::string*>(message);
  if (text.empty() && error->desc != nullptr) text = error->desc;
  return 0;
}

H5T_conv_ret_t refuse_inexact_integer(H5T_conv_except_t kind, hid_t, hid_t to_type, void*, void*,
                                      void*) {
  const bool to_integer = H5Tget_class(to_type) == H5T_INTEGER;
  // A rounded integer in a floating-point type is an honest conversion; a clipped one is not.
  return to_integer && kind != H5T_CONV_EXCEPT_PRECISION ? H5T_CONV_ABORT : H5T_CONV_UNHANDLED;
}

/// Makes a binary32 type into a binary16 one: 1 sign, 5 exponent and 10 mantissa bits.
void narrow_to_f16(hid_t type) {
  ROPECHECK_CHECK(H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type, 2) >= 0 &&
                      H5Tset_ebias(type, 15) >= 0,
                  "HDF5 cannot describe binary16");
}

Hdf5Handle copy_type(hid_t type) {
  Hdf5Handle copy(H5Tcopy(type));
  ROPECHECK_CHECK(copy.get() >= 0, "HDF5 cannot copy a type");
  return copy;
}

}  // namespace

Hdf5Handle::~Hdf5Handle() {
  if (id_ < 0) return;
  hdf5_silence();
  // An object of a file that was closed before it is dead already; nothing is left to do then.
  if (H5Iis_valid(id_) > 0) H5Idec_ref(id_);
}

void hdf5_silence() {
  // HDF5 keeps this setting for each thread.
  thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  (void)silent;
  H5Eclear2(H5E_DEFAULT);
}

std::string hdf5_innermost_message() {
  std::string message;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_description, &message);
  H5Eclear2(H5E_DEFAULT);
  return message;
}

void hdf5_fail(std::string_view file, std::string_view path, std::string_view action) {
  const std::string message = hdf5_innermost_message();
  fail(ErrorCode::load, "HDF5 file '{}', object '{}': cannot {}: {}", file, path, action,
       message.empty() ? "HDF5 gives no reason" : message);
}

std::string hdf5_join(std::string_view path, std::string_view name) {
  std::string joined(path);
  if (joined.empty() || joined.back() != '/') joined += '/';
  joined += name;
  return joined;
}

Hdf5Handle hdf5_memory_type(Hdf5Number number) {
  switch (number) {
    case Hdf5Number::f64: return copy_type(H5T_NATIVE_DOUBLE);
    case Hdf5Number::f32: return copy_type(H5T_NATIVE_FLOAT);
    case Hdf5Number::i64: return copy_type(H5T_NATIVE_INT64);
    case Hdf5Number::i32: return copy_type(H5T_NATIVE_INT32);
    case Hdf5Number::u8: return copy_type(H5T_NATIVE_UINT8);
    case Hdf5Number::u16: return copy_type(H5T_NATIVE_UINT16);
    case Hdf5Number::f16: break;
  }
  Hdf5Handle type = copy_type(H5T_NATIVE_FLOAT);
  narrow_to_f16(type.get());
  return type;
}

Hdf5Handle hdf5_file_type(Hdf5Number number) {
  switch (number) {
    case Hdf5Number::f64: return copy_type(H5T_IEEE_F64LE);
    case Hdf5Number::f32: return copy_type(H5T_IEEE_F32LE);
    case Hdf5Number::i64: return copy_type(H5T_STD_I64LE);
    case Hdf5Number::i32: return copy_type(H5T_STD_I32LE);
    case Hdf5Number::u8: return copy_type(H5T_STD_U8LE);
    case Hdf5Number::u16: return copy_type(H5T_STD_U16LE);
    case Hdf5Number::f16: break;
  }
  Hdf5Handle type = copy_type(H5T_IEEE_F32LE);
  narrow_to_f16(type.get());
  return type;
}

Hdf5Handle hdf5_string_type() {
  Hdf5Handle type = copy_type(H5T_C_S1);
  ROPECHECK_CHECK(
      H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0,
      "HDF5 cannot describe a UTF-8 string");
  return type;
}

Hdf5Handle hdf5_exact_integers() {
  Hdf5Handle list(H5Pcreate(H5P_DATASET_XFER));
  ROPECHECK_CHECK(H5Pset_type_conv_cb(list.get(), refuse_inexact_integer, nullptr) >= 0,
                  "HDF5 refuses a conversion callback");
  return list;
}

}  // namespace ropecheck
