import { type JobFilter, jobFilterSchema, jobPageSchema, jobRowSchema, listJobs } from "@millrace/job-admin";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { workspaceFor } from "../access/own-workspace.ts";
import { describeResponse, problemResponses } from "../problem.ts";

const { queue, action, status, from, to, workspaceId, field } = jobFilterSchema.shape;
const { name, value } = field.unwrap().shape;
const querySchema = z
  .object({
    ...{ queue, action, status, from, to, workspaceId },
    field: name.optional().describe("A field that the contract declares searchable. Needs `value`."),
    value: value.optional().describe("The whole value of `field`, as it was enqueued."),
    cursor: z
      .string()
      .max(1_000)
      .refine((cursor) => jobPageSchema.safeParse({ cursor }).success, "expected the `nextCursor` of a page")
      .optional()
      .describe("`nextCursor` of the page before."),
    limit: z.coerce.number().int().min(1).max(200).default(50),
  })
  .superRefine(({ field, value }, context) => {
    if ((field === undefined) === (value === undefined)) return;
    const missing = field === undefined ? "field" : "value";
    context.addIssue({ code: "custom", path: [missing], message: "expected field and value together" });
  })
  .superRefine(({ cursor: _, limit: __, ...asked }, context) => {
    // What is a field's name to a function is one of two parameters here.
    for (const { message } of jobFilterSchema.safeParse(toFilter(asked)).error?.issues ?? []) {
      context.addIssue({ code: "custom", path: ["field"], message });
    }
  });

/** `GET /jobs`: jobs in whatever state, by what is known of them. */
export function jobListRoutes(app: FastifyInstance): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    "/jobs",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags: ["jobs"],
        summary: "Find jobs",
        description:
          "By workspace or `field` the newest first, queue by queue: jobs that were enqueued one by one or in bulk, not those of flows. Else running ones, then those that wait, have failed and have completed.",
        querystring: querySchema,
        response: {
          200: describeResponse(
            "A page, without payloads. It may be short, or empty, and still have a `nextCursor`: a request looks at 1,000 jobs.",
            z.object({ items: z.array(jobRowSchema), nextCursor: z.string().nullable() }),
          ),
          ...problemResponses,
        },
      },
    },
    async ({ access, query: { cursor, limit, ...asked } }) => {
      const filter = toFilter({ ...asked, workspaceId: workspaceFor(access, asked.workspaceId) });
      const { jobs, cursor: nextCursor } = await listJobs(filter, { cursor, limit });
      // A record that is damaged does not say whose it is: its id may have been taken again.
      const items = access.workspaceId === undefined ? jobs : jobs.filter(({ error }) => error?.code !== "corrupt");
      return { items, nextCursor };
    },
  );
}

type Asked = Omit<JobFilter, "field"> & { field?: string | undefined; value?: string | undefined };

function toFilter({ field: name, value, ...rest }: Asked): JobFilter {
  return name === undefined || value === undefined ? rest : { ...rest, field: { name, value } };
}
