import { createLogger } from "@millrace/logger";
import { expect, test } from "vitest";
import { runEach } from "./sweep-queues.ts";

test("each sweep runs whatever became of the others, and what failed is told and fails the job at the end", async () => {
  const lines: object[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ level: "info", format: "json", destination });
  const away = new Error("away");
  const ran: string[] = [];
  const sweep = (name: string, error?: Error) => async () => {
    ran.push(name);
    if (error) throw error;
    return 1;
  };
  const sweeps = { first: sweep("first", away), second: sweep("second"), third: sweep("third", new Error("other")) };
  await expect(runEach(sweeps, log)).rejects.toMatchObject({
    message: "Of the nightly sweeps these failed: first, third. The others ran.",
    cause: away,
  });
  expect(ran).toEqual(["first", "second", "third"]);
  expect(lines).toMatchObject([
    { code: "sweep_failed", sweep: "first" },
    { code: "sweep_failed", sweep: "third" },
  ]);
  expect(await runEach({ second: sweep("second") }, log)).toEqual({ second: 1 });
});
