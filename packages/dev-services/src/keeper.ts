import { fork } from "node:child_process";
import { once } from "node:events";
import { StartError } from "@millrace/env";

/** What a keeper tells its parent. `pid` is the process that is the server; `reason` says why there is none, or none any more. */
export type KeeperAnswer = { kind: "started"; port: number; pid: number } | { kind: "ended"; reason: string };

/** What a parent tells its keeper: the order once, and `end` at any time. */
export type KeeperOrder<Order> = { kind: "start"; order: Order } | { kind: "end" };

export interface KeptServer {
  readonly port: number;
  /** The process that is the server; a test may kill or freeze it. */
  readonly pid: number;
  /** Resolves with the reason when the server is gone without having been stopped. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

export interface Keeper {
  /** What runs the server, as `redis-keeper.ts`. */
  readonly script: URL;
  /** For the sentences of errors, such as `Redis`. */
  readonly name: string;
  /** The server is the keeper itself and has nothing to put away, so that a kill is the quickest stop. */
  readonly isServer: boolean;
  /** Resolves when the server answers. */
  untilAnswers(port: number, withinMs: number): Promise<void>;
}

const startWithinMs = 30_000;

/**
 * Starts a server in a keeper process and waits until it answers. It ends with this process, however that ends.
 *
 * @throws StartError with the server's own reason when it does not come up
 */
export async function startKept<Order>(keeper: Keeper, order: Order): Promise<KeptServer> {
  const child = fork(keeper.script, {
    execArgv: ["--conditions=millrace-source"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    detached: true,
  });
  const started = Promise.withResolvers<{ port: number; pid: number }>();
  let reason: string | undefined;
  child.on("message", (answer: KeeperAnswer) => {
    if (answer.kind === "started") started.resolve(answer);
    else reason = answer.reason;
  });
  const gone = once(child, "exit").then(([code, signal]) => reason ?? `ended with ${signal ?? `code ${code}`}`);
  child.send({ kind: "start", order } satisfies KeeperOrder<Order>);

  let isStopped = false;
  const stop = async () => {
    isStopped = true;
    child.ref();
    // A frozen one would read no message.
    if (keeper.isServer) child.kill("SIGKILL");
    // It may be ending by itself at this moment: without a callback that would be an error nobody catches.
    else if (child.connected) child.send({ kind: "end" } satisfies KeeperOrder<Order>, () => {});
    await gone;
  };

  try {
    const failWhenGone = gone.then((why): never => {
      throw new StartError(`${keeper.name} did not start: ${why}.`);
    });
    const { port, pid } = await Promise.race([started.promise, failWhenGone, failAfter(keeper.name, startWithinMs)]);
    await keeper.untilAnswers(port, startWithinMs);
    const exited = Promise.withResolvers<string>();
    void gone.then((why) => {
      // A keeper that was killed could not take its server along.
      if (reason === undefined && pid !== child.pid) killQuietly(pid);
      if (!isStopped) exited.resolve(why);
    });
    // An idle server for development must not keep its parent alive; the channel's end is what ends it.
    child.unref();
    child.channel?.unref();
    return { port, pid, exited: exited.promise, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function failAfter(name: string, deadlineMs: number): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, deadlineMs).unref());
  throw new StartError(`${name} did not start: it was not ready within ${deadlineMs} ms.`);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already, which is what was wanted.
  }
}
