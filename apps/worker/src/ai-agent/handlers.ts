import type { Database } from "@millrace/database";
import type { aiAgentContract } from "@millrace/worker-config/contracts";
import type { HandlersOf } from "@millrace/worker-host";
import { createEmbedText, type EmbedTextParts } from "./embed-text.ts";
import { createRunAgent, type RunAgentParts } from "./run-agent.ts";
import { createSummarizeConversation } from "./summarize-conversation.ts";

export type AiAgentParts = RunAgentParts & EmbedTextParts & { readonly database: Database };

/** One entry per action, for `aiAgent` and `aiAgentUrgent` alike. */
export function aiAgentHandlers(parts: AiAgentParts): HandlersOf<typeof aiAgentContract> {
  return {
    runAgent: createRunAgent(parts),
    summarizeConversation: createSummarizeConversation(parts.database, parts.ask, parts.maxOutputTokens),
    embedText: createEmbedText(parts),
  };
}
