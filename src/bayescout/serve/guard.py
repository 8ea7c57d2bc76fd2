"""Who may speak to the server: a page that has its token, by its own name, from nowhere else."""

from __future__ import annotations

import hmac
import ipaddress
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Refuses requests without the token, to another host name, or from another site's page."""

    def __init__(self, app: ASGIApp, token: str, port: int, host: str) -> None:
        self.app = app
        self.token = token
        self.port = port
        self.cookie = f"bayescout-{port}"
        own = {"127.0.0.1", "localhost", "::1"}
        self.open = host not in own
        self.hosts = own | ({host, socket.gethostname()} if self.open else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._refused(scope, headers)
        if refused:
            await JSONResponse({"error": refused}, 403, SECURITY)(scope, receive, send)
            return
        fresh = self._asked(scope) is not None

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in SECURITY.items():
                    sent.setdefault(name, value)
                sent.setdefault("cache-control", "no-store")
                if fresh:
                    kept = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                    sent.append("set-cookie", kept)
            await send(message)

        await self.app(scope, receive, guarded)

    def _refused(self, scope: Scope, headers: Headers) -> str:
        """Why a request is refused; empty if it is not."""
        host = headers.get("host", "")
        if not self._is_known(host):
            return f"this server does not go by the name {host[:100]!r}; use the address that it printed"
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return "this request comes from a page of another site"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            navigates = headers.get("sec-fetch-mode") == "navigate" and scope["path"] == "/"
            if not navigates:
                return "this request comes from a page of another site"
        if not self._has_token(scope, headers):
            return "the token is missing or wrong; use the whole address that the server printed"
        return ""

    def _is_known(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.open

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        given = [self._asked(scope), headers.get("authorization", "").removeprefix("Bearer ")]
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            cookie = None
        given.append(None if cookie is None else cookie.value)
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in given if one)

    def _asked(self, scope: Scope) -> str | None:
        """The token in the address, if it is there and right."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        found = query.get("token", [""])[0]
        return found if hmac.compare_digest(found.encode(), self.token.encode()) else None
