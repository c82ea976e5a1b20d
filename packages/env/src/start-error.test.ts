import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { explainListenError, StartError } from "./start-error.ts";

test("a port that is taken is said with the variables to set, and no other error is explained", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const [error] = await once(createServer().listen(port, "127.0.0.1"), "listening").catch((cause) => [cause]);
  taken.close();
  const explain = (cause: unknown) => () => explainListenError(cause, "API_PORT", "127.0.0.1", port);
  expect(explain(error)).toThrow(StartError);
  expect(explain(error)).toThrow(`port ${port} of 127.0.0.1: somebody listens there already`);
  expect(explain(error)).toThrow("set API_PORT (or API_HOST) to another one");
  const other = new Error("lost");
  expect(explain(other)).toThrow(other);
});
