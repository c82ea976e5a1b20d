import { expect, test } from "vitest";
import { abortedBy } from "./abort-reason.ts";
import { type AttemptTime, runWithDeadline } from "./run-with-deadline.ts";

test("a handler that rejects as it hears of the abort does not settle the attempt with an error of its own", async () => {
  const controller = new AbortController();
  const running = runWithDeadline(10_000, controller.signal, (time) => {
    const { promise, reject } = Promise.withResolvers<never>();
    time.signal().addEventListener("abort", () => reject(new Error("socket closed")));
    return promise;
  });
  controller.abort(abortedBy("interrupted"));
  await expect(running).rejects.toMatchObject({ abortCause: "interrupted" });
});

test("under a signal that has aborted already the handler does not run", async () => {
  let runs = 0;
  const running = runWithDeadline(10_000, AbortSignal.abort(abortedBy("cancelled")), async () => {
    runs += 1;
  });
  await expect(running).rejects.toMatchObject({ abortCause: "cancelled" });
  expect(runs).toBe(0);
});

test("a signal that is asked for after the abort has aborted", async () => {
  const controller = new AbortController();
  const asked = Promise.withResolvers<() => AbortSignal>();
  const running = runWithDeadline(10_000, controller.signal, async (time) => {
    asked.resolve(() => time.signal());
    return new Promise<never>(() => {});
  });
  running.catch(() => {});
  const signal = await asked.promise;
  controller.abort(abortedBy("cancelled"));
  expect(signal().aborted).toBe(true);
  expect(signal().reason).toMatchObject({ abortCause: "cancelled" });
});

test("a handler that throws before there is a promise fails its attempt, which is over then", async () => {
  const asked = Promise.withResolvers<AttemptTime>();
  const running = runWithDeadline(10_000, undefined, (time) => {
    asked.resolve(time);
    throw new Error("at once");
  });
  await expect(running).rejects.toThrow("at once");
  expect((await asked.promise).isOver()).toBe(true);
});

test("how a handler ends after the abort is told, and one that never began has thrown", async () => {
  const handler = Promise.withResolvers<string>();
  const thrown = Promise.withResolvers<unknown>();
  const running = runWithDeadline(1, undefined, () => handler.promise, thrown.resolve);
  await expect(running).rejects.toMatchObject({ abortCause: "timeout" });
  handler.reject(new Error("socket closed"));
  expect(await thrown.promise).toBe("threw");

  const returned = Promise.withResolvers<unknown>();
  const late = Promise.withResolvers<string>();
  const ignoring = runWithDeadline(1, undefined, () => late.promise, returned.resolve);
  await expect(ignoring).rejects.toMatchObject({ abortCause: "timeout" });
  late.resolve("done");
  expect(await returned.promise).toEqual({ returned: "done" });

  const neverBegan = Promise.withResolvers<unknown>();
  const aborted = AbortSignal.abort(abortedBy("cancelled"));
  const refused = runWithDeadline(10_000, aborted, async () => "done", neverBegan.resolve);
  await expect(refused).rejects.toMatchObject({ abortCause: "cancelled" });
  expect(await neverBegan.promise).toBe("threw");
});
