"""Dagster assets: names, groups, descriptions and dependences. What they compute stands in `pipelines.stages`."""
