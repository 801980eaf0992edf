"""All lines: those of the formats' description and further ones of other versions, forks, kernels and launchers."""

from tests.agents.logs.lines_of_collectives import COLLECTIVES
from tests.agents.logs.lines_of_machines import MACHINES
from tests.agents.logs.lines_of_trainers import TRAINERS
from tests.agents.logs.table import TABLE, Says

LINES: dict[str, tuple[str, Says]] = {**TABLE, **TRAINERS, **MACHINES, **COLLECTIVES}
