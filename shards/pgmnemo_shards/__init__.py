"""Tenants over several machines: PL/Proxy in front of ordinary PostgreSQL servers with pgmnemo.

The router holds a directory of tenants and one function for each verb that names its tenant; a shard holds
the tenants themselves. `pgmnemo-shards --help` lists the commands; README.md says how it works.
"""
