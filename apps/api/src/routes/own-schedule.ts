import { findSchedule, type StoredSchedule } from "@millrace/schedules";
import type { FastifyReply } from "fastify";
import type { Caller } from "../access/caller.ts";
import { isOwn } from "../access/own-workspace.ts";
import { sendProblem } from "../problem.ts";

/** The schedule with this id, where it is for this caller to see. */
export async function findOwnSchedule(access: Caller, id: string): Promise<StoredSchedule | undefined> {
  const stored = await findSchedule(id);
  return stored && isOwn(access, stored.schedule.workspaceId) ? stored : undefined;
}

export function sendUnknownSchedule(reply: FastifyReply): FastifyReply {
  const detail = "There is no schedule with this id. It never was, or it was removed.";
  return sendProblem(reply, { status: 404, title: "Unknown schedule", code: "unknown_schedule", detail });
}

export function sendOwnedByCode(reply: FastifyReply): FastifyReply {
  const detail = "The code owns this schedule: it is changed and removed in the code. It can be paused.";
  return sendProblem(reply, { status: 409, title: "Owned by the code", code: "owned_by_code", detail });
}
