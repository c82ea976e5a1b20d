import type { IncomingMessage, ServerResponse } from "node:http";
import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { requestedApproval, textOf, wantedToolCall } from "./demo-tool-calls.ts";
import { exampleOfSchema } from "./example-of-schema.ts";
import { freePort } from "./free-port.ts";

export interface DemoModel {
  /** What clients are given, up to and including /v1. */
  readonly baseUrl: string;
  readonly name: string;
  stop(): Promise<void>;
}

export interface DemoModelOptions {
  /** Defaults to 0, any free port. */
  readonly port?: number;
  /** Whether a wanted port that is taken gives way to a free one. Defaults to false: it is an error. */
  readonly fallBackToFreePort?: boolean;
}

const name = "demo-model";
const introduction =
  "This is Millrace's demo model: programs ask it by the OpenAI protocol (POST /v1/chat/completions), and it answers by a script.";

/**
 * A server of the OpenAI protocol on 127.0.0.1 that needs no model: it answers by rules and says that it does. It calls a tool where
 * `wantedToolCall` says so, and repeats what came of it. Asked for an answer by a schema, it makes one of the schema alone, whatever the question
 * was; any other question it repeats in part. Texts become vectors made of their signs, the same for the same text. It knows nothing.
 *
 * @throws Error when a wanted port is taken
 */
export async function startDemoModel({
  port = 0,
  fallBackToFreePort = false,
}: DemoModelOptions = {}): Promise<DemoModel> {
  const chosen = fallBackToFreePort ? await freePort(port) : port;
  const server = new LLMock({ host: "127.0.0.1", port: chosen, journalMaxEntries: 100 });
  server.on({ endpoint: "chat" }, (request) => {
    const call = wantedToolCall(request);
    if (call) return { toolCalls: [call], usage: usageOf(request, 20) };
    const content = answerTo(request);
    return { content, usage: usageOf(request, Math.ceil(content.length / 4)) };
  });
  for (const path of ["/", "/v1"]) server.mount(path, { handleRequest: introduce });
  await server.start();
  return { baseUrl: `${server.url}/v1`, name, stop: () => server.stop() };
}

/** For whoever opens its address in a browser. */
async function introduce(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
  if (request.method !== "GET" || path !== "/") return false;
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(`${introduction}\n`);
  return true;
}

function answerTo(request: ChatCompletionRequest): string {
  const schema = schemaIn(request);
  if (schema) {
    const value = exampleOfSchema(schema);
    return value === undefined ? "The demo model fits no schema as complex as this one." : JSON.stringify(value);
  }
  const approval = requestedApproval(request);
  if (approval !== undefined) {
    return `The demo model asked for a mail, which waits for a person: POST /agent/approvals/${approval}/approve adds it.`;
  }
  const last = request.messages.at(-1);
  const text = last ? textOf(last) : "";
  if (last?.role === "tool") return `The demo model's tool says: ${text}`;
  const shown = text.replace(/\s+/g, " ").trim();
  return `The demo model read ${text.length} characters, which begin: ${shown.slice(0, 120)}`;
}

function schemaIn({ response_format: format }: ChatCompletionRequest): object | undefined {
  const named = format?.json_schema;
  if (typeof named !== "object" || named === null || !("schema" in named)) return undefined;
  return typeof named.schema === "object" && named.schema !== null ? named.schema : undefined;
}

/** About four signs are a token. */
function usageOf({ messages }: ChatCompletionRequest, completionTokens: number) {
  const promptTokens = Math.ceil(JSON.stringify(messages).length / 4);
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens };
}
