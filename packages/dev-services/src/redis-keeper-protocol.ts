/** What the parent tells the keeper. */
export type KeeperOrder =
  | { kind: "server"; command: string; dataDir: string; appendOnly: boolean; port?: number }
  | { kind: "embedded"; port?: number }
  | { kind: "end" };

/** What the keeper tells its parent. `pid` is the process that is the server. */
export type KeeperAnswer = { kind: "started"; port: number; pid: number } | { kind: "failed"; reason: string };
