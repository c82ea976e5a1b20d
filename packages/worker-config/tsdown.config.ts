import { defineConfig } from "tsdown";

// The one package that other apps import: ESM and CJS with types. Our own workspace packages are bundled (they are development
// dependencies), so that what an app installs beside it is bullmq, ioredis and zod alone.
export default defineConfig({
  entry: { index: "src/index.ts", contracts: "src/contracts/index.ts" },
  format: ["esm", "cjs"],
  dts: true,
  tsconfig: "tsconfig.build.json",
  platform: "node",
});
