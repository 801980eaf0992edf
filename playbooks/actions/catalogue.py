"""Every action by name. A new action is one file and one line here."""

from collections.abc import Mapping
from typing import Any

import msgspec

from playbooks.actions.action import AnyAction, Params
from playbooks.actions.checkpoint_defer import CheckpointDefer
from playbooks.actions.checkpoint_make_async import CheckpointMakeAsync
from playbooks.actions.checkpoint_now import CheckpointNow
from playbooks.actions.checkpoint_restore import CheckpointRestore
from playbooks.actions.job_restart import JobRestart
from playbooks.actions.job_stop import JobStop
from playbooks.actions.loader_restore import LoaderRestore
from playbooks.actions.loader_use_cache import LoaderUseCache
from playbooks.actions.node_cordon import NodeCordon
from playbooks.actions.notify import Notify
from playbooks.actions.postmortem_open import PostmortemOpen
from playbooks.actions.taint_mark import TaintMark
from playbooks.actions.webhook import Webhook

_ALL: tuple[AnyAction, ...] = (
    LoaderUseCache(),
    LoaderRestore(),
    CheckpointDefer(),
    CheckpointMakeAsync(),
    CheckpointNow(),
    CheckpointRestore(),
    TaintMark(),
    PostmortemOpen(),
    NodeCordon(),
    JobRestart(),
    JobStop(),
    Notify(),
    Webhook(),
)
ACTIONS: dict[str, AnyAction] = {action.name: action for action in _ALL}


def params_of(name: str, given: Mapping[str, Any]) -> Params:  # Any: each action declares its own parameters
    """Check the parameters of an action.

    Raises:
        KeyError: there is no action of that name.
        msgspec.ValidationError: a parameter is unknown, of the wrong type, or out of range; names it.

    >>> params_of("checkpoint.defer", {"steps": 500}).steps
    500
    >>> params_of("checkpoint.defer", {"steps": 5000000})
    Traceback (most recent call last):
    msgspec.ValidationError: Expected `int` <= 2000 - at `$.steps`
    """
    params: Params = msgspec.convert(dict(given), ACTIONS[name].params, strict=True)
    return params
