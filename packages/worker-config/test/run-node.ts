import { execFile } from "node:child_process";

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs node in a process of its own, without any setting of this one but where compiled sources are, and fails it after 100 seconds: a build takes ten, and several times that on a busy machine. */
export function runNode(args: readonly string[], cwd: string): Promise<Run> {
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd, env: { PATH, NODE_COMPILE_CACHE }, timeout: 100_000 },
      (error, stdout, stderr) => {
        // Killed at the timeout there is a signal and no code.
        const code = error ? (typeof error.code === "number" ? error.code : null) : 0;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

/** Goes before a program that must open nothing: whatever connects is an error that ends it. */
export const noConnections = `
  const net = process.getBuiltinModule("node:net");
  const refuse = () => { console.error("a connection was opened"); process.exit(3); };
  net.connect = net.createConnection = net.Socket.prototype.connect = refuse;
`;
