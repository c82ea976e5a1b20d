/** `pnpm start`: the API and every worker from the build, on one machine, with the services that the environment names. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "@millrace/env";
import { checkEnvironment } from "./environment.ts";
import { resolveFileStoreUrl } from "./file-store-url.ts";
import { runUntilSignal } from "./run-until-signal.ts";
import { supervise } from "./supervise.ts";
import { listWorkers, root } from "./workers.ts";

await runUntilSignal(async (cleanUp) => {
  const programs = [
    { name: "api", cwd: join(root, "apps/api"), file: "dist/main.mjs" },
    ...listWorkers().map((domain) => ({
      name: domain,
      cwd: join(root, "apps/worker"),
      file: `dist/${domain}/worker.mjs`,
    })),
  ];
  const missing = programs.filter(({ cwd, file }) => !existsSync(join(cwd, file)));
  if (missing.length > 0)
    throw new StartError(`Not built: ${missing.map(({ name }) => name).join(", ")}. Run \`npm run build\` first.`);
  const { FILE_STORE_URL } = process.env;
  const env: Record<string, string> = FILE_STORE_URL ? { FILE_STORE_URL: resolveFileStoreUrl(FILE_STORE_URL) } : {};
  await checkEnvironment({ ...process.env, ...env });
  const supervisor = supervise(
    programs.map(({ name, cwd, file }) => ({ name, cwd, command: `node --enable-source-maps ${file}`, env })),
  );
  cleanUp(supervisor.stop, supervisor.kill);
  const { name, exitCode } = await supervisor.firstExit;
  throw new StartError(`${name} ended with ${exitCode}. Everything stops.`);
});
