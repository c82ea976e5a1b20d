import { listCursor } from "@millrace/page-cursor";
import { z } from "zod";

// More than any list's cursor has.
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
  const cursor = listCursor(list, place);
  return {
    /** `cursor`, as the place that it stands for, and `limit`. */
    query: {
      cursor: cursor.schema.optional().describe(cursorUse),
      limit: limitParameter(sizes),
    },
    /** The `nextCursor` of these rows; null where they are fewer than were asked for. */
    cursorAfter: <Row>(rows: readonly Row[], limit: number, placeOf: (row: Row) => Place) => {
      const last = rows.length === limit ? rows.at(-1) : undefined;
      return cursor.at(last && placeOf(last));
    },
  };
}
