/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that supports everything (or, with ROPECHECK_ANSWER_UNSUPPORTED, nothing), and whose every
 * session answers an error. */
#include <stdio.h>

#include "ropecheck/backend.h"

static ropecheck_status query_support(const ropecheck_model* model, const ropecheck_usage* usage,
                                      char* message, size_t message_size) {
  (void)model;
  (void)usage;
#ifdef ROPECHECK_ANSWER_UNSUPPORTED
  snprintf(message, message_size, "this device is asleep");
  return ROPECHECK_UNSUPPORTED;
#else
  (void)message;
  (void)message_size;
  return ROPECHECK_OK;
#endif
}

static ropecheck_status open_session(const ropecheck_model* model, ropecheck_session** session,
                                     char* message, size_t message_size) {
  (void)model;
  (void)session;
  snprintf(message, message_size, "the device is on fire");
  return ROPECHECK_ERROR;
}

static void close_session(ropecheck_session* session) { (void)session; }

static ropecheck_status step(ropecheck_session* session, const ropecheck_step_args* args,
                             char* message, size_t message_size) {
  (void)session;
  (void)args;
  (void)message;
  (void)message_size;
  return ROPECHECK_ERROR;
}

ROPECHECK_EXPORT const ropecheck_backend* ropecheck_backend_entry(uint32_t abi_major) {
  static const ropecheck_backend table = {
      .struct_size = sizeof(ropecheck_backend),
      .abi_major = ROPECHECK_ABI_MAJOR,
      .abi_minor = ROPECHECK_ABI_MINOR,
      .name = "answers",
      .version = "1",
      .description = "answers no numbers",
      .query_support = query_support,
      .open = open_session,
      .close = close_session,
      .step = step,
  };
  return abi_major == ROPECHECK_ABI_MAJOR ? &table : NULL;
}
