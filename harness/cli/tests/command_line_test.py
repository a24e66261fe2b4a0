# SPDX-License-Identifier: Apache-2.0
"""Runs the program: exit statuses, the one sentence on standard error, and the files that it leaves.

Usage: command_line_test.py ROPECHECK FIXTURES
FIXTURES holds libcli_fixture_{no_entry,other_abi,error,unsupported}.so.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, FIXTURES = sys.argv.pop(1), Path(sys.argv.pop(1))
BACKEND = "minimal_c"
FEW = ("--suite", "smoke", "--shard", "1/40", "--profile", "strict_f32")


def fixture(name):
    return str(FIXTURES / f"libcli_fixture_{name}.so")


def ropecheck(*arguments, stdin=""):
    return subprocess.run([PROGRAM, *map(str, arguments)], input=stdin, capture_output=True,
                          text=True, timeout=120, check=False)


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def refused(self, status, words, *arguments, stdin=""):
        """One sentence on standard error that holds the words; nothing on standard output."""
        result = ropecheck(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("ropecheck: "), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        return result

    def some_ids(self, count=2):
        return ropecheck("list", *FEW).stdout.split()[:count]

    # ---- usage: status 2

    def test_no_command_and_unknown_commands_are_usage(self):
        self.refused(2, ["no command", "run, list"])
        self.refused(2, ["unknown command 'rnu'", "run, list"], "rnu")
        self.refused(2, ["unknown command 'replya'", "did you mean 'replay'"], "replya")

    def test_unknown_options_are_usage(self):
        self.refused(2, ["--sute", "did you mean '--suite'", "ropecheck run --help"], "run", "--sute", "x")
        self.refused(2, ["--frob"], "run", "--frob=1")
        self.refused(2, ["--frob", "before the command"], "--frob")
        self.refused(2, ["unknown argument 'extra'"], "list", "extra")
        self.refused(2, ["--jobs", "whole number", "'many'"], "run", "--jobs", "many")
        self.refused(2, ["--seed"], "run", "--seed", "-1")
        self.refused(2, ["--backend"], "run", "--backend")

    def test_unknown_names_are_usage(self):
        self.refused(2, ["suite 'defalt'", "smoke", "did you mean 'default'"], "run", "--suite", "defalt")
        self.refused(2, ["profile 'strict_f23'", "strict_f32"], "run", "--profile", "strict_f23")
        self.refused(2, ["nosuch", BACKEND], "run", "--backend", "nosuch")

    def test_malformed_shards_and_backend_options_are_usage(self):
        self.refused(2, ["--shard '3/2'", "I/N"], "run", "--shard", "3/2")
        self.refused(2, ["--option 'block'", "KEY=VALUE"], "run", "--option", "block")

    def test_malformed_ids_are_usage(self):
        self.refused(2, ["nonsense"], "replay", "--backend", BACKEND, "nonsense")
        known = self.some_ids(1)[0]
        self.refused(2, ["frob"], "replay", "--backend", BACKEND, known + "/frob=1")
        self.refused(2, ["no case id"], "replay", "--backend", BACKEND)
        self.refused(2, ["nothere.txt"], "replay", "--file", self.folder / "nothere.txt")

    def test_two_reports_on_standard_output_are_usage(self):
        self.refused(2, ["standard output"], "run", "--backend", BACKEND, *FEW, "--json", "-", "--junit", "-")
        self.refused(2, ["HDF5"], "run", "--backend", BACKEND, *FEW, "--report", "-")

    # ---- backends and files: status 3

    def test_libraries_that_are_no_backend_are_load_errors(self):
        self.refused(3, ["nothere.so"], "run", "--backend", "./nothere.so")
        (self.folder / "prose.so").write_text("not a library")
        self.refused(3, ["prose.so"], "run", "--backend", self.folder / "prose.so")
        self.refused(3, ["no_entry.so", "ropecheck_backend_entry"], "run", "--backend", fixture("no_entry"))
        self.refused(3, ["other_abi.so", "ABI major"], "run", "--backend", fixture("other_abi"))

    def test_reports_that_cannot_be_written_are_refused_before_the_run(self):
        lost = self.folder / "no" / "such" / "run"
        for option in ("--report", "--text", "--junit", "--json"):
            with self.subTest(option):
                # With the whole default suite: a run before the refusal would take long.
                self.refused(3, [str(lost), "directory"], "run", "--backend", BACKEND, option, lost)
        self.refused(3, ["it is a directory"], "run", "--backend", BACKEND, "--report", self.folder)

    def test_reports_that_cannot_be_read_are_refused(self):
        (self.folder / "prose.h5").write_text("not an HDF5 file")
        self.refused(3, ["nothere.h5"], "diff", self.folder / "nothere.h5", self.folder / "prose.h5")
        self.refused(3, ["prose.h5"], "diff", self.folder / "prose.h5", self.folder / "prose.h5")

    def test_a_full_disk_is_told(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([PROGRAM, "laws"], stdout=full, stderr=subprocess.PIPE, text=True,
                                    timeout=60, check=False)
        self.assertEqual(result.returncode, 3)
        self.assertIn("standard output cannot be written", result.stderr)

    # ---- nothing ran: status 4

    def test_a_filter_that_matches_nothing_is_no_pass(self):
        for command in (("run", "--backend", BACKEND), ("list",)):
            self.refused(4, ["--filter 'zzz*'", "ropecheck list"], *command, "--filter", "zzz*")
        self.refused(4, ["empty"], "replay", "--backend", BACKEND, "-", stdin="\n# none\n")

    def test_a_backend_that_supports_nothing_is_no_pass(self):
        result = ropecheck("run", "--backend", fixture("unsupported"), *FEW)
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertIn("nothing ran", result.stderr)
        self.assertIn("this device is asleep", result.stdout)

    # ---- runs

    def test_a_backend_that_answers_errors_fails_and_is_named_on_standard_error(self):
        result = ropecheck("run", "--backend", fixture("error"), *FEW)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("libcli_fixture_error.so", result.stderr)
        self.assertIn("the device is on fire", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_a_run_leaves_every_report_and_no_progress_line_in_a_pipe(self):
        names = {"--report": "run.h5", "--text": "run.txt", "--junit": "run.xml", "--json": "run.json"}
        outputs = [word for option, name in names.items() for word in (option, self.folder / name)]
        result = ropecheck("run", "--backend", BACKEND, *FEW, *outputs)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names.values()))
        self.assertEqual((self.folder / "run.txt").read_text(), result.stdout)
        summary = json.loads((self.folder / "run.json").read_text())
        self.assertEqual(summary["cases"], len(ropecheck("list", *FEW).stdout.split()))
        self.assertEqual(sum(summary["verdicts"].values()), summary["cases"])
        self.assertEqual(summary["exit_status"], 0)
        self.assertGreater(summary["max_z"], 0)
        self.assertLess(summary["max_z"], 8)

    def test_a_terminal_sees_a_progress_line_that_is_gone_at_the_end(self):
        try:
            terminal, program_side = os.openpty()
        except OSError as error:
            print(f"skipped: a progress line needs a pseudo-terminal, and this system has none ({error})")
            self.skipTest("no pseudo-terminal")
        self.addCleanup(os.close, terminal)
        subprocess.run([PROGRAM, "run", "--backend", BACKEND, *FEW], stdout=subprocess.DEVNULL,
                       stderr=program_side, timeout=120, check=True)
        os.close(program_side)
        seen = os.read(terminal, 1 << 16).decode()
        self.assertIn(" cases, 0 failed", seen)
        self.assertTrue(seen.endswith("\r\x1b[K"), seen)

    def test_json_on_standard_output_stands_alone(self):
        result = ropecheck("run", "--backend", BACKEND, *FEW, "--json", "-")
        self.assertEqual(json.loads(result.stdout)["exit_status"], result.returncode)
        listed = json.loads(ropecheck("list", *FEW, "--json", "-").stdout)
        self.assertEqual(listed["ids"], ropecheck("list", *FEW).stdout.split())

    def test_the_number_of_jobs_changes_no_number(self):
        def figures(jobs):
            path = self.folder / f"{jobs}.json"
            ropecheck("run", "--backend", BACKEND, *FEW, "--jobs", jobs, "--json", path)
            summary = json.loads(path.read_text())
            return summary["verdicts"], summary["max_z"], summary["pools"], summary["laws"]
        self.assertEqual(figures(1), figures(2))

    def test_replay_shows_the_checks_of_each_id(self):
        ids = self.some_ids()
        result = ropecheck("replay", "--backend", BACKEND, *ids)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for case_id in ids:
            self.assertIn(f"{case_id}: ", result.stdout)
        self.assertIn("worst at call", result.stdout)
        (self.folder / "ids.txt").write_text("# two\n" + "\n".join(ids) + "\n")
        lines = lambda text: [line for line in text.splitlines() if "seconds" not in line]
        self.assertEqual(lines(ropecheck("replay", "--backend", BACKEND, "--file",
                                         self.folder / "ids.txt").stdout), lines(result.stdout))
        self.assertEqual(lines(ropecheck("replay", "--backend", BACKEND, "-",
                                         stdin="\n".join(ids)).stdout), lines(result.stdout))

    def report(self, name, *arguments, backend=BACKEND):
        path = self.folder / name
        ropecheck("run", "--backend", backend, *FEW, *arguments, "--report", path)
        return path

    def test_diff_of_a_run_with_itself_is_no_regression(self):
        old, new = self.report("old.h5"), self.report("new.h5")
        result = ropecheck("diff", old, new, "--json", self.folder / "diff.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        changes = json.loads((self.folder / "diff.json").read_text())
        self.assertGreater(changes["compared"], 0)
        self.assertEqual(set(changes["counts"].values()), {0})

    def test_diff_with_a_broken_backend_is_a_regression(self):
        old, new = self.report("old.h5"), self.report("new.h5", backend=fixture("error"))
        result = ropecheck("diff", old, new, "--json", "-")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertGreater(json.loads(result.stdout)["counts"]["newly_failing"], 0)
        mended = json.loads(ropecheck("diff", new, old, "--json", "-").stdout)["counts"]
        self.assertEqual(mended["newly_failing"], 0)
        self.assertGreater(mended["newly_passing"], 0)

    def test_diff_of_other_cases_is_refused_with_the_reason(self):
        old = self.report("old.h5")
        self.refused(2, ["seed", "'1'", "'2'"], "diff", old, self.report("seed.h5", "--seed", "2"))
        self.refused(2, ["filter"], "diff", old, self.report("filter.h5", "--filter", "*"))
        self.refused(2, ["NEW.h5 is required"], "diff", old)

    # ---- what a stranger asks first

    def test_help_and_version_go_to_standard_output(self):
        self.assertIn("ropecheck ", ropecheck("--version").stdout)
        for command in ("run", "list", "replay", "diff", "backends", "laws"):
            self.assertIn(f"  {command} ", ropecheck("--help").stdout)
            result = ropecheck(command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("--json", result.stdout)

    def test_backends_laws_and_coverage_are_listed(self):
        self.assertIn(BACKEND, ropecheck("backends").stdout.split())
        self.assertEqual(ropecheck("backends").stdout.split(),
                         json.loads(ropecheck("backends", "--json", "-").stdout)["backends"])
        laws = json.loads(ropecheck("laws", "--json", "-").stdout)["laws"]
        self.assertGreater(len(laws), 10)
        for law in laws:
            self.assertIn(law["statement"], ropecheck("laws").stdout)
        table = ropecheck("list", "--suite", "smoke", "--coverage")
        self.assertEqual(table.returncode, 0)
        self.assertRegex(table.stdout.splitlines()[0], "family +axis +axis +pairs +covered")


if __name__ == "__main__":
    unittest.main()
