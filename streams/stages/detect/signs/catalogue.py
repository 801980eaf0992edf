"""Every sign. A sign is one file here, one field in `memory.py`, one row in `schemas/signs.py` and one line here."""

from streams.stages.detect.signs.climbing_loss import ClimbingLoss
from streams.stages.detect.signs.clock_skew import ClockSkew
from streams.stages.detect.signs.collective_timeout import CollectiveTimeout
from streams.stages.detect.signs.common_node import CommonNode
from streams.stages.detect.signs.crash import Crash
from streams.stages.detect.signs.diverged import Diverged
from streams.stages.detect.signs.epoch_length import EpochLength
from streams.stages.detect.signs.error_flood import ErrorFlood
from streams.stages.detect.signs.gauge_xid import GaugeXid
from streams.stages.detect.signs.incomplete_save import IncompleteSave
from streams.stages.detect.signs.late_steps import LateSteps
from streams.stages.detect.signs.level_restart import LevelRestart
from streams.stages.detect.signs.loss_vanished import LossVanished
from streams.stages.detect.signs.mass_eviction import MassEviction
from streams.stages.detect.signs.mass_missing import MassMissing
from streams.stages.detect.signs.missed_target import MissedTarget
from streams.stages.detect.signs.no_successor import NoSuccessor
from streams.stages.detect.signs.node_lost import NodeLost
from streams.stages.detect.signs.off_schedule import OffSchedule
from streams.stages.detect.signs.offending_node import OffendingNode
from streams.stages.detect.signs.old_save import OldSave
from streams.stages.detect.signs.order_repeated import OrderRepeated
from streams.stages.detect.signs.overdue_save import OverdueSave
from streams.stages.detect.signs.pace_restart import PaceRestart
from streams.stages.detect.signs.partial_gang import PartialGang
from streams.stages.detect.signs.position_restart import PositionRestart
from streams.stages.detect.signs.rank_error import RankError
from streams.stages.detect.signs.rate_gone import RateGone
from streams.stages.detect.signs.rate_jump import RateJump
from streams.stages.detect.signs.rate_restart import RateRestart
from streams.stages.detect.signs.recovery import Recovery
from streams.stages.detect.signs.recurring_stall import RecurringStall
from streams.stages.detect.signs.repeat_offender import RepeatOffender
from streams.stages.detect.signs.returned_gpu import ReturnedGpu
from streams.stages.detect.signs.same_samples import SameSamples
from streams.stages.detect.signs.save_drag import SaveDrag
from streams.stages.detect.signs.save_interval import SaveInterval
from streams.stages.detect.signs.shared_fault import SharedFault
from streams.stages.detect.signs.shared_position import SharedPosition
from streams.stages.detect.signs.sign import AnySign
from streams.stages.detect.signs.slowing_saves import SlowingSaves
from streams.stages.detect.signs.stacks import Stacks
from streams.stages.detect.signs.storage_failure import StorageFailure
from streams.stages.detect.signs.storage_silence import StorageSilence
from streams.stages.detect.signs.uneven_work import UnevenWork
from streams.stages.detect.signs.unfinished_save import UnfinishedSave
from streams.stages.detect.signs.zero_reading import ZeroReading

CATALOGUE: tuple[AnySign, ...] = (
    Crash(),
    StorageFailure(),
    StorageSilence(),
    RankError(),
    CollectiveTimeout(),
    UnfinishedSave(),
    IncompleteSave(),
    OverdueSave(),
    SlowingSaves(),
    SaveInterval(),
    SaveDrag(),
    Stacks(),
    LateSteps(),
    RecurringStall(),
    UnevenWork(),
    SharedPosition(),
    RateRestart(),
    RateGone(),
    RateJump(),
    OffSchedule(),
    LevelRestart(),
    OrderRepeated(),
    SameSamples(),
    PositionRestart(),
    EpochLength(),
    PaceRestart(),
    OldSave(),
    Recovery(),
    Diverged(),
    ClimbingLoss(),
    LossVanished(),
    ClockSkew(),
    ZeroReading(),
    GaugeXid(),
    ErrorFlood(),
    ReturnedGpu(),
    MassMissing(),
    MassEviction(),
    PartialGang(),
    NoSuccessor(),
    NodeLost(),
    MissedTarget(),
    RepeatOffender(),
    CommonNode(),
    SharedFault(),
    OffendingNode(),
)
