import { emailContract } from "@millrace/worker-config/contracts";
import { runWorker } from "@millrace/worker-host";
import { readEmailEnv } from "./env.ts";
import { emailHandlers } from "./handlers.ts";
import { createMailer } from "./mailer.ts";

const env = readEmailEnv();
await runWorker(emailContract, emailHandlers(createMailer(env.SMTP_URL), env.EMAIL_FROM));
