"""Fixtures of the tests of pods: what is said is said in English."""

from report.repositories import english as english
