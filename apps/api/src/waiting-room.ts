import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "./access/caller.ts";
import { sendProblem } from "./problem.ts";
import { whenOver } from "./response-end.ts";

/** How many requests of this process may wait for jobs at once, or follow them. */
export interface WaitLimits {
  /** All together. Each costs memory, and a read of its job every five seconds. */
  readonly total: number;
  /** Of one key that is for no workspace. */
  readonly perKey: number;
  /** Of all keys of one workspace together, or one tenant would take the places of all. */
  readonly perWorkspace: number;
}

// An application with one key must be able to serve its users with it; a tenant is one of many.
const defaults: WaitLimits = { total: 1_000, perKey: 500, perWorkspace: 100 };

/** Holds how many requests of this process wait for jobs at once, and how many of those are of one caller. */
export interface WaitingRoom {
  /** Takes a place until the response is over. False: there is none to be had, and a problem was sent. */
  enter(request: FastifyRequest, reply: FastifyReply): boolean;
}

/** @param limits default to 1,000 in total, 500 per key, 100 per workspace */
export function createWaitingRoom(limits: Partial<WaitLimits> = {}): WaitingRoom {
  const { total, perKey, perWorkspace } = { ...defaults, ...limits };
  const takenBy = new Map<string, number>();
  let taken = 0;

  function shareOf({ keyId, workspaceId }: Caller) {
    return workspaceId === undefined
      ? { holder: `key ${keyId}`, limit: perKey, who: "this key" }
      : { holder: `workspace ${workspaceId}`, limit: perWorkspace, who: "this workspace's keys" };
  }

  function leave(holder: string): void {
    taken -= 1;
    const left = (takenBy.get(holder) ?? 0) - 1;
    if (left > 0) takenBy.set(holder, left);
    else takenBy.delete(holder);
  }

  return {
    enter: ({ access }, reply) => {
      const { holder, limit, who } = shareOf(access);
      const own = takenBy.get(holder) ?? 0;
      if (own >= limit) {
        const detail = `In this process ${own} requests of ${who} wait for jobs or follow them, as many as may. Nothing was done; end one of them, or ask without waiting.`;
        reply.header("retry-after", "5");
        sendProblem(reply, { status: 429, title: "Too many waits", code: "too_many_own_waits", detail });
        return false;
      }
      if (taken >= total) {
        const detail = `In this process ${taken} requests wait for jobs, as many as may. Nothing was done; ask again, or without waiting.`;
        reply.header("retry-after", "5");
        sendProblem(reply, { status: 503, title: "Too many waits", code: "too_many_waits", detail });
        return false;
      }
      taken += 1;
      takenBy.set(holder, own + 1);
      whenOver(reply, () => leave(holder));
      return true;
    },
  };
}
