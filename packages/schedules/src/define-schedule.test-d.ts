// What must not compile: `tsc` reports an error that was expected and does not come.
import { emailContract } from "@millrace/worker-config";
import { defineSchedule } from "./define-schedule.ts";

const data = { to: "ada@example.com", subject: "Digest", text: "Hello" };
const digest = { id: "digest", contract: emailContract, action: "sendEmail", data } as const;
const weekly = { cron: "0 9 * * MON", timeZone: "Europe/Berlin" };

// What must compile.
defineSchedule({ ...digest, ...weekly, missed: { all: { max: 3 } }, overlap: "queue" });
defineSchedule({ ...digest, everyMs: 60_000, lock: { timeoutInSeconds: 20 } });

// @ts-expect-error no cadence
defineSchedule(digest);
// @ts-expect-error cron without its zone
defineSchedule({ ...digest, cron: "0 9 * * MON" });
// @ts-expect-error no such action
defineSchedule({ ...digest, everyMs: 60_000, action: "sendFax" });
// @ts-expect-error wrong data
defineSchedule({ ...digest, everyMs: 60_000, data: { ...data, subject: 1 } });
// @ts-expect-error no such policy
defineSchedule({ ...digest, everyMs: 60_000, overlap: "replace" });
