import type { aiAgentContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";

export type RunAgent = HandlersOf<typeof aiAgentContract>["runAgent"];
export type RunAgentData = Parameters<RunAgent>[0];
