"""All real ways out of one installation, wired together."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from playbooks.ports import Http, Ports
from playbooks.sinks.catalogue import BadSink, make_sink
from playbooks.sinks.notice import Locale
from playbooks.sinks.sink import Sink
from streams.ports.archive_ledger import ArchiveLedger
from streams.ports.archive_records import ArchiveRecords
from streams.ports.command_scheduler import Commands, CommandScheduler
from streams.ports.configured_sinks import ConfiguredSinks
from streams.ports.control_trainer import ControlTrainer
from streams.ports.file_documents import FileDocuments
from streams.ports.wall_clock import WallClock
from streams.stores.store import Archive

Table = Mapping[str, Any]  # Any: each sink declares its own fields, checked where it is made


class BadPorts(ValueError):
    """Settings that no port can be made of; the message names the field and holds no secret."""


def real_ports(
    archive: Archive,
    http: Http,
    *,
    documents: Path,
    sinks: Mapping[str, Table],
    scheduler: Table,
    page: str = "",
    locale: Locale = "en",
) -> Ports:
    """Wire the ports.

    Args:
        archive: for records, ledger and control documents.
        http: open for as long as the ports are used.
        documents: folder of post-mortems.
        sinks: settings of each sink by name, with its `kind`.
        scheduler: commands, see `Commands`.
        page: address of the operators' page, for links in messages.
        locale: language of messages.

    Raises:
        BadPorts: settings cannot be used.
    """
    clock = WallClock()
    return Ports(
        http=http,
        trainer=ControlTrainer(archive),
        scheduler=CommandScheduler(_commands(scheduler)),
        ledger=ArchiveLedger(archive),
        documents=FileDocuments(documents),
        records=ArchiveRecords(archive),
        sinks=ConfiguredSinks(http, clock, {name: _sink(name, sinks[name]) for name in sinks}, page, locale),
        clock=clock,
    )


def _commands(settings: Table) -> Commands:
    try:
        return msgspec.convert(dict(settings), Commands)
    except msgspec.ValidationError as fault:
        raise BadPorts(f"scheduler: {fault}") from None


def _sink(name: str, settings: Table) -> Sink:
    try:
        return make_sink(settings)
    except BadSink as fault:
        raise BadPorts(f"sinks.{name}: {fault}") from None
