import { fork } from "node:child_process";
import { once } from "node:events";
import type { KeeperAnswer, KeeperOrder } from "./redis-keeper-protocol.ts";
import { pingRedis } from "./redis-ping.ts";

export interface RedisProcess {
  readonly port: number;
  /** The process that is the server; a test may kill or freeze it. */
  readonly pid: number;
  /** Resolves with the reason when the server is gone without having been stopped. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

const startWithinMs = 30_000;

/**
 * Starts a Redis in a keeper process and waits until it answers.
 *
 * @throws Error with the server's own reason when it does not come up
 */
export async function startRedisProcess(order: Exclude<KeeperOrder, { kind: "end" }>): Promise<RedisProcess> {
  const keeper = fork(new URL("./redis-keeper.ts", import.meta.url), {
    execArgv: ["--conditions=source"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    detached: true,
  });
  const started = Promise.withResolvers<{ port: number; pid: number }>();
  let reason: string | undefined;
  keeper.on("message", (answer: KeeperAnswer) => {
    if (answer.kind === "started") started.resolve(answer);
    else reason = answer.reason;
  });
  const gone = once(keeper, "exit").then(([code, signal]) => reason ?? `ended with ${signal ?? `code ${code}`}`);
  keeper.send(order);

  let isStopped = false;
  const stop = async () => {
    isStopped = true;
    keeper.ref();
    // The embedded server has nothing to put away, and a frozen one would read no message.
    if (order.kind === "embedded") keeper.kill("SIGKILL");
    // It may be ending by itself at this moment: without a callback that would be an error nobody catches.
    else if (keeper.connected) keeper.send({ kind: "end" } satisfies KeeperOrder, () => {});
    await gone;
  };

  try {
    const { port, pid } = await Promise.race([started.promise, failWhen(gone), failAfter(startWithinMs)]);
    await pingRedis(`redis://127.0.0.1:${port}`, startWithinMs);
    const exited = Promise.withResolvers<string>();
    void gone.then((why) => {
      // A keeper that was killed could not take its server along.
      if (reason === undefined && pid !== keeper.pid) killQuietly(pid);
      if (!isStopped) exited.resolve(why);
    });
    // An idle development Redis must not keep its parent alive; the channel's end is what ends it.
    keeper.unref();
    keeper.channel?.unref();
    return { port, pid, exited: exited.promise, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function failWhen(gone: Promise<string>): Promise<never> {
  throw new Error(`Redis did not start: ${await gone}.`);
}

async function failAfter(deadlineMs: number): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, deadlineMs).unref());
  throw new Error(`Redis did not start: it was not ready within ${deadlineMs} ms.`);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already, which is what was wanted.
  }
}
