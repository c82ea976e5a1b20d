import { globSync } from "node:fs";
import { defineConfig } from "tsdown";

// One program per domain, and those that it runs in threads and processes of its own; the folders decide which there are.
const workers = globSync("src/*/{worker,thread,*-process}.ts", { cwd: import.meta.dirname });

export default defineConfig({
  entry: Object.fromEntries(workers.map((file) => [file.replace(/^src\/|\.ts$/g, ""), file])),
  platform: "node",
  // Our own packages are TypeScript sources and go into the program. Everything from npm stays outside, as a dependency of this app:
  // pino's streams and BullMQ's scripts are found by path and break when bundled.
  deps: { alwaysBundle: [/^@millrace\//], neverBundle: [/^[^.@/]/, /^@(?!millrace\/)/] },
  inputOptions: { resolve: { conditionNames: ["millrace-source", "import", "node", "default"] } },
  dts: false,
  sourcemap: true,
});
