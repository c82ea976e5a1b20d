import { inspect } from "node:util";
import { expect } from "vitest";
import { InvalidJobError } from "../src/index.ts";

/** A text that tests put into payloads and that must not come back out in an error. */
export const marker = "marker-8f2c1d";

/** The refusal that a call must end with. Fails when there is none, or when anything in it repeats the payload's marker. */
export async function refusalOf(call: Promise<unknown>): Promise<InvalidJobError> {
  const error: unknown = await call.then(
    () => expect.fail("expected a refusal, the job was added"),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(InvalidJobError);
  expect(inspect(error, { depth: 10 })).not.toContain(marker);
  // Asserted in the line above; the compiler does not follow it.
  return error as InvalidJobError;
}
