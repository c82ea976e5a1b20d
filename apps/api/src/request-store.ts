import { createHash } from "node:crypto";
import { runScript } from "@millrace/job-admin";
import { ownKey } from "@millrace/redis";
import { askQueue, contracts, readQueueEnv } from "@millrace/worker-config";
import { z } from "zod";

/** A request that carries an Idempotency-Key, as it is known to all processes. */
export interface KeyedRequest {
  /** Who asks, what for, and the key. */
  readonly scope: readonly string[];
  /** What is asked: `fingerprintOf` its body, which may be megabytes long. */
  readonly fingerprint: string;
  /** Tells this try from its twins. */
  readonly token: string;
}

/**
 * - `claimed`: nobody has asked this, and this request may go on.
 * - `done`: it was asked before, and answered so.
 * - `busy`: a twin is being answered.
 * - `other`: the key was used for something else.
 */
export type Claim =
  | { readonly state: "claimed" | "busy" | "other" }
  | { readonly state: "done"; readonly answer: string };

const day = 24 * 60 * 60_000;
// Longer than any request may take to be carried out: a process that dies leaves no more than this.
const leaseMs = 60_000;

// A record is `p <fingerprint> <token>` while a request is carried out, and `d <fingerprint> <answer>` afterwards.
const scripts = {
  millraceClaimRequest: `
local held = redis.call("GET", KEYS[1])
if not held then
  redis.call("SET", KEYS[1], "p " .. ARGV[1] .. " " .. ARGV[2], "PX", ARGV[3])
  return { "claimed" }
end
local state, fingerprint, rest = string.match(held, "^(%a) (%S+) (.*)$")
if fingerprint ~= ARGV[1] then return { "other" } end
if state == "d" then return { "done", rest } end
return { "busy" }`,
  millraceAnswerRequest: `
if redis.call("GET", KEYS[1]) ~= "p " .. ARGV[1] .. " " .. ARGV[2] then return 0 end
redis.call("SET", KEYS[1], "d " .. ARGV[1] .. " " .. ARGV[4], "PX", ARGV[3])
return 1`,
  millraceForgetRequest: `
if redis.call("GET", KEYS[1]) == "p " .. ARGV[1] .. " " .. ARGV[2] then redis.call("DEL", KEYS[1]) end
return 1`,
};

const claimSchema = z.union([
  z.tuple([z.enum(["claimed", "busy", "other"])]).transform(([state]): Claim => ({ state })),
  z.tuple([z.literal("done"), z.string()]).transform(([state, answer]): Claim => ({ state, answer })),
]);

/** @throws QueueUnavailableError when Redis does not answer, as everything here */
export async function claimRequest(request: KeyedRequest): Promise<Claim> {
  return claimSchema.parse(await run("millraceClaimRequest", request, leaseMs));
}

/** Keeps the answer for a day: longer than the job itself may be kept. */
export async function answerRequest(request: KeyedRequest, answer: string): Promise<void> {
  await run("millraceAnswerRequest", request, day, answer);
}

/** Lets the key be used again, since nothing came of the request. */
export async function forgetRequest(request: KeyedRequest): Promise<void> {
  await run("millraceForgetRequest", request);
}

/** What stands for the request wherever an id of it is needed. */
export function digestOf(scope: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(scope)).digest("base64url");
}

export function fingerprintOf(body: unknown): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("base64url");
}

async function run(
  name: keyof typeof scripts,
  { scope, fingerprint, token }: KeyedRequest,
  ...rest: (string | number)[]
): Promise<unknown> {
  const key = ownKey(readQueueEnv().QUEUE_PREFIX, "requests", digestOf(scope));
  const script = { name, numberOfKeys: 1, lua: scripts[name] };
  return askQueue(contracts.default, (queue) => runScript(queue, script, [key], [fingerprint, token, ...rest]));
}
