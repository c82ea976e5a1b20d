import { useDatabase } from "@millrace/database/testing";
import { type Inbox, startInbox } from "@millrace/dev-services";
import { emailContract } from "@millrace/worker-config/contracts";
import type { HandlersOf, JobContext } from "@millrace/worker-host";
import { jobContext as hostContext } from "@millrace/worker-host/testing";
import { afterAll, beforeAll } from "vitest";
import { type EmailServices, emailHandlers } from "../handlers.ts";
import { createMailer } from "../mailer.ts";

type Action = keyof typeof emailContract.actions;
type Handlers = HandlersOf<typeof emailContract>;

export interface RunOptions extends Partial<JobContext>, Partial<Omit<EmailServices, "database" | "sendMail">> {
  /** Defaults to the inbox. */
  readonly smtpUrl?: string;
}

/** The email worker's handlers beside a real inbox and a real database, each of the file's own. Known once its tests run. */
export function useEmailWorker() {
  const { database } = useDatabase();
  let inbox: Inbox | undefined;
  beforeAll(async () => {
    inbox = await startInbox();
  });
  afterAll(() => inbox?.stop());

  const getInbox = () => {
    if (!inbox) throw new Error("expected to be asked while a test runs");
    return inbox;
  };
  const handlers = ({ smtpUrl, ...services }: Omit<RunOptions, keyof JobContext> = {}): Handlers =>
    emailHandlers({
      database: database(),
      sendMail: createMailer(smtpUrl ?? getInbox().smtpUrl),
      openAttachment: async () => {
        throw new Error("expected no attachment");
      },
      defaultFrom: "Shop <shop@example.com>",
      ...services,
    });
  return {
    database,
    inbox: getInbox,
    handlers,
    /** Runs an action on data as a producer writes it, checked as the host checks it. */
    run: async <Name extends Action>(action: Name, data: unknown, options: RunOptions = {}) => {
      const { smtpUrl, openAttachment, takeTurn, defaultFrom, ...context } = options;
      const services = { smtpUrl, openAttachment, takeTurn, defaultFrom };
      const given = Object.fromEntries(Object.entries(services).filter(([, value]) => value !== undefined));
      // The action's own schema made the data, and nothing but the action's own handler gets it.
      const handler = handlers(given)[action] as (data: unknown, context: JobContext) => ReturnType<Handlers[Name]>;
      return handler(emailContract.actions[action].data.parse(data), jobContext(action, context));
    },
  };
}

/** What the host hands to a handler of this queue. */
export function jobContext(action: Action, overrides: Partial<JobContext> = {}): JobContext {
  return hostContext({ queue: "email", action, ...overrides });
}

/** What the call was rejected with. Fails where it was not. */
export function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => {
      throw new Error("expected a rejection, the call succeeded");
    },
    (reason: unknown) => reason,
  );
}
