"""Scenarios, arms, metrics and pre-registered kill criteria: does the ledger stop retracted facts from persisting?"""
