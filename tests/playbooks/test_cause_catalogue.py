"""The causes and playbooks that ship speak of things that exist."""

import re

import pytest

from detectors.catalogue import DETECTORS
from detectors.silence import KINDS
from playbooks import load
from playbooks.actions.catalogue import ACTIONS
from playbooks.cause import UNKNOWN, Cause, Clue
from playbooks.load import load_causes, load_playbooks
from playbooks.playbook import Playbook
from schemas.events import BY_NAME
from schemas.signals import SIGNALS, signal_named
from schemas.signs import BY_NAME as SIGNS
from streams.install import OCCASION, checked_playbooks
from streams.stages.detect.progress import SPINNING, UNCLEAR, UNHEARD
from streams.stages.detect.silence import GONE, HELD, HELD_ALL
from streams.stages.detect.silence import SIGNAL as SILENCE
from streams.stages.detect.watched import FINITE, LIMITS, SPIKY, has_level

PARTS = {name: {*sign.parts} for name, sign in SIGNS.items()}
PARTS |= {"silence": {*KINDS, GONE, HELD, HELD_ALL}, "stalled": {SPINNING, UNCLEAR, UNHEARD}}
"""What a clue may ask a finding to be, by what found it."""

CAUSES = load_causes()
LIBRARY = load_playbooks(causes=CAUSES)
CLUES = [(cause, number, clue) for cause in CAUSES for number, clue in enumerate(cause.clues)]
FAMILIES = {signal.name for signal in SIGNALS if "*" in signal.name}


def is_known(pattern: str) -> bool:
    """Tell whether a name, or a family of names, stands in the table of signals."""
    if pattern.endswith("*"):
        return pattern in FAMILIES or any(signal.name.startswith(pattern[:-1]) for signal in SIGNALS)
    return signal_named(pattern).part != "unknown"


@pytest.fixture(params=CAUSES, ids=lambda cause: cause.cause)
def cause(request: pytest.FixtureRequest) -> Cause:
    """Each cause of the catalogue."""
    row: Cause = request.param
    return row


@pytest.fixture(params=CLUES, ids=lambda row: f"{row[0].cause}[{row[1]}]")
def clue(request: pytest.FixtureRequest) -> Clue:
    """Each clue of each cause."""
    return request.param[2]  # type: ignore[no-any-return]  # pytest does not know what it hands on


@pytest.fixture(params=LIBRARY, ids=lambda playbook: playbook.playbook)
def playbook(request: pytest.FixtureRequest) -> Playbook:
    """Each playbook of the library."""
    row: Playbook = request.param
    return row


def test_a_clue_names_what_exists(clue: Clue) -> None:
    """Signals, events and detectors of a clue stand in their tables, so that no clue is dead by a slip of the pen."""
    for name in (clue.moved, clue.value, clue.signal):
        assert not name or name == SILENCE or is_known(name)
    assert not clue.event or clue.event in BY_NAME
    assert not clue.detector or clue.detector in DETECTORS or clue.detector in SIGNS
    assert not clue.codes or clue.event in ("xid", "job.fault", "rank.exit")


def test_a_clue_can_come_true(clue: Clue) -> None:
    """What a clue asks of a detector is something that this detector is set to watch."""
    if clue.detector == "sustained":
        assert clue.signal in LIMITS or signal_named(clue.signal).kind == "flag"
    if clue.detector == "spike":
        assert clue.signal in SPIKY
    if clue.detector == "nonfinite":
        assert clue.signal in ("", *FINITE)
    if clue.alone or clue.whole_node:
        assert clue.detector == "slow_rank"
    if clue.parts:
        assert clue.detector == "slow_rank" or {*clue.parts} <= PARTS[clue.detector]


def test_what_opens_can_be_found(clue: Clue) -> None:
    """A finding that opens an incident is one that the detect stage may raise."""
    if clue.opens and clue.moved:
        signal = signal_named(clue.moved.replace("*", "x"))
        assert signal.kind in ("counter", "flag") or has_level(signal.name) or "*" in signal.name


def test_a_clue_weighs_something_reasonable(clue: Clue) -> None:
    """No clue weighs more than five nats: it would be the verdict and not a clue."""
    assert abs(clue.weight) <= 5
    assert abs(clue.otherwise) <= 5
    assert clue.weight * clue.otherwise <= 0


def test_what_a_cause_moves_along_exists(cause: Cause) -> None:
    """The signals of a cascade and the events of a teardown stand in their tables, each once."""
    assert [name for name in cause.cascade if name != SILENCE and not is_known(name)] == []
    assert [name for name in cause.teardown if name not in BY_NAME] == []
    assert len({*cause.cascade}) == len(cause.cascade)
    assert len({*cause.teardown}) == len(cause.teardown)


def test_a_cause_is_written_for_people(cause: Cause) -> None:
    """It has a title without a full stop, and says where to look next."""
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", cause.cause)
    assert cause.title
    assert not cause.title.endswith(".")
    assert cause.look_at


def test_a_cause_can_lead(cause: Cause) -> None:
    """Its clues for it are heavy enough to name it, and if it blames somebody a clue says whom."""
    if cause.cause == UNKNOWN:
        return
    assert cause.prior + sum(clue.weight for clue in cause.clues if clue.weight > 0) >= 1.0
    assert (cause.blames == "nobody") == (not any(clue.blames for clue in cause.clues))


def test_something_opens_an_incident_for_it(cause: Cause) -> None:
    """Some finding that the cause explains is reason enough for an incident, its own or that of another cause."""
    openers = [clue for other in CAUSES for clue in other.clues if clue.opens]
    own = [clue for clue in cause.clues if clue.weight > 0 or clue.opens]
    places = {(clue.moved, clue.event, clue.detector) for clue in openers}
    moved = {clue.moved for clue in openers}
    assert any((clue.moved, clue.event, clue.detector) in places for clue in own) or moved & {*cause.cascade}


def test_playbooks_that_causes_name_exist(cause: Cause) -> None:
    """A cause names only playbooks that ship, and each of them applies to it."""
    by_name = {playbook.playbook: playbook for playbook in LIBRARY}
    assert [name for name in cause.playbooks if name not in by_name] == []
    for name in cause.playbooks:
        when = by_name[name].when
        assert not when.causes or cause.cause in when.causes
        assert not when.layers or cause.layer in when.layers


def test_signals_that_playbooks_name_exist(playbook: Playbook) -> None:
    """Limits and verification are taken on signals of the table."""
    signals = [limit.signal for limit in playbook.when.all if limit.signal]
    if playbook.verify is not None:
        signals.append(playbook.verify.signal)
    assert [name for name in signals if not is_known(name)] == []


def test_what_playbooks_do_exists(playbook: Playbook) -> None:
    """Actions exist and take their parameters, also the one on failure."""
    assert playbook in checked_playbooks(load.LIBRARY, CAUSES)
    assert playbook.action in ACTIONS
    assert playbook.on_failure in ("", *ACTIONS)


def test_what_ships_asks_nobody_and_changes_nothing(playbook: Playbook) -> None:
    """Every playbook starts as observe; telling people is the one thing that is done unasked."""
    assert playbook.mode == "observe" or playbook.action == "notify"


def test_what_cannot_be_undone_has_a_budget(playbook: Playbook) -> None:
    """Restarting, stopping and cordoning happens at most twice a day before a person has to look."""
    if playbook.action in ("job.restart", "job.stop", "node.cordon"):
        assert playbook.budget.actions <= 2
        assert playbook.budget.seconds >= 86_400
        assert playbook.most_targets == 1


def test_what_is_told_again_says_why(playbook: Playbook) -> None:
    """A message that may go out several times carries its occasion."""
    if playbook.action == "notify" and playbook.again:
        assert OCCASION in playbook.params.values()


def test_the_briefs_table_of_actions_is_there() -> None:
    """Cache, deferred save, tainted range and post-mortem have the triggers that the brief gives."""
    by_action = {one.action: one for one in LIBRARY}
    cache = by_action["loader.use_cache"]
    assert [(one.signal, one.above, one.steps) for one in cache.when.all] == [("loader_share", 0.15, 50)]
    assert cache.verify is not None
    assert (cache.verify.signal, cache.verify.at_least) == ("tokens_per_second", 0.9)
    save = by_action["checkpoint.defer"]
    assert [(one.signal, one.above) for one in save.when.all] == [("checkpoint_seconds", 30)]
    taint = next(one for one in LIBRARY if one.playbook == "mark-contaminated-steps")
    assert [(one.incident, one.above) for one in taint.when.all] == [("steps", 500)]
    assert [(one.incident, one.above) for one in by_action["postmortem.open"].when.all] == [("gpu_hours_lost", 100)]
