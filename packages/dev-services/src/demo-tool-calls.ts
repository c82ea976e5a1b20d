import type { ChatCompletionRequest } from "@copilotkit/aimock";

/** A tool that the demo model wants to be called next. */
export interface DemoToolCall {
  readonly name: string;
  readonly arguments: string;
}

const mailJob = "email/sendEmail";

/**
 * What a question is answered with before there is a text: arithmetic in it by `calculate`, an address in it by `requestJob`, which asks a person
 * for a mail to it. Each once, and only where the request offers the tool.
 */
export function wantedToolCall(request: ChatCompletionRequest): DemoToolCall | undefined {
  const question = questionOf(request);
  const expression = expressionIn(question);
  const to = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.exec(question)?.[0];
  if (expression !== undefined && isOpen(request, "calculate")) return call("calculate", { expression });
  if (to === undefined || !isOpen(request, "requestJob", mailJob)) return undefined;
  const last = request.messages.at(-1);
  const text =
    last?.role === "tool" ? `You asked: ${question} The tool says: ${textOf(last)}` : `You asked: ${question}`;
  return call("requestJob", {
    job: mailJob,
    data: { to, subject: "From the demo model", text },
    reason: `The question names ${to}.`,
  });
}

/** The job that a person was asked for, where the last tool call did that. */
export function requestedApproval({ messages }: ChatCompletionRequest): string | undefined {
  const last = messages.at(-1);
  return last?.role === "tool" ? /"approvalId":"(\w+)"/.exec(textOf(last))?.[1] : undefined;
}

export function textOf({ content }: ChatCompletionRequest["messages"][number]): string {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
}

function call(name: string, args: object): DemoToolCall {
  return { name, arguments: JSON.stringify(args) };
}

/** Whether a tool is offered and was not called since the question; and whether it knows of a job, where one is named. */
function isOpen({ messages, tools = [] }: ChatCompletionRequest, name: string, job = ""): boolean {
  const calls = messages.slice(questionAt(messages)).flatMap(({ tool_calls = [] }) => tool_calls);
  const isCalled = calls.some(({ function: called }) => called.name === name);
  return !isCalled && tools.some(({ function: tool }) => tool.name === name && JSON.stringify(tool).includes(job));
}

function questionOf({ messages }: ChatCompletionRequest): string {
  const question = messages[questionAt(messages)];
  return question ? textOf(question) : "";
}

function questionAt(messages: ChatCompletionRequest["messages"]): number {
  return messages.findLastIndex(({ role }) => role === "user");
}

/** `17.5% of 1240`, or the first thing in the question that looks like arithmetic. */
function expressionIn(question: string): string | undefined {
  const percent = /(\d+(?:\.\d+)?) ?% of (\d+(?:\.\d+)?)/.exec(question);
  if (percent) return `${percent[1]} / 100 * ${percent[2]}`;
  return /\d[\d.]*(?:\s*[-+*/^]\s*\d[\d.]*)+/.exec(question)?.[0];
}
