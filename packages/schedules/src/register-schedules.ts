import { randomUUID } from "node:crypto";
import { readClock, toArguments } from "./change-schedules.ts";
import type { CodeSchedule } from "./define-schedule.ts";
import { storedScheduleSchema } from "./schedule.ts";
import { runScript } from "./schedules-in-redis.ts";

/** What a registration does, or would do: ids of the code's schedules. */
export interface RegistrationPlan {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  /** The code owned them and has them no longer. */
  readonly removed: readonly string[];
}

/** A registration in force. */
export interface Registration extends RegistrationPlan {
  /** Registers anew where Redis has lost its data, and not where a process that started later has registered others. */
  renew(): Promise<RegistrationPlan | undefined>;
}

/**
 * What `registerSchedules` would do, without doing it.
 *
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function planSchedules(schedules: readonly CodeSchedule[]): Promise<RegistrationPlan> {
  return synchronise(schedules, "plan", "");
}

/**
 * Puts the code's schedules into force, all or none: new ones are added, changed ones updated, and those that the code had and has no longer are
 * removed. What tenants made stays. A schedule whose cadence is the same keeps its next due time, so that a restart shifts nothing.
 *
 * @throws Error when two schedules have one id
 * @throws QueueUnavailableError when Redis does not answer
 */
export async function registerSchedules(schedules: readonly CodeSchedule[]): Promise<Registration> {
  const token = randomUUID();
  const plan = await synchronise(schedules, "register", token);
  return {
    ...plan,
    renew: async () => {
      const isLost = (await runScript(`return redis.call("EXISTS", registration)`)) === 0;
      return isLost ? synchronise(schedules, "register", token) : undefined;
    },
  };
}

async function synchronise(
  schedules: readonly CodeSchedule[],
  mode: "plan" | "register",
  token: string,
): Promise<RegistrationPlan> {
  const ids = new Set(schedules.map(({ id }) => id));
  if (ids.size < schedules.length)
    throw new Error(`Schedules: expected ids of their own, got ${schedules.length} schedules with ${ids.size} ids.`);
  const now = await readClock();
  // Without what is not stored, such as the lock.
  const stored = schedules.flatMap((schedule) =>
    toArguments({ ...storedScheduleSchema.parse(schedule), workspaceId: null }, now),
  );
  // The script's own form.
  const reply = (await runScript(synchroniseScript, mode, token, ...stored)) as [
    string[],
    string[],
    string[],
    string[],
  ];
  const [added, updated, unchanged, removed] = reply;
  return { added, updated, unchanged, removed };
}

const synchroniseScript = `
local isPlan = ARGV[1] == "plan"
local added, updated, unchanged, removed, owned = {}, {}, {}, {}, {}
for first = 3, #ARGV, 6 do
  local id, definition = ARGV[first], ARGV[first + 2]
  local known = redis.call("HGET", byId .. ":" .. id, "definition")
  owned[id] = true
  table.insert(not known and added or known == definition and unchanged or updated, id)
  if not isPlan then put(id, "code", definition, ARGV[first + 3], ARGV[first + 4], ARGV[first + 5]) end
end
for _, id in ipairs(redis.call("ZRANGE", of .. ":code", 0, -1)) do
  if not owned[id] then
    table.insert(removed, id)
    if not isPlan then remove(id) end
  end
end
if not isPlan then redis.call("SET", registration, ARGV[2]) end
return { added, updated, unchanged, removed }`;
