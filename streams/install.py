"""Put the line of an installation together from its settings: causes and playbooks, checked before a start."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import structs

from playbooks.actions.catalogue import ACTIONS, params_of
from playbooks.cause import Cause
from playbooks.load import CAUSES, LIBRARY, BadPlaybook, load_causes, load_playbooks
from playbooks.playbook import Playbook
from playbooks.priors import UnknownPrior, with_priors
from streams.line import Line
from streams.settings import BadSettings, Settings
from streams.topology import topology

OCCASION = "$occasion"


def build_line(settings: Settings, playbooks: tuple[Playbook, ...] | None = None) -> Line:
    """Make the line of an installation.

    Args:
        settings: of the installation.
        playbooks: instead of those that the settings name.

    Raises:
        BadPlaybook: a cause or a playbook cannot be used.
        BadSettings: a mode is set for a playbook, or a prior for a cause or layer, that is not there.
    """
    causes = installed_causes(settings)
    policies = playbooks if playbooks is not None else installed_playbooks(settings, causes)
    return Line(
        topology(
            causes,
            policies,
            lateness=settings.lateness,
            hold=settings.hold,
            alarms_per_job_week=settings.alarms_per_job_week,
        )
    )


def installed_causes(settings: Settings) -> tuple[Cause, ...]:
    """Read the catalogue, and set the priors of this installation."""
    try:
        return with_priors(load_causes(settings.causes or CAUSES), settings.priors)
    except UnknownPrior as fault:
        raise BadSettings(str(fault)) from None


def installed_playbooks(settings: Settings, causes: tuple[Cause, ...]) -> tuple[Playbook, ...]:
    """Read the playbooks, check the actions they name, and set the modes of this installation."""
    playbooks = checked_playbooks(settings.playbooks or LIBRARY, causes)
    names = {playbook.playbook for playbook in playbooks}
    for name in settings.modes:
        if name not in names:
            raise BadSettings(f"modes.{name}: there is no such playbook")
    return tuple(structs.replace(one, mode=settings.modes.get(one.playbook, one.mode)) for one in playbooks)


def checked_playbooks(folder: Path, causes: tuple[Cause, ...]) -> tuple[Playbook, ...]:
    """Read the playbooks of a folder, and check that every action exists and takes its parameters.

    Raises:
        BadPlaybook: names the file and the field.
    """
    playbooks = load_playbooks(folder, causes)
    for playbook in playbooks:
        for field, action in (("action", playbook.action), ("on_failure", playbook.on_failure)):
            if action and action not in ACTIONS:
                raise BadPlaybook(f"{playbook.playbook}.yaml: {field}: there is no action {action}")
        given = {name: "opened" if value == OCCASION else value for name, value in playbook.params.items()}
        _check_params(playbook, "params", playbook.action, given)
        if playbook.on_failure:
            _check_params(playbook, "on_failure", playbook.on_failure, {})
    return playbooks


def _check_params(playbook: Playbook, field: str, action: str, given: Mapping[str, object]) -> None:
    try:
        params_of(action, given)
    except msgspec.ValidationError as fault:
        raise BadPlaybook(f"{playbook.playbook}.yaml: {field}: {fault}") from None
