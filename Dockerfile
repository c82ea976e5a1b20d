# One image for the API, every worker and the command line: the command says which program runs.
#   docker build -t millrace .
#   docker run millrace apps/worker/dist/email/worker.mjs
#   docker run millrace apps/cli/dist/main.mjs stats

FROM node:24-bookworm-slim AS build
WORKDIR /app
ENV CI=true TURBO_TELEMETRY_DISABLED=1
COPY . .
# Optional dependencies stay, sharp's binaries are such; the Node that is one for development goes.
RUN npx --yes "$(node -p "require('./package.json').packageManager")" install --frozen-lockfile \
 && npx --yes "$(node -p "require('./package.json').packageManager")" build \
 && find . -name node_modules -prune -exec rm -rf {} + \
 && npx --yes "$(node -p "require('./package.json').packageManager")" --filter @millrace/api --filter @millrace/cli --filter @millrace/worker install --frozen-lockfile --prod \
 && rm -rf node_modules/.pnpm/node-linux-*

FROM node:24-bookworm-slim
# What transcodeAudio and synthesizeSpeech of the heavy worker call: `--build-arg PROGRAMS=` leaves it out where nobody sends such jobs.
ARG PROGRAMS="ffmpeg espeak-ng"
RUN if [ -n "$PROGRAMS" ]; then \
      apt-get update -qq && apt-get install -y -qq --no-install-recommends $PROGRAMS && rm -rf /var/lib/apt/lists/*; \
    fi
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build --chown=node:node /app /app
# A volume takes over the owner of the folder that it is mounted on.
RUN install -d -o node -g node /var/lib/millrace/files
USER node
# node itself, not npm, pnpm or a shell: those do not pass SIGTERM on, and running jobs would be cut.
ENTRYPOINT ["node", "--enable-source-maps", "--import", "/app/tools/end-on-signal.mjs"]
CMD ["apps/api/dist/main.mjs"]
