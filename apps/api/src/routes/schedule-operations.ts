import { pauseSchedule, resumeSchedule, runScheduleNow } from "@millrace/schedules";
import { queueNames } from "@millrace/worker-config";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { noteAudit } from "../access/audit.ts";
import { describeProblem, describeResponse, problemResponses, sendProblem } from "../problem.ts";
import { findOwnSchedule, sendUnknownSchedule } from "./own-schedule.ts";
import { viewWholeSchedule, wholeScheduleSchema } from "./schedule-view.ts";

interface ById {
  Params: { id: string };
}
const tags = ["schedules"];
const params = z.object({ id: z.string() });

/** What is done to a schedule, of a workspace or of the code: `run`, `pause`, `resume`. */
export function scheduleOperationRoutes(app: FastifyInstance): void {
  app.post<ById>(
    "/schedules/:id/run",
    {
      config: { access: "operator", workspace: "own", audit: "schedule.run" },
      schema: {
        tags,
        summary: "Run a schedule's job now",
        params,
        response: {
          202: describeResponse(
            "The job is stored and will run. The due times stay as they are.",
            z.object({ jobId: z.string(), queue: queueNames, action: z.string() }),
          ),
          409: describeProblem("The job of its last run has not ended, and its overlap is skip."),
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      if (!(await findOwnSchedule(request.access, id))) return sendUnknownSchedule(reply);
      const run = await runScheduleNow(id);
      if (run.outcome === "unknown") return sendUnknownSchedule(reply);
      const { jobId, schedule } = run;
      if (run.outcome === "added") {
        noteAudit(request, { queue: schedule.queue, jobId });
        return reply.status(202).send({ jobId, queue: schedule.queue, action: schedule.action });
      }
      const detail = `The job of its last run, ${jobId}, has not ended, and its overlap is skip.`;
      return sendProblem(reply, { status: 409, title: "Still running", code: "still_running", detail });
    },
  );

  const moves = [
    {
      path: "pause",
      audit: "schedule.pause",
      move: pauseSchedule,
      summary: "Let a schedule add no further job",
      description: "Until it is resumed: due times that pass meanwhile get no run.",
    },
    {
      path: "resume",
      audit: "schedule.resume",
      move: resumeSchedule,
      summary: "Let a paused schedule go on",
      description: "At its first due time from now on.",
    },
  ] as const;
  for (const { path, audit, move, summary, description } of moves) {
    app.post<ById>(
      `/schedules/:id/${path}`,
      {
        config: { access: "operator", workspace: "own", audit },
        schema: {
          ...{ tags, summary, description, params },
          response: { 200: describeResponse("The schedule as it stands.", wholeScheduleSchema), ...problemResponses },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        if (!(await findOwnSchedule(request.access, id))) return sendUnknownSchedule(reply);
        noteAudit(request, { outcome: await move(id) });
        const stored = await findOwnSchedule(request.access, id);
        return stored ? viewWholeSchedule(stored) : sendUnknownSchedule(reply);
      },
    );
  }
}
