import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";

// Two signals of one Ctrl-C: the terminal sends one to the whole group and npm passes on its own.
const sameSignalMs = 250;

/**
 * Runs a program to its end and passes signals on to it. A detached one is in a process group of its own, so that what it hears is what
 * is passed on here, once each, and it can stop its own children in order.
 */
export function runProgram(program, args, { cwd, shell = false, detached = false }) {
  const path = [join(cwd, "node_modules", ".bin"), process.env.PATH].join(delimiter);
  const child = spawn(program, args, {
    cwd,
    stdio: "inherit",
    shell,
    detached,
    env: { ...process.env, PATH: path },
  });
  const lastAt = {};
  const passOn = (signal) => {
    if (Date.now() - (lastAt[signal] ?? 0) < sameSignalMs) return;
    lastAt[signal] = Date.now();
    if (detached || signal === "SIGTERM") child.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, passOn);
  // npm killed by a signal tells nobody: then this process has a new parent, and nobody is left to want what runs here.
  const parent = process.ppid;
  const orphanWatch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(orphanWatch);
    child.kill("SIGTERM");
  }, 500);
  return new Promise((resolve) => {
    const finish = (code) => {
      clearInterval(orphanWatch);
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, passOn);
      resolve(code);
    };
    child.once("error", (error) => {
      console.error(`Could not run ${program}: ${error.message}`);
      finish(1);
    });
    child.once("exit", (code, signal) => finish(code ?? (signal ? 1 : 0)));
  });
}
