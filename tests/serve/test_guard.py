"""Only a page with the token, by the server's own name, from nowhere else, is answered."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bayescout.serve.guard import Guard

TOKEN = "a-token"


class Page:
    """A client that keeps its cookies from one request to the next."""

    def __init__(self, app, headers):
        self.app, self.headers, self.cookies = app, headers, httpx.Cookies()

    def request(self, method, path, headers=None, **more):
        async def asked():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport,
                base_url="http://127.0.0.1:8000",
                headers=self.headers,
                cookies=self.cookies,
            ) as client:
                return await client.request(method, path, headers=headers, **more)

        found = asyncio.run(asked())
        self.cookies.update(found.cookies)
        return found

    def get(self, path, **more):
        return self.request("GET", path, **more)


def client(host="127.0.0.1", **headers):
    async def found(_):
        return PlainTextResponse("in")

    app = Starlette(
        routes=[Route("/", found), Route("/api/project", found, methods=["GET", "POST"])],
        middleware=[Middleware(Guard, token=TOKEN, port=8000, host=host)],
    )
    return Page(app, headers)


def test_the_token_opens_the_page_and_a_cookie_keeps_it_open():
    page = client()
    assert page.get("/").status_code == 403
    first = page.get(f"/?token={TOKEN}")
    assert first.status_code == 200
    kept = first.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert page.get("/api/project").status_code == 200  # by the cookie


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", "\u00e9"])
def test_no_other_token_does(token):
    assert client().get("/", params={"token": token}).status_code == 403
    assert client(authorization=f"Bearer {token}".encode()).get("/").status_code == 403


def test_a_header_may_carry_the_token():
    assert client(authorization=f"Bearer {TOKEN}").get("/api/project").status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8000",
        "127.0.0.1",
        "127.0.0.1:8001",
        "localhost.evil.example:8000",
        "10.0.0.1:8000",
        "x:y",
        "",
    ],
)
def test_another_host_name_is_refused(host):
    """As by a name that an attacker's DNS points here."""
    found = client(authorization=f"Bearer {TOKEN}").get("/", headers={"host": host})
    assert found.status_code == 403
    assert "name" in found.json()["error"]


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_the_names_of_this_computer_are_known(host):
    assert client(authorization=f"Bearer {TOKEN}").get("/", headers={"host": host}).status_code == 200


def test_served_to_the_network_addresses_are_known_and_names_are_not():
    page = client(host="0.0.0.0", authorization=f"Bearer {TOKEN}")
    assert page.get("/", headers={"host": "10.0.0.1:8000"}).status_code == 200
    assert page.get("/", headers={"host": "evil.example:8000"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8001"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_the_page_of_another_site_is_refused(headers):
    page = client(authorization=f"Bearer {TOKEN}")
    for method in ("GET", "POST"):
        assert page.request(method, "/api/project", headers=headers).status_code == 403


def test_a_link_from_elsewhere_opens_the_page():
    """It carries the token, as one that a colleague on this computer was sent."""
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert client().get(f"/?token={TOKEN}", headers=headers).status_code == 200
    assert client().get(f"/api/project?token={TOKEN}", headers=headers).status_code == 403


def test_every_answer_forbids_scripts_from_elsewhere():
    for path in ("/", f"/?token={TOKEN}"):
        headers = client().get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
