"""What a runner of actions stands on: its ways out under a lease, and whether it sees well enough to act."""

from typing import Protocol

from playbooks.ports import Ports
from streams.stores.store import Lease


class Footing(Protocol):
    """The ways out of an installation.

    Attributes:
        ports: for everything that needs no lease.
    """

    ports: Ports

    def under(self, lease: Lease) -> Ports:
        """Give the ways out for one try, which end with the lease."""
        ...

    def unfit(self) -> str:
        """Say why nothing should be done now that cannot be taken back; "" where all is well."""
        ...


class Alone:
    """A single process over one file: nobody else acts, and what it sees is what there is."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def under(self, lease: Lease) -> Ports:  # noqa: ARG002 - nobody else can take it
        """Give the ways out."""
        return self.ports

    def unfit(self) -> str:
        """Nothing keeps it from acting."""
        return ""
