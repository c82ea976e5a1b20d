import { askQueue, contracts, type QueueName, runScript } from "@millrace/worker-config";
import { formatJobSkip, jobStatuses, queueNames, toIso, toJobStatus } from "@millrace/worker-config/contracts";
import { z } from "zod";

/** A job as a list shows it: without payload, result and logs. */
export const jobRowSchema = z
  .object({
    queue: queueNames,
    jobId: z.string(),
    action: z.string().nullable().describe("Null where its record does not say."),
    status: jobStatuses,
    attempts: z.int().describe("Attempts that ended so far."),
    createdAt: z.iso.datetime().nullable().describe("Null where its record does not say."),
    startedAt: z.iso.datetime().nullable(),
    finishedAt: z.iso.datetime().nullable(),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe("`corrupt` where its record is damaged."),
  })
  .meta({ id: "JobRow" });

export type JobRow = z.infer<typeof jobRowSchema>;

// Payloads and results stay in Redis. A job that is in no list of ended or running ones waits, in whatever way. `pcall`, because a key may
// even hold no hash.
const script = {
  name: "millraceReadJobRows",
  numberOfKeys: 3,
  lua: `
local running = {}
for _, id in ipairs(redis.call("LRANGE", KEYS[1], 0, -1)) do running[id] = true end
local rows = {}
for index = 2, #ARGV do
  local id, key, row = ARGV[index], ARGV[1] .. ARGV[index], {}
  local state = redis.call("ZSCORE", KEYS[2], id) and "completed" or redis.call("ZSCORE", KEYS[3], id) and "failed"
    or running[id] and "active" or "waiting"
  if state ~= "waiting" or redis.call("EXISTS", key) == 1 then
    row = redis.pcall("HMGET", key, "name", "timestamp", "atm", "processedOn", "finishedOn", "failedReason", "defa", "returnvalue")
    if row.err then row = {false, false, false, false, false, false, false, false} end
    local returned, skip = row[8], nil
    row[8], row[9], row[10] = state, false, false
    if state == "completed" and returned and string.sub(returned, 1, 19) == '{"millrace:skipped"' then
      local isRead, value = pcall(cjson.decode, returned)
      skip = isRead and type(value) == "table" and value["millrace:skipped"]
    end
    if type(skip) == "table" then row[9], row[10] = tostring(skip.code), tostring(skip.message) end
  end
  rows[#rows + 1] = row
end
return rows`,
};

const text = z.string().nullable();
const replySchema = z.array(
  z.union([z.tuple([text, text, text, text, text, text, text, z.string(), text, text]), z.tuple([])]),
);

/** Reads jobs by their ids, in one command. One that the queue does not hold any more has no row; one whose record is damaged has. */
export async function readJobRows(queue: QueueName, jobIds: readonly string[]): Promise<Map<string, JobRow>> {
  if (jobIds.length === 0) return new Map();
  const reply = await askQueue(contracts[queue], (opened) => {
    const keys = ["active", "completed", "failed"].map((set) => opened.toKey(set));
    return runScript(opened, script, keys, [opened.toKey(""), ...jobIds]);
  });
  const rows = new Map<string, JobRow>();
  for (const [index, row] of replySchema.parse(reply).entries()) {
    const jobId = jobIds[index];
    if (row.length === 0 || jobId === undefined) continue;
    rows.set(jobId, toRow(queue, jobId, row));
  }
  return rows;
}

function toRow(
  queue: QueueName,
  jobId: string,
  [name, timestamp, attempts, processedOn, finishedOn, failedReason, deferred, state, skipCode, skipMessage]: Extract<
    z.infer<typeof replySchema>[number],
    readonly [unknown, ...unknown[]]
  >,
): JobRow {
  const stored = {
    id: jobId,
    name: name ?? "",
    data: undefined,
    attemptsMade: toNumber(attempts) ?? 0,
    progress: 0,
    timestamp: toNumber(timestamp) ?? 0,
    processedOn: toNumber(processedOn),
    finishedOn: toNumber(finishedOn),
    returnvalue: skipCode === null ? null : formatJobSkip({ code: skipCode, message: skipMessage ?? "" }),
    failedReason: failedReason ?? undefined,
    deferredFailure: deferred ?? undefined,
  };
  const { status, startedAt, finishedAt, error } = toJobStatus(queue, stored, state);
  const createdAt = toIso(timestamp);
  const isDamaged = !name || createdAt === null;
  return {
    ...{ queue, jobId, status, attempts: stored.attemptsMade, createdAt, startedAt, finishedAt },
    action: name || null,
    error: isDamaged ? { code: "corrupt", message: "The job's record is damaged." } : error,
  };
}

function toNumber(stored: string | null): number | undefined {
  const number = Number(stored || Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}
