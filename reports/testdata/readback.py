"""Reads a JUnit file with Debian's junitparser, and prints what it found in it as JSON."""
import json
import sys

from junitparser import Error, Failure, JUnitXml, Skipped

WORDS = {Failure: "failure", Error: "error", Skipped: "skipped"}
found = {}
for suite in JUnitXml.fromfile(sys.argv[1]):
    for case in suite:
        end = [WORDS[type(r)] + ": " + (r.message or "") for r in case.result if type(r) in WORDS]
        found[suite.name + " / " + case.name] = end[0] if end else "passed"
    found[suite.name] = f"{suite.tests} tests, {suite.failures} failures, {suite.errors} errors, {suite.skipped} skipped"
json.dump(found, sys.stdout)
