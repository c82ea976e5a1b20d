import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** The worker processes of a run. There is always one per place: who dies, or is deployed away, has a successor at once. */
export interface Fleet {
  /** SIGKILL, as the kernel does to who takes too much memory. */
  kill(place: number): void;
  /** SIGTERM, while the successor starts beside it. */
  deploy(place: number): void;
  /** Resolves when each place has a worker that takes jobs. */
  untilReady(): Promise<void>;
  /** Sends everybody SIGTERM and waits for their ends. */
  stop(): Promise<void>;
  killAll(): void;
  /** Rejects when a worker ends that nobody told to. */
  readonly crashed: Promise<never>;
  /** A sentence per worker that did not leave as it should. */
  readonly faults: readonly string[];
  readonly counts: { readonly kills: number; readonly deploys: number };
}

interface WorkerProcess {
  readonly child: ChildProcess;
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  isReady: boolean;
  toldTo?: "die" | "leave";
}

/** How long a worker lets its jobs run on when it is told to leave. Short enough that some are handed back. */
export const graceMs = 1_500;
// After the grace a worker may take five seconds to hand back, and as long again on a busy machine.
const leavesWithinMs = graceMs + 10_000;

export function startFleet(size: number, providerUrl: string, env: NodeJS.ProcessEnv): Fleet {
  const alive = new Set<WorkerProcess>();
  const faults: string[] = [];
  const counts = { kills: 0, deploys: 0 };
  const crash = Promise.withResolvers<never>();
  // Whoever waits hears of it; a run that has ended does not.
  crash.promise.catch(() => {});
  const places = Array.from({ length: size }, start);

  function start(): WorkerProcess {
    const child = fork(new URL("./worker-process.ts", import.meta.url), [providerUrl], {
      execArgv: ["--conditions=millrace-source"],
      env,
      // A group of its own: a terminal's Ctrl-C is not what ends it.
      detached: true,
    });
    const worker: WorkerProcess = {
      child,
      isReady: false,
      ready: once(child, "message").then(() => {
        worker.isReady = true;
      }),
      exited: once(child, "exit").then(([code, signal]) => onExit(worker, code, signal)),
    };
    alive.add(worker);
    return worker;
  }

  function onExit(worker: WorkerProcess, code: number | null, signal: NodeJS.Signals | null): void {
    alive.delete(worker);
    const end = signal ?? `code ${code}`;
    // One that was still starting has no ear for SIGTERM yet.
    const hasLeft = code === 0 || (signal === "SIGTERM" && !worker.isReady);
    if (worker.toldTo === undefined) {
      crash.reject(new Error(`A worker ended by itself, with ${end}. LOG_LEVEL=error shows why.`));
    } else if (worker.toldTo === "leave" && !hasLeft) {
      faults.push(`A worker that was told to leave ended with ${end}, expected code 0.`);
    }
    const place = places.indexOf(worker);
    if (worker.toldTo === "die" && place >= 0) places[place] = start();
  }

  async function leave(worker: WorkerProcess): Promise<void> {
    worker.toldTo ??= "leave";
    worker.child.kill("SIGTERM");
    const tooLate = setTimeout(() => {
      faults.push(`A worker that was told to leave was still there after ${leavesWithinMs} ms.`);
      worker.toldTo = "die";
      worker.child.kill("SIGKILL");
    }, leavesWithinMs);
    await worker.exited;
    clearTimeout(tooLate);
  }

  return {
    counts,
    faults,
    crashed: crash.promise,
    kill: (place) => {
      const worker = places[place];
      if (!worker) return;
      counts.kills += 1;
      worker.toldTo = "die";
      worker.child.kill("SIGKILL");
    },
    deploy: (place) => {
      const worker = places[place];
      if (!worker) return;
      counts.deploys += 1;
      places[place] = start();
      void leave(worker);
    },
    untilReady: async () => {
      await Promise.all(places.map((worker) => worker.ready));
    },
    stop: async () => {
      places.length = 0;
      await Promise.all([...alive].map(leave));
    },
    killAll: () => {
      places.length = 0;
      for (const worker of alive) {
        worker.toldTo = "die";
        worker.child.kill("SIGKILL");
      }
    },
  };
}
