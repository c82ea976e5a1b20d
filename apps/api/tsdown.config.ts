import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/main.ts"],
  platform: "node",
  // Our own packages are TypeScript sources and go into the program. Everything from npm stays outside, as a dependency of this app:
  // pino's streams and BullMQ's scripts are found by path and break when bundled.
  deps: { alwaysBundle: [/^@millrace\//], neverBundle: [/^[^.@/]/, /^@(?!millrace\/)/] },
  inputOptions: { resolve: { conditionNames: ["millrace-source", "import", "node", "default"] } },
  dts: false,
  sourcemap: true,
});
