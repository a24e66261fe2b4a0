/* SPDX-License-Identifier: Apache-2.0 */
/* A backend of a later ABI major, which knows no other. */
#include "ropecheck/backend.h"

ROPECHECK_EXPORT const ropecheck_backend* ropecheck_backend_entry(uint32_t abi_major);

ROPECHECK_EXPORT const ropecheck_backend* ropecheck_backend_entry(uint32_t abi_major) {
  static ropecheck_backend table;
  if (abi_major != ROPECHECK_ABI_MAJOR + 1) return NULL;
  table.struct_size = sizeof table;
  table.abi_major = ROPECHECK_ABI_MAJOR + 1;
  return &table;
}
