"""THE list of formats: one line each; a line of a log goes to the first whose needle it has and who can read it."""

from collections.abc import Callable

from streams.agents.logs.adapters import Adapters
from streams.agents.logs.composer import Composer
from streams.agents.logs.deepspeed import DeepSpeed
from streams.agents.logs.errors import Errors
from streams.agents.logs.fairseq import Fairseq
from streams.agents.logs.file_systems import FileSystems
from streams.agents.logs.host_errors import HostErrors
from streams.agents.logs.hugging_face import HuggingFace
from streams.agents.logs.inspector import Inspector
from streams.agents.logs.kernel import Kernel
from streams.agents.logs.line import Format
from streams.agents.logs.llama_factory import LlamaFactory
from streams.agents.logs.megatron import Megatron
from streams.agents.logs.nanogpt import NanoGpt
from streams.agents.logs.nccl import Nccl
from streams.agents.logs.nemo import Nemo
from streams.agents.logs.olmo import Olmo
from streams.agents.logs.open_clip import OpenClip
from streams.agents.logs.out_of_memory import OutOfMemory
from streams.agents.logs.progress_bar import ProgressBar
from streams.agents.logs.torchrun import Torchrun
from streams.agents.logs.torchtitan import Torchtitan

FORMATS: tuple[Callable[[], Format], ...] = (
    Nemo,
    Megatron,
    DeepSpeed,
    Torchtitan,
    HuggingFace,
    LlamaFactory,
    ProgressBar,
    Olmo,
    NanoGpt,
    OpenClip,
    Composer,
    Fairseq,
    Kernel,
    Nccl,
    OutOfMemory,
    HostErrors,
    FileSystems,
    Adapters,
    Torchrun,
    Inspector,
    Errors,
)
