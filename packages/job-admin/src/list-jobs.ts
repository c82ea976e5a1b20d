import { ForeignCursorError } from "@millrace/page-cursor";
import { z } from "zod";
import { inBatches } from "./in-batches.ts";
import { criteriaOf, digestFilter, fitsJobFilter, type JobFilter, jobFilterSchema } from "./job-filter.ts";
import { type JobPlace, placeCursorSchema, toPlaceCursor } from "./job-place.ts";
import { type JobRow, jobRowSchema, readJobRows } from "./job-row.ts";
import { forgetFound, walkIndex } from "./walk-index.ts";
import { walkLists } from "./walk-lists.ts";

export const jobPageSchema = z.strictObject({
  cursor: placeCursorSchema.optional().describe("Where an earlier page ended. Defaults to the beginning."),
  limit: z.int().min(1).max(200).default(50).describe("Jobs at most."),
});

export const jobListSchema = z.object({
  jobs: z.array(jobRowSchema),
  cursor: z
    .string()
    .nullable()
    .describe("Where to go on. Null at the end; a page may be short, or empty, and still have one."),
});

export type JobList = z.infer<typeof jobListSchema>;

// A filter that fits nothing must not read a million jobs for one answer.
const longestSearch = 1_000;

/**
 * Lists jobs that fit a filter, without their payloads. A call looks at no more than 1,000 of them; the cursor goes on behind them. One whose
 * record is damaged is listed with the code `corrupt`.
 *
 * By workspace, or by a field that a contract declares searchable, the jobs come queue by queue, the newest first. They are found that way
 * when they were added by `enqueue`, `enqueueMany`, `queue.add`, `queue.addBulk` or the API; not by a flow or another program's queue object.
 * Without either they come by what they do: running, waiting, then failed and completed ones, the newest first. The quarantine has a list of
 * its own.
 *
 * @throws ZodError when filter or page are not valid
 * @throws ForeignCursorError when the cursor is of another search: the filter is another
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function listJobs(
  filter: z.input<typeof jobFilterSchema> = {},
  page: z.input<typeof jobPageSchema> = {},
): Promise<JobList> {
  const sought = jobFilterSchema.parse(filter);
  const { cursor, limit } = jobPageSchema.parse(page);
  const search = digestFilter(sought);
  if (cursor && cursor.search !== search) throw new ForeignCursorError();
  const isFound = criteriaOf(sought).length > 0;
  const places = isFound ? walkIndex(sought, cursor?.place) : walkLists(sought, cursor?.place);
  const jobs: JobRow[] = [];
  let looked = 0;
  for await (const batch of inBatches(places, Math.min(limit, 100))) {
    const rows = await readRows(batch);
    if (isFound) await forgetGone(sought, batch, rows);
    for (const place of batch) {
      looked += 1;
      const row = rows.get(place);
      if (row && fitsJobFilter(sought, row)) jobs.push(row);
      if (jobs.length >= limit || looked >= longestSearch) return { jobs, cursor: toPlaceCursor(search, place) };
    }
  }
  return { jobs, cursor: null };
}

async function readRows(batch: readonly JobPlace[]): Promise<Map<JobPlace, JobRow>> {
  const rows = new Map<JobPlace, JobRow>();
  const byQueue = Map.groupBy(batch, ({ queue }) => queue);
  await Promise.all(
    [...byQueue].map(async ([queue, places]) => {
      const found = await readJobRows(
        queue,
        places.map(({ jobId }) => jobId),
      );
      for (const place of places) {
        const row = found.get(place.jobId);
        if (row && isStill(place, row)) rows.set(place, row);
      }
    }),
  );
  return rows;
}

/** An id that is free may be taken again, by a job that was not indexed by the same value. */
function isStill({ list, position }: JobPlace, { createdAt }: JobRow): boolean {
  return list !== "found" || createdAt === null || Date.parse(createdAt) === position;
}

async function forgetGone(
  filter: JobFilter,
  batch: readonly JobPlace[],
  rows: ReadonlyMap<JobPlace, JobRow>,
): Promise<void> {
  const gone = batch.filter((place) => !rows.has(place));
  if (gone.length > 0) await forgetFound(filter, gone);
}
