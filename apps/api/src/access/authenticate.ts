import { findJobWorkspace } from "@millrace/job-admin";
import { queueNames } from "@millrace/worker-config";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sendProblem, sendUnknownJob } from "../problem.ts";
import { type Caller, setCaller } from "./caller.ts";
import type { Callers } from "./callers.ts";
import type { FailureLimit } from "./failure-limit.ts";
import { isOwn } from "./own-workspace.ts";
import { barrierOf, rolesFor } from "./route-access.ts";
import type { Sessions } from "./sessions.ts";

/** Who may come in, and what is remembered of those who may not. */
export interface Door {
  readonly callers: Callers;
  readonly failures: FailureLimit<Caller>;
  /** None: nobody can log in, and pages take a key in the header alone. */
  readonly sessions: Sessions | undefined;
}

/**
 * The one door. A route takes a request that carries a key (`Authorization: Bearer <key>`; for pages also Basic, with any name and the key as the
 * password, or a session) whose role and workspace its declaration lets in.
 */
export function authenticate(
  door: Door,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined> {
  return async (request, reply) => {
    // What is not there is nobody's, and its answer tells nothing.
    if (request.is404) return undefined;
    const { config } = request.routeOptions;
    const { access, isPage = false } = config;
    if (access === "public") return undefined;
    const key = readKey(request.headers.authorization ?? "", isPage);
    const keyId = isPage && key === undefined ? door.sessions?.read(request.headers.cookie) : undefined;
    if (key === undefined && keyId === undefined) return isPage ? leadToLogin(request, reply) : sendUnauthorized(reply);
    const caller = key === undefined ? await door.callers.withId(keyId ?? "") : await tryKey(door, request.ip, key);
    if (typeof caller === "number") return sendTooManyFailures(reply, caller);
    if (!caller) return keyId === undefined ? sendUnauthorized(reply, "another key") : leadToLogin(request, reply);
    setCaller(request, caller);
    const barrier = barrierOf(caller, config);
    if (barrier === "role") {
      const detail = `Expected a key with the role ${rolesFor[access].join(" or ")}, got one with the role ${caller.role}.`;
      return sendProblem(reply, { status: 403, title: "Forbidden", code: "forbidden", detail });
    }
    if (barrier === "workspace") {
      const detail = "This key is for one workspace, and this route is about more than one.";
      return sendProblem(reply, { status: 403, title: "Forbidden", code: "other_workspace", detail });
    }
    return caller.workspaceId !== undefined && config.workspace === "job" ? requireOwnJob(request, reply) : undefined;
  };
}

/**
 * Whose key it is, if it is one.
 *
 * @returns a number where the address has tried too many, whatever this one is: the milliseconds that it has to wait
 */
export async function tryKey(
  { callers, failures }: Door,
  address: string,
  key: string,
): Promise<Caller | undefined | number> {
  return failures.attempt(address, key, () => callers.withKey(key));
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

/** @param waitMs as `tryKey` gave it */
export function sendTooManyFailures(reply: FastifyReply, waitMs: number): FastifyReply {
  const seconds = Math.ceil(waitMs / 1_000);
  const detail = `This address has given too many wrong keys; none is looked at for another ${seconds} seconds.`;
  reply.header("retry-after", seconds);
  return sendProblem(reply, { status: 429, title: "Too many wrong keys", code: "too_many_wrong_keys", detail });
}

function sendUnauthorized(reply: FastifyReply, got = "none"): FastifyReply {
  reply.header("www-authenticate", 'Bearer realm="Millrace"');
  const detail = `Expected the header "Authorization: Bearer <key>" with a key that is in force, got ${got}.`;
  return sendProblem(reply, { status: 401, title: "Unauthorized", code: "unauthorized", detail });
}

/** A person comes to the login page; a program, and a page's own scripts, are told. */
function leadToLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isPerson = request.method === "GET" && request.headers.accept?.includes("text/html");
  if (!isPerson) return sendUnauthorized(reply);
  return reply.redirect(`/login?next=${encodeURIComponent(request.url.split("?")[0] ?? "/")}`, 303);
}

async function requireOwnJob(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  // The router has found these parameters, or the declaration is wrong: nothing is then found, and nobody let in.
  const { queue = "", jobId = "" } = request.params as { readonly queue?: string; readonly jobId?: string };
  const name = queueNames.safeParse(queue);
  // The handler says which queues there are.
  if (!name.success) return undefined;
  return isOwn(request.access, await findJobWorkspace(name.data, jobId)) ? undefined : sendUnknownJob(reply, queue);
}
