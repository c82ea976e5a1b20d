/**
 * Preloaded by the processes that are started one by one for development (`pnpm worker:email`): what a running `pnpm dev` published, then
 * .env. A variable that is set already stays as it is.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedEnvFile, runningPublisher } from "./published-env.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const published = publishedEnvFile(resolve(root, process.env.DEV_STATE_DIR || ".millrace"));
if (runningPublisher(published) !== undefined) process.loadEnvFile(published);
if (existsSync(join(root, ".env"))) process.loadEnvFile(join(root, ".env"));
