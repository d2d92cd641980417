"""Diagnosis of a database that has pgmnemo."""

from pgmnemo.server.doctor.diagnosing import diagnose
from pgmnemo.server.doctor.finding import FAULT, OK, WARNING, Finding, fault

__all__ = ["FAULT", "OK", "WARNING", "Finding", "diagnose", "fault"]
