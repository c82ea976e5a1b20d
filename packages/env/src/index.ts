export { explainListenError } from "./explain-listen-error.ts";
export { type Environment, EnvironmentError, parseEnv } from "./parse-env.ts";
export { type ReadEnv, readTogether } from "./read-together.ts";
export { StartError } from "./start-error.ts";
