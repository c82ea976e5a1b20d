/** A worker process as it is deployed, but for its contract and for whom it tells that it is ready. */
import { readTogether } from "@millrace/env";
import { startProgram } from "@millrace/shutdown";
import { runWorker, workerReaders } from "@millrace/worker-host";
import { chaosContract } from "./contract.ts";
import { createHandlers } from "./handlers.ts";

// Whoever kills workers is gone, and nobody is left to end this one.
process.on("disconnect", () => process.exit(1));

startProgram("worker:chaos", (source) => readTogether(workerReaders(chaosContract), source));
const [providerUrl = ""] = process.argv.slice(2);
await runWorker(chaosContract, createHandlers(providerUrl));
process.send?.("ready");
