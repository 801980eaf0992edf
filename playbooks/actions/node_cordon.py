"""Keep new work off a node that an incident blames."""

from playbooks.actions.action import NoParams, Risk
from playbooks.actions.order import order, reason
from playbooks.ports import Ports
from playbooks.retry import Ending, Refused
from schemas.action import Request
from schemas.incident import Incident


class NodeCordon:
    """Cordon the target; running work stays. Only a person lifts it, with proof."""

    name = "node.cordon"
    params = NoParams
    reversible = True
    undo = ""
    risk: Risk = "node"
    after_the_end = False

    async def run(self, request: Request, params: NoParams, ports: Ports) -> Ending:  # noqa: ARG002
        """Order it, unless the present view of the incident no longer blames the node."""
        node = request.target.removeprefix("node:")
        incident = await ports.records.incident(request.incident)
        if incident is None or node not in blamed(incident):
            return Refused(f"the incident does not blame {node}")
        return await order(ports.scheduler.cordon(node, reason(request)))


def blamed(incident: Incident) -> set[str]:
    """Collect the nodes that an incident holds for culprits or suspects."""
    return {*incident.nodes, *(suspect.id for suspect in incident.suspects if suspect.kind == "node")}
