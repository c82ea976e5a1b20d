/** `pnpm start`: the API and every worker from the build, on one machine, with the services that the environment names. */
import { join } from "node:path";
import { StartError } from "@millrace/env";
import { builtPrograms, requireBuilt } from "./built-programs.ts";
import { checkEnvironment } from "./environment.ts";
import { resolveFileStoreUrl } from "./file-store-url.ts";
import { runUntilSignal } from "./run-until-signal.ts";
import { supervise } from "./supervise.ts";
import { listWorkers, root } from "./workers.ts";

await runUntilSignal(async (cleanUp) => {
  const programs = builtPrograms(listWorkers());
  requireBuilt(root, programs);
  const { FILE_STORE_URL } = process.env;
  const env: Record<string, string> = FILE_STORE_URL ? { FILE_STORE_URL: resolveFileStoreUrl(FILE_STORE_URL) } : {};
  await checkEnvironment({ ...process.env, ...env });
  const supervisor = supervise(
    programs.map(({ name, folder, file }) => ({
      name,
      cwd: join(root, folder),
      command: `node --enable-source-maps ${file}`,
      env,
    })),
  );
  cleanUp(supervisor.stop, supervisor.kill);
  const { name, exitCode } = await supervisor.firstExit;
  throw new StartError(`${name} ended with ${exitCode}. Everything stops.`);
});
