import {
  addSchedule,
  findSchedule,
  listSchedules,
  removeSchedule,
  replaceSchedule,
  scheduleCursorSchema,
} from "@millrace/schedules";
import { previewRuns, toCadence } from "@millrace/schedules/cadence";
import { contracts } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import { requireOwnData, workspaceFor } from "../access/own-workspace.ts";
import { pageQuery, pageSchema } from "../page.ts";
import { describeProblem, describeResponse, problemResponses, sendProblem } from "../problem.ts";
import { findOwnSchedule, sendOwnedByCode, sendUnknownSchedule } from "./own-schedule.ts";
import {
  previewSchema,
  readScheduleRequest,
  type ScheduleLimits,
  scheduleRequestSchema,
  toIssues,
  toProblem,
} from "./schedule-request.ts";
import {
  dueTimeSchema,
  scheduleSchema,
  viewSchedule,
  viewWholeSchedule,
  wholeScheduleSchema,
} from "./schedule-view.ts";

const tags = ["schedules"];
const params = z.object({ id: z.string() });
const querySchema = z.object({
  workspaceId: z.string().optional().describe("Only this workspace's."),
  ...pageQuery(scheduleCursorSchema),
});
// A body or query is documented where its route is, and checked by the route: its answer names every field at fault.
const unchecked = () => (value: unknown) => ({ value });

/** Schedules of workspaces: made, seen, tried out, replaced and removed. Those of the code can be seen. */
export function scheduleRoutes(app: FastifyInstance, limits: ScheduleLimits): void {
  app.post(
    "/schedules",
    {
      config: { access: "operator", workspace: "own", audit: "schedule.add" },
      schema: {
        tags,
        summary: "Add a workspace's schedule",
        body: scheduleRequestSchema,
        response: {
          201: describeResponse("It is in force.", wholeScheduleSchema),
          409: describeProblem("The workspace has as many as it may (SCHEDULE_MAX_PER_WORKSPACE)."),
          ...problemResponses,
        },
      },
      validatorCompiler: unchecked,
    },
    async (request, reply) => {
      const { access, body } = request;
      const schedule = readScheduleRequest(body, limits);
      if ("status" in schedule) return sendProblem(reply, schedule);
      workspaceFor(access, schedule.workspaceId ?? undefined);
      requireOwnData(access, contracts[schedule.queue], schedule.action, schedule.data);
      if (!(await addSchedule(schedule, limits.maxPerWorkspace))) {
        const detail = `The workspace has ${limits.maxPerWorkspace} schedules, which is as many as it may. Remove one first.`;
        return sendProblem(reply, { status: 409, title: "Too many schedules", code: "too_many_schedules", detail });
      }
      noteAudit(request, { id: schedule.id, queue: schedule.queue, action: schedule.action });
      const stored = await findSchedule(schedule.id);
      if (!stored) return sendUnknownSchedule(reply);
      return reply
        .status(201)
        .header("location", `/schedules/${schedule.id}`)
        .send(await viewWholeSchedule(stored));
    },
  );
  app.post(
    "/schedules/preview",
    {
      config: { access: "any", workspace: "own", notAudited: "It changes nothing." },
      schema: {
        tags,
        summary: "Say when a cadence would be due",
        body: previewSchema,
        response: {
          200: describeResponse("Nothing was stored.", z.object({ runs: z.array(dueTimeSchema) })),
          ...problemResponses,
        },
      },
      validatorCompiler: unchecked,
    },
    async ({ body }, reply) => {
      const parsed = previewSchema.safeParse(body);
      if (!parsed.success) return sendProblem(reply, toProblem("The cadence", toIssues(parsed.error)));
      const { count, from, ...cadence } = parsed.data;
      const fromMs = from === undefined ? Date.now() : Date.parse(from);
      return { runs: previewRuns(toCadence(cadence), fromMs, fromMs, count) };
    },
  );
  app.get(
    "/schedules",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags,
        summary: "List schedules",
        querystring: querySchema,
        response: {
          200: describeResponse("A page.", pageSchema(scheduleSchema)),
          ...problemResponses,
        },
      },
      validatorCompiler: unchecked,
    },
    async ({ access, query }, reply) => {
      const parsed = querySchema.safeParse(query);
      if (!parsed.success) return sendProblem(reply, toProblem("The query", toIssues(parsed.error)));
      const { schedules, cursor } = await listSchedules({
        ...parsed.data,
        workspaceId: workspaceFor(access, parsed.data.workspaceId),
      });
      return { items: schedules.map(viewSchedule), nextCursor: cursor };
    },
  );
  app.get<{ Params: { id: string } }>(
    "/schedules/:id",
    {
      config: { access: "viewer", workspace: "own" },
      schema: {
        tags,
        summary: "Read a schedule, its next runs and its last one",
        params,
        response: { 200: describeResponse("The schedule as it stands.", wholeScheduleSchema), ...problemResponses },
      },
    },
    async ({ access, params: { id } }, reply) => {
      const stored = await findOwnSchedule(access, id);
      return stored ? viewWholeSchedule(stored) : sendUnknownSchedule(reply);
    },
  );
  app.put<{ Params: { id: string } }>(
    "/schedules/:id",
    {
      config: { access: "operator", workspace: "own", audit: "schedule.replace" },
      schema: {
        tags,
        summary: "Replace a workspace's schedule",
        description: "With the same cadence its next due time stays. One that is paused stays so.",
        params,
        body: scheduleRequestSchema,
        response: {
          200: describeResponse("It is in force.", wholeScheduleSchema),
          409: describeProblem("The code owns it."),
          ...problemResponses,
        },
      },
      validatorCompiler: unchecked,
    },
    async (request, reply) => {
      const { access, body } = request;
      const { id } = request.params;
      const known = await findOwnSchedule(access, id);
      if (!known) return sendUnknownSchedule(reply);
      if (known.schedule.workspaceId === null) return sendOwnedByCode(reply);
      const schedule = readScheduleRequest(body, limits, id);
      if ("status" in schedule) return sendProblem(reply, schedule);
      if (schedule.workspaceId !== known.schedule.workspaceId) {
        const errors = [{ path: "workspaceId", message: "expected the one that the schedule has" }];
        return sendProblem(reply, toProblem("The schedule", errors));
      }
      requireOwnData(access, contracts[schedule.queue], schedule.action, schedule.data);
      if (!(await replaceSchedule(schedule))) return sendUnknownSchedule(reply);
      noteAudit(request, { queue: schedule.queue, action: schedule.action });
      const stored = await findSchedule(id);
      return stored ? viewWholeSchedule(stored) : sendUnknownSchedule(reply);
    },
  );
  app.delete<{ Params: { id: string } }>(
    "/schedules/:id",
    {
      config: { access: "operator", workspace: "own", audit: "schedule.remove" },
      schema: {
        tags,
        summary: "Remove a workspace's schedule",
        params,
        response: {
          204: z.null().describe("It adds no further job; those that it added stay."),
          409: describeProblem("The code owns it."),
          ...problemResponses,
        },
      },
    },
    async ({ access, params: { id } }, reply) => {
      const stored = await findOwnSchedule(access, id);
      if (!stored) return sendUnknownSchedule(reply);
      if (stored.schedule.workspaceId === null) return sendOwnedByCode(reply);
      return (await removeSchedule(id)) ? reply.status(204).send() : sendUnknownSchedule(reply);
    },
  );
}
