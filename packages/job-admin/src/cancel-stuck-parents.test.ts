import { closeQueues, emailQueue } from "@millrace/worker-config";
import type { Queue } from "bullmq";
import { afterAll, afterEach, expect, test } from "vitest";
import { addFlow } from "../test/flows.ts";
import { cancelStuckParents } from "./cancel-stuck-parents.ts";
import { findJob } from "./find-job.ts";

// The same queue under a wider type.
const email: Queue = emailQueue;

afterEach(() => email.obliterate({ force: true }));
afterAll(() => closeQueues());

test("a parent that has waited for too long is called off with the children that are left, a younger one waits on", async () => {
  await addFlow({ id: "parent", children: [{ id: "child" }] });
  expect(await cancelStuckParents(60_000)).toBe(0);
  expect((await findJob("email", "parent"))?.status).toBe("pending");
  expect(await cancelStuckParents(0)).toBe(1);
  expect((await findJob("email", "parent"))?.status).toBe("cancelled");
  expect((await findJob("email", "child"))?.status).toBe("cancelled");
});
