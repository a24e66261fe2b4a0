# SPDX-License-Identifier: Apache-2.0
"""Opens a report with h5py and holds it against the tables of reports/README.md, both ways.

Usage: report_h5py_test.py WRITER README.md
WRITER writes a sample report: WRITER REPORT.h5 JUNIT.xml
"""
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import h5py
import numpy as np

WRITER, README = sys.argv.pop(1), Path(sys.argv.pop(1))
KINDS = {"text": "O", "integer": "i", "real": "f"}


def documented(heading):
    """Names and types in the table below a heading."""
    section = README.read_text(encoding="utf-8").split(f"### {heading}", 1)[1].split("\n#", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| (text|integer|real) \|", section, re.MULTILINE))


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        path, cls.junit = Path(cls.folder.name, "run.h5"), Path(cls.folder.name, "run.xml")
        subprocess.run([WRITER, path, cls.junit], check=True)
        cls.report = h5py.File(path, "r")

    @classmethod
    def tearDownClass(cls):
        cls.report.close()
        cls.folder.cleanup()

    def check_table(self, group, heading):
        columns = documented(heading)
        self.assertGreater(len(columns), 5)
        self.assertEqual(set(columns), set(group), "columns that only README or only the file has")
        self.assertEqual(len({group[name].shape for name in columns}), 1)
        for name, kind in columns.items():
            self.assertEqual(group[name].ndim, 1, name)
            self.assertEqual(group[name].dtype.kind, KINDS[kind], name)
            if kind != "text":
                self.assertEqual(group[name].compression, "gzip", name)

    def test_every_column_is_documented_and_every_documented_column_is_there(self):
        for name in ("cases", "checks", "pools"):
            with self.subTest(name):
                self.check_table(self.report[name], f"`/{name}`")

    def test_every_attribute_of_the_root_is_documented_and_there(self):
        attributes = documented("Attributes of the root")
        self.assertEqual(set(attributes), set(self.report.attrs))
        for name, kind in attributes.items():
            expected = str if kind == "text" else {"integer": np.int64, "real": np.float64}[kind]
            self.assertIsInstance(self.report.attrs[name], expected, name)

    def test_every_group_is_documented(self):
        text = README.read_text(encoding="utf-8")
        for name in self.report:
            self.assertIn(f"`/{name}", text)

    def test_the_format_version_is_the_documented_one(self):
        version = self.report.attrs["format_version"]
        self.assertIn(f"`format_version` is {version}.", README.read_text(encoding="utf-8"))

    def test_values_are_those_of_the_sample(self):
        checks = self.report["checks"]
        texts = {name: checks[name].asstr()[()].tolist() for name in ("check", "point", "message")}
        self.assertEqual(texts["check"], ["reference", "batch_order"] + 3 * ["reference"])
        self.assertEqual(texts["point"][2], "rotated_key")
        self.assertIn("größe", texts["message"][3])
        self.assertEqual(checks["max_z"][()].tolist(), [2, 1, 812, np.inf, 0])
        self.assertTrue(np.isnan(checks["actual"][3]))
        self.assertEqual(checks["bitwise"][()].tolist(), [-1, 1, -1, -1, -1])
        self.assertEqual(checks["case_index"][()].tolist(), [0, 0, 1, 1, 2])
        ids = self.report["cases/case_id"].asstr()[()]
        self.assertEqual(checks["case_id"].asstr()[2], ids[1])
        self.assertEqual(self.report["verdicts"].attrs["crashed"], 1)
        self.assertEqual(self.report["environment"].attrs["cores"], "2")

    def test_kept_tensors_stand_below_the_row_of_their_case(self):
        kept = self.report["kept"]
        self.assertEqual(list(kept), ["1"])
        self.assertEqual(kept["1"].attrs["case_id"], self.report["cases/case_id"].asstr()[1])
        self.assertEqual(kept["1/call0/query"][()].tolist(), [5, 6, 7])
        self.assertEqual(kept["1/call0/attention_output/actual"].shape, (2, 2))

    def test_junit_is_well_formed_and_its_counts_are_those_of_its_elements(self):
        root = xml.etree.ElementTree.parse(self.junit).getroot()
        self.assertEqual(root.tag, "testsuites")
        for suite in root:
            self.assertEqual(int(suite.get("tests")), len(suite))
            for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(count)), len(suite.findall(f"*/{tag}")))


if __name__ == "__main__":
    unittest.main()
