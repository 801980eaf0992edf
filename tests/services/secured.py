"""Doors of a broker that want credentials, in the open and over TLS, with a certificate made on the spot."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from tests.services.kafka import Listener, Unavailable
from tests.services.processes import free_port

Users = Mapping[str, str]
"""Name -> password."""


class Certificate(Struct, frozen=True):
    """A certificate for 127.0.0.1 that nobody but its own file vouches for.

    Attributes:
        public: what clients trust.
        whole: certificate and key, as the broker reads them.
    """

    public: Path
    whole: Path


def made_certificate(folder: Path) -> Certificate:
    """Make a certificate.

    Raises:
        Unavailable: there is no openssl here.
    """
    if shutil.which("openssl") is None:
        raise Unavailable("openssl is missing (Debian: apt-get install openssl)")
    public, key, whole = (folder / name for name in ("broker.crt", "broker.key", "broker.pem"))
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    command = ["openssl", *words.split(), "-keyout", str(key), "-out", str(public)]
    subprocess.run(command, check=True, capture_output=True)
    whole.write_text(key.read_text() + public.read_text())
    return Certificate(public, whole)


def sasl_listener(users: Users) -> Listener:
    """A door in the open that wants name and password."""
    return Listener("SASL", "SASL_PLAINTEXT", free_port(), _plain("sasl", users))


def tls_listener(users: Users, certificate: Certificate) -> Listener:
    """A door over TLS that wants name and password."""
    own = f"listener.name.tls.ssl.keystore.type=PEM\nlistener.name.tls.ssl.keystore.location={certificate.whole}\n"
    return Listener("TLS", "SASL_SSL", free_port(), own + _plain("tls", users))


def _plain(name: str, users: Users) -> str:
    known = " ".join(f'user_{user}="{password}"' for user, password in users.items())
    module = f"org.apache.kafka.common.security.plain.PlainLoginModule required {known};"
    return f"listener.name.{name}.sasl.enabled.mechanisms=PLAIN\nlistener.name.{name}.plain.sasl.jaas.config={module}\n"
