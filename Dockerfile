# docker build -t berth .
# Builds the package, and installs that alone: the image has Node, the program and nothing to build with.
ARG NODE=node:22-bookworm-slim

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
# Settings, history and host keys. A new volume takes its owner from here.
RUN mkdir -m 700 /data /projects

FROM ${NODE}
COPY --from=program /opt/berth /opt/berth
COPY --from=program --chown=10001:10001 /data /data
COPY --from=program --chown=10001:10001 /projects /projects
ENV PATH=/opt/berth/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  HOME=/data \
  BERTH_CONFIG=/data/berth.yaml \
  BERTH_HOST=0.0.0.0 \
  BERTH_PORT=3100 \
  MALLOC_ARENA_MAX=1
USER 10001:10001
WORKDIR /projects
VOLUME /data
EXPOSE 3100
# Only liveness: an answer that asks for a token is one, too.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.BERTH_PORT}/api/health`).then(({ status }) => process.exit(status < 500 ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["berth", "serve"]
