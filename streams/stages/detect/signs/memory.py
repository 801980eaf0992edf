"""What all signs together remember of one job."""

from msgspec import Struct, field

from schemas.detection import Detection
from streams.stages.detect.signs.climbing_loss import ClimbingLossMemory
from streams.stages.detect.signs.clock_skew import ClockSkewMemory
from streams.stages.detect.signs.collective_timeout import CollectiveTimeoutMemory
from streams.stages.detect.signs.common_node import CommonNodeMemory
from streams.stages.detect.signs.crash import CrashMemory
from streams.stages.detect.signs.diverged import DivergedMemory
from streams.stages.detect.signs.epoch_length import EpochLengthMemory
from streams.stages.detect.signs.error_flood import ErrorFloodMemory
from streams.stages.detect.signs.gauge_xid import GaugeXidMemory
from streams.stages.detect.signs.incomplete_save import IncompleteSaveMemory
from streams.stages.detect.signs.late_steps import LateStepsMemory
from streams.stages.detect.signs.level_restart import LevelRestartMemory
from streams.stages.detect.signs.loss_vanished import LossVanishedMemory
from streams.stages.detect.signs.mass_eviction import MassEvictionMemory
from streams.stages.detect.signs.mass_missing import MassMissingMemory
from streams.stages.detect.signs.missed_target import MissedTargetMemory
from streams.stages.detect.signs.no_successor import NoSuccessorMemory
from streams.stages.detect.signs.node_lost import NodeLostMemory
from streams.stages.detect.signs.off_schedule import OffScheduleMemory
from streams.stages.detect.signs.offending_node import OffendingNodeMemory
from streams.stages.detect.signs.old_save import OldSaveMemory
from streams.stages.detect.signs.order_repeated import OrderRepeatedMemory
from streams.stages.detect.signs.overdue_save import OverdueSaveMemory
from streams.stages.detect.signs.pace_restart import PaceRestartMemory
from streams.stages.detect.signs.partial_gang import PartialGangMemory
from streams.stages.detect.signs.position_restart import PositionRestartMemory
from streams.stages.detect.signs.rank_error import RankErrorMemory
from streams.stages.detect.signs.rate_gone import RateGoneMemory
from streams.stages.detect.signs.rate_jump import RateJumpMemory
from streams.stages.detect.signs.rate_restart import RateRestartMemory
from streams.stages.detect.signs.recovery import RecoveryMemory
from streams.stages.detect.signs.recurring_stall import RecurringStallMemory
from streams.stages.detect.signs.repeat_offender import RepeatOffenderMemory
from streams.stages.detect.signs.returned_gpu import ReturnedGpuMemory
from streams.stages.detect.signs.same_samples import SameSamplesMemory
from streams.stages.detect.signs.save_drag import SaveDragMemory
from streams.stages.detect.signs.save_interval import SaveIntervalMemory
from streams.stages.detect.signs.shared_fault import SharedFaultMemory
from streams.stages.detect.signs.shared_position import SharedPositionMemory
from streams.stages.detect.signs.slowing_saves import SlowingSavesMemory
from streams.stages.detect.signs.stacks import StacksMemory
from streams.stages.detect.signs.storage_failure import StorageFailureMemory
from streams.stages.detect.signs.storage_silence import StorageSilenceMemory
from streams.stages.detect.signs.uneven_work import UnevenWorkMemory
from streams.stages.detect.signs.unfinished_save import UnfinishedSaveMemory
from streams.stages.detect.signs.zero_reading import ZeroReadingMemory


class Told(Struct):
    """A sign's finding that is still active; `passes` and `trained` count the steps after which it is over."""

    detection: Detection
    passes: int = 0
    trained: int = 0


class Signs(Struct):
    """The memory of each sign under its name, what is active, and how often each finding was raised."""

    climbing_loss: ClimbingLossMemory = field(default_factory=ClimbingLossMemory)
    clock_skew: ClockSkewMemory = field(default_factory=ClockSkewMemory)
    collective_timeout: CollectiveTimeoutMemory = field(default_factory=CollectiveTimeoutMemory)
    common_node: CommonNodeMemory = field(default_factory=CommonNodeMemory)
    crash: CrashMemory = field(default_factory=CrashMemory)
    diverged: DivergedMemory = field(default_factory=DivergedMemory)
    epoch_length: EpochLengthMemory = field(default_factory=EpochLengthMemory)
    gauge_xid: GaugeXidMemory = field(default_factory=GaugeXidMemory)
    error_flood: ErrorFloodMemory = field(default_factory=ErrorFloodMemory)
    incomplete_save: IncompleteSaveMemory = field(default_factory=IncompleteSaveMemory)
    late_steps: LateStepsMemory = field(default_factory=LateStepsMemory)
    level_restart: LevelRestartMemory = field(default_factory=LevelRestartMemory)
    loss_vanished: LossVanishedMemory = field(default_factory=LossVanishedMemory)
    mass_missing: MassMissingMemory = field(default_factory=MassMissingMemory)
    mass_eviction: MassEvictionMemory = field(default_factory=MassEvictionMemory)
    missed_target: MissedTargetMemory = field(default_factory=MissedTargetMemory)
    partial_gang: PartialGangMemory = field(default_factory=PartialGangMemory)
    no_successor: NoSuccessorMemory = field(default_factory=NoSuccessorMemory)
    node_lost: NodeLostMemory = field(default_factory=NodeLostMemory)
    off_schedule: OffScheduleMemory = field(default_factory=OffScheduleMemory)
    offending_node: OffendingNodeMemory = field(default_factory=OffendingNodeMemory)
    old_save: OldSaveMemory = field(default_factory=OldSaveMemory)
    order_repeated: OrderRepeatedMemory = field(default_factory=OrderRepeatedMemory)
    overdue_save: OverdueSaveMemory = field(default_factory=OverdueSaveMemory)
    pace_restart: PaceRestartMemory = field(default_factory=PaceRestartMemory)
    position_restart: PositionRestartMemory = field(default_factory=PositionRestartMemory)
    rank_error: RankErrorMemory = field(default_factory=RankErrorMemory)
    rate_gone: RateGoneMemory = field(default_factory=RateGoneMemory)
    rate_jump: RateJumpMemory = field(default_factory=RateJumpMemory)
    rate_restart: RateRestartMemory = field(default_factory=RateRestartMemory)
    recovery: RecoveryMemory = field(default_factory=RecoveryMemory)
    recurring_stall: RecurringStallMemory = field(default_factory=RecurringStallMemory)
    repeat_offender: RepeatOffenderMemory = field(default_factory=RepeatOffenderMemory)
    returned_gpu: ReturnedGpuMemory = field(default_factory=ReturnedGpuMemory)
    same_samples: SameSamplesMemory = field(default_factory=SameSamplesMemory)
    save_drag: SaveDragMemory = field(default_factory=SaveDragMemory)
    save_interval: SaveIntervalMemory = field(default_factory=SaveIntervalMemory)
    shared_fault: SharedFaultMemory = field(default_factory=SharedFaultMemory)
    shared_position: SharedPositionMemory = field(default_factory=SharedPositionMemory)
    slowing_saves: SlowingSavesMemory = field(default_factory=SlowingSavesMemory)
    stacks: StacksMemory = field(default_factory=StacksMemory)
    storage_failure: StorageFailureMemory = field(default_factory=StorageFailureMemory)
    storage_silence: StorageSilenceMemory = field(default_factory=StorageSilenceMemory)
    uneven_work: UnevenWorkMemory = field(default_factory=UnevenWorkMemory)
    unfinished_save: UnfinishedSaveMemory = field(default_factory=UnfinishedSaveMemory)
    zero_reading: ZeroReadingMemory = field(default_factory=ZeroReadingMemory)
    told: dict[str, Told] = field(default_factory=dict)
    times: dict[str, int] = field(default_factory=dict)
    looked: int = -1
