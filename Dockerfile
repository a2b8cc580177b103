# syntax=docker/dockerfile:1
# One image for every command of Tidings: `docker run IMAGE serve`, `api`, `engine`, `migrate`, `partner create` and the others.
# docs/deploying.md shows how it is used, and says which lines were tried.

# For builds that can be repeated to the byte, give both with their digests: --build-arg BUILD_IMAGE=node:24-bookworm-slim@sha256:...
ARG BUILD_IMAGE=node:24-bookworm-slim
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
RUN npm ci && scripts/package.sh /opt/tidings

# The package brings the Node.js that the project pins, so the image of the service needs none of its own.
FROM ${RUN_IMAGE}
# tini passes signals on from the first moment, and reaps processes of the embedded PostgreSQL whose parent has ended.
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* \
  && groupadd --gid 10001 tidings \
  && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/tidings --shell /usr/sbin/nologin tidings \
  && install --directory --owner tidings --group tidings --mode 0700 /var/lib/tidings \
  && ln -s /opt/tidings/bin/tidings /usr/local/bin/tidings
COPY --from=build /opt/tidings /opt/tidings

ENV HOST=0.0.0.0 \
  PORT=8080 \
  TIDINGS_DATA=/var/lib/tidings \
  NODE_COMPILE_CACHE=/tmp/tidings-compiled
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
WORKDIR /var/lib/tidings
# For the embedded PostgreSQL and its secret. Unused with DATABASE_URL.
VOLUME /var/lib/tidings
EXPOSE 8080
# Of an engine: --health-cmd 'tidings health --engine'.
HEALTHCHECK --interval=30s --timeout=10s --start-period=90s --start-interval=2s CMD ["tidings", "health"]
ENTRYPOINT ["/usr/bin/tini", "--", "tidings"]
CMD ["serve"]
