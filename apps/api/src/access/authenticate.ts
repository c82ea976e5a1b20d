import { findJobWorkspace } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendProblem, sendUnknownJob } from "../problem.ts";
import { setCaller } from "./caller.ts";
import type { Callers } from "./callers.ts";
import { isOwn } from "./own-workspace.ts";
import { rolesFor } from "./route-access.ts";

/**
 * The one door. A route takes a request that carries a key (`Authorization: Bearer <key>`, for pages also Basic, with any name and the key as the
 * password) whose role and workspace its declaration lets in.
 */
export function authenticate(
  callers: Callers,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  return async (request, reply) => {
    // What is not there is nobody's, and its answer tells nothing.
    if (request.is404) return undefined;
    const { access, workspace, isPage = false } = request.routeOptions.config;
    if (access === "public") return undefined;
    const given = readKey(request.headers.authorization ?? "", isPage);
    const caller = given === undefined ? undefined : await callers.withKey(given);
    if (!caller) return sendUnauthorized(reply, given !== undefined, isPage);
    setCaller(request, caller);
    if (!rolesFor[access].some((role) => role === caller.role)) {
      const detail = `Expected a key with the role ${rolesFor[access].join(" or ")}, got one with the role ${caller.role}.`;
      return sendProblem(reply, { status: 403, title: "Forbidden", code: "forbidden", detail });
    }
    if (caller.workspaceId === undefined) return undefined;
    if (workspace === "job") return requireOwnJob(request, reply);
    if (workspace === "own") return undefined;
    const detail = "This key is for one workspace, and this route is about more than one.";
    return sendProblem(reply, { status: 403, title: "Forbidden", code: "other_workspace", detail });
  };
}

/** The key that a request's `authorization` header carries, right or wrong. */
export function readKey(header: string, allowBasic: boolean): string | undefined {
  const [, scheme, credentials] = /^(\w+) +(.+)$/.exec(header) ?? [];
  if (credentials === undefined) return undefined;
  if (scheme?.toLowerCase() === "bearer") return credentials.trim();
  if (allowBasic && scheme?.toLowerCase() === "basic") {
    const decoded = Buffer.from(credentials, "base64").toString();
    return decoded.slice(decoded.indexOf(":") + 1);
  }
  return undefined;
}

function sendUnauthorized(reply: FastifyReply, isWrong: boolean, isPage: boolean): FastifyReply {
  reply.header("www-authenticate", isPage ? 'Basic realm="Millrace", charset="UTF-8"' : 'Bearer realm="Millrace"');
  const got = isWrong ? "another key" : "none";
  const detail = `Expected the header "Authorization: Bearer <key>" with a key that is in force, got ${got}.`;
  return sendProblem(reply, { status: 401, title: "Unauthorized", code: "unauthorized", detail });
}

async function requireOwnJob(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  // The router has found these parameters, or the declaration is wrong: nothing is then found, and nobody let in.
  const { queue = "", jobId = "" } = request.params as { readonly queue?: string; readonly jobId?: string };
  const name = queueNames.safeParse(queue);
  // The handler says which queues there are.
  if (!name.success) return undefined;
  return isOwn(request.access, await findJobWorkspace(name.data, jobId)) ? undefined : sendUnknownJob(reply, queue);
}
