"""The client for administration: the first to speak to a broker, and so the one that says why there is no Kafka."""

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from streams.kafka.connection import Arguments, NoKafka, bootstrap, client_arguments
from streams.settings import KafkaSettings

REQUEST_MS = 10_000
PAUSE_MS = 300
"""At most from one try to the next: the client often misses why it was refused, so it needs some tries."""
_HUNG_UP = "socket disconnected"
_TLS = re.compile(r"\[SSL: \w+\] ([^(]+)")


@contextlib.contextmanager
def administrator(settings: KafkaSettings) -> Iterator[KafkaAdminClient]:
    """A client for administration.

    Raises:
        NoKafka: the broker does not answer in time, or refuses us.
        BadSettings: a certificate or key cannot be read.
    """
    arguments = client_arguments(settings)
    with _listening() as heard:
        try:
            client = _connected(settings, arguments)
            try:
                yield client
            finally:
                client.close()
        except (KafkaError, OSError, ValueError) as fault:
            raise NoKafka(_words(settings, [*heard, fault])) from None


def _connected(settings: KafkaSettings, arguments: Arguments) -> KafkaAdminClient:
    wait = int(1000 * settings.start)
    return KafkaAdminClient(
        bootstrap_timeout_ms=wait,
        request_timeout_ms=min(wait, REQUEST_MS),
        reconnect_backoff_max_ms=PAUSE_MS,
        client_id="trainmaster",
        **arguments,
    )


class _Ear(logging.Handler):
    """Keeps the faults that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[Exception] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep those of a record."""
        told = record.args if isinstance(record.args, tuple) else ()
        self.heard += [one for one in told if isinstance(one, Exception)]


@contextlib.contextmanager
def _listening() -> Iterator[list[Exception]]:
    """The client tries again until its time is over, and tells nobody but its log what came of every try."""
    logger, ear = logging.getLogger("kafka"), _Ear()
    before = logger.propagate
    logger.propagate = False
    logger.addHandler(ear)
    try:
        yield ear.heard
    finally:
        logger.removeHandler(ear)
        logger.propagate = before


def _words(settings: KafkaSettings, faults: Sequence[Exception]) -> str:
    """Why there is no Kafka, without what the library knows of our password."""
    where = f"Kafka at {', '.join(bootstrap(settings))}"
    kinds = {type(one).__name__ for one in faults}
    who = f"({settings.security}, {settings.mechanism}, user {settings.username or 'none'})"
    if any("Auth" in kind for kind in kinds):
        return f"{where} refuses the credentials {who}"
    if any("Sasl" in kind for kind in kinds):
        return f"{where} takes no credentials of this kind {who}"
    if settings.security.startswith("SASL") and any(_HUNG_UP in str(one) for one in faults):
        return f"{where} hangs up on us, as on credentials that it refuses {who}"
    for one in faults:
        if tls := _TLS.search(str(one)):
            return f"{where} and we cannot agree on TLS ({tls[1].strip()}); check kafka.ca and kafka.security"
    return f"{where} does not answer ({type(faults[-1]).__name__}); check kafka.bootstrap and kafka.security"
