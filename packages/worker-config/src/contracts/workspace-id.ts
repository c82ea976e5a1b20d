import { z } from "zod";

/** The form of a workspace's id, whatever an application makes of it: what `@millrace/workspaces` can keep. */
export const workspaceIdSchema: z.ZodString = z
  .string()
  .regex(/^\P{Cc}{1,256}$/u, "expected 1 to 256 characters, none of them a control character");
