import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";

/** What came to the server, as far as tests look at it. */
export interface ModelRequest {
  readonly model: string;
  readonly messages: { role: string; content: unknown; tool_calls?: unknown; tool_call_id?: string }[];
  readonly tools?: { function: { name: string } }[];
  readonly max_tokens?: number;
  readonly response_format?: { type: string };
  readonly input?: string[];
}

export type ModelReply = (response: ServerResponse, request: ModelRequest) => unknown;

export interface ScriptedModel {
  readonly baseUrl: string;
  /** Answers the next requests, one each. */
  script(...replies: readonly ModelReply[]): void;
  /** What came since the last `script`. */
  requests(): readonly ModelRequest[];
}

/** A server of the OpenAI protocol that answers by a script, for the tests of one file. A request that nobody scripted is refused. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  let [replies, requests]: [ModelReply[], ModelRequest[]] = [[], []];
  const server = createServer(async (incoming, response) => {
    // A client that gave up in the middle of its request has asked for nothing.
    const body = await text(incoming).catch(() => undefined);
    if (body === undefined) return;
    // What the SDK sends.
    const request = JSON.parse(body) as ModelRequest;
    requests.push(request);
    await (replies.shift() ?? fails(418))(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    baseUrl: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}/v1`,
    script: (...given) => {
      [replies, requests] = [[...given], []];
    },
    requests: () => requests,
  };
}

export const usage: { readonly prompt_tokens: number; readonly completion_tokens: number } = {
  prompt_tokens: 100,
  completion_tokens: 10,
};

function chunk(response: ServerResponse, delta: object, finish?: string, counted: object = { usage }): void {
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
  const choices = [{ index: 0, delta, finish_reason: finish ?? null }];
  const body = { id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", choices };
  response.write(`data: ${JSON.stringify({ ...body, ...(finish && counted) })}\n\n`);
}

function end(response: ServerResponse): void {
  response.end("data: [DONE]\n\n");
}

/** Says a text, word by word. A server that counts no tokens says nothing of them. */
export const says =
  (text: string, finish = "stop", { isCounted = true }: { isCounted?: boolean } = {}): ModelReply =>
  (response) => {
    for (const word of text.split(/(?<= )/)) chunk(response, { role: "assistant", content: word });
    chunk(response, {}, finish, isCounted ? { usage } : {});
    end(response);
  };

/** Wants tools to be called: each a name and its arguments. */
export const calls =
  (...wanted: readonly (readonly [name: string, args: object | string])[]): ModelReply =>
  (response) => {
    const toolCalls = wanted.map(([name, args], index) => ({
      index,
      id: `call_${index}`,
      type: "function",
      function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    }));
    chunk(response, { role: "assistant", tool_calls: toolCalls });
    chunk(response, {}, "tool_calls");
    end(response);
  };

export const fails =
  (status: number, { headers = {}, code = "some_code" }: { headers?: object; code?: string } = {}): ModelReply =>
  (response) =>
    response
      .writeHead(status, { "content-type": "application/json", ...headers })
      .end(JSON.stringify({ error: { message: `SECRET ${code}`, type: "invalid_request_error", code } }));

/** Says one word and then nothing more. */
export const hangs: ModelReply = (response) => chunk(response, { role: "assistant", content: "Well" });

/** Never answers at all. */
export const isSilent: ModelReply = () => {};

/** Says one word and resets the connection. */
export const resets: ModelReply = (response) => {
  chunk(response, { role: "assistant", content: "Well" });
  // A chunk whose callback is called has left the process.
  response.write(": keep-alive\n\n", () => response.socket?.resetAndDestroy());
};

/** Ends properly, but in the middle. */
export const endsEarly: ModelReply = (response) => {
  chunk(response, { role: "assistant", content: "Well" });
  response.end();
};

/** Says in its stream that something went wrong. */
export const failsInStream =
  (message: string): ModelReply =>
  (response) => {
    chunk(response, { role: "assistant", content: "Well" });
    response.end(`data: ${JSON.stringify({ error: { message, type: "server_error", code: null } })}\n\n`);
  };

/** Answers an embedding request with a vector of so many numbers per text. */
export const embeds =
  (dimensions: number): ModelReply =>
  (response, { input = [] }) => {
    const data = input.map((text, index) => ({
      object: "embedding",
      index,
      embedding: Array.from({ length: dimensions }, (_, position) => text.length + position / 8),
    }));
    const body = { object: "list", model: "scripted", data, usage: { prompt_tokens: 7, total_tokens: 7 } };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
