/* SPDX-License-Identifier: Apache-2.0 */
/* A backend of another ABI major, which knows no other. */
#include <stddef.h>

#include "ropecheck/backend.h"

ROPECHECK_EXPORT const ropecheck_backend* ropecheck_backend_entry(uint32_t abi_major) {
  (void)abi_major;
  return NULL;
}
