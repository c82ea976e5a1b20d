/** `pnpm dev`: the embedded services, the API and every worker, until Ctrl-C. */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type DemoModel,
  type DevPostgres,
  type DevRedis,
  freePort,
  type Inbox,
  readDevServicesEnv,
  startDemoModel,
  startInbox,
  startPostgres,
  startReceiver,
  startRedis,
} from "@millrace/dev-services";
import { StartError } from "@millrace/env";
import { developmentApiKey, readApiPort } from "../apps/api/src/env.ts";
import { renderBanner } from "./dev-banner.ts";
import { seedDevelopment } from "./dev-seed.ts";
import { seedFiles } from "./dev-seed-files.ts";
import { checkEnvironment } from "./environment.ts";
import { resolveFileStoreUrl } from "./file-store-url.ts";
import { publishEnv } from "./published-env.ts";
import { runUntilSignal } from "./run-until-signal.ts";
import { supervise } from "./supervise.ts";
import { watchedProgram } from "./watched-program.ts";
import { listWorkers, root } from "./workers.ts";

interface Services {
  readonly redis: Pick<DevRedis, "url">;
  readonly postgres: Pick<DevPostgres, "url">;
  readonly inbox: Pick<Inbox, "smtpUrl">;
  readonly model: Pick<DemoModel, "baseUrl" | "name">;
}

const readyWithinMs = 60_000;

await runUntilSignal(async (cleanUp) => {
  // Before anything is started, so that a wrong setting is said at once.
  await checkEnvironment(
    { ...process.env, ...environmentFor(standIns(), root) },
    { more: { dev: readDevServicesEnv } },
  );
  process.stdout.write("\nStarting the services, the API and every worker ...\n");
  const devEnv = readDevServicesEnv();
  const started = <Service extends { stop(): Promise<void> }>(service: Service) => {
    cleanUp(service.stop);
    return service;
  };
  const [redis, postgres] = await Promise.all([
    startRedis({ redisUrl: devEnv.REDIS_URL, choice: devEnv.DEV_REDIS }).then(started),
    startPostgres({ databaseUrl: devEnv.DATABASE_URL }).then(started),
  ]);
  const inbox = started(
    await startInbox({
      smtpPort: devEnv.DEV_INBOX_SMTP_PORT,
      httpPort: devEnv.DEV_INBOX_HTTP_PORT,
      fallBackToFreePort: true,
    }),
  );
  const receiver = started(await startReceiver({ port: devEnv.DEV_RECEIVER_HTTP_PORT, fallBackToFreePort: true }));
  const model = started(await startDemoModel({ port: devEnv.DEV_MODEL_HTTP_PORT, fallBackToFreePort: true }));

  const workers = listWorkers();
  const wantedPort = readApiPort();
  const [apiPort, ...healthPorts] = await Promise.all([freePort(wantedPort), ...workers.map(() => freePort())]);
  const stateDir = resolve(root, devEnv.DEV_STATE_DIR);
  const env = { ...environmentFor({ redis, postgres, inbox, model }, stateDir), API_PORT: String(apiPort) };
  const { publisher, withdraw } = publishEnv(stateDir, env);
  cleanUp(withdraw);

  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const supervisor = supervise([
    { ...watched("api"), env },
    ...workers.map((domain, index) => ({
      ...watched(domain),
      env: { ...env, WORKER_HEALTH_PORT: String(healthPorts[index]) },
    })),
  ]);
  cleanUp(supervisor.stop, supervisor.kill);

  const probes = [apiUrl, ...healthPorts.map((port) => `http://127.0.0.1:${port}`)];
  await Promise.all(probes.map((url) => untilReady(`${url}/readyz`)));
  // A database or a file store of somebody's own is theirs to fill.
  if (postgres.kind === "embedded") await seedDevelopment(postgres.url, receiver);
  if (!process.env.FILE_STORE_URL) await seedFiles(env.FILE_STORE_URL);
  const isPortTaken = apiPort !== wantedPort && wantedPort !== 0;
  process.stdout.write(
    renderBanner({
      apiUrl,
      ...(isPortTaken && { takenPort: wantedPort }),
      apiKey: env.API_KEYS.split(",")[0] ?? "",
      inbox,
      receiver,
      model: process.env.AI_BASE_URL ? undefined : model,
      redis,
      postgres,
      workers,
      ...(publisher !== process.pid && { firstDev: publisher }),
    }),
  );
  const reason = await Promise.race([
    redis.exited,
    postgres.exited,
    supervisor.firstExit.then(({ name, exitCode }) => `${name} ended with ${exitCode}`),
  ]);
  throw new StartError(`${reason}. Everything stops.`);
});

function watched(name: string) {
  const { cwd, args } = watchedProgram(name);
  return { name, cwd, command: `node ${args.join(" ")}` };
}

/** In place of the services that are yet to start. */
function standIns(): Services {
  const { DATABASE_URL, REDIS_URL } = process.env;
  return {
    redis: { url: REDIS_URL || "redis://127.0.0.1" },
    postgres: { url: DATABASE_URL || "postgres://127.0.0.1/postgres" },
    inbox: { smtpUrl: "smtp://127.0.0.1" },
    model: { baseUrl: "http://127.0.0.1/v1", name: "model" },
  };
}

/** What the processes are given beside their ports; a variable that is set already stays as it is. */
function environmentFor({ redis, postgres, inbox, model }: Services, stateDir: string) {
  const {
    AI_BASE_URL,
    AI_MODEL,
    AI_EMBEDDING_MODEL,
    API_KEYS,
    FILE_STORE_URL,
    LOG_FORMAT,
    SMTP_URL,
    WEBHOOK_ALLOW_PRIVATE,
  } = process.env;
  return {
    REDIS_URL: redis.url,
    DATABASE_URL: postgres.url,
    SMTP_URL: SMTP_URL || inbox.smtpUrl,
    ...(!AI_BASE_URL && {
      AI_BASE_URL: model.baseUrl,
      AI_MODEL: AI_MODEL || model.name,
      AI_EMBEDDING_MODEL: AI_EMBEDDING_MODEL || model.name,
    }),
    // Its receiver is on this machine.
    WEBHOOK_ALLOW_PRIVATE: WEBHOOK_ALLOW_PRIVATE || "true",
    FILE_STORE_URL: FILE_STORE_URL ? resolveFileStoreUrl(FILE_STORE_URL) : pathToFileURL(join(stateDir, "files")).href,
    API_KEYS: API_KEYS || developmentApiKey,
    LOG_FORMAT: LOG_FORMAT || "pretty",
  };
}

async function untilReady(url: string): Promise<void> {
  const deadline = Date.now() + readyWithinMs;
  while (Date.now() < deadline) {
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new StartError(`${url} was not ready after ${readyWithinMs / 1_000} s; its lines above say why`);
}
