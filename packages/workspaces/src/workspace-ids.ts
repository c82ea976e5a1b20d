/** Something that belongs to a workspace, for a job that knows this and not the workspace: `{ kind: "integration", id: "int-7" }`. */
export interface WorkspaceReference {
  /** What it is: `integration`, `conversation`, `import`. A letter, then up to 63 letters, digits or `-`. */
  readonly kind: string;
  readonly id: string;
}

const maxIdLength = 256;
const kindPattern = /^[a-z][a-z0-9-]{0,63}$/i;

/** Whether the directory can hold such an id at all: 1 to 256 characters of well-formed text, none of them a control character. */
export function isId(value: unknown): value is string {
  // A lone surrogate does not survive the way to Redis, and two such ids would come out as one.
  return (
    typeof value === "string" && /^\P{Cc}{1,256}$/u.test(value) && value.length <= maxIdLength && value.isWellFormed()
  );
}

/** @throws Error that names the argument and repeats nothing of it */
export function requireId(value: string, argument: string): string {
  if (isId(value)) return value;
  throw new Error(
    `${argument}: expected 1 to ${maxIdLength} characters without control characters, got ${describe(value)}.`,
  );
}

/** @throws Error when the kind has another form. A kind stands in code, so another form is a slip and never a workspace unheard of. */
export function requireKind(kind: string): string {
  if (typeof kind === "string" && kindPattern.test(kind)) return kind;
  const got = typeof kind === "string" ? "another form" : describe(kind);
  throw new Error(`reference.kind: expected a letter, then up to 63 letters, digits or "-", got ${got}.`);
}

/** A kind holds no `:`, so no two references share a name. */
export function nameOfReference(kind: string, id: string): string {
  return `${kind}:${id}`;
}

function describe(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  if (value === "") return "an empty one";
  if (value.length > maxIdLength) return `${value.length} characters`;
  return value.isWellFormed() ? "one with a control character" : "one with half a character (a lone surrogate)";
}
