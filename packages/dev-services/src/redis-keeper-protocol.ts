/** What the parent tells the keeper: one of the first two once, and `end` at any time. */
export type KeeperOrder =
  /** Without `dataDir` the data lies in a fresh folder that goes with the server; without `port` on any free one. */
  | { kind: "server"; command: string; appendOnly: boolean; dataDir?: string; port?: number }
  | { kind: "embedded"; port?: number }
  | { kind: "end" };

/** What the keeper tells its parent. `pid` is the process that is the server; `reason` says why there is none, or none any more. */
export type KeeperAnswer = { kind: "started"; port: number; pid: number } | { kind: "ended"; reason: string };
