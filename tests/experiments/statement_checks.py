"""Check that every number that a statement of a study names is that of the records.

The twin of each finding computes its numbers by plain loops over the records' own fields; the numbers are
then read from the text of the finding, in order, and compared to the digits that it shows.
"""

from __future__ import annotations

import re

import pytest

NUMBER = re.compile(r"(?<![\w.,−-])[+-]?\d[\d,]*(?:\.\d+)?(?![\w])")
NAMES = re.compile(r"\(not (?!significant)[^)]*\)")
"""Lists of failing cells, which are names."""


def numbers_in(text):
    """The numbers of a text with the digits after their points, without those that are part of a name."""
    found = NUMBER.findall(NAMES.sub("", text))
    return [(float(x.replace(",", "").rstrip(".")), len(x.partition(".")[2])) for x in found]


CHECKED = set()


def check(finding, expected):
    CHECKED.add(finding.claim)
    found = numbers_in(finding.ours)
    assert len(found) == len(expected), (finding.ours, expected)
    for (number, digits), value in zip(found, expected, strict=True):
        assert number == pytest.approx(value, abs=0.5000001 * 10**-digits), (finding.ours, expected)


def assert_all_checked(findings):
    """No statement that names a number was left out."""
    left = [one.claim for one in findings if numbers_in(one.ours) and one.claim not in CHECKED]
    assert not left


def runs(records, **declared):
    """Measures of the runs declared so; a key such as data__name looks into a declaration."""

    def fits(run):
        for name, value in declared.items():
            own = run
            for part in name.split("__"):
                own = own.get(part) if isinstance(own, dict) else None
            if own != value:
                return False
        return True

    return [record.measures for record in records if fits(record.run)]


def of(measures, name):
    return [one[name] for one in measures]


def counted(some):
    """The numbers of "3 of 4 (75%)"."""
    some = list(some)
    return [sum(some), len(some), round(100 * sum(some) / len(some))]


def findings_of(tiny_studies, name):
    study, ran, _ = tiny_studies(name)
    return study, ran.records, study.outcome(ran.records).findings


def told(findings, beginning):
    (one,) = [one for one in findings if one.claim.startswith(beginning)]
    return one
