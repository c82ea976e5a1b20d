export { type Closable, closeServices } from "./close-services.ts";
export { settlesWithin } from "./settles-within.ts";
export { onShutdownSignal } from "./shutdown-signal.ts";
export { startProgram } from "./start-program.ts";
