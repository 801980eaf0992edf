"""The control file: what a trainer shall do differently, fetched from the pipeline and laid beside its rank files."""

from pathlib import Path

import msgspec

from schemas.action import Control
from schemas.codec import encode
from streams.agents.link import Link
from streams.agents.rank_file import job_folder
from streams.agents.whole_file import write_whole

_decoder = msgspec.json.Decoder(Control)


def control_path(directory: Path, job: str) -> Path:
    """Say where the hook of a job looks."""
    return job_folder(directory, job) / "control.json"


def write_control(directory: Path, control: Control) -> bool:
    """Write the control file; False where it says the same already, so that the hook has nothing to read."""
    path, body = control_path(directory, control.job), encode(control)
    try:
        if path.read_bytes() == body:
            return False
    except FileNotFoundError:
        pass
    write_whole(path, body)
    return True


class ControlMail:
    """Fetches control documents and lays them where the hooks look.

    Args:
        link: the way to the pipeline.
        directory: where the rank files are.
    """

    def __init__(self, link: Link, directory: Path) -> None:
        self._link, self._directory = link, directory

    async def fetch(self, job: str) -> bool:
        """Ask for the document of a job; True where a new one was written.

        Raises:
            OSError: nobody answered, or the file could not be written.
            ValueError: the answer is no control document of that job.
        """
        body = await self._link.control(job)
        if body is None:
            return False
        control = _decoder.decode(body)
        if control.job != job:
            raise ValueError("the control document is another job's")
        return write_control(self._directory, control)
