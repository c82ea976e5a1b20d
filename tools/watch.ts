/** `pnpm worker:email`: one program from the sources, beside a running `pnpm dev` or with what .env names, started anew when they change. */
import { spawn } from "node:child_process";
import { StartError } from "@millrace/env";
import { checkEnvironment } from "./environment.ts";
import { watchedProgram } from "./watched-program.ts";

const [name = ""] = process.argv.slice(2);
// Once more than the program does itself: that one would then be waited for until a source changes, which mends no setting.
await checkEnvironment(process.env, { programs: [name] }).catch(refuse);

const { cwd, args } = watchedProgram(name);
const child = spawn(process.execPath, args, { cwd, stdio: "inherit" });
// A terminal sends its Ctrl-C to the child as well, which takes both for one.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
child.once("exit", (code) => process.exit(code ?? 1));

function refuse(error: unknown): never {
  if (!(error instanceof StartError)) throw error;
  const isUnset = error.problems.some((problem) => problem.includes(" is not set: "));
  const advice = "Start `npm run dev` beside this, which sets what it starts (a Redis, say), or set it in .env.";
  process.stderr.write(`${error.message}\n${isUnset ? `${advice}\n` : ""}`);
  process.exit(1);
}
