import { defineQueue } from "@millrace/worker-config/contracts";
import { z } from "zod";

export const observedContract = defineQueue("default", {
  run: {
    data: z.object({ workspaceId: z.string(), key: z.string().optional() }),
    workspaceId: ({ workspaceId }) => workspaceId,
  },
  fail: { data: z.object({ code: z.string() }), options: { attempts: 1 } },
  hold: { data: z.object({}) },
});
