"""A message about an incident, before a sink has put it into its own form."""

from typing import Literal

from msgspec import Struct

from playbooks.ports import Kind
from schemas.action import Request
from schemas.ids import derived_id
from schemas.incident import Incident

Locale = Literal["en", "zh"]


class Notice(Struct, frozen=True, kw_only=True):
    """What is to be told.

    Attributes:
        incident: the present revision.
        kind: that it is new, that it grew worse, that it is over.
        link: address of the incident's page, or "".
        locale: language of the words around the numbers.
        sent_at: Unix seconds of this try, on the sender's clock; signatures carry it.
        request: the action asked of the receiver; None where the message is news and no order.
    """

    incident: Incident
    kind: Kind
    link: str = ""
    locale: Locale = "en"
    sent_at: float
    request: Request | None = None

    @property
    def id(self) -> str:
        """Name the message; every try of it bears the same name, so that a receiver can tell a repetition."""
        if self.request is not None:
            return self.request.id
        return derived_id("notice", self.incident.id, self.kind, self.incident.severity)
