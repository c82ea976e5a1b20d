import { type Logger, pino } from "pino";

/** What pino keeps on a logger: how a value becomes JSON, by field, and for all other fields under `wildcardFirstSym`. */
type Stringifiers = Partial<Record<symbol, (value: unknown) => string | undefined>>;

/**
 * Spares a logger and its children the search for redacted names in texts and numbers, which have none. For a path like `*.password` pino
 * clones and searches each field of a line by itself: four fifths of what a line costs.
 *
 * @returns whether pino still does so in this way; where it does not, lines are redacted as ever and cost more
 */
export function searchObjectsAlone(logger: Logger): boolean {
  const { stringifiersSym, wildcardFirstSym } = pino.symbols;
  // The types of pino name the symbol and not what it holds.
  const stringifiers = Reflect.get(logger, stringifiersSym) as Stringifiers | undefined;
  const search = stringifiers?.[wildcardFirstSym];
  if (!stringifiers || !search) return false;
  stringifiers[wildcardFirstSym] = (value) => (isFlat(value) ? JSON.stringify(value) : search(value));
  return true;
}

function isFlat(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
