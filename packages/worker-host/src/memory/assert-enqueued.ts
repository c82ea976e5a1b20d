import { AssertionError } from "node:assert";
import { isDeepStrictEqual } from "node:util";

/** Fields that a job's data must hold, each of them exactly, or a question to ask of it. */
export type ExpectedData<Data> = Partial<Data> | ((data: Data) => boolean);

const mostShown = 10;

/**
 * Throws unless as many jobs fit as were expected: at least one where `times` does not say.
 *
 * @param enqueued the data of all jobs of that name, as it was stored
 * @throws AssertionError that shows their data: it is made for tests, where data is made up
 */
export function assertJobs<Data>(
  name: string,
  enqueued: readonly Data[],
  expected: ExpectedData<Data> | undefined,
  times: number | undefined,
): void {
  const fitting = enqueued.filter((data) => fits(data, expected));
  if (times === undefined ? fitting.length > 0 : fitting.length === times) return;
  const wanted = `${times === undefined ? "at least 1" : times} of ${name}${describe(expected)}`;
  const found =
    enqueued.length === 0 ? "no job of that name" : `${fitting.length} among the ${enqueued.length} enqueued:`;
  const shown = enqueued.slice(0, mostShown).map((data) => `\n  ${JSON.stringify(data)}`);
  const more = enqueued.length > mostShown ? `\n  and ${enqueued.length - mostShown} more` : "";
  throw new AssertionError({
    message: `Expected jobs enqueued: ${wanted}. Got ${found}${shown.join("")}${more}`,
    actual: enqueued,
    expected,
    operator: "assertEnqueued",
  });
}

function fits<Data>(data: Data, expected: ExpectedData<Data> | undefined): boolean {
  if (expected === undefined) return true;
  // A payload is JSON, so only a question is a function.
  if (typeof expected === "function") return expected(data);
  if (!isObject(data) || !isObject(expected)) return isDeepStrictEqual(data, expected);
  return Object.entries(expected).every(([field, value]) => isDeepStrictEqual(data[field], value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(expected: unknown): string {
  if (expected === undefined) return "";
  return typeof expected === "function" ? " that the predicate accepts" : ` with ${JSON.stringify(expected)}`;
}
