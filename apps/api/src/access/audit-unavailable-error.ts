/** What an operator asked for was not done, because nobody would have known of it. */
export class AuditUnavailableError extends Error {
  override readonly name = "AuditUnavailableError";
}
