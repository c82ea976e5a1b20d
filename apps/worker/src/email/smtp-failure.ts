import { PermanentError, TransientError } from "@millrace/worker-host";

/**
 * Tells whether another attempt can help. A reply of 5xx is final (RFC 5321, 4.2.1): no such mailbox, refused, wrong credentials. A
 * reply of 4xx, and no reply at all, are for later.
 *
 * A connection that breaks after the content was sent leaves open whether the mail went out. It is sent again, under the same
 * Message-ID: a mail that comes twice is noticed, one that never comes is not.
 *
 * The server's own words are left out: they tend to repeat the recipient's address, and failures are logged.
 */
export function toJobError(error: unknown): Error {
  if (!Error.isError(error)) return new TransientError("The mail was not sent.", { code: "smtp_failed" });
  const { code, command, responseCode, response } = describe(error);
  if (responseCode === undefined) {
    // nodemailer itself found the envelope unusable; no server was asked.
    if (code === "EENVELOPE") return new PermanentError("The mail has no usable address.", { code: "smtp_rejected" });
    return new TransientError(`The mail server was not reached or fell silent (${code ?? "no code"}).`, {
      code: "smtp_unreachable",
    });
  }
  const enhanced = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response ?? "")?.[0];
  const answer = `The mail server answered ${[responseCode, enhanced].filter(Boolean).join(" ")} to ${command ?? "a command"}.`;
  if (responseCode < 500) return new TransientError(answer, { code: "smtp_deferred" });
  return new PermanentError(answer, { code: code === "EAUTH" ? "smtp_auth" : "smtp_rejected" });
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
