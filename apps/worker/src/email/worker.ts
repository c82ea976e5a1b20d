import { openDatabase, readDatabaseEnv } from "@millrace/database";
import { createFileStore, readFileStoreSettings } from "@millrace/file-store";
import { getChildLogger } from "@millrace/logger";
import { emailContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { readEmailEnv } from "./env.ts";
import { emailHandlers } from "./handlers.ts";
import { createMailer } from "./mailer.ts";
import { openSmtpTurns } from "./smtp-turns.ts";

const log = getChildLogger("worker:email");
const { SMTP_URL, SMTP_RATE_MAX: max, SMTP_RATE_DURATION_MS: durationMs, EMAIL_FROM } = readEmailEnv();
const { DATABASE_URL, DATABASE_POOL_MAX } = readDatabaseEnv();
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const files = createFileStore(readFileStoreSettings());
const turns = max === undefined ? undefined : openSmtpTurns(SMTP_URL, { max, durationMs }, log);

const handlers = emailHandlers({
  database,
  sendMail: createMailer(SMTP_URL),
  openAttachment: async (fileId, signal) => {
    const { file, content } = await files.open(fileId, { signal });
    return { ...file, content };
  },
  takeTurn: turns?.takeTurn,
  defaultFrom: EMAIL_FROM,
});
await runWorker(emailContract, handlers, { database, files, ...(turns && { smtpRate: turns }) });
