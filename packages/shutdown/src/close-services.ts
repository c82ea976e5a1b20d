import type { Logger } from "@millrace/logger";
import { settlesWithin } from "./settles-within.ts";

/** Something that a process holds open. */
export interface Closable {
  close(): Promise<void>;
}

// Of what the platform gives a process beyond its own grace, ten seconds or more, there must be enough for all of them.
const closeWithinMs = 2_000;

/**
 * Closes one service after the other, in their order: a later one may be what an earlier one uses. One that rejects, or takes too long, is said
 * and keeps no other open.
 *
 * @param withinMs how long one may take. Defaults to 2 seconds
 * @throws Error at the end, which names those that were not closed
 */
export async function closeServices(
  services: Record<string, Closable>,
  log: Logger,
  withinMs: number = closeWithinMs,
): Promise<void> {
  const open: string[] = [];
  for (const [name, service] of Object.entries(services)) {
    const closed = Promise.resolve().then(() => service.close());
    const isClosed = await settlesWithin(closed, withinMs).catch((err: unknown) => {
      log.error({ code: "service_close_failed", service: name, err }, "a service could not be closed");
      return undefined;
    });
    if (isClosed === false)
      log.error({ code: "service_close_timeout", service: name, withinMs }, "a service took too long to close");
    if (isClosed !== true) open.push(name);
  }
  if (open.length > 0) throw new Error(`Not closed: ${open.join(", ")}. The log says why.`);
}
