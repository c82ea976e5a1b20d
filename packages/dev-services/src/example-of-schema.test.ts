import { expect, test } from "vitest";
import { exampleOfSchema } from "./example-of-schema.ts";

const ofProperty = (schema: object) =>
  exampleOfSchema({ type: "object", properties: { it: schema }, required: ["it"] });

test.each([
  [{ type: "string" }, "demo"],
  [{ type: "string", minLength: 6, maxLength: 8 }, "demo.."],
  [{ type: "string", format: "email" }, "ada@example.com"],
  [{ enum: ["sunny", "rainy"] }, "sunny"],
  [{ const: 7 }, 7],
  [{ type: "integer" }, 0],
  [{ type: "integer", exclusiveMinimum: 4, multipleOf: 5 }, 5],
  [{ type: "number", minimum: 0.5, maximum: 0.8 }, 0.5],
  [{ type: "number", maximum: -3 }, -3],
  [{ type: "boolean" }, false],
  [{ type: ["string", "null"] }, "demo"],
  [{ anyOf: [{ type: "integer" }, { type: "null" }] }, 0],
  [{ type: "array", items: { type: "boolean" } }, [false]],
  [{ type: "array", items: { type: "boolean" }, minItems: 2 }, [false, false]],
  [{ type: "object", properties: { deep: { type: "string" } } }, { deep: "demo" }],
])("%j is fitted by %j", (schema, value) => {
  expect(ofProperty(schema)).toEqual({ it: value });
});

test.each([
  { type: "string", format: "ipv6" },
  { type: "string", pattern: "^x+$" },
  { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
  { allOf: [{ type: "string" }, { minLength: 3 }] },
  { type: "nonsense" },
])("for %j there is none, and it is not pretended", (schema) => {
  expect(ofProperty(schema)).toBeUndefined();
});
