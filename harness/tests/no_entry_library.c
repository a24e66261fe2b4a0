/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library that is no backend. */
int ropecheck_no_backend(void);
int ropecheck_no_backend(void) { return 0; }
