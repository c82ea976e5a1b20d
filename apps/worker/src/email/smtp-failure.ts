import { PermanentError, TransientError } from "@millrace/worker-host";

/** The mail server says that there is no such recipient: this mail will not be taken, and none after it. */
export class UnknownRecipientError extends PermanentError {
  /** Such as `5.1.1` (RFC 3463). */
  readonly enhancedStatus: string;

  constructor(message: string, enhancedStatus: string) {
    super(message, { code: "smtp_unknown_recipient" });
    this.enhancedStatus = enhancedStatus;
  }
}

// RFC 3463, 3.2, of what is wrong with the recipient's address: no such mailbox, no such host, no address, moved; and RFC 7505: the domain takes
// no mail. Its 5.1.7 and 5.1.8 are about the sender's address.
const unknownRecipient = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"]);

/**
 * Tells whether another attempt can help. A reply of 5xx is final (RFC 5321, 4.2.1): no such mailbox, refused, wrong credentials. A
 * reply of 4xx, and no reply at all, are for later.
 *
 * A connection that breaks after the content was sent leaves open whether the mail went out. It is sent again, under the same
 * Message-ID: a mail that comes twice is noticed, one that never comes is not.
 *
 * The recipient alone is at fault where the server says so by an enhanced status in its answer to RCPT. A bare 550 there is often about
 * the sender (a block list, a relay that is refused), and a full mailbox empties.
 *
 * The server's own words are left out: they tend to repeat the recipient's address, and failures are logged.
 */
export function toJobError(error: unknown, { isContentSent }: { isContentSent: boolean }): Error {
  if (!Error.isError(error)) return new TransientError("The mail was not sent.", { code: "smtp_failed" });
  const { code, command, responseCode, response } = describe(error);
  if (responseCode === undefined) {
    // nodemailer itself found the envelope unusable; no server was asked.
    if (code === "EENVELOPE") return new PermanentError("The mail has no usable address.", { code: "smtp_rejected" });
    if (isContentSent) {
      return new TransientError(
        `The mail server took the mail and did not confirm it (${code ?? "no code"}): it may have gone out.`,
        { code: "smtp_unconfirmed" },
      );
    }
    return new TransientError(`The mail server was not reached or fell silent (${code ?? "no code"}).`, {
      code: "smtp_unreachable",
    });
  }
  const enhanced = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response ?? "")?.[0];
  const answer = `The mail server answered ${[responseCode, enhanced].filter(Boolean).join(" ")} to ${command ?? "a command"}.`;
  if (responseCode < 500) return new TransientError(answer, { code: "smtp_deferred" });
  if (code === "EAUTH") {
    const advice = `${answer} Correct the user and password in SMTP_URL, then replay the dead letters.`;
    return new PermanentError(advice, { code: "smtp_auth" });
  }
  if (command === "RCPT TO" && enhanced !== undefined && unknownRecipient.has(enhanced)) {
    return new UnknownRecipientError(answer, enhanced);
  }
  return new PermanentError(answer, { code: "smtp_rejected" });
}

/** The fields that nodemailer adds to its errors, each looked at before it is believed. */
function describe(error: Error): { code?: string; command?: string; responseCode?: number; response?: string } {
  const fields: Record<string, unknown> = { ...error };
  const text = (name: string) => (typeof fields[name] === "string" ? { [name]: fields[name] } : {});
  const { responseCode } = fields;
  return {
    ...text("code"),
    ...text("command"),
    ...text("response"),
    ...(typeof responseCode === "number" && { responseCode }),
  };
}
