import { createApiKey, type Role } from "@millrace/access";
import { useDatabase } from "@millrace/database/testing";
import type { InjectOptions } from "fastify";
import { expect, test } from "vitest";
import { routeTable, rowOf } from "../../test/route-table.ts";
import { listRoutes, useTestApp } from "../../test/test-app.ts";

const { database } = useDatabase();
const app = useTestApp(() => ({ database: database() }));

const roles: Role[] = ["viewer", "producer", "operator", "admin"];

/** What was answered: the status, and the code of a problem. */
async function ask(method: string, url: string, key?: string, payload?: object): Promise<string> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  // What the router lists is what it takes; the type of inject knows the usual methods only.
  const request = { method: method as NonNullable<InjectOptions["method"]>, url, headers, ...(payload && { payload }) };
  const { statusCode, body } = await app().inject(request);
  const [, code] = /"code":"(\w+)"/.exec(statusCode < 400 ? "" : body) ?? [];
  return code === undefined ? String(statusCode) : `${statusCode} ${code}`;
}

const keyOf = async (role: Role, workspaceId?: string) => (await createApiKey({ name: role, role, workspaceId })).key;

/** Ten requests at a time: they spend most of their time waiting for Redis and the database. */
async function inTens<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  for (let next = 0; next < items.length; next += 10) await Promise.all(items.slice(next, next + 10).map(run));
}

/** Whoever is let in gets at what `x` stands for: it is not there, or the request is none; an answer that is the same for all of them. */
const reached =
  /^(200|204|301|303|308|400( \w+)?|404( (unknown_\w+|not_suppressed|not_quarantined|file_missing))?|405 read_only)$/;

test("every route answers each role, of all workspaces, of its own and of another, exactly as the table says, and nobody else", {
  timeout: 60_000,
}, async () => {
  const routes = listRoutes(app());
  const table = routeTable(database());
  expect(routes.filter((route) => !rowOf(table, route))).toEqual([]);
  const keys = new Map<string, string>();
  for (const role of roles) keys.set(role, await keyOf(role));
  for (const role of roles) if (role !== "admin") keys.set(`${role} of ws-1`, await keyOf(role, "ws-1"));
  const wrong: string[] = [];
  const check = (asked: string, who: string, answer: string, expected: RegExp | string) => {
    // What answers HEAD has no body, and so no code.
    const wanted = asked.startsWith("HEAD ") && typeof expected === "string" ? expected.slice(0, 3) : expected;
    const isRight = typeof wanted === "string" ? answer === wanted : wanted.test(answer);
    if (!isRight) wrong.push(`${asked} as ${who}: expected ${wanted}, got ${answer}`);
  };
  await inTens(routes, async ({ method, url }) => {
    const [who, inWorkspace] = rowOf(table, { method, url }) ?? [[]];
    const asked = `${method} ${url}`;
    if (who === "public") return check(asked, "nobody", await ask(method, url), reached);
    check(asked, "nobody", await ask(method, url), "401 unauthorized");
    let first: string | undefined;
    for (const role of roles) {
      const answer = await ask(method, url, keys.get(role));
      const isAllowed = who.includes(role);
      if (isAllowed) first ??= answer;
      check(asked, role, answer, isAllowed ? reached : "403 forbidden");
      if (isAllowed) check(asked, role, answer, first ?? "");
    }
    for (const role of roles) {
      const key = keys.get(`${role} of ws-1`);
      if (key === undefined) continue;
      const as = `${role} of ws-1`;
      if (!who.includes(role)) check(asked, as, await ask(method, url, key), "403 forbidden");
      else if (inWorkspace === "open") check(asked, as, await ask(method, url, key), first ?? "");
      else if (!inWorkspace) check(asked, as, await ask(method, url, key), "403 other_workspace");
      else {
        const own = await inWorkspace("ws-1");
        check(asked, as, await ask(method, own.url ?? url, key, own.payload), /^20[0124]$/);
        const others = await inWorkspace("ws-2");
        const isNamed = others.isNamed ?? others.payload !== undefined;
        const refusal = isNamed ? "403 other_workspace" : /^404( unknown_\w+)?$/;
        check(`${asked}, which is ws-2's,`, as, await ask(method, others.url ?? url, key, others.payload), refusal);
      }
    }
  });
  expect(wrong).toEqual([]);
});
