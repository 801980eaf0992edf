"""No secret is seen: not in a printed sink, not in an error, not in the reason of a failure, not in a log."""

import asyncio
import base64
import copy
import logging
import pickle
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from playbooks.ports import Reply
from playbooks.retry import Delivery
from playbooks.sinks.catalogue import SINKS, BadSink, make_sink
from playbooks.sinks.notice import Notice
from playbooks.sinks.secret import MASK, Secret, hide
from streams.ports.aiohttp_http import AiohttpHttp
from streams.ports.real_ports import BadPorts, real_ports
from streams.stores.archive import SqliteArchive
from streams.stores.database import Database
from tests.actions.samples import an_incident
from tests.fakes import FakeHttp

words = st.text(alphabet="abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=32, max_size=32)
"""As long as real keys are: a shorter one could stand in a text by chance."""


def settings_with(kind: str, word: str) -> dict[str, object]:
    """Settings of a sink in which a word is every secret there is; a new kind has to be added here."""
    key = "whsec_" + base64.b64encode(word.encode()).decode()
    settings: dict[str, dict[str, object]] = {
        "slack": {"kind": "slack", "url": f"https://hooks.slack.example/services/{word}"},
        "pagerduty": {"kind": "pagerduty", "routing_key": word, "url": f"https://relay.example/{word}"},
        "webhook": {"kind": "webhook", "url": f"https://hook.example/{word}", "secrets": [key]},
    }
    return settings[kind]


def shows(text: str, word: str) -> bool:
    """Tell whether a text shows a word, plain or as the webhook's key."""
    return word in text or base64.b64encode(word.encode()).decode() in text


def a_notice() -> Notice:
    """News of the brief's incident."""
    return Notice(incident=an_incident(), kind="opened", sent_at=1000.0)


@pytest.mark.parametrize("kind", SINKS)
@given(word=words)
def test_a_sink_can_be_printed(kind: str, word: str) -> None:
    """Neither the sink nor its settings show a secret in any printed form."""
    sink = make_sink(settings_with(kind, word))
    for printed in (str(sink), repr(sink), str(sink.config), repr(sink.config), f"{sink.config}", str(vars(sink))):
        assert not shows(printed, word)
    assert MASK in repr(sink.config)


ANSWERS: dict[str, Callable[[str, str], Reply | ConnectionError]] = {
    "the server repeats what it was sent": lambda url, word: Reply(status=400, body=f"{url} {word}".encode()),
    "the client names the address": lambda url, word: ConnectionError(f"cannot connect to {url} with {word}"),
    "busy": lambda url, word: Reply(status=503, body=f"{url} {word}".encode()),
    "done": lambda url, word: Reply(status=200, body=f"{url} {word}".encode()),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("kind", SINKS)
@given(word=words)
def test_a_failure_can_be_told(kind: str, answer: Callable[[str, str], Reply | ConnectionError], word: str) -> None:
    """The reason of a failure shows no secret, even where server or client put it into their answer."""
    url = str(settings_with(kind, word)["url"])
    delivery: Delivery = asyncio.run(make_sink(settings_with(kind, word)).send(a_notice(), FakeHttp(answer(url, word))))
    assert not shows(repr(delivery), word)


BROKEN: dict[str, dict[str, object]] = {
    "not HTTP": {"kind": "slack", "url": "ftp://WORD"},
    "no host": {"kind": "slack", "url": "https:///WORD"},
    "an address that cannot be parsed": {"kind": "slack", "url": "https://[WORD"},
    "not even unicode-safe": {"kind": "slack", "url": "https://WORD\u2100.example/"},
    "a list": {"kind": "slack", "url": ["WORD"]},
    "empty": {"kind": "slack", "url": ""},
    "too short a key": {"kind": "pagerduty", "routing_key": "WORD"},
    "no prefix": {"kind": "webhook", "url": "https://h.example/", "secrets": ["WORD"]},
    "not base64": {"kind": "webhook", "url": "https://h.example/", "secrets": ["whsec_WORD!"]},
    "not ASCII": {"kind": "webhook", "url": "https://h.example/", "secrets": ["whsec_WORDé"]},
    "too short": {"kind": "webhook", "url": "https://h.example/", "secrets": ["whsec_WORD"]},
    "no secret at all": {"kind": "webhook", "url": "https://h.example/WORD", "secrets": []},
    "an unknown field": {"kind": "slack", "url": "https://h.example/WORD", "channel": "WORD"},
    "an unknown kind": {"kind": "pager", "url": "https://h.example/WORD"},
}


@pytest.mark.parametrize("settings", BROKEN.values(), ids=BROKEN)
def test_broken_settings_can_be_told(settings: dict[str, object]) -> None:
    """Settings that cannot be used are refused at the start, by sink and field, without repeating the secret."""
    with pytest.raises(BadSink) as fault:
        make_sink(settings)
    assert "WORD" not in repr(fault.value)
    database = Database(":memory:")
    with pytest.raises(BadPorts, match=r"sinks\.oncall: ") as wired:
        real_ports(SqliteArchive(database), FakeHttp(), documents=None, sinks={"oncall": settings}, scheduler={})  # type: ignore[arg-type]
    assert "WORD" not in str(wired.value)
    database.close()


def test_a_real_failure_says_nothing_in_a_log(caplog: pytest.LogCaptureFixture) -> None:
    """A host that does not exist leaves no address behind, neither in the reason nor in any log record."""

    async def once() -> Delivery:
        async with AiohttpHttp(seconds=5.0) as http:
            return await make_sink({"kind": "slack", "url": "http://127.0.0.1:9/services/T0-secret"}).send(
                a_notice(), http
            )

    with caplog.at_level(logging.DEBUG):
        delivery = asyncio.run(once())
    assert "T0-secret" not in repr(delivery) + caplog.text


@given(word=words, other=words)
def test_secrets_compare_and_hide(word: str, other: str) -> None:
    """Equal words are equal secrets, and every occurrence in a text is hidden."""
    assume(word != other)
    assert Secret(word) == Secret(word)
    assert hash(Secret(word)) == hash(Secret(word))
    assert Secret(word) != Secret(other)
    assert Secret(word) != word
    assert word not in hide(f"{word} and {word}/x", Secret(word), Secret(other))


@pytest.mark.parametrize("way", [pickle.dumps, copy.deepcopy])
def test_a_secret_is_not_written(way: object) -> None:
    """A secret cannot be pickled or copied into something that shows it."""
    assert callable(way)
    with pytest.raises(TypeError):
        way(Secret("word"))
