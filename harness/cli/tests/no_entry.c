/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is no backend. */
int cli_fixture_no_entry(void) { return 0; }
