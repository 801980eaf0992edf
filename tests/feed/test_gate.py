"""Who may call: token holders, or this machine alone, and never another site's page."""

import pytest

from streams.feed.gate import OpenToEveryone, check_bind
from tests.feed.conftest import TOKEN, Feed

INCIDENTS = "/api/v1/incidents"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "node-7", ""])
def test_no_token_no_other_machines(host: str) -> None:
    """Listening to other machines without a token is refused with a way out; with a token it is allowed."""
    for token in (None, ""):
        with pytest.raises(OpenToEveryone, match="token"):
            check_bind(host, token)
    check_bind(host, TOKEN)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_loopback_needs_no_token(host: str) -> None:
    """This machine may be served without one."""
    check_bind(host, None)


CREDENTIALS = {
    "none": ({}, 401),
    "wrong": ({"Authorization": "Bearer wrong"}, 401),
    "a part of it": ({"Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
    "another scheme": ({"Authorization": f"Basic {TOKEN}"}, 401),
    "not even text": ({"Authorization": "Bearer \u00ff\u00fe"}, 401),
    "right": ({"Authorization": f"Bearer {TOKEN}"}, 200),
    "right, lower case": ({"Authorization": f"bearer {TOKEN}"}, 200),
}


@pytest.mark.parametrize("name", CREDENTIALS)
def test_the_token_opens_the_api(guarded_feed: Feed, name: str) -> None:
    """With a token set, every call of the API needs it, and the answer does not contain it."""
    headers, status = CREDENTIALS[name]
    answer = guarded_feed.call("GET", INCIDENTS, headers=headers)
    assert answer.status == status
    assert TOKEN.encode() not in answer.raw
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.headers["content-type"] == "application/problem+json"


def test_every_api_path_is_behind_the_token(guarded_feed: Feed) -> None:
    """Reading, writing, the stream and the description are closed; health and the page without data are open."""
    for method, path in (
        ("POST", "/api/v1/telemetry"),
        ("GET", "/api/v1/stream"),
        ("POST", "/api/v1/killswitch"),
        ("GET", "/api/v1/openapi.json"),
        ("GET", "/api/v1/nothing"),
    ):
        assert guarded_feed.call(method, path, data=b"x" if method == "POST" else b"").status == 401
    for path in ("/livez", "/readyz", "/", "/app.js", "/api.js"):
        assert guarded_feed.call("GET", path).status == 200


def test_a_token_in_the_address_is_no_token(guarded_feed: Feed) -> None:
    """Addresses end up in logs and histories: a token there opens nothing."""
    assert guarded_feed.call("GET", f"{INCIDENTS}?token={TOKEN}").status == 401


def test_a_foreign_page_changes_nothing(feed: Feed) -> None:
    """A browser that shows another site says so in `Origin`; such a call is refused, our own page's is not."""
    body = {"on": True, "by": "mallory"}
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        assert feed.call("POST", "/api/v1/killswitch", body, headers={"Origin": origin}).status == 403
    assert feed.leases.stopped_by() is None
    assert feed.call("POST", "/api/v1/killswitch", body, headers={"Origin": feed.url}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1", "", "[::1"])
def test_a_foreign_name_for_this_machine_is_refused(shared_feed: Feed, host: str) -> None:
    """A site whose name points at loopback cannot read either: without a token only loopback names are served."""
    assert shared_feed.call("GET", INCIDENTS, headers={"Host": host}).status in {400, 403}


def test_answers_keep_a_browser_strict(shared_feed: Feed) -> None:
    """Page and API alike forbid scripts from elsewhere and inline, framing, sniffing and referrers."""
    for path in ("/", INCIDENTS, "/api/v1/nothing"):
        headers = shared_feed.call("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
