"""How colours look to colour-blind readers, how far apart they are, and how much they stand out."""

from __future__ import annotations

import numpy as np

VISION = {
    "all three kinds of cones": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""What becomes of linear sRGB without one kind of cones: severity 1 of Machado, Oliveira & Fernandes (2009),
A physiologically-based model for simulation of color vision deficiency, IEEE TVCG 15(6), 1291-1298."""

TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
"""From linear sRGB, IEC 61966-2-1; the middle row is the luminance."""


def linear(colour):
    """The colour "#rrggbb" as linear red, green and blue."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE 1976 L*a*b* of a linear colour, white being that of the screen."""
    ratios = TO_XYZ @ rgb / TO_XYZ.sum(axis=1)
    f = np.where(ratios > (6 / 29) ** 3, np.cbrt(ratios), ratios * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, two, vision):
    """CIE 1976 colour difference to a reader with this vision; 2.3 is just noticed."""
    seen = [np.clip(np.array(VISION[vision]) @ linear(colour), 0.0, 1.0) for colour in (one, two)]
    return float(np.linalg.norm(lab(seen[0]) - lab(seen[1])))


def least_distance(one, two):
    """The same for the reader to whom they look most alike."""
    return min(distance(one, two, vision) for vision in VISION)


def contrast(one, two):
    """The contrast ratio of WCAG 2.1, from 1 to 21: text needs 4.5, graphics 3."""
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, two))
    return (high + 0.05) / (low + 0.05)
