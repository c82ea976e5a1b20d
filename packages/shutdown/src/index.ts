export { onShutdownSignal } from "./shutdown-signal.ts";
