# One image, the role is the command: `topics apply`, `worker`, `act`, `api`, `agent`, `run`.
FROM python:3.11-slim AS build
WORKDIR /build
COPY deploy/run.lock deploy/
RUN python -m venv /opt/trainmaster \
 && /opt/trainmaster/bin/pip install --no-cache-dir --require-hashes -r deploy/run.lock
COPY pyproject.toml README.md LICENSE ./
COPY schemas schemas
COPY detectors detectors
COPY playbooks playbooks
COPY streams streams
RUN /opt/trainmaster/bin/pip install --no-cache-dir "setuptools>=77,<90" \
 && /opt/trainmaster/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
 && /opt/trainmaster/bin/pip uninstall --yes setuptools

FROM python:3.11-slim
LABEL org.opencontainers.image.title="Trainmaster" \
      org.opencontainers.image.description="Streaming anomaly correlation for large training runs" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --create-home --home-dir /state trainmaster
COPY --from=build /opt/trainmaster /opt/trainmaster
ENV PATH=/opt/trainmaster/bin:$PATH PYTHONUNBUFFERED=1 TRAINMASTER_STATE=/state
USER trainmaster
WORKDIR /state
VOLUME /state
ENTRYPOINT ["trainmaster"]
CMD ["--help"]
