export { EnvironmentError, parseEnv } from "./parse-env.ts";
