"""Let the loader read from another path, the node's local cache."""

from typing import Annotated

from msgspec import Meta

from playbooks.actions.action import Params, Risk
from playbooks.actions.setting import wish
from playbooks.ports import Ports
from playbooks.retry import Ending
from schemas.action import Request

SETTING = "loader.path"


class LoaderUseCacheParams(Params, frozen=True, kw_only=True):
    """Where to read.

    Attributes:
        path: the word by which the trainer knows the path.
    """

    path: Annotated[str, Meta(min_length=1, max_length=256)] = "cache"


class LoaderUseCache:
    """Wish `loader.path`; the loader switches at its next shard."""

    name = "loader.use_cache"
    params = LoaderUseCacheParams
    reversible = True
    undo = "loader.restore"
    risk: Risk = "job"
    after_the_end = False

    async def run(self, request: Request, params: LoaderUseCacheParams, ports: Ports) -> Ending:
        """Write the wish."""
        return await wish(request, ports, {SETTING: params.path})
