const forbiddenKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const maxDepth = 100;

/** One thing that is wrong with a value, and where. Never holds the value. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/**
 * Finds the first thing that JSON would change or lose, or that is dangerous on the way back: NaN becomes null, a Date a string, a
 * Map an empty object, and a `__proto__` key pollutes whoever merges it. A property that is `undefined` is fine: it is left out.
 *
 * @param path names the root in the answer, as in `data.items[3].price`
 */
export function findJsonIssue(value: unknown, path: string, depth = 0): Issue | undefined {
  if (depth > maxDepth) return { path, message: `expected at most ${maxDepth} levels (is it circular?)` };
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : { path, message: `expected a finite number, got ${value}` };
    case "object":
      if (value === null) return undefined;
      return Array.isArray(value) ? findInArray(value, path, depth) : findInObject(value, path, depth);
    default:
      return { path, message: `expected JSON, got ${typeof value}` };
  }
}

function findInArray(values: readonly unknown[], path: string, depth: number): Issue | undefined {
  for (let index = 0; index < values.length; index++) {
    const issue = findJsonIssue(values[index], `${path}[${index}]`, depth + 1);
    if (issue) return issue;
  }
  return undefined;
}

function findInObject(value: object, path: string, depth: number): Issue | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return {
      path,
      message: `expected a plain object, got ${className(prototype) || "an object with another prototype"}`,
    };
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return { path, message: "expected JSON, got a symbol as a key" };
  for (const [key, child] of Object.entries(value)) {
    const childPath = `${path}.${key}`;
    if (forbiddenKeys.has(key))
      return { path: childPath, message: "expected another name: this key pollutes prototypes" };
    if (child === undefined) continue;
    const issue = findJsonIssue(child, childPath, depth + 1);
    if (issue) return issue;
  }
  return undefined;
}

/** The object itself is not asked for its `constructor`: that may be a part of the payload. */
function className(prototype: unknown): string {
  const named = (prototype as { constructor?: unknown }).constructor;
  return typeof named === "function" ? named.name : "";
}
