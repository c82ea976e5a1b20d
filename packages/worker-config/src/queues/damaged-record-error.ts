/**
 * Redis answers, and holds another kind of key (a text, a list) in the place of a record. Asking again does not help: somebody has written into the
 * queue's keys by hand.
 */
export class DamagedRecordError extends Error {
  override readonly name = "DamagedRecordError";
  readonly code = "damaged_record";

  constructor(queue: string) {
    super(
      `Queue ${queue}: expected a record, got another kind of key in its place. The keys of the queue were written to by hand.`,
    );
  }
}
