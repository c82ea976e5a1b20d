import { z } from "zod";
import { cursorOf, writeCursor } from "./page-cursor.ts";

// A place has 400 characters at most, of up to four bytes, which base64 makes a third longer.
const longestCursor = 3_000;

/**
 * The cursors of a list whose pages begin after a place, such as an id. They hold the list's name: another list's is refused, as is what no page
 * returned.
 *
 * @param list the list's name, in all of its cursors
 * @param place where a page ends, as the list's function takes it
 */
export function listCursor<Place>(list: string, place: z.ZodType<Place>) {
  return {
    /** Reads a cursor as the place that it stands for. */
    schema: z
      .string()
      .max(longestCursor)
      .pipe(cursorOf(z.tuple([z.literal(list), place])))
      .transform(([, end]) => end),
    /** The cursor of a page that ends there; null where there is no such place, at the list's end. */
    at: (end: Place | null | undefined) => (end === null || end === undefined ? null : writeCursor([list, end])),
  };
}

/** A place that is a number which PostgreSQL counts. */
export const countedPlace = z.string().regex(/^\d{1,18}$/);

/** A place that is a text. A control character is in none of ours, and PostgreSQL refuses NUL. */
export const namedPlace = z.string().regex(/^\P{Cc}{1,400}$/u);
