import { z } from "zod";
import { defineQueue, type JobAction, type JobData } from "./define-queue.ts";
import { fileReferenceSchema } from "./file-reference.ts";
import { jsonValue } from "./json-value.ts";
import { outputSchema } from "./output-schema.ts";
import { workspaceIdSchema } from "./workspace-id.ts";

const minute = 60_000;

/** The tools that only read, so that any run may have them. */
export const agentTools = z.enum(["fetchPage", "lookUpJob", "calculate"]);
export type AgentToolName = z.infer<typeof agentTools>;

/** What one run may use up, over all its attempts. Whatever is used up first ends it with an error that names it. */
export const agentBudgetSchema = z.object({
  steps: z.int().min(1).max(50).default(10).describe("Answers of the model."),
  tokens: z.int().min(1).max(1_000_000).default(50_000).describe("Tokens in and out, over all steps."),
  timeMs: z
    .int()
    .min(1_000)
    .max(9 * minute)
    .default(4 * minute)
    .describe("Time in which the model or a tool works; waiting for a turn is none."),
  costUsd: z
    .number()
    .positive()
    .max(100)
    .default(1)
    .describe("By AI_INPUT_PRICE_PER_MILLION and AI_OUTPUT_PRICE_PER_MILLION; without prices nothing costs anything."),
});
export type AgentBudget = z.infer<typeof agentBudgetSchema>;

const workspaceId = workspaceIdSchema
  .optional()
  .describe("Whose job it is: its tools see this workspace's records alone, or without one those of none.");

const usage = z.object({
  inputTokens: z.int(),
  outputTokens: z.int(),
  costUsd: z.number().describe("By the configured prices."),
});

const messageSchema = z.object({
  role: z.enum(["user", "assistant", "system"]),
  name: z.string().max(100).optional().describe("Who said it, where roles are not enough."),
  content: z.string().max(100_000),
});

const maxConversation = 200_000;

/** Whatever is for a language model. Jobs that a person waits for go to `aiAgentUrgent`, which has the same actions. */
export const aiAgentContract = defineQueue("aiAgent", {
  /** Lets a model work with tools until it has its answer. A retry goes on where the last attempt ended. */
  runAgent: {
    data: z.object({
      prompt: z.string().min(1).max(100_000),
      instructions: z.string().max(20_000).optional().describe("Who the model is to be, and what it must not do."),
      tools: z.array(agentTools).max(10).default(["fetchPage", "lookUpJob", "calculate"]),
      requestableJobs: z
        .array(z.string().regex(/^\w+\/\w+$/, "expected queue/action, such as email/sendEmail"))
        .max(10)
        .default([])
        .describe("Jobs that the model may ask for, as queue/action. A person approves each one before it is added."),
      output: outputSchema.optional().describe("A JSON Schema of an object. Without it the answer is text."),
      budget: agentBudgetSchema.prefault({}),
      workspaceId,
    }),
    result: z.object({
      text: z.string().describe("What the model said last."),
      output: jsonValue.nullable().describe("Its answer by the schema that the job asked for."),
      finishReason: z.string().describe("stop; or length, where the answer was cut off at AI_MAX_OUTPUT_TOKENS."),
      steps: z.int(),
      approvals: z.array(z.string()).describe("Jobs that wait for a person: GET /agent/approvals/:id."),
      usage,
    }),
    timeout: 10 * minute,
    // Its steps are stored: the next start goes on behind the last one.
    interruptible: true,
    workspaceId: (data) => data.workspaceId,
    options: { attempts: 5 },
    example: {
      prompt: "What is 17.5% of 1240? Use your calculator, and ask for a mail with the answer to ada@example.com.",
      requestableJobs: ["email/sendEmail"],
    },
  },
  /** Tells in a few sentences what a conversation is about. A long one is read in parts, each of which is stored. */
  summarizeConversation: {
    data: z.object({
      messages: z
        .array(messageSchema)
        .min(1)
        .max(2_000)
        .refine((messages) => messages.reduce((sum, { content }) => sum + content.length, 0) <= maxConversation, {
          message: `expected at most ${maxConversation} characters in all; summarize a longer conversation in several jobs`,
        }),
      maxWords: z.int().min(10).max(1_000).default(150),
      language: z.string().max(50).optional().describe("Such as `German`. Defaults to that of the conversation."),
      workspaceId,
    }),
    result: z.object({ summary: z.string(), parts: z.int().describe("In how many parts it was read."), usage }),
    timeout: 10 * minute,
    interruptible: true,
    workspaceId: (data) => data.workspaceId,
    options: { attempts: 5 },
    example: {
      messages: [
        { role: "user", content: "My parcel has not come. It was due on Monday." },
        { role: "assistant", content: "I am sorry. It is at the depot in Leeds, and comes tomorrow before noon." },
        { role: "user", content: "Good, then I stay at home." },
      ],
    },
  },
  /** Turns texts into vectors, in their order. */
  embedText: {
    data: z.object({ texts: z.array(z.string().min(1).max(30_000)).min(1).max(1_000), workspaceId }),
    result: z.object({
      model: z.string(),
      dimensions: z.int(),
      count: z.int(),
      vectors: z.array(z.array(z.number())).nullable().describe("Where they are few; else they are in the file."),
      file: fileReferenceSchema
        .nullable()
        .describe('Where they are many: JSON, `{ "vectors": [[…], …] }`, by GET /files/:fileId.'),
      usage,
    }),
    timeout: 2 * minute,
    interruptible: true,
    workspaceId: (data) => data.workspaceId,
    options: { attempts: 5 },
    example: { texts: ["The mill stands by the river.", "A race leads the water to the wheel."] },
  },
});

export const AiAgentQueueJobAction = aiAgentContract.actionNames.enum;
export type AiAgentQueueJobAction = JobAction<typeof aiAgentContract>;
export type AiAgentQueueJobData = JobData<typeof aiAgentContract>;
