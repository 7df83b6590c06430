# syntax=docker/dockerfile:1
# saywhy in a container: pure wheels on a slim base, no shell needed, uid 65532, a root file system that may be read-only.
# Build: docker build -t saywhy .      Run: docker run --rm -p 8080:8080 saywhy serve --upstream http://host:3000

ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /src
# The pinned wheels first: a layer that stays while only our own files change. Hashes are checked, and only wheels are
# taken, so that no build script of somebody else runs here. The lock holds the tools of the tests as well; they come no
# further than this folder.
COPY requirements.lock ./
RUN pip download --quiet --require-hashes --only-binary :all: --dest /wheels --requirement requirements.lock
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY proxy ./proxy
COPY rules ./rules
# Versions are pinned all the same: only the wheels of the lock are in reach.
# hadolint ignore=DL3013
RUN pip install --no-index --find-links /wheels hatchling \
 && pip wheel --no-deps --no-index --no-build-isolation --wheel-dir /wheels . \
 && python -m venv --without-pip /opt/saywhy \
 && pip --python /opt/saywhy/bin/python install --no-index --find-links /wheels saywhy \
 && /opt/saywhy/bin/python -I -m compileall -q /opt/saywhy/lib

FROM python:${PYTHON}-slim
LABEL org.opencontainers.image.title="saywhy" \
      org.opencontainers.image.description="A reverse proxy that turns a site's error pages into structured errors for AI agents." \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/saywhy /opt/saywhy
# Every address: inside a container loopback reaches nobody. 9180 (health, reload, metrics) is not published by default.
ENV SAYWHY__LISTEN=0.0.0.0:8080 SAYWHY__ADMIN=0.0.0.0:9180
# A number, not a name, so that Kubernetes' runAsNonRoot can tell without reading /etc/passwd.
USER 65532:65532
EXPOSE 8080 9180
# Ready, not merely running; five seconds of start-up are forgiven.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["/opt/saywhy/bin/python", "-IBu", "-m", "saywhy.cli", "healthcheck"]
# -I: nothing from the working directory, PYTHONPATH or a home directory is imported. -B: nothing is written (the root
# file system may be read-only; what is needed was compiled above). -u: log lines leave at once.
ENTRYPOINT ["/opt/saywhy/bin/python", "-IBu", "-m", "saywhy.cli"]
CMD ["serve"]
