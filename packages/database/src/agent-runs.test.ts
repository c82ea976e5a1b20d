import { sql } from "kysely";
import { expect, test } from "vitest";
import { useDatabase } from "../test/use-database.ts";
import { openAgentRun, readAgentSteps, recordAgentStep } from "./agent-runs.ts";

const { database } = useDatabase();
const open = (id: string) =>
  openAgentRun(database(), { id, queue: "aiAgent", jobId: id, action: "runAgent", workspaceId: undefined });

test("each attempt removes the two oldest runs of more than 30 days with their steps, and never its own", async () => {
  const ages = { own: 60, oldest: 50, older: 40, old: 31, recent: 29 };
  for (const id of Object.keys(ages)) {
    await open(id);
    const step = { step: 0, response: "{}", inputTokens: 1, outputTokens: 1, costUsd: 0, durationMs: 1 };
    await recordAgentStep(database(), id, step);
  }
  for (const [id, days] of Object.entries(ages)) {
    await sql`update agent_runs set created_at = now() - make_interval(days => ${days}) where id = ${id}`.execute(
      database(),
    );
  }
  const left = async () => {
    const steps = await Promise.all(Object.keys(ages).map((id) => readAgentSteps(database(), id)));
    return Object.keys(ages).filter((_, index) => steps[index]?.length === 1);
  };
  expect(await open("own")).toHaveLength(1);
  // Its own is one of the two oldest, and stays while it is at work.
  expect(await left()).toEqual(["own", "older", "old", "recent"]);
  await open("another");
  expect(await left()).toEqual(["old", "recent"]);
});
