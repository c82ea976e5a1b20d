import type { z } from "zod";

const known = new WeakMap<z.core.$ZodType, boolean>();

/**
 * Whether a value of this schema can hold an object whose keys the schema names, at any depth; nothing is to be looked for in one that cannot,
 * as `z.json()`. A schema is walked once in the life of the process.
 */
export function canHoldClosedObject(schema: z.core.$ZodType): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const found = reachesClosedObject(schema, new Set());
  known.set(schema, found);
  return found;
}

/** The schema inside of those that only wrap one. Of a transformation, what goes in. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodTypes {
  // zod's own list of all kinds of schemas, so that each kind's definition can be told from the others.
  const kind = schema as z.core.$ZodTypes;
  const { def } = kind._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "nonoptional":
    case "readonly":
    case "catch":
      return unwrap(def.innerType);
    case "pipe":
      return unwrap(def.in);
    case "lazy":
      // zod's own copy: the getter of `z.json()` makes another schema whenever it is called.
      return unwrap((kind as z.core.$ZodLazy)._zod.innerType);
    default:
      return kind;
  }
}

function reachesClosedObject(schema: z.core.$ZodType, seen: Set<z.core.$ZodType>): boolean {
  const inner = unwrap(schema);
  // A recursive schema comes by here again.
  if (seen.has(inner)) return false;
  seen.add(inner);
  const { def } = inner._zod;
  if (def.type === "object" && def.catchall === undefined) return true;
  return partsOf(def).some((part) => reachesClosedObject(part, seen));
}

function partsOf(def: z.core.$ZodTypes["_zod"]["def"]): readonly z.core.$ZodType[] {
  switch (def.type) {
    case "object":
      return Object.values(def.shape);
    case "array":
      return [def.element];
    case "tuple":
      return def.rest ? [...def.items, def.rest] : def.items;
    case "record":
      return [def.valueType];
    case "union":
      return def.options;
    default:
      return [];
  }
}
