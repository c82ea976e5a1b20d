/** Something that a worker process holds open besides Redis, such as a database. */
export interface WorkerService {
  /** Awaited before the first job is taken, when Redis is there. One that rejects ends the process. Without it there is nothing to wait for. */
  start?(): Promise<unknown>;
  /** Resolves while the service can be used. One that rejects, or takes longer than 2 seconds, makes the process not ready. */
  check(): Promise<unknown>;
  /** Called once at the end, when the last job is over. The process does not wait for it for more than 2 seconds. */
  close(): Promise<void>;
}
