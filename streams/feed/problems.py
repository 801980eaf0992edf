"""Errors as RFC 9457 problem documents that name the field at fault."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from streams.feed.reply import json_reply
from streams.stores.store import StoreAway

PROBLEM_JSON = "application/problem+json"


class FieldFault(Struct, frozen=True):
    """What is wrong with one field.

    Attributes:
        field: `body.by`, `query.limit`, `header.last-event-id`.
        detail: what was expected.
    """

    field: str
    detail: str


class Problem(Exception):
    """A call that cannot be answered as asked.

    Args:
        status: HTTP status.
        detail: one sentence for the caller.
        errors: the fields at fault.
        headers: further headers of the answer.
        more: further members of the document.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[FieldFault] = (),
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors
        self.headers = headers
        self.more = more or {}

    def response(self) -> Response:
        """Give the document."""
        document: dict[str, object] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }
        if self.errors:
            document["errors"] = list(self.errors)
        return json_reply(document, self.status, self.headers, media_type=PROBLEM_JSON)


def missing(kind: str, name: str) -> Problem:
    """There is no such thing."""
    return Problem(404, f"There is no {kind} {name!r}.")


def install(app: FastAPI) -> None:
    """Let every error of an app leave as a problem document."""
    app.add_exception_handler(Problem, _own)
    app.add_exception_handler(HTTPException, _of_framework)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(StoreAway, _away)
    app.add_exception_handler(Exception, _unexpected)


def _own(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, Problem)
    return fault.response()


def _of_framework(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    return Problem(fault.status_code, str(fault.detail), headers=fault.headers).response()


def _of_validation(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, RequestValidationError)
    errors = [FieldFault(_place(error), str(error["msg"])) for error in fault.errors()]
    detail = f"{errors[0].field}: {errors[0].detail}" if errors else "The call cannot be read."
    return Problem(422, detail, errors=errors).response()


def _away(_: Request, fault: Exception) -> Response:
    return Problem(503, f"{fault}; try again.", headers={"Retry-After": "2"}).response()


def _unexpected(_: Request, __: Exception) -> Response:
    """Say nothing of the inside; the server's log has the whole of it."""
    return Problem(500, "Something went wrong inside; the log of the server tells what.").response()


def _place(error: dict[str, Any]) -> str:  # Any: pydantic's own dict
    return ".".join(str(part) for part in error["loc"])
