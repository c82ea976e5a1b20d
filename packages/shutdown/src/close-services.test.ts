import { createLogger } from "@millrace/logger";
import { expect, test } from "vitest";
import { closeServices } from "./close-services.ts";

function keptLog() {
  const lines: { code?: string; service?: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, log: createLogger({ level: "info", format: "json", destination }) };
}

test("services close one after the other, and what they answer to the end is nothing to report", async () => {
  const { lines, log } = keptLog();
  const steps: string[] = [];
  const service = (name: string) => ({
    close: async () => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
    },
  });
  await closeServices({ outbox: service("outbox"), database: service("database") }, log);
  expect(steps).toEqual(["outbox begins", "outbox ends", "database begins", "database ends"]);
  expect(lines).toEqual([]);
});

test("a service that hangs, rejects or throws keeps no other open, and each is reported", async () => {
  const { lines, log } = keptLog();
  let isClosed = false;
  const services = {
    hanging: { close: () => new Promise<never>(() => {}) },
    rejecting: { close: () => Promise.reject(new Error("away")) },
    throwing: {
      close: () => {
        throw new Error("at once");
      },
    },
    sound: {
      close: async () => {
        isClosed = true;
      },
    },
  };
  await expect(closeServices(services, log, 20)).rejects.toThrow("Not closed: hanging, rejecting, throwing.");
  expect(isClosed).toBe(true);
  expect(lines).toMatchObject([
    { code: "service_close_timeout", service: "hanging" },
    { code: "service_close_failed", service: "rejecting" },
    { code: "service_close_failed", service: "throwing" },
  ]);
});
