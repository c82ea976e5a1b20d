import { openDatabase } from "@millrace/database";
import { createFileStore } from "@millrace/file-store";
import { startProgram } from "@millrace/shutdown";
import { emailContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { readSettings } from "./env.ts";
import { emailHandlers } from "./handlers.ts";
import { createMailer } from "./mailer.ts";
import { openSmtpTurns } from "./smtp-turns.ts";

const { settings, log } = startProgram("worker:email", readSettings);
const { SMTP_URL, SMTP_RATE_MAX: max, SMTP_RATE_DURATION_MS: durationMs, EMAIL_FROM } = settings.email;
const { DATABASE_URL, DATABASE_POOL_MAX } = settings.database;
const database = openDatabase({ url: DATABASE_URL, poolMax: DATABASE_POOL_MAX, log });
const files = createFileStore(settings.files);
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
