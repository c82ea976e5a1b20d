/**
 * Preloaded by the processes that are started one by one (`pnpm worker:email`): what `pnpm dev` published while it runs, then .env. A
 * variable that is set already stays as it is.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

for (const file of ["../.millrace/dev.env", "../.env"]) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  if (existsSync(path)) process.loadEnvFile(path);
}
