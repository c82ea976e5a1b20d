import { TransientError } from "@millrace/worker-host";
import {
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  streamText,
  type TextStreamPart,
  type ToolSet,
  type TypedToolCall,
} from "ai";
import type { z } from "zod";
import { answerTooLarge } from "./bounded-fetch.ts";
import { failureOfModel } from "./model-failure.ts";
import { estimateTokens, type TakeModelTurn } from "./model-turns.ts";

/** What is asked of a model, once. */
export interface Question {
  readonly instructions?: string | undefined;
  readonly messages: readonly ModelMessage[];
  /** By name, without what they do: the caller carries them out. */
  readonly tools?: ToolSet;
  /** A JSON Schema for the answer. */
  readonly output?: Record<string, z.core.util.JSONType> | undefined;
  readonly maxOutputTokens: number;
  /** Takes the answer's text as it comes. */
  readonly onText?: (text: string) => void;
  /** Who asks: a job that has to wait for its turn keeps it under this name. */
  readonly asker: string;
  /** On whose account. */
  readonly workspaceId: string | undefined;
  readonly signal: AbortSignal;
  /** Bounds the answer, and not the wait for the question's turn. Defaults to no further bound. */
  readonly within?: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

/** What a model answered. All of it is JSON. */
export interface Answer {
  readonly text: string;
  readonly toolCalls: readonly WantedToolCall[];
  /** As it goes back to the model with the next question. */
  readonly messages: readonly ModelMessage[];
  readonly finishReason: string;
}

export interface WantedToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  /** Why it cannot be carried out: no such tool, or arguments that are none. */
  readonly flaw?: string | undefined;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** US dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
}

export type AskModel = (
  question: Question,
) => Promise<{ readonly answer: Answer; readonly usage: Usage; readonly durationMs: number }>;

/** What an answer mostly stays below; `maxOutputTokens` is what hardly any reaches. */
const usualOutputTokens = 500;
/** A server that does not hold `maxOutputTokens` is held to this many characters a token, where some four are usual, and a few to spare. */
const charactersPerToken = 32;
const spareCharacters = 16_000;
/** No model takes or gives more in one call. A server that counts more, or less than nothing, has miscounted. */
const mostTokens = 10_000_000;

/**
 * Asks a model once and takes its answer as it comes. The queue alone tries again: the SDK does not.
 *
 * @param parts.callTimeoutMs for the whole answer
 * @returns a function that throws what `failureOfModel` makes of a failure, or the reason of its signal
 */
export function createAskModel(parts: {
  readonly model: LanguageModel;
  readonly prices: Prices;
  readonly callTimeoutMs: number;
  readonly takeTurn: TakeModelTurn;
}): AskModel {
  const { model, prices, callTimeoutMs, takeTurn } = parts;
  const answerTo = async (
    { instructions, messages, tools, output, maxOutputTokens, onText }: Question,
    signal: AbortSignal,
  ): ReturnType<AskModel> => {
    const startedAt = performance.now();
    const total = AbortSignal.timeout(callTimeoutMs);
    const failed = new AbortController();
    const maxCharacters = maxOutputTokens * charactersPerToken + spareCharacters;
    let characters = 0;
    const result = streamText({
      model,
      ...(instructions !== undefined && { instructions }),
      messages: [...messages],
      ...(tools && { tools }),
      ...(output && { output: Output.object({ schema: jsonSchema(output) }) }),
      maxOutputTokens,
      maxRetries: 0,
      abortSignal: AbortSignal.any([signal, total, failed.signal]),
      // It would write to the console; what is in the stream is looked at below.
      onError: () => {},
    });
    let finished: { usage: LanguageModelUsage; finishReason: string } | undefined;
    try {
      for await (const part of result.stream) {
        characters += charactersIn(part);
        if (characters > maxCharacters) throw answerTooLarge(`${maxCharacters} characters`);
        if (part.type === "text-delta") onText?.(part.text);
        else if (part.type === "error") throw part.error;
        else if (part.type === "abort") throw new Error("The call was ended.");
        else if (part.type === "finish-step") {
          finished = { usage: part.usage, finishReason: part.finishReason };
        }
      }
      if (!finished) throw new Error("The stream ended without its end.");
    } catch (error) {
      // Whatever still comes is of no use.
      failed.abort();
      signal.throwIfAborted();
      if (total.aborted) {
        throw new TransientError(`The model gave no whole answer within ${callTimeoutMs} ms.`, {
          code: "model_timeout",
        });
      }
      throw failureOfModel(error);
    }
    const { finishReason } = finished;
    const answer = {
      text: await result.text,
      toolCalls: (await result.toolCalls).map(toWantedCall),
      messages: (await result.responseMessages).filter(({ role }) => role === "assistant"),
      finishReason,
    };
    const estimate = {
      inputTokens: estimateTokens(JSON.stringify([instructions, messages])),
      outputTokens: estimateTokens(JSON.stringify([answer.text, answer.toolCalls])),
    };
    const usage = toUsage(finished.usage, estimate, prices);
    return { answer, usage, durationMs: Math.round(performance.now() - startedAt) };
  };
  return async (question) => {
    const { instructions, messages, maxOutputTokens, asker, workspaceId, signal } = question;
    const estimatedTokens =
      estimateTokens(JSON.stringify([instructions, messages])) + Math.min(maxOutputTokens, usualOutputTokens);
    const tellUsedTokens = await takeTurn({ asker, workspaceId, estimatedTokens }, signal);
    const { within = (work) => work(signal) } = question;
    const answered = await within((limited) => answerTo(question, limited));
    await tellUsedTokens(answered.usage.inputTokens + answered.usage.outputTokens);
    return answered;
  };
}

function charactersIn(part: TextStreamPart<ToolSet>): number {
  switch (part.type) {
    case "text-delta":
    case "reasoning-delta":
      return part.text.length;
    case "tool-input-delta":
      return part.delta.length;
    default:
      return 0;
  }
}

/** What the server counted; where it counted nothing the estimate, so that budgets hold there as well. */
function toUsage(counted: LanguageModelUsage, estimate: Omit<Usage, "costUsd">, prices: Prices): Usage {
  const told = { inputTokens: toTokenCount(counted.inputTokens), outputTokens: toTokenCount(counted.outputTokens) };
  const { inputTokens, outputTokens } = told.inputTokens + told.outputTokens > 0 ? told : estimate;
  const costUsd = (inputTokens * prices.input + outputTokens * prices.output) / 1_000_000;
  return { inputTokens, outputTokens, costUsd };
}

/** What a server says that it counted, as a number that can be stored and added up: whole, and from 0 to ten million. */
export function toTokenCount(counted: number | undefined): number {
  return Math.min(Math.max(Math.round(counted ?? 0) || 0, 0), mostTokens);
}

function toWantedCall(call: TypedToolCall<ToolSet>): WantedToolCall {
  const { toolCallId: callId, toolName: tool, input } = call;
  // The SDK has compared the arguments with the tool's schema; its error repeats them, which the model knows.
  const flaw =
    "invalid" in call && call.invalid ? "expected a tool that there is, with arguments of its schema" : undefined;
  return { callId, tool, input, flaw };
}
