import { openDatabase, readDatabaseEnv } from "@millrace/database";
import { getChildLogger } from "@millrace/logger";
import { emailContract } from "@millrace/worker-config/contracts";
import { PermanentError, runWorker } from "@millrace/worker-host";
import { readEmailEnv } from "./env.ts";
import { emailHandlers } from "./handlers.ts";
import { createMailer } from "./mailer.ts";
import { openSmtpTurns } from "./smtp-turns.ts";

const log = getChildLogger("worker:email");
const { SMTP_URL, SMTP_RATE_MAX: max, SMTP_RATE_DURATION_MS: durationMs, EMAIL_FROM } = readEmailEnv();
const { DATABASE_URL, DATABASE_POOL_MAX } = readDatabaseEnv();
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const turns = max === undefined ? undefined : openSmtpTurns(SMTP_URL, { max, durationMs }, log);

const handlers = emailHandlers({
  database,
  sendMail: createMailer(SMTP_URL),
  openAttachment: async () => {
    throw new PermanentError("This worker has no file store.", { code: "attachments_unsupported" });
  },
  takeTurn: turns?.takeTurn,
  defaultFrom: EMAIL_FROM,
});
await runWorker(emailContract, handlers, { database, ...(turns && { smtpRate: turns }) });
