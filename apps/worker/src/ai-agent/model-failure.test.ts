import { useDatabase } from "@millrace/database/testing";
import { freePort } from "@millrace/dev-services";
import { beforeAll, expect, test } from "vitest";
import { aiAgentHandlers } from "./handlers.ts";
import { failureOfModel } from "./model-failure.ts";
import { agentContext, useAgentDomain } from "./test/domain.ts";
import {
  endsEarly,
  fails,
  failsInStream,
  hangs,
  isSilent,
  type ModelReply,
  resets,
  type ScriptedModel,
  says,
  startScriptedModel,
} from "./test/scripted-model.ts";

const { database } = useDatabase();
const { parts, runAgent } = useAgentDomain(database, () => model.baseUrl);
const inTwoHours = () => new Date(Date.now() + 2 * 3_600_000).toUTCString();
const elsewhere = useAgentDomain(database, () => `http://127.0.0.1:${unusedPort}/v1`);
let model: ScriptedModel;
let unusedPort = 0;
beforeAll(async () => {
  model = await startScriptedModel();
  unusedPort = await freePort();
});

const answers = (status: number, retryAfter?: string, code?: string) =>
  fails(status, { ...(retryAfter && { headers: { "retry-after": retryAfter } }), ...(code && { code }) });

test.each<[string, ModelReply, object]>([
  [
    "429 with Retry-After",
    answers(429, "7"),
    { kind: "rate_limited", code: "model_rate_limited", retryAfterMs: 7_000 },
  ],
  ["429 for years", answers(429, "99999999"), { kind: "rate_limited", retryAfterMs: 3_600_000 }],
  ["429 until a date", answers(429, inTwoHours()), { kind: "rate_limited", retryAfterMs: 3_600_000 }],
  ["429 without a word", answers(429), { kind: "rate_limited", retryAfterMs: undefined }],
  ["408", answers(408), { kind: "transient", code: "model_unavailable" }],
  ["409", answers(409), { kind: "transient", code: "model_unavailable" }],
  ["500", answers(500), { kind: "transient", code: "model_unavailable" }],
  ["503 with Retry-After", answers(503, "30"), { kind: "transient", code: "model_unavailable", retryAfterMs: 30_000 }],
  ["400", answers(400), { kind: "permanent", code: "model_refused" }],
  [
    "400 context_length_exceeded",
    answers(400, "", "context_length_exceeded"),
    { kind: "permanent", code: "context_length" },
  ],
  ["401", answers(401), { kind: "permanent", code: "model_unauthorized" }],
  ["402", answers(402), { kind: "permanent", code: "model_unpaid" }],
  ["403", answers(403), { kind: "permanent", code: "model_unauthorized" }],
  ["404", answers(404), { kind: "permanent", code: "model_unknown" }],
  ["422", answers(422), { kind: "permanent", code: "model_refused" }],
  ["nothing at all", isSilent, { kind: "transient", code: "model_timeout" }],
  ["one word and then nothing", hangs, { kind: "transient", code: "model_timeout" }],
  ["one word and a reset", resets, { kind: "transient", code: "model_unreachable" }],
  ["one word and an early end", endsEarly, { kind: "transient", code: "model_stream_broken" }],
  ["an error in its stream", failsInStream("SECRET overloaded"), { kind: "transient", code: "model_stream_broken" }],
  [
    "a rate limit in its stream",
    failsInStream("Rate limit reached"),
    { kind: "rate_limited", code: "model_rate_limited" },
  ],
  [
    "too long a context in its stream",
    failsInStream("maximum context length"),
    { kind: "permanent", code: "context_length" },
  ],
  ["a word that it withholds", says("Hm", "content_filter"), { kind: "permanent", code: "content_filtered" }],
])("a server that answers %s is asked once, and the job knows what that means", async (_, reply, expected) => {
  model.script(reply, says("A second request, which only a retry of the SDK would make."));
  const { error } = await runAgent({ prompt: "SECRET prompt" }, { idleTimeoutMs: 300 });
  const { failureKind: kind, code, retryAfterMs } = Object(error);
  expect({ kind, code, retryAfterMs }).toMatchObject(expected);
  expect(String(error)).not.toContain("SECRET");
  expect(model.requests()).toHaveLength(1);
});

test("a model that talks and talks is cut off when its time is over", async () => {
  model.script((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const timer = setInterval(() => response.write(": still at it\n\n"), 50);
    response.on("close", () => clearInterval(timer));
  });
  const { error } = await runAgent({}, { callTimeoutMs: 500 });
  expect(error).toMatchObject({ failureKind: "transient", code: "model_timeout" });
});

test("a server that nobody runs is tried again", async () => {
  expect((await elsewhere.runAgent({})).error).toMatchObject({ failureKind: "transient", code: "model_unreachable" });
});

test.each(["what is a rate limit?", "what is a context window?", "too many tokens"])(
  "an answer that is no JSON means the same, though the prompt is %j",
  async (words) => {
    const page: ModelReply = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(`<p>${words}`);
    model.script(page, page);
    const broken = { failureKind: "transient", code: "model_stream_broken" };
    expect((await runAgent({ prompt: words })).error).toMatchObject(broken);
    const context = agentContext({ action: "embedText" });
    await expect(aiAgentHandlers(parts()).embedText({ texts: [words] }, context)).rejects.toMatchObject(broken);
    expect(model.requests()).toHaveLength(2);
  },
);

test("what a server says beside its message and code decides nothing", () => {
  const part = { error: { message: "overloaded", code: 7, request: { prompt: "rate limit" } } };
  expect(failureOfModel(part)).toMatchObject({ code: "model_stream_broken" });
  expect(failureOfModel({ message: "Busy.", code: "rate_limit_exceeded" })).toMatchObject({
    code: "model_rate_limited",
  });
  expect(failureOfModel("context_length_exceeded")).toMatchObject({ code: "context_length" });
});

test("a job that is cancelled lets go of the model within a second", async () => {
  const cancelled = new AbortController();
  const closed = Promise.withResolvers<number>();
  let abortedAt = 0;
  model.script((response, request) => {
    response.on("close", () => closed.resolve(performance.now()));
    hangs(response, request);
    abortedAt = performance.now();
    cancelled.abort(new Error("cancelled"));
  });
  const { error } = await runAgent({}, { context: { signal: cancelled.signal } });
  expect(error).toBe(cancelled.signal.reason);
  expect((await closed.promise) - abortedAt).toBeLessThan(1_000);
});
