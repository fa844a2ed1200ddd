"""Fixtures of the tests of pods: a repository of the test's own."""

from report.repositories import english as english
from report.repositories import repository as repository
