# The command line for jobs: docs/ci.md. In a clone of the repository:
#   docker build -f packaging/cli.Dockerfile --target cli -t berth:2 .
#   docker build -f packaging/cli.Dockerfile --target build -t berth:2-build .
ARG NODE=node:22-bookworm-slim
ARG DOCKER=docker:28-cli

FROM ${NODE} AS package
ARG npm_config_registry
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run --silent build && npm pack --ignore-scripts --silent

FROM ${NODE} AS program
ARG npm_config_registry
COPY --from=package /build/berth-*.tgz /tmp/berth.tgz
RUN npm install --global --prefix /opt/berth --ignore-scripts --no-audit --no-fund /tmp/berth.tgz

# Runs as root: runners mount checkouts and files for outputs that belong to it.
FROM ${NODE} AS cli
COPY --from=program /opt/berth /opt/berth
ENV PATH=/opt/berth/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /work
CMD ["berth", "--help"]

FROM ${DOCKER} AS docker

# With what builds need: Docker's client, buildx and git.
FROM cli AS build
# Checkouts may belong to another user than the one of the container.
RUN apt-get update -q && \
  apt-get install -q -y --no-install-recommends ca-certificates git && \
  rm -rf /var/lib/apt/lists/* && \
  git config --system --add safe.directory '*'
COPY --from=docker /usr/local/bin/docker /usr/local/bin/docker
COPY --from=docker /usr/local/libexec/docker/cli-plugins/docker-buildx /usr/local/libexec/docker/cli-plugins/docker-buildx
