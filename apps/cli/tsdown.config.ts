import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/main.ts"],
  platform: "node",
  // As the API's: our own packages go into the program, everything from npm stays outside.
  deps: { alwaysBundle: [/^@millrace\//], neverBundle: [/^[^.@/]/, /^@(?!millrace\/)/] },
  inputOptions: { resolve: { conditionNames: ["millrace-source", "import", "node", "default"] } },
  dts: false,
  sourcemap: true,
});
