"""Scenarios made of other people's data: one population a format, in the same records as the generated families."""

from evals.scenarios.loaders.formats import FORMATS, Population, load, load_population

__all__ = ["FORMATS", "Population", "load", "load_population"]
