export { type Environment, EnvironmentError, parseEnv } from "./parse-env.ts";
export { type ReadEnv, readTogether } from "./read-together.ts";
export { explainListenError, StartError } from "./start-error.ts";
