"""Tenants over several machines: PL/Proxy in front of ordinary PostgreSQL servers with pgmnemo.

The router has a directory of tenants, and a function for each verb that names its tenant; a shard contains
the tenants' data. `pgmnemo-shards --help` lists the commands; README.md describes the design.
"""
