import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
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

/**
 * A server of the OpenAI protocol on 127.0.0.1 that needs no model: it answers by rules and says that it does. Asked to calculate where there is
 * a tool for it, it calls that tool and repeats what came of it; any other question it repeats in part. Texts become vectors made of their
 * signs, the same for the same text. It knows nothing.
 *
 * @throws Error when a wanted port is taken
 */
export async function startDemoModel({
  port = 0,
  fallBackToFreePort = false,
}: DemoModelOptions = {}): Promise<DemoModel> {
  const chosen = fallBackToFreePort ? await freePort(port) : port;
  const server = new LLMock({ host: "127.0.0.1", port: chosen, journalMaxEntries: 100 });
  server.on({ endpoint: "chat", predicate: wantsCalculator }, (request) => ({
    toolCalls: [{ name: "calculate", arguments: JSON.stringify({ expression: expressionIn(request) }) }],
    usage: usageOf(request, 20),
  }));
  server.on({ endpoint: "chat" }, (request) => {
    const content = answerTo(request);
    return { content, usage: usageOf(request, Math.ceil(content.length / 4)) };
  });
  await server.start();
  return { baseUrl: `${server.url}/v1`, name, stop: () => server.stop() };
}

function wantsCalculator(request: ChatCompletionRequest): boolean {
  const { messages, tools = [] } = request;
  const hasTool = tools.some(({ function: { name: tool } }) => tool === "calculate");
  return hasTool && messages.at(-1)?.role === "user" && expressionIn(request) !== "";
}

/** `17.5% of 1240`, or the first thing in the question that looks like arithmetic. */
function expressionIn(request: ChatCompletionRequest): string {
  const question = lastText(request);
  const percent = /(\d+(?:\.\d+)?) ?% of (\d+(?:\.\d+)?)/.exec(question);
  if (percent) return `${percent[1]} / 100 * ${percent[2]}`;
  return /\d[\d.]*(?:\s*[-+*/^]\s*\d[\d.]*)+/.exec(question)?.[0] ?? "";
}

function answerTo(request: ChatCompletionRequest): string {
  const text = lastText(request);
  if (request.messages.at(-1)?.role === "tool") return `The demo model's tool says: ${text}`;
  const shown = text.replace(/\s+/g, " ").trim();
  return `The demo model read ${text.length} characters, which begin: ${shown.slice(0, 120)}`;
}

function lastText({ messages }: ChatCompletionRequest): string {
  const content = messages.at(-1)?.content ?? "";
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
}

/** About four signs are a token. */
function usageOf({ messages }: ChatCompletionRequest, completionTokens: number) {
  const promptTokens = Math.ceil(JSON.stringify(messages).length / 4);
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens };
}
