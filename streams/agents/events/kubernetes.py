"""Events of a Kubernetes cluster: context for what happened to pods and nodes, never a proof, as they may be lost."""

import json
import re
import ssl
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode

from streams.agents.events.arrived import seconds
from streams.agents.finding import Finding, Happening

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
API = "https://kubernetes.default.svc"
_MOST = 500
_KILLED = re.compile(r"Kill(?:ed)? process (\d+) \(([^)]*)\)|victim process: (?P<name>[^,]*), pid: (?P<pid>\d+)")
_NO_STORAGE = re.compile(r"(?i)configmap|secret|kube-api-access|projected|not registered")
"""What a mount failed for that is no storage: objects of the cluster itself, which come a moment later."""
_GONE = 410
_WORDS = {
    "Evicted": "worker.evicted",
    "Preempted": "worker.evicted",
    "OOMKilling": "oom.kill",
    "SystemOOM": "oom.kill",
    "NodeNotReady": "node.missing",
    "NodeReady": "node.joined",
    "NodeNotSchedulable": "node.cordoned",
    "NodeSchedulable": "node.uncordoned",
    "Rebooted": "node.boot",
    "FailedMount": "storage.error",
    "FailedAttachVolume": "storage.error",
    "FailedScheduling": "scheduler.status",
    "BackOff": "scheduler.status",
    "Killing": "scheduler.status",
}
Json = Any  # what JSON holds


class KubernetesEvents:
    """Asks the API server for events since the look before; the first look is history.

    Args:
        api: address of the API server.
        account: folder with the account's token and the server's certificate.
        namespace: "" for all.
        timeout: seconds to wait for an answer.
    """

    def __init__(self, api: str = API, account: Path = ACCOUNT, namespace: str = "", timeout: float = 4.0) -> None:
        where = f"/namespaces/{namespace}" if namespace else ""
        self._url, self._account, self._timeout = f"{api}/api/v1{where}/events", account, timeout
        self._version = ""

    def __call__(self) -> Sequence[Finding]:
        """Ask once.

        Raises:
            OSError: the API server does not answer, or does not let us.
        """
        if not self._version:
            self._version = self._list()
            return []
        found: list[Finding] = []
        try:
            for happening in self._since():
                found.append(happening)  # noqa: PERF402 - what came before a fault is kept
        except HTTPError as fault:
            if fault.code == _GONE:
                self._version = ""  # too long ago for the server: begin anew
                return []
            raise OSError(f"events of Kubernetes: {fault.code} {fault.reason}") from None
        except URLError as fault:
            raise OSError(f"events of Kubernetes: {fault.reason}") from None
        except (HTTPException, TimeoutError) as fault:
            if not found:
                raise OSError(f"events of Kubernetes: {type(fault).__name__}") from None
        return found

    def _list(self) -> str:
        try:
            with self._ask({"limit": 1}) as answer:
                return str(json.load(answer)["metadata"]["resourceVersion"])
        except (HTTPError, URLError) as fault:
            raise OSError(f"events of Kubernetes: {fault.reason}") from None
        except (HTTPException, ValueError, KeyError, TypeError):
            raise OSError("events of Kubernetes: the answer is no list of events") from None

    def _since(self) -> Iterator[Happening]:
        """Watch for a moment; a bookmark or an event moves the version on."""
        query = {"watch": "1", "resourceVersion": self._version, "timeoutSeconds": 1, "allowWatchBookmarks": "true"}
        with self._ask(query) as answer:
            for _, line in zip(range(_MOST), answer, strict=False):
                try:
                    said = json.loads(line)
                    event = said.get("object") or {}
                    version = event.get("metadata", {}).get("resourceVersion")
                except (ValueError, AttributeError, RecursionError):
                    return  # half a line, or no event: it comes again, for the version stays
                if said.get("type") == "ERROR":
                    self._version = ""
                    return
                self._version = version or self._version
                if said.get("type") in ("ADDED", "MODIFIED") and (happening := happening_of(event)):
                    yield happening

    def _ask(self, query: dict[str, object]) -> Any:  # noqa: ANN401 - what urlopen gives
        headers = {"Accept": "application/json"}
        token = self._account / "token"
        if token.is_file():  # read anew each time: it is replaced while we run
            headers["Authorization"] = f"Bearer {token.read_text().strip()}"
        asked = urllib.request.Request(f"{self._url}?{urlencode(query)}", headers=headers)  # noqa: S310 - configured
        authority = self._account / "ca.crt"
        context = ssl.create_default_context(cafile=str(authority)) if authority.is_file() else None
        return urllib.request.urlopen(asked, timeout=self._timeout, context=context)  # noqa: S310 - configured


def happening_of(event: Json) -> Happening | None:
    """Read an event in either spelling; None where its reason says nothing of a training job's life.

    >>> happening_of({"reason": "Rebooted", "involvedObject": {"kind": "Node", "name": "n1"}, "message": "x"}).event
    'node.boot'
    """
    reason = str(event.get("reason", ""))
    word = _WORDS.get(reason)
    if word is None:
        return None
    about = event.get("regarding") or event.get("involvedObject") or {}
    note = str(event.get("note") or event.get("message") or "")
    if reason == "FailedMount" and _NO_STORAGE.search(note):
        return None
    node = about.get("name", "") if about.get("kind") == "Node" else _host(event)
    series = event.get("series") or {}
    times = (
        series.get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        event.get("firstTimestamp"),
    )
    data: dict[str, Json] = {"reason": reason, "object": f"{about.get('kind', '')}/{about.get('name', '')}"}
    if word == "scheduler.status":
        data["state"] = reason
    if word == "oom.kill" and (killed := _KILLED.search(note)):
        data |= {"pid": int(killed[1] or killed["pid"]), "process": killed[2] or killed["name"]}
    time = next((told for each in times if (told := seconds(each)) is not None), None)
    return Happening(event=word, subject=str(node), data=data, text=note[:2000], time=time)


def _host(event: Json) -> str:
    """Find the node whose kubelet speaks; the newer spelling has it beside the controller's name."""
    told = (event.get("source") or event.get("deprecatedSource") or {}).get("host", "")
    if not told and event.get("reportingController") == "kubelet":
        told = event.get("reportingInstance", "")
    return str(told)
