import { createHash } from "node:crypto";
import { contracts, type QueueContract, type QueueName, queueNames } from "@millrace/worker-config";
import { jobStatuses, workspaceField, workspaceIdSchema } from "@millrace/worker-config/contracts";
import { z } from "zod";
import type { JobRow } from "./job-row.ts";

/** What the jobs of each queue can be found by, beside their workspace: the fields that its actions declare searchable. */
export function searchableFields(): Readonly<Record<QueueName, readonly string[]>> {
  const names = queueNames.options.map((queue) => [queue, [...new Set(fieldsOf(contracts[queue]))]] as const);
  // Made of every queue's name in the line above; `fromEntries` forgets them.
  return Object.fromEntries(names) as Record<QueueName, readonly string[]>;
}

function fieldsOf({ actions }: QueueContract): string[] {
  return Object.values(actions).flatMap(({ searchable }) => Object.keys(searchable ?? {}));
}

const moment = z.iso.datetime({ offset: true });

/** Which jobs: everything that is given must fit. One schema for functions, API and command line. */
export const jobFilterSchema = z
  .strictObject({
    queue: queueNames.optional().describe("Defaults to all."),
    action: z.string().min(1).max(200).optional(),
    status: jobStatuses.optional(),
    from: moment.optional().describe("Created at this moment or later."),
    to: moment.optional().describe("Created at this moment or earlier."),
    workspaceId: workspaceIdSchema.optional(),
    field: z
      .strictObject({
        name: z.string().describe("One that the contract declares searchable."),
        value: z.string().min(1).max(500).describe("The whole value, as it was enqueued."),
      })
      .optional(),
  })
  .superRefine(({ queue, field }, context) => {
    const known = Object.entries(searchableFields()).flatMap(([name, fields]) =>
      queue === undefined || queue === name ? fields : [],
    );
    if (!field || known.includes(field.name)) return;
    const expected = known.length > 0 ? `expected one of ${[...new Set(known)].join(", ")}` : "no field is searchable";
    context.addIssue({ code: "custom", path: ["field", "name"], message: expected });
  });

export type JobFilter = z.output<typeof jobFilterSchema>;

/** Tells one search from another: the same for filters that ask for the same in the same words. */
export function digestFilter(filter: JobFilter): string {
  // Parsed, a filter's fields come in the schema's order.
  return createHash("sha256").update(JSON.stringify(filter)).digest("base64url").slice(0, 8);
}

/** What a job must have been indexed by, field and value. Nothing where the filter asks for neither field nor workspace. */
export function criteriaOf({ field, workspaceId }: JobFilter): { field: string; value: string }[] {
  return [
    ...(field ? [{ field: field.name, value: field.value }] : []),
    ...(workspaceId === undefined ? [] : [{ field: workspaceField, value: workspaceId }]),
  ];
}

/** What a filter asks of a job beyond where to look for it. */
export function fitsJobFilter({ action, status, from, to }: JobFilter, row: JobRow): boolean {
  if (action !== undefined && row.action !== action) return false;
  if (status !== undefined && row.status !== status) return false;
  if (from === undefined && to === undefined) return true;
  const createdAtMs = Date.parse(row.createdAt ?? "");
  return createdAtMs >= Date.parse(from ?? row.createdAt ?? "") && createdAtMs <= Date.parse(to ?? row.createdAt ?? "");
}
