import { setTimeout as wait } from "node:timers/promises";
import type { Json } from "@millrace/worker-config/contracts";
import type { JobContext } from "@millrace/worker-host";

/** Adds an event to the stream of a job, which its followers read as it grows. */
export type AppendEvent = (queue: string, jobId: string, event: { type: string; data: Json }) => Promise<void>;

/** What a run tells while it is at it. Nothing of it ever fails or delays the run. */
export interface RunEvents {
  tell(type: string, data: { readonly [key: string]: Json }): void;
  /** Collects the text of a step, and tells it a few times a second. */
  text(step: number, piece: string): void;
  /** Resolves when all of it is told, or cannot be; after a second in any case. */
  flush(): Promise<void>;
}

const flushEveryMs = 80;
/** Of one piece of text as JSON: an event takes 16,384 bytes with its other fields. */
const mostTextBytes = 16_000;
const longestFlushMs = 1_000;
/** How many are on their way before further ones are left out: the stream is away or slow. */
const mostUnderWay = 50;

/**
 * Tells the followers of a job what happens, in order. The first failure is logged, and the others are not.
 *
 * @param append undefined where nobody can follow
 */
export function createRunEvents(append: AppendEvent | undefined, { queue, jobId, log }: JobContext): RunEvents {
  let last = Promise.resolve();
  let underWay = 0;
  let hasFailed = false;
  let pending: { step: number; text: string } | undefined;
  let timer: NodeJS.Timeout | undefined;

  const send = (type: string, data: { readonly [key: string]: Json }) => {
    if (!append || underWay >= mostUnderWay) return;
    underWay += 1;
    last = last
      .then(() => append(queue, jobId, { type, data }))
      .catch((err: unknown) => {
        if (!hasFailed) log.warn({ code: "events_not_written", err }, "what a run does cannot be followed");
        hasFailed = true;
      })
      .finally(() => {
        underWay -= 1;
      });
  };
  const sendText = () => {
    clearTimeout(timer);
    timer = undefined;
    if (pending) {
      const { step } = pending;
      for (let rest = pending.text; rest !== ""; ) {
        const text = beginningOf(rest);
        send("token", { step, text });
        rest = rest.slice(text.length);
      }
    }
    pending = undefined;
  };
  return {
    tell: (type, data) => {
      sendText();
      send(type, data);
    },
    text: (step, piece) => {
      if (pending && pending.step !== step) sendText();
      pending = { step, text: (pending?.text ?? "") + piece };
      timer ??= setTimeout(sendText, flushEveryMs);
    },
    flush: async () => {
      sendText();
      const told = new AbortController();
      const tooLate = wait(longestFlushMs, undefined, { signal: told.signal }).catch(() => {});
      await Promise.race([last, tooLate]);
      told.abort();
    },
  };
}

/** As much of a text as one event takes, and no half of a sign. */
function beginningOf(text: string): string {
  for (let most = mostTextBytes; ; most = Math.floor(most / 2)) {
    const isHalved = /[\uD800-\uDBFF]/.test(text[most - 1] ?? "") && text.length > most;
    const piece = text.slice(0, isHalved ? most - 1 : most);
    if (Buffer.byteLength(JSON.stringify(piece)) <= mostTextBytes) return piece;
  }
}
