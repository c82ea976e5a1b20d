import {
  deadLetterPageSchema,
  listDeadLetters,
  purgeDeadLetters,
  purgeRequestSchema,
  replayDeadLetters,
  replayRequestSchema,
} from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { noteRun } from "../access/audit.ts";
import { type Following, untilGone } from "../following.ts";
import { pageQuery, pageSchema } from "../page.ts";
import { describeProblem, describeResponse, problemResponses, sendUnknownQueue } from "../problem.ts";
import { notReplayed, replayOne } from "./operate-job.ts";

const tags = ["dead letters"];
// What is not done by then is left, and the report says so.
const longestRunMs = 25_000;

const letterSchema = z
  .object({
    queue: queueNames,
    jobId: z.string(),
    action: z.string().nullable(),
    code: z.string().describe("`corrupt` where the record cannot be read as a job."),
    message: z.string(),
    attemptsMade: z.int(),
    starts: z.int(),
    createdAt: z.iso.datetime().nullable(),
    failedAt: z.iso.datetime(),
    replays: z.int(),
    lastReplayedAt: z.iso.datetime().nullable(),
    stack: z.string().nullable(),
  })
  .meta({ id: "DeadLetter" });

/** One, or several of them: a query may name a parameter again. */
const oneOrMany = <Item extends z.ZodType>(item: Item, text: string) =>
  z
    .union([item, z.array(item).max(100)])
    .optional()
    .describe(`${text} May be given several times.`);
const name = z.string().min(1).max(200);
const querySchema = z.object({
  queue: oneOrMany(queueNames, "Only in this queue."),
  action: oneOrMany(name, "Only of this action."),
  code: oneOrMany(name, "Only with this code. Cancelled jobs are listed only where `cancelled` is named."),
  olderThanMs: z.coerce.number().int().nonnegative().optional().describe("Failed at least so many milliseconds ago."),
  newerThanMs: z.coerce.number().int().positive().optional().describe("Failed at most so many milliseconds ago."),
  text: z.string().min(1).max(200).optional().describe("With this text in the failure's message or the job's id."),
  ...pageQuery(deadLetterPageSchema.shape.cursor),
});

const groupsSchema = z.array(
  z.object({ queue: queueNames, action: z.string().nullable(), code: z.string(), count: z.int() }),
);
const isStopped = z.boolean().describe("The limit or the time was over, and more may fit: ask again to go on.");
const replayReportSchema = z.object({
  isDryRun: z.boolean(),
  replayed: z.int(),
  groups: groupsSchema.describe("Those, by kind."),
  refused: z.record(z.string(), z.int()).describe("How many stayed where they were, by reason."),
  refusals: z.array(z.object({ queue: queueNames, jobId: z.string(), outcome: z.string() })).describe("The first 100."),
  isStopped,
});
const purgeReportSchema = z.object({
  isDryRun: z.boolean(),
  removed: z.int(),
  quarantined: z.int().describe("How many of them lay in quarantine."),
  groups: groupsSchema.describe("Those, by kind. What lay in quarantine has the code `quarantined`."),
  kept: z.record(z.string(), z.int()).describe("How many stayed although they fit, by reason."),
  isStopped,
});

/** `/dead-letters`: jobs that failed for good, over all queues. */
export function deadLetterRoutes(app: FastifyInstance, { closing }: Pick<Following, "closing">): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  // The second is the first under the name by which a job's other states are asked for.
  for (const url of ["/dead-letters", "/jobs/failed"]) {
    typed.get(
      url,
      {
        config: { access: "viewer" },
        schema: {
          tags,
          summary: "List dead letters, the newest first",
          querystring: querySchema,
          response: {
            200: describeResponse(
              "A page. It may be short, or empty, and still have a `nextCursor`: a request looks at 1,000 jobs.",
              pageSchema(letterSchema),
            ),
            ...problemResponses,
          },
        },
      },
      async ({ query: { cursor, limit, queue, action, code, ...rest } }) => {
        const filter = { queues: toArray(queue), actions: toArray(action), codes: toArray(code), ...rest };
        const { letters, cursor: nextCursor } = await listDeadLetters(filter, { cursor, limit });
        return { items: letters, nextCursor };
      },
    );
  }

  typed.post(
    "/dead-letters/replay",
    {
      config: { access: "operator", audit: "dead-letter.replay-many" },
      handlerTimeout: longestRunMs + 10_000,
      schema: {
        tags,
        summary: "Let dead letters run again",
        description: "Each at most once, in the pace that is asked for, with attempts and starts counted anew.",
        body: replayRequestSchema,
        response: { 200: describeResponse("What became of them.", replayReportSchema), ...problemResponses },
      },
    },
    async (request, reply) => {
      const signal = AbortSignal.any([untilGone(reply, closing), AbortSignal.timeout(longestRunMs)]);
      const report = await replayDeadLetters(request.body, { signal });
      noteRun(request, { isDryRun: report.isDryRun, replayed: report.replayed }, { ...report, signal });
      return report;
    },
  );

  typed.post(
    "/dead-letters/:queue/:jobId/replay",
    {
      config: { access: "operator", workspace: "job", audit: "dead-letter.replay" },
      schema: {
        tags,
        summary: "Let one dead letter run again",
        params: z.object({ queue: z.string(), jobId: z.string() }),
        response: {
          202: describeResponse("It waits to run.", z.object({ queue: queueNames, jobId: z.string() })),
          409: describeProblem(notReplayed),
          ...problemResponses,
        },
      },
    },
    async ({ params: { queue, jobId } }, reply) => {
      const name = queueNames.safeParse(queue);
      return name.success ? replayOne(reply, name.data, jobId) : sendUnknownQueue(reply, queue);
    },
  );

  typed.post(
    "/dead-letters/purge",
    {
      config: { access: "operator", audit: "dead-letter.purge" },
      handlerTimeout: longestRunMs + 10_000,
      schema: {
        tags,
        summary: "Remove old dead letters for good",
        body: purgeRequestSchema,
        response: { 200: describeResponse("What became of them.", purgeReportSchema), ...problemResponses },
      },
    },
    async (request, reply) => {
      const signal = AbortSignal.any([untilGone(reply, closing), AbortSignal.timeout(longestRunMs)]);
      const report = await purgeDeadLetters(request.body, signal);
      const { isDryRun, removed, quarantined } = report;
      noteRun(request, { isDryRun, removed, quarantined }, { ...report, signal });
      return report;
    },
  );
}

function toArray<Item extends string>(given: Item | Item[] | undefined): Item[] | undefined {
  return typeof given === "string" ? [given] : given;
}
