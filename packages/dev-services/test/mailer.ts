import { createTransport, type Transporter } from "nodemailer";

export const plainMail = { from: "Ann <ann@example.com>", to: "bob@example.com", subject: "Hello", text: "Hello Bob" };

export function createMailer(smtpUrl: string): Transporter {
  return createTransport({ url: smtpUrl });
}
