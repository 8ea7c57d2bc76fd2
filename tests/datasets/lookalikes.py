"""Stand-ins for data sets of R that cannot be frozen here: the same columns, rows and difficulties.

The values are sampled from networks whose graphs are those known for the originals and whose parameters are
our own; see data/README.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import bayescout as bs
from bayescout.network import ConditionalGaussian, LinearGaussian, Network, Tabular

ABC = ("a", "b", "c")


def learning_test() -> Network:
    """Six categorical columns: [A][C][F][B|A][D|A:C][E|B:F]."""
    dag = bs.Dag(tuple("ABCDEF"), ((), (0,), (), (0, 2), (1, 5), ()))
    d = [
        [[0.80, 0.10, 0.10], [0.65, 0.20, 0.15], [0.10, 0.15, 0.75]],
        [[0.15, 0.75, 0.10], [0.10, 0.30, 0.60], [0.25, 0.60, 0.15]],
        [[0.45, 0.15, 0.40], [0.20, 0.70, 0.10], [0.10, 0.20, 0.70]],
    ]
    e = [
        [[0.80, 0.10, 0.10], [0.35, 0.15, 0.50]],
        [[0.20, 0.15, 0.65], [0.15, 0.75, 0.10]],
        [[0.10, 0.70, 0.20], [0.55, 0.20, 0.25]],
    ]
    return Network(
        dag,
        (
            Tabular(ABC, np.array([0.33, 0.34, 0.33])),
            Tabular(ABC, np.array([[0.85, 0.05, 0.10], [0.40, 0.25, 0.35], [0.10, 0.10, 0.80]])),
            Tabular(ABC, np.array([0.75, 0.20, 0.05])),
            Tabular(ABC, np.array(d)),
            Tabular(ABC, np.array(e)),
            Tabular(("a", "b"), np.array([0.5, 0.5])),
        ),
    )


def clgaussian_test() -> Network:
    """Five categorical and three continuous columns: [A][B][C][H][D|A:H][F|B:C][E|B:D][G|A:D:E:F]."""
    nodes = tuple("ABCDEFGH")
    dag = bs.Dag(nodes, ((), (), (), (0, 7), (1, 3), (1, 2), (0, 5, 3, 4), ()))
    f = [
        [[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]],
        [[0.7, 0.3], [0.2, 0.8], [0.9, 0.1], [0.4, 0.6]],
        [[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.1, 0.9]],
    ]
    return Network(
        dag,
        (
            Tabular(("a", "b"), np.array([0.5, 0.5])),
            Tabular(ABC, np.array([0.4, 0.35, 0.25])),
            Tabular(("a", "b", "c", "d"), np.array([0.3, 0.3, 0.2, 0.2])),
            ConditionalGaussian([[5.0, 10.0], [24.0, 15.0]], [[[], []], [[], []]], [[1.0, 4.0], [2.0, 9.0]]),
            ConditionalGaussian([1.0, 4.0, -2.0], [[1.5], [1.0], [2.5]], [1.0, 2.0, 4.0]),
            Tabular(("a", "b"), np.array(f)),
            ConditionalGaussian(
                [[1.0, 4.0], [10.0, -3.0]],
                [[[1.0, 2.0], [3.0, 1.0]], [[2.0, 3.0], [-1.0, 2.0]]],
                [[1.0, 4.0], [2.0, 6.0]],
                discrete=(0, 3),
            ),
            Tabular(("a", "b"), np.array([0.75, 0.25])),
        ),
    )


MARKS = ("MECH", "VECT", "ALG", "ANL", "STAT")


def marks() -> pd.DataFrame:
    """Marks of 88 students in five subjects, whole numbers from 0 to 100: algebra separates two pairs."""
    dag = bs.Dag(MARKS, ((1, 2), (2,), (), (2,), (2, 3)))
    model = Network(
        dag,
        (
            LinearGaussian(-12.0, [0.5, 0.55], 150.0),
            LinearGaussian(12.0, [0.75], 100.0),
            LinearGaussian(50.0, [], 112.0),
            LinearGaussian(-4.0, [1.0], 100.0),
            LinearGaussian(-8.0, [0.45, 0.6], 140.0),
        ),
    )
    values = model.sample(88, seed=1).values
    return pd.DataFrame(dict(zip(MARKS, np.clip(np.rint(values), 0, 100).astype(int), strict=True)))


def coronary() -> Network:
    """Risk factors of 1,841 workers, six columns of two states: mental work and smoking explain most."""
    nodes = ("Smoking", "M. Work", "P. Work", "Pressure", "Proteins", "Family")
    dag = bs.Dag(nodes, ((1, 2), (), (1,), (0,), (0, 1), (1,)))
    yes = ("no", "yes")
    return Network(
        dag,
        (
            Tabular(yes, np.array([[[0.55, 0.45], [0.25, 0.75]], [[0.65, 0.35], [0.5, 0.5]]])),
            Tabular(yes, np.array([0.6, 0.4])),
            Tabular(yes, np.array([[0.15, 0.85], [0.85, 0.15]])),
            Tabular(("<140", ">140"), np.array([[0.45, 0.55], [0.65, 0.35]])),
            Tabular(("<3", ">3"), np.array([[[0.75, 0.25], [0.55, 0.45]], [[0.5, 0.5], [0.25, 0.75]]])),
            Tabular(("neg", "pos"), np.array([[0.82, 0.18], [0.93, 0.07]])),
        ),
    )


LIZARDS: list[dict[str, Any]] = [
    {"Species": species, "Diameter": diameter, "Height": height, "count": count}
    for species, diameter, height, count in (
        ("Sagrei", "narrow", "high", 32),
        ("Sagrei", "narrow", "low", 86),
        ("Sagrei", "wide", "high", 11),
        ("Sagrei", "wide", "low", 35),
        ("Distichus", "narrow", "high", 61),
        ("Distichus", "narrow", "low", 73),
        ("Distichus", "wide", "high", 41),
        ("Distichus", "wide", "low", 70),
    )
]
"""Perches of two species of lizards, 409 in all (Schoener 1968), as the eight counts are commonly cited."""


def raw(model: Network, rows: int, seed: int = 1, digits: int = 4) -> pd.DataFrame:
    """A sample as a frame of a user has it: text and rounded floats, nothing that tells states or kinds."""
    table = model.sample(rows, seed=seed)
    frame = pd.DataFrame(table.to_dict())
    for name in frame:
        if frame[name].dtype == float:
            frame[name] = frame[name].round(digits)
    return frame
