import {
  findJobWorkspace,
  type JobFilter,
  type JobRow,
  jobFilterSchema,
  jobPageSchema,
  jobRowSchema,
  listJobs,
} from "@millrace/job-admin";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import type { Caller } from "../access/caller.ts";
import { isOwn, workspaceFor } from "../access/own-workspace.ts";
import { pageQuery, pageSchema } from "../page.ts";
import { describeResponse, problemResponses } from "../problem.ts";

const { queue, action, status, from, to, workspaceId, field } = jobFilterSchema.shape;
const { name, value } = field.unwrap().shape;
const querySchema = z
  .object({
    ...{ queue, action, status, from, to, workspaceId },
    field: name.optional().describe("A field that the contract declares searchable. Needs `value`."),
    value: value.optional().describe("The whole value of `field`, as it was enqueued."),
    ...pageQuery(jobPageSchema.shape.cursor),
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
            pageSchema(jobRowSchema),
          ),
          ...problemResponses,
        },
      },
    },
    async ({ access, query: { cursor, limit, ...asked } }) => {
      const filter = toFilter({ ...asked, workspaceId: workspaceFor(access, asked.workspaceId) });
      const { jobs, cursor: nextCursor } = await listJobs(filter, { cursor, limit });
      return { items: access.workspaceId === undefined ? jobs : await keepOwn(access, jobs), nextCursor };
    },
  );
}

// Whose a job is stands in its payload, which may be large.
const payloadsAtOnce = 20;

/** What was indexed for a workspace when it was added may be another's by now. What a key sees is decided by the jobs themselves, as for a single one. */
async function keepOwn(access: Caller, jobs: readonly JobRow[]): Promise<JobRow[]> {
  const own: JobRow[] = [];
  for (let next = 0; next < jobs.length; next += payloadsAtOnce) {
    const batch = jobs.slice(next, next + payloadsAtOnce);
    const workspaces = await Promise.all(batch.map(({ queue, jobId }) => findJobWorkspace(queue, jobId)));
    own.push(...batch.filter((_, index) => isOwn(access, workspaces[index])));
  }
  return own;
}

type Asked = Omit<JobFilter, "field"> & { field?: string | undefined; value?: string | undefined };

function toFilter({ field: name, value, ...rest }: Asked): JobFilter {
  return name === undefined || value === undefined ? rest : { ...rest, field: { name, value } };
}
