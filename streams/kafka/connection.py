"""One place that turns settings into connections, and says in one line why there is none."""

import os
import ssl
from typing import Any

from streams.settings import BadSettings, KafkaSettings

Arguments = dict[str, Any]  # Any: keyword arguments of two client libraries
DEFAULT_BOOTSTRAP = "127.0.0.1:9092"


class NoKafka(RuntimeError):
    """Kafka cannot be used as it is; the message says why and what to do, and holds no secret."""


def bootstrap(settings: KafkaSettings) -> list[str]:
    """The addresses: those set, those of `KAFKA_BOOTSTRAP_SERVERS`, or this machine's."""
    given = settings.bootstrap or os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "") or DEFAULT_BOOTSTRAP
    return [address.strip() for address in given.split(",") if address.strip()]


def ssl_context(settings: KafkaSettings) -> ssl.SSLContext | None:
    """The TLS side of a connection, None where there is none.

    Raises:
        BadSettings: a file cannot be read.
    """
    if "SSL" not in settings.security:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ca or None)
        if settings.certificate:
            context.load_cert_chain(settings.certificate, settings.key or None)
    except (OSError, ssl.SSLError) as fault:
        files = ", ".join(one for one in (settings.ca, settings.certificate, settings.key) if one)
        raise BadSettings(f"kafka: a certificate or key cannot be read ({files}): {fault}") from None
    return context


def client_arguments(settings: KafkaSettings) -> Arguments:
    """What kafka-python's and aiokafka's clients take alike."""
    arguments: Arguments = {"bootstrap_servers": bootstrap(settings), "security_protocol": settings.security}
    context = ssl_context(settings)
    if context is not None:
        arguments["ssl_context"] = context
    if settings.security.startswith("SASL"):
        arguments["sasl_mechanism"] = settings.mechanism
        arguments["sasl_plain_username"] = settings.username
        arguments["sasl_plain_password"] = settings.password.get_secret_value()
    return arguments


def topic_name(settings: KafkaSettings, name: str) -> str:
    """A topic's name as it is on the broker."""
    return f"{settings.prefix}{name}"
