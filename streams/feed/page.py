"""The operators' page: static files, nothing built, nothing from elsewhere."""

import os
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).parent / "static"


class Page(StaticFiles):
    """The files of the page; a browser asks each time whether they changed, so that an upgrade shows at once."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER, html=True)

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Give a file."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = "no-cache"
        return response
