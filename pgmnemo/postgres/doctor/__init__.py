"""Diagnosis of a database that has pgmnemo."""

from pgmnemo.postgres.doctor.diagnosis import diagnose
from pgmnemo.postgres.doctor.finding import FAULT, OK, WARNING, DoctorFinding, fault_finding

__all__ = ["FAULT", "OK", "WARNING", "DoctorFinding", "diagnose", "fault_finding"]
