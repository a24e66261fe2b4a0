# SPDX-License-Identifier: Apache-2.0
"""The other side of hdf5_test.cpp: h5py writes what it reads, and checks what it wrote.

Usage: hdf5_h5py.py write|check FILE
"""
import sys

import h5py
import numpy as np


def counted(shape, dtype):
    """Element number i has the value i: a swap of axes cannot hide."""
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def write(path):
    with h5py.File(path, "w") as f:
        f["deep/er/grid"] = counted((2, 3, 4), np.float64)
        f["big_endian"] = counted((3, 5), ">f4")
        f["columns_first"] = np.asfortranarray(counted((3, 4), np.int32))
        f["half"] = np.array([0.5, -2.0, 65504.0, 2.0**-24], np.float16)
        f["bytes"] = np.array([0, 7, 255], np.uint8)
        f["truth"] = np.array([True, False, True])
        f["large"] = np.array([2**40, -5], np.int64)
        f["fraction"] = np.array([1.5, 2.0])
        f["scalar"] = 2.75
        f["none"] = np.zeros((0, 3), np.float32)
        f["fixed"] = np.array([b"ab", b"abcd", b""], "S4")
        f.create_dataset("text", data=["plain", "größe", ""], dtype=h5py.string_dtype())
        f.create_dataset("packed", data=np.zeros((300, 500)), compression="gzip", shuffle=True)
        f.create_dataset("promised", shape=(1 << 40,), dtype="f8", chunks=(1 << 16,))
        f["nothing"] = h5py.Empty("f8")
        a = f["deep"].attrs
        a["text"] = "größe"
        a["bytes"] = np.bytes_(b"fixed")
        a["count"] = 42
        a["flag"] = np.uint8(3)
        a["real"] = 0.1
        a["lengths"] = np.array([7, 1, 10], np.int64)


def expect(actual, expected):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, (actual.dtype, expected.dtype)
    assert actual.shape == expected.shape, (actual.shape, expected.shape)
    assert (actual == expected).all(), (actual, expected)


def check(path):
    with h5py.File(path, "r") as f:
        expect(f["a/b/grid"][()], counted((2, 3, 4), np.float64))
        expect(f["packed"][()], counted((130, 70, 20), np.float32))
        assert f["packed"].compression == "gzip" and f["packed"].chunks
        expect(f["i64"][()], np.array([-(2**60), 3]))
        expect(f["i32"][()], np.array([-7, 7], np.int32))
        expect(f["u8"][()], np.array([0, 255], np.uint8))
        expect(f["u16"][()], np.array([1, 65535], np.uint16))
        expect(f["half"][()], np.array([[0.5, -2.0], [65504.0, 2.0**-24]], np.float16))
        expect(f["none"][()], np.zeros((0, 3), np.float32))
        assert f["text"].asstr()[()].tolist() == ["plain", "größe", ""]
        attributes = dict(f["a"].attrs)
        assert attributes["name"] == "größe"
        expect(attributes["count"], np.int64(42))
        expect(attributes["real"], np.float64(0.1))
        expect(attributes["lengths"], np.array([7, 1, 10]))
        assert f["i64"].attrs["units"] == "tokens"


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
