import { connectDatabase, type Database } from "@millrace/database";
import { createLogger } from "@millrace/logger";
import type { FastifyInstance, LightMyRequestResponse } from "fastify";
import { expect } from "vitest";
import { createApp } from "../src/app.ts";

export const apiKey = "a-key-for-the-tests";
export const bearer = { authorization: `Bearer ${apiKey}` };
export const basic = { authorization: `Basic ${Buffer.from(`anybody:${apiKey}`).toString("base64")}` };

/** A valid mail, whose text no answer may repeat. */
export const mail = { to: "bob@example.com", subject: "Hello", text: "MARKER" };

/** The app as it is started, with its log lines kept instead of written. Its database is an empty one, unless the test brings its own. */
export async function createTestApp(
  options: { apiKeys?: string[]; maxPayloadBytes?: number; database?: Database } = {},
): Promise<FastifyInstance & { readonly logged: readonly string[] }> {
  const logged: string[] = [];
  const log = createLogger({ level: "info", format: "json", destination: { write: (line) => void logged.push(line) } });
  const database = options.database ?? connectDatabase({ url: process.env.DATABASE_URL ?? "" });
  const app = await createApp({ apiKeys: [apiKey], maxPayloadBytes: 262_144, log, ...options, database });
  app.addHook("onClose", async () => {
    if (!options.database) await database.close();
  });
  return Object.assign(app, { logged });
}

/** What every problem has in common, whatever it is about. */
export function expectProblem(response: LightMyRequestResponse, status: number, code: string): void {
  expect(response.statusCode).toBe(status);
  expect(response.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(response.json()).toMatchObject({
    type: "about:blank",
    title: expect.stringMatching(/^[A-Z]/),
    status,
    code,
    detail: expect.stringMatching(/\w/),
  });
  expect(response.body).not.toContain("MARKER");
}

/** Every route of the app but wildcards, which the router lists without their folder. Each parameter has a value. */
export function listRoutes(app: FastifyInstance): { method: string; url: string }[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split("\n")
    .flatMap((line) => {
      const [, indent = "", path = "", methods = ""] = /^([│ ]*)[├└]── (.*) \(([A-Z, ]+)\)$/.exec(line) ?? [];
      if (path === "") return [];
      const depth = indent.length / 4;
      parents.splice(depth, Number.POSITIVE_INFINITY, path.replace(/:\w+(\|:\w+)*/g, "x"));
      if (path.endsWith("*")) return [];
      return methods.split(", ").map((method) => ({ method, url: parents.join("") }));
    });
}
