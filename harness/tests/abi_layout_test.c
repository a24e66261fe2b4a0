/* SPDX-License-Identifier: Apache-2.0 */
/* Pins the layout of every struct of the ABI: a change here is a new major version, or an appended
 * field, whose offset is then added. Compiled as strict C99. */
#include "ropecheck/backend.h"

#include <stdio.h>

static int failures = 0;

#define PIN_SIZE(type, expected) pin(#type, sizeof(type), expected)
#define PIN_OFFSET(type, field, expected) pin(#type "." #field, offsetof(type, field), expected)

static void pin(const char* what, size_t actual, size_t expected) {
  if (actual == expected) return;
  printf("%s is %lu, expected %lu\n", what, (unsigned long)actual, (unsigned long)expected);
  ++failures;
}

int main(void) {
  PIN_OFFSET(ropecheck_tensor, data, 24);
  PIN_OFFSET(ropecheck_tensor, shape, 32);
  PIN_OFFSET(ropecheck_tensor, stride_elems, 80);
  PIN_OFFSET(ropecheck_tensor, scale, 128);
  PIN_SIZE(ropecheck_tensor, 136);

  PIN_OFFSET(ropecheck_rope, rope_theta, 40);
  PIN_OFFSET(ropecheck_rope, inv_freq, 80);
  PIN_OFFSET(ropecheck_rope, parameters, 104);
  PIN_SIZE(ropecheck_rope, 112);

  PIN_OFFSET(ropecheck_model, first_position, 88);
  PIN_OFFSET(ropecheck_model, softmax_scale, 120);
  PIN_OFFSET(ropecheck_model, ropes, 144);
  PIN_OFFSET(ropecheck_model, options, 152);
  PIN_SIZE(ropecheck_model, 160);

  PIN_SIZE(ropecheck_usage, 24);

  PIN_OFFSET(ropecheck_rotate_args, input, 24);
  PIN_OFFSET(ropecheck_rotate_args, output, 56);
  PIN_SIZE(ropecheck_rotate_args, 72);

  PIN_OFFSET(ropecheck_step_args, query, 24);
  PIN_OFFSET(ropecheck_step_args, key_cache, 120);
  PIN_OFFSET(ropecheck_step_args, output, 176);
  PIN_OFFSET(ropecheck_step_args, stream, 224);
  PIN_SIZE(ropecheck_step_args, 232);

  PIN_SIZE(ropecheck_edit_args, 56);
  PIN_SIZE(ropecheck_read_args, 40);
  PIN_SIZE(ropecheck_forward_args, 40);

  PIN_OFFSET(ropecheck_backend, query_support, 40);
  PIN_OFFSET(ropecheck_backend, forward, 96);
  PIN_SIZE(ropecheck_backend, 104);
  return failures;
}
