import type { Mailbox } from "./mailer.ts";

/** An address as a payload may give it, with a name or without. */
export function toMailbox(given: string | { address: string; name?: string | undefined }): Mailbox {
  return typeof given === "string" ? { name: "", address: given } : { name: given.name ?? "", address: given.address };
}
