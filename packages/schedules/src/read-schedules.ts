import { listCursor, namedPlace } from "@millrace/page-cursor";
import { z } from "zod";
import { ownerOf, runScript } from "./schedules-in-redis.ts";
import { parseStoredSchedule, type StoredSchedule } from "./stored-schedule.ts";

/**
 * One schedule, or nothing when there is none with this id.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function findSchedule(id: string): Promise<StoredSchedule | undefined> {
  // The script's own form.
  const reply = (await runScript(`return redis.call("HGETALL", byId .. ":" .. ARGV[1])`, id)) as string[];
  return parseStoredSchedule(reply);
}

const scheduleCursor = listCursor("schedules", namedPlace);

/** Reads a `cursor` of `listSchedules`, and refuses any other text. */
export const scheduleCursorSchema = scheduleCursor.schema;

export interface ScheduleList {
  readonly schedules: readonly StoredSchedule[];
  /** Where the next page begins; null at the end. */
  readonly cursor: string | null;
}

/**
 * Schedules by their ids, a page at a time. One whose record cannot be read is left out: a page may be short and still have a cursor.
 *
 * @param page.workspaceId only this workspace's; null means the code's, undefined everybody's
 * @param page.cursor from the page before
 * @throws ZodError when no page returned the cursor
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function listSchedules({
  workspaceId,
  cursor,
  limit = 50,
}: {
  readonly workspaceId?: string | null | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
} = {}): Promise<ScheduleList> {
  const owner = workspaceId === undefined ? "" : ownerOf(workspaceId);
  const { cursor: end } = z.object({ cursor: scheduleCursorSchema.optional() }).parse({ cursor });
  const from = end === undefined ? "-" : `(${end}`;
  // The script's own form.
  const [ids, hashes] = (await runScript(listScript, owner, from, limit)) as [string[], string[][]];
  const schedules = hashes.flatMap((hash) => parseStoredSchedule(hash) ?? []);
  return { schedules, cursor: ids.length < limit ? null : scheduleCursor.at(ids.at(-1)) };
}

const listScript = `
local index = ARGV[1] == "" and all or of .. ":" .. ARGV[1]
local ids = redis.call("ZRANGEBYLEX", index, ARGV[2], "+", "LIMIT", 0, ARGV[3])
local hashes = {}
for i, id in ipairs(ids) do hashes[i] = redis.call("HGETALL", byId .. ":" .. id) end
return { ids, hashes }`;
