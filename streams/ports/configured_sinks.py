"""The sinks of an installation, by the names it gave them."""

from collections.abc import Mapping
from urllib.parse import quote

from playbooks.ports import Clock, Http, Kind, NotConfigured
from playbooks.retry import Delivery, Disabled, Refused
from playbooks.sinks.notice import Locale, Notice
from playbooks.sinks.sink import Sink
from schemas.action import Request
from schemas.incident import Incident


class ConfiguredSinks:
    """Makes the notice and hands it to the sink; a receiver that wants nothing more is left alone until a restart.

    Args:
        http: the way out.
        clock: for the time that signatures carry.
        sinks: by name.
        page: address of the operators' page, `http://trainmaster.example:8700`, or "" for messages without a link.
        locale: language of the messages.
    """

    def __init__(
        self, http: Http, clock: Clock, sinks: Mapping[str, Sink], page: str = "", locale: Locale = "en"
    ) -> None:
        self._http = http
        self._clock = clock
        self._sinks = dict(sinks)
        self._page = page.rstrip("/")
        self._locale: Locale = locale
        self._disabled: dict[str, Disabled] = {}

    def kinds(self) -> Mapping[str, str]:
        """Give the kind of each sink by its name."""
        return {name: sink.name for name, sink in self._sinks.items()}

    async def tell(self, name: str, incident: Incident, kind: Kind, request: Request | None = None) -> Delivery:
        """Send one message through one sink.

        Raises:
            NotConfigured: there is no sink of that name.
        """
        sink = self._sinks.get(name)
        if sink is None:
            raise NotConfigured(f"no sink named {name!r} is configured")
        if name in self._disabled:
            return Refused(f"not tried: {self._disabled[name].reason}")
        delivery = await sink.send(self._notice(incident, kind, request), self._http)
        if isinstance(delivery, Disabled):
            self._disabled[name] = delivery
        return delivery

    def _notice(self, incident: Incident, kind: Kind, request: Request | None) -> Notice:
        link = f"{self._page}/#job={quote(incident.job, safe='')}&incident={incident.id}" if self._page else ""
        return Notice(
            incident=incident,
            kind=kind,
            link=link,
            locale=self._locale,
            sent_at=self._clock.now(),
            request=request,
        )
