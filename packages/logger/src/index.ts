export { createLogger, getChildLogger, type Logger } from "./logger.ts";
