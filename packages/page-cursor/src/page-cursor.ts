import { z } from "zod";

/** A cursor of another search than the one that it was given to: it would begin anew, or somewhere. */
export class ForeignCursorError extends Error {
  override readonly name = "ForeignCursorError";

  constructor() {
    super("expected a cursor that an earlier page of the same search returned");
  }
}

/** A place in a listing as a caller keeps it between two pages: text without a meaning of its own. */
export function writeCursor(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** The way back from `writeCursor`. What no page returned is refused, like any other wrong argument, with a ZodError. */
export function cursorOf<Parts extends z.ZodType>(parts: Parts): z.ZodType<z.output<Parts>, string> {
  return z.string().transform((cursor, context) => {
    const parsed = parts.safeParse(parseJson(Buffer.from(cursor, "base64url").toString()));
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: "expected a cursor that an earlier page returned" });
    return z.NEVER;
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
