import { createHash } from "node:crypto";
import { InvalidJobError, makeJobId } from "@millrace/worker-config";
import { emailContract } from "@millrace/worker-config/contracts";
import { type HandlersOf, PermanentError } from "@millrace/worker-host";

type SendBulk = HandlersOf<typeof emailContract>["sendBulk"];

// Each waits for Redis once; more at a time would only wait for each other.
const atOnce = 20;

/**
 * Gives each recipient a `sendEmail` job of its own. Ids are made of this job and the address, so that another attempt goes on where the
 * last one ended, and an address that is listed twice gets one mail; the idempotency key holds when the ids are long gone.
 */
export function createSendBulk(): SendBulk {
  return async ({ recipients, template, ...shared }, { jobId, createdAt, enqueue, signal }) => {
    const invalid: number[] = [];
    const counts = { created: 0, duplicate: 0 };

    const enqueueOne = async ({ to, name, variables }: (typeof recipients)[number], position: number) => {
      const address = createHash("sha256").update(to.toLowerCase()).digest("hex").slice(0, 24);
      const mailId = makeJobId(jobId, createdAt.getTime(), address);
      const mail = {
        ...shared,
        ...(template && { template: { ...template, variables: { ...template.variables, ...variables } } }),
        to: name === undefined ? to : { address: to, name },
        idempotencyKey: mailId,
      };
      try {
        counts[(await enqueue(emailContract, "sendEmail", mail, { jobId: mailId })).status] += 1;
      } catch (error) {
        if (!(error instanceof InvalidJobError)) throw error;
        invalid.push(position);
      }
    };

    for (let start = 0; start < recipients.length; start += atOnce) {
      signal.throwIfAborted();
      const batch = recipients.slice(start, start + atOnce);
      await Promise.all(batch.map((recipient, index) => enqueueOne(recipient, start + index)));
    }
    if (invalid.length === recipients.length) {
      throw new PermanentError("Expected at least one recipient who could get this mail, got none.", {
        code: "no_valid_recipient",
      });
    }
    return { enqueued: counts.created, duplicates: counts.duplicate, invalid: invalid.sort((a, b) => a - b) };
  };
}
