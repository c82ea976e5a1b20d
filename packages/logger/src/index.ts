export { readLoggerEnv } from "./env.ts";
export { createLogger, getChildLogger, type Logger } from "./logger.ts";
