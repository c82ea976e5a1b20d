import type { DemoModel, DevPostgres, DevRedis, Inbox, Receiver } from "@millrace/dev-services";
import { emailContract } from "@millrace/worker-config/contracts";

interface Started {
  /** The API's own port, where another program has it. */
  readonly takenPort?: number;
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly inbox: Inbox;
  readonly receiver: Receiver;
  /** Nothing where AI_BASE_URL names another. */
  readonly model: DemoModel | undefined;
  readonly redis: DevRedis;
  readonly postgres: DevPostgres;
  readonly workers: readonly string[];
  /** The process of a dev command that ran in this folder before: the commands beside both go to its services. */
  readonly firstDev?: number;
}

// A configured server is told by its reason alone: its URL may hold a password.
/** The end of the start: where everything is, and one line that sends a mail. */
export function renderBanner({
  takenPort,
  apiUrl,
  apiKey,
  inbox,
  receiver,
  model,
  redis,
  postgres,
  workers,
  firstDev,
}: Started): string {
  const mail = JSON.stringify({ data: emailContract.actions.sendEmail.example });
  return `
  Millrace is up.

  API        ${apiUrl}${takenPort === undefined ? "" : ` (port ${takenPort} is taken)`}
  Examples   ${apiUrl}/examples       (one command per action; log in with the API key)
  Docs       ${apiUrl}/docs           (the same)
  Dashboard  ${apiUrl}/admin/queues   (the same)
  Inbox      ${inbox.httpUrl}
  Webhooks   ${receiver.httpUrl}
  Model      ${model ? `${model.baseUrl}, a demo model: it answers by a script, AI_BASE_URL names a real one` : "from AI_BASE_URL"}
  Redis      ${redis.kind === "configured" ? "" : `${redis.url}, `}${redis.reason}
  PostgreSQL ${postgres.kind === "configured" ? "" : `${postgres.url}, `}${postgres.reason}
  API key    ${apiKey}
  Workers    ${workers.join(", ")}

  Send a mail:

curl -X POST ${apiUrl}/jobs/email/sendEmail -H 'authorization: Bearer ${apiKey}' -H 'content-type: application/json' -d '${mail}'

  Ctrl-C stops everything.${
    firstDev === undefined
      ? ""
      : `

  Another dev command runs in this folder (process ${firstDev}): jobs, worker:… and the like go to its services. DEV_STATE_DIR gives each its own folder.`
  }

`;
}
