import { cursorOf, writeCursor } from "@millrace/job-admin";
import { z } from "zod";

// A place has 400 characters at most, of up to four bytes, which base64 makes a third longer.
const longestCursor = 3_000;
const cursorUse = "`nextCursor` of the page before.";

export interface PageSizes {
  /** How many there are on a page that asks for no number. Defaults to 50. */
  readonly standard?: number;
  /** Defaults to 200. */
  readonly most?: number;
}

function limitParameter({ standard = 50, most = 200 }: PageSizes) {
  return z.coerce.number().int().min(1).max(most).default(standard);
}

/** The answer of every list. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** The parameters of a list whose function reads the cursor itself, and refuses it by this schema. */
export function pageQuery(cursor: z.ZodType<unknown, string | undefined>) {
  const isOwn = (text: string) => cursor.safeParse(text).success;
  return {
    cursor: z
      .string()
      .max(longestCursor)
      .refine(isOwn, "expected a cursor that an earlier page returned")
      .optional()
      .describe(cursorUse),
    limit: limitParameter({}),
  };
}

/**
 * How a list comes in pages that begins after a place, such as an id. Its cursors are text without a meaning of its own and hold the list's name:
 * another list's is refused, as is what no page returned.
 *
 * @param list the list's name, in all of its cursors
 * @param place where a page ends, as the list's function takes it
 */
export function pagesOf<Place>(list: string, place: z.ZodType<Place>, sizes: PageSizes = {}) {
  const cursor = z
    .string()
    .max(longestCursor)
    .pipe(cursorOf(z.tuple([z.literal(list), place])));
  const cursorAt = (end: Place | null | undefined) =>
    end === null || end === undefined ? null : writeCursor([list, end]);
  return {
    /** `cursor`, as the place that it stands for, and `limit`. */
    query: {
      cursor: cursor
        .transform(([, end]) => end)
        .optional()
        .describe(cursorUse),
      limit: limitParameter(sizes),
    },
    /** The `nextCursor` of a page that ends there. */
    cursorAt,
    /** The `nextCursor` of these rows; null where they are fewer than were asked for. */
    cursorAfter: <Row>(rows: readonly Row[], limit: number, placeOf: (row: Row) => Place) => {
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return cursorAt(last && placeOf(last));
    },
  };
}

/** A place that is a number which PostgreSQL counts. */
export const countedPlace = z.string().regex(/^\d{1,18}$/);

/** A place that is a text. A control character is in none of ours, and PostgreSQL refuses NUL. */
export const namedPlace = z.string().regex(/^\P{Cc}{1,400}$/u);
