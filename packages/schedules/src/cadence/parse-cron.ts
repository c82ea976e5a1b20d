/** A cron pattern, each field as the values that it allows. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** Day of month and day of week are both restricted: one of them is enough, as in every cron. */
  readonly isEitherDay: boolean;
  /**
   * A minute or an hour is `*`, a step or a range: the pattern stands for "every so often" and not for times of day. Daylight saving time
   * treats the two differently.
   */
  readonly isPeriodic: boolean;
}

/** The pattern is none. The message says which field, what was expected and what came. */
export class CronError extends Error {
  override readonly name = "CronError";
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const fields = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  {
    name: "month",
    min: 1,
    max: 12,
    names: ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
  },
  { name: "day of week", min: 0, max: 7, names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] },
] as const satisfies Field[];

/**
 * Reads the five fields of cron: minute, hour, day of month, month, day of week. Each is a list of `*`, values, ranges `a-b` and steps `/n`;
 * months and weekdays also have their English names, and Sunday is 0 or 7. There are no seconds and no nicknames.
 *
 * @throws CronError
 */
export function parseCron(pattern: string): Cron {
  const texts = pattern.trim().split(/\s+/);
  if (texts.length !== 5 || texts[0] === "") {
    const got = texts[0] === "" ? "nothing" : `${texts.length}`;
    throw new CronError(
      `expected five fields (minute, hour, day of month, month, day of week; no seconds), got ${got}`,
    );
  }
  // There are five of each.
  const [minute, hour, day, month, weekday] = texts as [string, string, string, string, string];
  const weekdays = parseField(weekday, fields[4]);
  return {
    minutes: parseField(minute, fields[0]),
    hours: parseField(hour, fields[1]),
    days: new Set(parseField(day, fields[2])),
    months: new Set(parseField(month, fields[3])),
    weekdays: new Set(weekdays.map((value) => value % 7)),
    isEitherDay: !day.startsWith("*") && !weekday.startsWith("*"),
    isPeriodic: /[*-]/.test(minute) || /[*-]/.test(hour),
  };
}

function parseField(text: string, field: Field): number[] {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const [, all, first, last, step] = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? [];
    if (all === undefined && first === undefined) {
      throw fieldError(field, 'a value, "*", a range "a-b", a step "*/n", or several of them with commas', item);
    }
    if (step !== undefined && (Number(step) === 0 || (all === undefined && last === undefined))) {
      throw fieldError(field, 'a step after "*" or a range, and above 0', item);
    }
    const from = first === undefined ? field.min : parseValue(first, field);
    const to = first === undefined ? lastOf(field) : last === undefined ? from : parseValue(last, field);
    if (from > to) throw fieldError(field, "a range whose first value is not above its last", item);
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value);
  }
  return [...values].sort((one, other) => one - other);
}

/** Sunday has two numbers; `*` and its steps count it once. */
function lastOf({ max, names }: Field): number {
  return names?.length === 7 ? 6 : max;
}

function parseValue(text: string, field: Field): number {
  const { min, max, names = [] } = field;
  const index = names.indexOf(text.toUpperCase());
  const value = index >= 0 ? index + min : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw fieldError(field, `${min} to ${max}${names.length > 0 ? ` or ${names[0]} to ${names.at(-1)}` : ""}`, text);
}

function fieldError({ name }: Field, expected: string, got: string): CronError {
  return new CronError(`${name}: expected ${expected}, got ${JSON.stringify(got.slice(0, 40))}`);
}
