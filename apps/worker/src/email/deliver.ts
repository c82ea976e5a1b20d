import { setTimeout as wait } from "node:timers/promises";
import {
  type Database,
  findSuppression,
  recordSent,
  suppressAddress,
  wasSent,
  whenAvailable,
} from "@millrace/database";
import { ContentionError, type JobContext, RateLimitedError, SkippedError } from "@millrace/worker-host";
import type { MailContent } from "./compose.ts";
import type { Mail, SendMail } from "./mailer.ts";
import { mailKeyOf } from "./message-id.ts";
import { type OpenAttachment, openAttachments } from "./open-attachments.ts";
import { UnknownRecipientError } from "./smtp-failure.ts";

export interface DeliveryServices {
  readonly database: Database;
  readonly sendMail: SendMail;
  readonly openAttachment: OpenAttachment;
  /** How many milliseconds the mail server is to be left alone before this job's mail; 0 is now. Without it there is no limit. */
  readonly takeTurn?: ((holder: string) => Promise<number>) | undefined;
}

/** A mail whose content is made when it is known that it will be sent. */
export interface Letter extends Omit<Mail, keyof MailContent | "attachments"> {
  readonly compose: () => Promise<MailContent>;
  readonly attachments?: readonly { readonly fileId: string; readonly name?: string | undefined }[] | undefined;
  /** Records that it was sent; other than by the key of its job's mail alone. */
  readonly record?: () => Promise<void>;
}

const recordWaitsMs = [100, 300, 1_000];
// Where a try takes its time to fail, there is not another one.
const recordWithinMs = 3_000;

/**
 * One mail on its way: sent already? → wanted? → composed → its turn → handed over → recorded. Resolves when it is the mail server's, by this
 * start of the job or by one before it.
 *
 * What cannot be asked puts the mail off without using up an attempt: none is sent to whom it may not, nor a second time, because a database
 * was away.
 *
 * A process that dies between the mail server's 250 and the record sends the mail again. Its Message-ID is the same, and by that a
 * receiver can tell.
 *
 * @throws SkippedError `suppressed`
 * @throws RateLimitedError `smtp_rate_limited`; DatabaseUnavailableError; ContentionError `limits_unavailable`; what `compose`, the file store and the mailer throw
 */
export type Deliver = (
  letter: Letter,
  context: Pick<JobContext, "jobId" | "createdAt" | "signal" | "log">,
) => Promise<void>;

export function createDeliver({ database, sendMail, openAttachment, takeTurn }: DeliveryServices): Deliver {
  return async ({ compose, attachments = [], record, ...envelope }, context) => {
    const { jobId, signal, log } = context;
    const { to } = envelope;
    const key = mailKeyOf(context);
    if (await whenAvailable(() => wasSent(database, key))) return;
    const suppression = await whenAvailable(() => findSuppression(database, to.address));
    if (suppression) {
      const { reason, code } = suppression;
      const why = code === undefined ? reason : `${reason}, ${code}`;
      throw new SkippedError(`The recipient gets no mail (${why}).`, { code: "suppressed" });
    }
    const content = await compose();
    const waitMs = (await takeTurn?.(jobId).catch(refuseWithoutLimits)) ?? 0;
    if (waitMs > 0) {
      throw new RateLimitedError("The mail server has had as many mails as SMTP_RATE_MAX allows.", {
        code: "smtp_rate_limited",
        retryAfterMs: waitMs,
      });
    }
    await using opened = await openAttachments(openAttachment, attachments, signal);
    try {
      await sendMail({ ...envelope, ...content, attachments: opened.files }, signal);
    } catch (error) {
      if (error instanceof UnknownRecipientError) {
        await suppressAddress(database, {
          address: to.address,
          reason: "rejected",
          code: error.enhancedStatus,
          jobId,
        }).catch((err: unknown) =>
          log.error({ code: "suppression_not_recorded", err }, "the next mail to the recipient is rejected as well"),
        );
      }
      throw opened.failure() ?? error;
    }
    await recordPatiently(record ?? (() => recordSent(database, key)), signal).catch((err: unknown) =>
      // It is out: to fail now would send it again.
      log.error(
        { code: "sent_not_recorded", err },
        "the mail was sent, and goes out again if this job is not recorded either; a digest's items are in the next digest as well",
      ),
    );
  };
}

/** A connection that broke is there again soon. It gives up early enough for the attempt to end in its time, or the mail would go out again. */
async function recordPatiently(record: () => Promise<void>, signal: AbortSignal): Promise<void> {
  const startedAt = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      return await record();
    } catch (error) {
      const waitMs = recordWaitsMs[tries];
      const isOver = signal.aborted || performance.now() - startedAt > recordWithinMs;
      if (waitMs === undefined || isOver) throw error;
      await wait(waitMs, undefined, { signal }).catch(() => {});
    }
  }
}

function refuseWithoutLimits(cause: unknown): never {
  throw new ContentionError("The rate of the mail server cannot be asked for.", { code: "limits_unavailable", cause });
}
