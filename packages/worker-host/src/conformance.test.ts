import { describe } from "vitest";
import { effectCases } from "../test/conformance/effect-cases.ts";
import { endingCases } from "../test/conformance/ending-cases.ts";
import { identityCases } from "../test/conformance/identity-cases.ts";
import { useMemoryEngine } from "../test/conformance/memory-engine.ts";
import { orderCases } from "../test/conformance/order-cases.ts";
import { outcomeCases } from "../test/conformance/outcome-cases.ts";
import { useRedisEngine } from "../test/conformance/redis-engine.ts";

// One table of cases over both hosts: what a user of one has seen is true of the other. A case in which they differ says so.
describe.each([
  ["Redis", useRedisEngine],
  ["memory", useMemoryEngine],
])("with jobs in %s", (_, useEngine) => {
  const engine = useEngine();
  outcomeCases(engine);
  orderCases(engine);
  identityCases(engine);
  effectCases(engine);
  endingCases(engine);
});
