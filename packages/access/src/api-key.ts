import { workspaceIdSchema } from "@millrace/worker-config/contracts";
import { z } from "zod";
import { roles } from "./roles.ts";

/** What may be asked for when a key is made. */
export const newApiKeySchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^\P{Cc}{1,100}$/u, "expected 1 to 100 characters, none of them a control character")
      .describe("Who has it, or what for. Lists and the audit log show it."),
    role: roles.describe(
      "viewer looks, producer enqueues, operator does both and operates, admin manages keys as well.",
    ),
    workspaceId: workspaceIdSchema
      .optional()
      .describe("The key is for this workspace alone. Defaults to none: it is for everybody's."),
    expiresAt: z.iso.datetime({ offset: true }).optional().describe("Defaults to never."),
  })
  .refine(({ role, workspaceId }) => role !== "admin" || workspaceId === undefined, {
    path: ["workspaceId"],
    message: "expected none with the role admin: whoever manages keys has everybody's",
  })
  .refine(({ expiresAt }) => expiresAt === undefined || Date.parse(expiresAt) > Date.now(), {
    path: ["expiresAt"],
    message: "expected a moment to come",
  });

export type NewApiKey = z.input<typeof newApiKeySchema>;

/** A key as lists show it. The key itself is shown once, when it is made: only a digest is kept. */
export const apiKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: roles,
    workspaceId: z.string().nullable(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable().describe("To the minute."),
  })
  .meta({ id: "ApiKey" });

export type ApiKey = z.output<typeof apiKeySchema>;
