import { afterAll, beforeAll, expect, test } from "vitest";
import { type DemoModel, startDemoModel } from "./demo-model.ts";

let model: DemoModel;
beforeAll(async () => {
  model = await startDemoModel();
});
afterAll(() => model.stop());

interface Answered {
  readonly choices: [{ message: { content: string; tool_calls: [{ id: string; function: { arguments: string } }] } }];
  readonly data: { embedding: number[] }[];
}

async function ask(path: string, body: object): Promise<Answered> {
  const headers = { "content-type": "application/json" };
  const payload = JSON.stringify({ model: model.name, ...body });
  const response = await fetch(`${model.baseUrl}${path}`, { method: "POST", headers, body: payload });
  // As the protocol says.
  return (await response.json()) as Answered;
}
const tools = [{ type: "function", function: { name: "calculate" } }];
const question = { role: "user", content: "What is 17.5% of 1240?" };

test("a question with arithmetic in it wants the calculator, where there is one, and then repeats what it said", async () => {
  const { choices } = await ask("/chat/completions", { messages: [question], tools });
  const [call] = choices[0].message.tool_calls;
  expect(JSON.parse(call.function.arguments)).toEqual({ expression: "17.5 / 100 * 1240" });
  const output = { role: "tool", tool_call_id: call.id, content: '{"value":217}' };
  const answered = await ask("/chat/completions", { messages: [question, choices[0].message, output], tools });
  expect(answered.choices[0].message.content).toMatch(/demo model.*217/);
  const plain = await ask("/chat/completions", { messages: [question] });
  expect(plain.choices[0].message.content).toMatch(/demo model read 22 characters/);
});

test("an answer by a schema is made of the schema, and where that is too much for it, it says so", async () => {
  const askFor = async (property: object) => {
    const schema = { type: "object", properties: { mood: property }, required: ["mood"] };
    const response_format = { type: "json_schema", json_schema: { name: "response", schema } };
    return (await ask("/chat/completions", { messages: [question], response_format })).choices[0].message.content;
  };
  expect(JSON.parse(await askFor({ enum: ["calm", "wild"] }))).toEqual({ mood: "calm" });
  expect(await askFor({ type: "string", pattern: "^x+$" })).toMatch(/demo model fits no schema/);
});

test("each text has a vector of its own, the same each time", async () => {
  const { data } = await ask("/embeddings", { input: ["one", "two", "one"] });
  const [one, two, again] = data.map(({ embedding }) => embedding);
  expect(one).toEqual(again);
  expect(one).not.toEqual(two);
});

test("whoever opens its address in a browser reads what it is", async () => {
  for (const url of [new URL("/", model.baseUrl).href, model.baseUrl, `${model.baseUrl}/`]) {
    const response = await fetch(url);
    expect(response.status, url).toBe(200);
    expect(await response.text()).toMatch(/^This is Millrace's demo model: .*\.\n$/);
  }
  expect((await fetch(`${model.baseUrl}/nothing`)).status).toBe(404);
});
