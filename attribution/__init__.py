"""Measured dependency: which context entries a claim rests on, by counterfactual ablation."""
