/** `pnpm dev`: the embedded services, the API and every worker, until Ctrl-C. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { type DevRedis, type Inbox, readDevServicesEnv, startInbox, startRedis } from "@millrace/dev-services";
import { developmentApiKey, readApiPort } from "../apps/api/src/env.ts";
import { renderBanner } from "./dev-banner.ts";
import { checkEnvironment } from "./environment.ts";
import { runUntilSignal } from "./run-until-signal.ts";
import { supervise } from "./supervise.ts";
import { listWorkers, root } from "./workers.ts";

const readyWithinMs = 60_000;

await runUntilSignal(async (cleanUp) => {
  const devEnv = readDevServicesEnv();
  const redis = await startRedis({ redisUrl: devEnv.REDIS_URL, choice: devEnv.DEV_REDIS });
  cleanUp(redis.stop);
  const inbox = await startInbox({
    smtpPort: devEnv.DEV_INBOX_SMTP_PORT,
    httpPort: devEnv.DEV_INBOX_HTTP_PORT,
    fallBackToFreePort: true,
  });
  cleanUp(inbox.stop);

  const workers = listWorkers();
  const [apiPort, ...healthPorts] = await Promise.all([freePort(readApiPort()), ...workers.map(() => freePort(0))]);
  const env = environmentFor(redis, inbox, apiPort);
  await checkEnvironment({ ...process.env, ...env });
  cleanUp(publishEnvironment(resolve(root, devEnv.DEV_STATE_DIR), env));

  const apiUrl = `http://127.0.0.1:${apiPort}`;
  const supervisor = supervise([
    { name: "api", command: watch("src/main.ts"), cwd: join(root, "apps/api"), env },
    ...workers.map((domain, index) => ({
      name: domain,
      command: watch(`src/${domain}/worker.ts`),
      cwd: join(root, "apps/worker"),
      env: { ...env, WORKER_HEALTH_PORT: String(healthPorts[index]) },
    })),
  ]);
  cleanUp(supervisor.stop, supervisor.kill);

  const probes = [apiUrl, ...healthPorts.map((port) => `http://127.0.0.1:${port}`)];
  await Promise.all(probes.map((url) => untilReady(`${url}/readyz`)));
  process.stdout.write(renderBanner({ apiUrl, apiKey: env.API_KEYS.split(",")[0] ?? "", inbox, redis, workers }));
  const reason = await Promise.race([
    redis.exited,
    supervisor.firstExit.then(({ name, exitCode }) => `${name} ended with ${exitCode}`),
  ]);
  throw new Error(`${reason}. Everything stops.`);
});

function watch(file: string): string {
  return `node --conditions=source --watch --watch-preserve-output ${file}`;
}

/** What the processes are given; a variable that is set already stays as it is. */
function environmentFor(redis: DevRedis, inbox: Inbox, apiPort: number) {
  const { API_KEYS, LOG_FORMAT, SMTP_URL } = process.env;
  return {
    REDIS_URL: redis.url,
    SMTP_URL: SMTP_URL || inbox.smtpUrl,
    API_PORT: String(apiPort),
    API_KEYS: API_KEYS || developmentApiKey,
    LOG_FORMAT: LOG_FORMAT || "pretty",
  };
}

/** Leaves the environment where a worker that is started beside this one finds it, as `pnpm worker:email` does. */
function publishEnvironment(folder: string, env: Record<string, string>): () => Promise<void> {
  const file = join(folder, "dev.env");
  mkdirSync(folder, { recursive: true });
  const lines = [`# pid ${process.pid}`, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 });
  return async () => rmSync(file, { force: true });
}

/** `wanted` if it is free, else any port that is. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer();
  const { promise, resolve: found } = Promise.withResolvers<number | undefined>();
  server.once("error", () => found(undefined));
  server.listen(wanted, "127.0.0.1", () => {
    const address = server.address();
    server.close(() => found(typeof address === "object" && address ? address.port : undefined));
  });
  return (await promise) ?? freePort(0);
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
  throw new Error(`${url} was not ready after ${readyWithinMs / 1_000} s; its lines above say why`);
}
