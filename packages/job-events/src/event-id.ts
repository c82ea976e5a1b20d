/**
 * An event's id in its job's stream: `<life>-<number>`. The life is when the stream began, in milliseconds by Redis's clock; the numbers in
 * it are 1, 2, 3 without a hole, so that a reader sees what was trimmed away before it came.
 */
interface EventId {
  readonly life: number;
  readonly number: number;
}

const form = /^(\d{1,15})-(\d{1,15})$/;

/** Whether a text can be the id of an event, wherever it came from. */
export function isEventId(text: string): boolean {
  return form.test(text);
}

/**
 * How many events between two are missing. Null where nobody can say: the stream had expired and began anew.
 *
 * @param before the last event that was seen, or undefined where the reader begins
 */
export function countMissing(before: string | undefined, next: string): number | null {
  const [seen, found] = [before === undefined ? undefined : parse(before), parse(next)];
  if (seen === undefined) return found.number - 1;
  return seen.life === found.life ? found.number - seen.number - 1 : null;
}

function parse(id: string): EventId {
  const [, life, number] = form.exec(id) ?? [];
  return { life: Number(life), number: Number(number) };
}
