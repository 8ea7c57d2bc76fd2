"""The effect on a continuous variable, by a linear regression on x and what is adjusted for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescout.errors import DataError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fitted:
    """Coefficients of a linear regression and their covariance."""

    coefficients: Array
    covariance: Array


def least_squares(design: Array, y: Array, weights: Array, leading: int, what: str) -> Fitted:
    """Weighted least squares; refused if one of the `leading` coefficients cannot be told from the others."""
    total = float(weights.sum())
    scale = np.sqrt(np.average(design**2, axis=0, weights=weights))
    scaled = design / np.where(scale > 0, scale, 1.0)
    root = np.sqrt(weights)[:, None]
    _, values, rows = np.linalg.svd(scaled * root, full_matrices=False)
    kept = values > values.max(initial=0.0) * max(design.shape) * np.finfo(float).eps
    lost = rows[~kept][:, :leading]
    if lost.size and np.abs(lost).max() > 1e-8:
        raise DataError(
            f"the data do not tell the effect of {what} from that of the variables adjusted for, which "
            f"determine it in every row; adjust for fewer, with adjust=[...]"
        )
    inverse = (rows[kept].T / values[kept] ** 2) @ rows[kept]
    coefficients = inverse @ (scaled.T @ (weights * y))
    residual = y - scaled @ coefficients
    left = total - int(kept.sum())
    if left <= 0:
        raise DataError(
            f"{total:,.0f} rows are too few for a regression with {design.shape[1]} coefficients; adjust for "
            f"fewer variables, with adjust=[...]"
        )
    variance = float(weights @ residual**2) / left
    unscale = 1 / np.where(scale > 0, scale, 1.0)
    return Fitted(coefficients * unscale, variance * inverse * np.outer(unscale, unscale))
