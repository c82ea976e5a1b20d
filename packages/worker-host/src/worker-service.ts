import { settlesWithin } from "./settles-within.ts";

/** Something that a worker process holds open besides Redis, such as a database. */
export interface WorkerService {
  /** Awaited before the first job is taken, when Redis is there. One that rejects ends the process. Without it there is nothing to wait for. */
  start?(): Promise<unknown>;
  /** Resolves while the service can be used. One that rejects, or takes longer than 2 seconds, makes the process not ready. */
  check(): Promise<unknown>;
  /** Called once at the end, when the last job is over. */
  close(): Promise<void>;
}

const checkWithinMs = 2_000;

/** Each service by its name, and whether it can be used now. */
export async function checkServices(services: Record<string, WorkerService>): Promise<Record<string, boolean>> {
  const states = Object.entries(services).map(async ([name, service]) => {
    // In a promise of its own: a check that throws at once must not take the other answers with it.
    const answered = Promise.resolve().then(() => service.check());
    return [name, await settlesWithin(answered, checkWithinMs).catch(() => false)] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}
