// SPDX-License-Identifier: Apache-2.0
#pragma once
// One include for Catch2 2.x (Debian 12) and 3.x.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
