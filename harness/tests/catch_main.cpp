// SPDX-License-Identifier: Apache-2.0
// The one main() of every Catch2 executable, compiled once (Catch2 2.x is header-only and slow).
#define CATCH_CONFIG_MAIN
#include "harness/tests/catch.hpp"
