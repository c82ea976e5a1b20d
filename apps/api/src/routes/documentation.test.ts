import { contracts, enqueueOptionsSchema, type QueueContract } from "@millrace/worker-config";
import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { basic, bearer, useTestApp } from "../../test/test-app.ts";

interface Operation {
  readonly summary: string;
  readonly security?: unknown;
  readonly parameters?: { name: string; in: string; required: boolean }[];
  readonly requestBody?: { content: { "application/json": { schema: { properties: Record<string, Schema> } } } };
  readonly responses: Record<string, { description: string; content?: Record<string, { readonly schema?: Schema }> }>;
}

interface Schema {
  readonly properties: Record<string, unknown>;
  readonly required?: string[];
}

interface Document {
  readonly openapi: string;
  readonly security: unknown;
  readonly components: { schemas: Record<string, Schema>; securitySchemes: unknown };
  readonly paths: Record<string, Record<string, Operation>>;
}

const app = useTestApp();
let document: Document;

beforeAll(async () => {
  document = (await app().inject({ url: "/openapi.json", headers: bearer })).json();
});
const actions = Object.values<QueueContract>(contracts).flatMap((contract) =>
  Object.entries(contract.actions).map(([action, { data }]) => ({ path: `/jobs/${contract.name}/${action}`, data })),
);

function operations(): { path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, operation })),
  );
}

describe("the OpenAPI document", () => {
  test("has every action of every contract, with the fields of its data and the options, and no other route to add or change jobs", () => {
    expect(actions.map(({ path }) => path)).toContain("/jobs/email/sendEmail");
    for (const { path, data } of actions) {
      const body = document.paths[path]?.post?.requestBody?.content["application/json"].schema.properties;
      const expected = z.toJSONSchema(data, { io: "input" });
      expect(Object.keys(body ?? {})).toEqual(["data", "options"]);
      expect(Object.keys(body?.data?.properties ?? {})).toEqual(Object.keys(expected.properties ?? {}));
      expect(body?.data?.required).toEqual(expected.required);
      expect(Object.keys(body?.options?.properties ?? {})).toEqual(Object.keys(enqueueOptionsSchema.shape));
    }
    const written = Object.entries(document.paths).filter(([path, { post }]) => post && path.startsWith("/jobs/"));
    expect(written.map(([path]) => path).toSorted()).toEqual(
      [
        ...actions.flatMap(({ path }) => [path, `${path}/bulk`]),
        ...["cancel", "promote", "retry"].map((operation) => `/jobs/{queue}/{jobId}/${operation}`),
      ].toSorted(),
    );
  });

  test("is valid by the schema of OpenAPI 3.1, its references lead somewhere and its path parameters are declared", async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...structuredClone(document) })).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g);
    const referred = new Set([...references].map(([, name]) => name));
    expect([...referred]).toEqual(expect.arrayContaining(["Enqueued", "File", "Job", "Problem", "WebhookEndpoint"]));
    expect(Object.keys(document.components.schemas).toSorted()).toEqual([...referred].toSorted());
    for (const { path, operation } of operations()) {
      const declared = operation.parameters?.filter((parameter) => parameter.in === "path" && parameter.required) ?? [];
      expect(declared.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    }
  });

  test("has lists that all go page by page in the same way", () => {
    const lists = operations().filter(({ operation }) => operation.summary.startsWith("List "));
    expect(lists.length).toBeGreaterThan(10);
    for (const { path, operation } of lists) {
      // Those who are alive now, at once: docs/api.md says so.
      if (path === "/workers") continue;
      const names = operation.parameters?.filter((parameter) => parameter.in === "query").map(({ name }) => name);
      expect(names, path).toEqual(expect.arrayContaining(["cursor", "limit"]));
      const { schema } = operation.responses[200]?.content?.["application/json"] ?? {};
      expect(Object.keys(schema?.properties ?? {}), path).toEqual(["items", "nextCursor"]);
    }
  });

  const special: Record<string, string> = {
    "/files/{fileId}": "application/octet-stream",
    "/jobs/{queue}/{jobId}/events": "text/event-stream",
  };

  test("describes each answer, and every failure as a problem", () => {
    for (const { path, operation } of operations()) {
      const success = special[path] ?? "application/json";
      expect(operation.summary).not.toBe("");
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(["400", "401", "404", "503"]));
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        expect(description).toMatch(/\w+ \w+/);
        expect(description).not.toBe("Default Response");
        const type = status < "300" ? success : "application/problem+json";
        expect(Object.keys(content ?? {})).toEqual(status === "204" ? [] : [type]);
      }
    }
  });

  test("says of an upload that it is bytes, and what becomes of it", () => {
    const { post } = document.paths["/files"] ?? {};
    expect(Object.keys(post?.requestBody?.content ?? {})).toEqual(["application/octet-stream"]);
    expect(post?.parameters?.map(({ name }) => name)).toEqual(["name", "ttlMs"]);
    expect(JSON.stringify(post?.responses[201])).toContain("#/components/schemas/File");
  });

  test("asks for the key at every operation", () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes).toEqual({ apiKey: { type: "http", scheme: "bearer" } });
    for (const { operation } of operations()) expect(operation).not.toHaveProperty("security");
  });

  test("describes the status with the fields that it has", async () => {
    const fields = [
      "jobId",
      "queue",
      "action",
      "status",
      "attempts",
      "progress",
      "createdAt",
      "dueAt",
      "startedAt",
      "finishedAt",
    ];
    expect(Object.keys(document.components.schemas.Job?.properties ?? {})).toEqual([...fields, "result", "error"]);
  });

  test("says nothing of probes, pages and the dashboard", () => {
    const documented =
      /^\/(agent|audit|dead-letters|email|files|jobs|keys|owners|quarantine|queues|schedules|webhooks|workers)\b/;
    expect(Object.keys(document.paths).filter((path) => !documented.test(path))).toEqual([]);
  });
});

test("/docs is a page that shows this document and runs no program from elsewhere", async () => {
  const page = await app().inject({ url: "/docs/", headers: basic });
  expect(page.headers["content-type"]).toContain("text/html");
  expect(page.body).toContain('"/openapi.json"');
  expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
  for (const off of ['"withDefaultFonts": false', '"telemetry": false', '"showDeveloperTools": "never"']) {
    expect(page.body.replace(/\s+/g, " ")).toContain(off);
  }
  expect(page.headers["content-security-policy"]).toContain("default-src 'self'");
  const script = await app().inject({ url: "/docs/js/scalar.js", headers: basic });
  expect([script.statusCode, script.headers["content-type"]]).toEqual([200, expect.stringContaining("javascript")]);
});

test("/docs leads on to itself, and a redirect asks for the key too", async () => {
  expect((await app().inject({ url: "/docs", headers: basic })).headers.location).toBe("/docs/");
  expect((await app().inject({ url: "/docs" })).statusCode).toBe(401);
});
