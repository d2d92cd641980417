"""Detection of requests from a foreign web page: by their Host, Origin and Content-Type.

A browser sends a page's request to any address, without a preflight if its body is plain text or a form. So a
server without tokens trusts only its own Origin, for pages of any machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

JSON = "application/json"
PORTS = {"http": 80, "https": 443}


def header_values(scope: Any, name: bytes) -> list[str]:
    """Return the values of a header of a request, in their order."""
    return [value.decode("latin-1") for given, value in scope["headers"] if given.lower() == name]


def is_local_origin(scope: Any) -> bool:
    """Return whether a request addresses the loopback interface and comes from no foreign web page.

    Its Host is a loopback address, and its Origin is missing or has the scheme, host and port of this server.
    """
    hosts, origins = header_values(scope, b"host"), header_values(scope, b"origin")
    if len(hosts) != 1 or not is_loopback(_address(hosts[0], 0)[0]):
        return False
    return not origins or origins == [_own_origin(scope, hosts[0])]


def is_json(scope: Any) -> bool:
    """Return whether a request has no body, or declares its body as JSON."""
    lengths = header_values(scope, b"content-length")
    if lengths in ([], ["0"]) and not header_values(scope, b"transfer-encoding"):
        return True
    types = header_values(scope, b"content-type")
    return [one.partition(";")[0].strip().lower() for one in types] == [JSON]


def is_loopback(name: str) -> bool:
    """Return whether a host name or address is the loopback interface."""
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def _own_origin(scope: Any, host: str) -> str | None:
    """Return the Origin of the server's own page; None if the Host names another port."""
    scheme = scope.get("scheme", "http")
    usual = PORTS.get(scheme, 0)
    listening: Sequence[Any] = scope.get("server") or (None, None)
    port = _address(host, usual)[1]
    return f"{scheme}://{host}" if port == (listening[1] or usual) else None


def _address(given: str, usual: int) -> tuple[str, int]:
    """Return the host and the port of `host:port`; an empty host if the text is not an address."""
    try:
        parts = urlsplit(f"//{given}")
        if "@" in given or parts.netloc != given:
            return "", 0
        return parts.hostname or "", usual if parts.port is None else parts.port
    except ValueError:
        return "", 0
