"""ContextCite's sparse linear surrogate, number for number that of the `context-cite` package, version 0.0.4.

Cohen-Wang et al., "ContextCite: Attributing Model Generation to Context" (2024). Its fixed penalty of 0.01 on the
log-odds *per token* sets to zero every effect under about 0.02 nats a claim token; `decision.cuts` does not use it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attribution.errors import DecisionError

LASSO_ALPHA = 0.01


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A linear model of a claim's log-odds over the presence of units."""

    weights: NDArray[np.float64]
    """``float64[unit]``, nats."""

    bias: float
    """Predicted log-odds of the empty context, nats."""

    def predict(self, masks: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Predicted log-odds in nats, ``float64[mask]``, for ``uint8[mask, unit]`` of 0 and 1."""
        return masks.astype(np.float64) @ self.weights + self.bias


def contextcite(masks: NDArray[np.uint8], logit_probs: NDArray[np.float64], num_tokens: int) -> Surrogate:
    """Fit the surrogate: standardised masks, Lasso on log-odds a token, weights scaled back.

    Args:
        masks: ``uint8[mask, unit]`` of 0 and 1.
        logit_probs: ``float64[mask]``, the claim's log-odds in nats.
        num_tokens: length of the claim in tokens.

    Raises:
        DecisionError: shapes that do not match, no masks, a claim without tokens, log-odds that are not finite.
    """
    if masks.ndim != 2 or logit_probs.shape != (len(masks),) or not len(masks):  # noqa: PLR2004 - a matrix
        raise DecisionError(f"{masks.shape} masks and {logit_probs.shape} log-odds do not pair; give one score a mask")
    if num_tokens < 1:
        raise DecisionError(f"a claim of {num_tokens} tokens cannot be fitted; drop empty claims before scoring")
    if not np.all(np.isfinite(logit_probs)):
        raise DecisionError("log-odds hold an infinity or NaN; compute them in log space (log1mexp), not from p")
    if masks.shape[1] == 0:
        return Surrogate(np.zeros(0), float(np.mean(logit_probs)))
    from sklearn.linear_model import Lasso
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    lasso = Lasso(alpha=LASSO_ALPHA, random_state=0)
    # The peer standardises in single precision, which moves the sixth digit of the result; so does this.
    lasso.fit(scaler.fit_transform(masks.astype(np.float32)), logit_probs / num_tokens)
    weights = np.asarray(lasso.coef_ / scaler.scale_, dtype=np.float64)
    bias = float(lasso.intercept_) - float((scaler.mean_ / scaler.scale_) @ lasso.coef_)
    return Surrogate(weights * num_tokens, bias * num_tokens)


def log_odds(log_probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """``log p − log(1 − p)`` from ``log p`` ≤ 0, in nats, stable at both ends.

    Raises:
        DecisionError: ``log p`` ≥ 0, whose log-odds are infinite; contrast such a claim with a foil instead.
    """
    if np.any(log_probability >= 0):
        raise DecisionError("log p = 0 has infinite log-odds; score the claim against a foil (contrast) instead")
    small = log_probability < -np.log(2.0)
    with np.errstate(under="ignore"):
        log_complement = np.where(
            small,
            np.log1p(-np.exp(np.where(small, log_probability, -1.0))),
            np.log(-np.expm1(np.where(small, -1.0, log_probability))),
        )
    return np.asarray(log_probability - log_complement, dtype=np.float64)
