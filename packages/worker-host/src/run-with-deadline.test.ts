import { expect, test } from "vitest";
import { abortReasons } from "./abort-reason.ts";
import { runWithDeadline } from "./run-with-deadline.ts";

test("a handler that rejects as it hears of the abort does not settle the attempt with an error of its own", async () => {
  const controller = new AbortController();
  const running = runWithDeadline(10_000, controller.signal, (time) => {
    const { promise, reject } = Promise.withResolvers<never>();
    time.signal().addEventListener("abort", () => reject(new Error("socket closed")));
    return promise;
  });
  controller.abort(abortReasons.interrupted);
  await expect(running).rejects.toMatchObject({ abortCause: "interrupted" });
});

test("under a signal that has aborted already the handler does not run", async () => {
  let runs = 0;
  const running = runWithDeadline(10_000, AbortSignal.abort(abortReasons.cancelled), async () => {
    runs += 1;
  });
  await expect(running).rejects.toMatchObject({ abortCause: "cancelled" });
  expect(runs).toBe(0);
});

test("a signal that is asked for after the abort has aborted", async () => {
  const controller = new AbortController();
  const asked = Promise.withResolvers<() => AbortSignal>();
  const running = runWithDeadline(10_000, controller.signal, async (time) => {
    asked.resolve(time.signal);
    return new Promise<never>(() => {});
  });
  running.catch(() => {});
  const signal = await asked.promise;
  controller.abort(abortReasons.cancelled);
  expect(signal().aborted).toBe(true);
  expect(signal().reason).toMatchObject({ abortCause: "cancelled" });
});

test("whoever waits for a handler's end hears of one that throws after the abort, and of one that never began", async () => {
  const late = Promise.withResolvers<never>();
  const heard = Promise.withResolvers<void>();
  const running = runWithDeadline(1, undefined, () => late.promise, heard.resolve);
  await expect(running).rejects.toMatchObject({ abortCause: "timeout" });
  late.reject(new Error("socket closed"));
  await heard.promise;

  const neverBegan = Promise.withResolvers<void>();
  const aborted = AbortSignal.abort(abortReasons.cancelled);
  const refused = runWithDeadline(10_000, aborted, async () => {}, neverBegan.resolve);
  await expect(refused).rejects.toMatchObject({ abortCause: "cancelled" });
  await neverBegan.promise;
});
