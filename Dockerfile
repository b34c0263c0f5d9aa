# An image of `parley serve`, with its page: production dependencies and compiled code alone.
# How to run it: docs/operation/install.md.
ARG NODE=22

FROM node:${NODE}-slim AS build
WORKDIR /parley
COPY . .
RUN node scripts/setup.mjs && node scripts/image-files.mjs /image

FROM node:${NODE}-slim AS dependencies
WORKDIR /parley
COPY package.json package-lock.json .npmrc ./
COPY --from=build /image .
COPY examples/package.json examples/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund --workspace apps/cli

FROM node:${NODE}-slim
LABEL org.opencontainers.image.title="Parley" \
  org.opencontainers.image.description="A conversation runtime for LLM agents: one durable log per conversation" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production PARLEY_HOST=0.0.0.0 PARLEY_STORE=/data
WORKDIR /parley
# Some dependencies lie beside the package that needs them, so the whole folder is copied.
COPY --from=dependencies /parley .
RUN mkdir /data && chown node:node /data && ln -s /parley/apps/cli/dist/main.js /usr/local/bin/parley
USER node
VOLUME /data
EXPOSE 4141
# The process that gets the signal is the server itself. It lets running turns finish their step, up to 25 s: give it
# more than Docker's 10 s before it is killed (`--stop-timeout 30`, `stop_grace_period: 30s`).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4141/health').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/parley/apps/cli/dist/main.js"]
CMD ["serve"]
