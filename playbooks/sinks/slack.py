"""Slack, through an incoming webhook: one fixed channel, a new message each time."""

import json

from playbooks.ports import Http
from playbooks.retry import Delivery
from playbooks.sinks.message import Message, cut, message
from playbooks.sinks.notice import Notice
from playbooks.sinks.post import post
from playbooks.sinks.secret import Secret
from playbooks.sinks.sink import SinkConfig, check_address

MOST_BLOCKS = 50
MOST_IN_SECTION = 3000
MOST_IN_HEADER = 150
Block = dict[str, object]


class SlackConfig(SinkConfig, frozen=True, kw_only=True):
    """Where to.

    Attributes:
        url: of the incoming webhook; whoever knows it can post.
    """

    url: Secret

    def __post_init__(self) -> None:
        """Refuse what is no address."""
        check_address(self.url)


class Slack:
    """Post the message as blocks, with a plain text for notifications and screen readers."""

    name = "slack"

    def __init__(self, config: SlackConfig) -> None:
        self.config = config

    async def send(self, notice: Notice, http: Http) -> Delivery:
        """Try once."""
        body = json.dumps(payload(notice), ensure_ascii=False).encode()
        return await post(http, self.config.url, body, {"Content-Type": "application/json; charset=utf-8"})


def payload(notice: Notice) -> dict[str, object]:
    """Put a notice into Slack's form."""
    told = message(notice)
    header = {"type": "plain_text", "text": fitted(told.headline, MOST_IN_HEADER), "emoji": False}
    blocks: list[Block] = [{"type": "header", "text": header}]
    blocks += [_section(text) for text in sections(told.lines)]
    if told.link:
        blocks.append(_section(_anchor(told)))
    return {"text": escape(told.headline), "blocks": blocks[:MOST_BLOCKS]}


def sections(lines: tuple[str, ...]) -> list[str]:
    """Gather escaped lines into texts that a section can hold."""
    gathered: list[str] = []
    for line in lines:
        text = fitted(line, MOST_IN_SECTION)
        if gathered and len(gathered[-1]) + 1 + len(text) <= MOST_IN_SECTION:
            gathered[-1] += f"\n{text}"
        else:
            gathered.append(text)
    return gathered


def escape(text: str) -> str:
    """Keep names from being read as links, mentions or channel alarms.

    >>> escape("<!channel> a&b")
    '&lt;!channel&gt; a&amp;b'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fitted(text: str, most: int) -> str:
    """Escape a text and cut it before a character, never inside an entity, so that the result fits.

    >>> fitted("a&&&", 8), fitted("short", 8)
    ('a&amp;…', 'short')
    """
    room = most
    while len(escaped := escape(cut(text, room))) > most:
        room -= max(1, (len(escaped) - most) // len("&amp;"))
    return escaped


def _section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _anchor(told: Message) -> str:
    return f"<{escape(told.link).replace('|', '%7C')}|{escape(told.link_words)}>"
