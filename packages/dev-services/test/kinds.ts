import { spawnSync } from "node:child_process";

const hasServer = ["redis-server", "valkey-server"].some((name) => spawnSync(name, ["--version"]).status === 0);

/** The kinds of development Redis that this machine can start. */
export const kinds = hasServer ? (["embedded", "server"] as const) : (["embedded"] as const);
