import { STATUS_CODES } from "node:http";
import { isDatabaseUnavailable } from "@millrace/database";
import { FileStoreError, type FileStoreErrorCode } from "@millrace/file-store";
import { ForeignCursorError } from "@millrace/page-cursor";
import {
  DamagedRecordError,
  type InvalidJobCode,
  InvalidJobError,
  QueueUnavailableError,
  queueNames,
} from "@millrace/worker-config";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { AuditUnavailableError } from "./access/audit-unavailable-error.ts";
import { OtherWorkspaceError } from "./access/own-workspace.ts";

/** RFC 9457. `code` is for programs, `detail` for people, `errors` name the fields. */
export const problemSchema = z
  .object({
    type: z.literal("about:blank"),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: "Problem" });

export type Problem = Omit<z.infer<typeof problemSchema>, "type">;

const invalidJobStatus: Record<InvalidJobCode, { status: number; title: string }> = {
  unknown_action: { status: 404, title: "Unknown action" },
  invalid_data: { status: 400, title: "Invalid data" },
  invalid_options: { status: 400, title: "Invalid options" },
  payload_too_large: { status: 413, title: "Payload too large" },
};

const fileStoreStatus: Record<FileStoreErrorCode, { status: number; title: string }> = {
  file_missing: { status: 404, title: "Unknown file" },
  file_too_large: { status: 413, title: "File too large" },
  invalid_file_id: { status: 400, title: "Invalid file id" },
  invalid_file: { status: 400, title: "Invalid file" },
  file_damaged: { status: 500, title: "Damaged file" },
  file_store_unavailable: { status: 503, title: "File store unavailable" },
};

// https://www.postgresql.org/docs/current/errcodes-appendix.html: a text holds what PostgreSQL keeps in none, which is NUL alone.
const characterNotInRepertoire = "22021";
const handlerTimeoutCode = "FST_ERR_HANDLER_TIMEOUT";

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .status(problem.status)
    .header("content-type", "application/problem+json; charset=utf-8")
    .serializer(JSON.stringify)
    .send({ type: "about:blank", ...problem });
}

export function sendUnknownQueue(reply: FastifyReply, queue: string): FastifyReply {
  const detail = `There is no queue ${JSON.stringify(queue)}; expected one of ${queueNames.options.join(", ")}.`;
  return sendProblem(reply, { status: 404, title: "Unknown queue", code: "unknown_queue", detail });
}

export function sendUnknownJob(reply: FastifyReply, queue: string): FastifyReply {
  const detail = `Queue ${queue} holds no job with this id. It never did, or its retention is over.`;
  return sendProblem(reply, { status: 404, title: "Unknown job", code: "unknown_job", detail });
}

/** For a job that its queue does not hold, but the quarantine does. */
export function sendQuarantined(reply: FastifyReply, queue: string, jobId: string): FastifyReply {
  const path = `/quarantine/${queue}/${encodeURIComponent(jobId)}`;
  const detail = `The job lies in quarantine, because its record was damaged, and does not run. GET ${path} reads it, DELETE ${path} removes it for good.`;
  return sendProblem(reply, { status: 409, title: "In quarantine", code: "quarantined", detail });
}

const answeredByDeadline = new WeakSet<FastifyRequest>();

/** Whether a request was answered that its time was over, while its handler goes on. */
export function isAnsweredByDeadline(request: FastifyRequest): boolean {
  return answeredByDeadline.has(request);
}

export function handleError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error.code === handlerTimeoutCode) answeredByDeadline.add(request);
  if (error.code === handlerTimeoutCode && !request.raw.complete) return sendSlowBody(reply);
  const problem = toProblem(error);
  if (problem.status === 503) reply.header("retry-after", "2");
  // Only what is our fault is an error of ours; a caller's mistake is the caller's to read.
  if (problem.status >= 500) request.log.error({ err: error, code: problem.code }, "request failed");
  return sendProblem(reply, problem);
}

/** The time was over before the body was there. Its sender would keep the connection for as long as it goes on. */
function sendSlowBody(reply: FastifyReply): FastifyReply {
  const detail = "The body did not come within the time that this request has; nothing was done.";
  reply.header("connection", "close");
  return sendProblem(reply, { status: 408, title: "Request timed out", code: "request_timeout", detail });
}

/** What an error means to whoever asked. */
export function toProblem(error: Error & Partial<FastifyError>): Problem {
  if (error instanceof InvalidJobError) {
    const { code, issues } = error;
    return {
      ...invalidJobStatus[code],
      code,
      detail: error.message,
      ...(issues.length > 0 && { errors: [...issues] }),
    };
  }
  if (error instanceof AuditUnavailableError) {
    const detail =
      "What operators do is written down first, and the database does not take it: nothing was done. Try again later.";
    return { status: 503, title: "Audit log unavailable", code: "audit_unavailable", detail };
  }
  if (error instanceof ForeignCursorError) {
    const errors = [{ path: "cursor", message: error.message }];
    return { status: 400, title: "Invalid request", code: "invalid_request", detail: notValid("querystring"), errors };
  }
  if (error instanceof OtherWorkspaceError) {
    return { status: 403, title: "Forbidden", code: "other_workspace", detail: error.message };
  }
  if (error instanceof QueueUnavailableError) {
    return { status: 503, title: "Queue unavailable", code: error.code, detail: error.message };
  }
  if (error instanceof DamagedRecordError) {
    return { status: 500, title: "Damaged record", code: "damaged_record", detail: error.message };
  }
  if (error instanceof FileStoreError) {
    const { code, message } = error;
    // Where the store is, and what it said, is for the log.
    const detail = code === "file_store_unavailable" ? "The file store does not answer; try again later." : message;
    return { ...fileStoreStatus[code], code, detail };
  }
  if (isDatabaseUnavailable(error)) {
    const detail =
      "The database does not answer, and this request needs it. Try again later; jobs can be enqueued meanwhile.";
    return { status: 503, title: "Database unavailable", code: "database_unavailable", detail };
  }
  if (error.code === characterNotInRepertoire) {
    const detail = "Expected text without the character NUL (U+0000), got one.";
    return { status: 400, title: "Invalid request", code: "invalid_request", detail };
  }
  if (error.code === handlerTimeoutCode) {
    return { status: 503, title: "Timed out", code: "timeout", detail: "The request took too long; try again later." };
  }
  if (error.statusCode === 413) {
    return { status: 413, title: "Payload too large", code: "payload_too_large", detail: error.message };
  }
  if (error.validation) {
    const errors = error.validation.map(({ instancePath, message = "" }) => ({
      path: instancePath.slice(1).replaceAll("/", "."),
      message,
    }));
    const detail = notValid(error.validationContext ?? "request");
    return { status: 400, title: "Invalid request", code: "invalid_request", detail, errors };
  }
  if (error.statusCode !== undefined && error.statusCode < 500) {
    const title = STATUS_CODES[error.statusCode] ?? "Bad Request";
    return { status: error.statusCode, title, code: "bad_request", detail: error.message };
  }
  return {
    status: 500,
    title: "Internal error",
    code: "internal",
    detail: "Something went wrong here; the log says what.",
  };
}

function notValid(part: string): string {
  return `The ${part} is not valid.`;
}

/** A response as the documentation shows it. */
export function describeResponse(description: string, schema: z.ZodType, contentType = "application/json") {
  return { description, content: { [contentType]: { schema } } };
}

/** A problem as the documentation shows it. */
export function describeProblem(description: string) {
  return describeResponse(description, problemSchema, "application/problem+json");
}

/** What every job route may answer beside success, for the documentation. */
export const problemResponses = {
  400: describeProblem("The request is not valid; `errors` names the fields."),
  401: describeProblem("No key, or none that is in force."),
  403: describeProblem("The key's role or workspace does not allow it."),
  404: describeProblem("There is no such queue, action or job, or nothing under this name."),
  503: describeProblem("What it needs, Redis or the database, does not answer. Retry-After says when to ask again."),
};

/** The same for routes whose answers come from the database. */
export const recordProblemResponses = {
  400: problemResponses[400],
  401: problemResponses[401],
  403: problemResponses[403],
  404: describeProblem("There is no such record."),
  503: describeProblem("The database, or Redis, does not answer. Retry-After says when to ask again."),
};
