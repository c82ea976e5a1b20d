import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { explainListenError } from "./explain-listen-error.ts";
import { StartError } from "./start-error.ts";

async function listenErrorOf(host: string, port: number): Promise<unknown> {
  const server = createServer().listen(port, host);
  return once(server, "listening").then(
    () => server.close(),
    (error: unknown) => error,
  );
}

function explain(error: unknown, host: string, port: number): unknown {
  try {
    return explainListenError(error, "API_PORT", host, port);
  } catch (explained) {
    return explained;
  }
}

test("a port that is taken is said with the variables to set", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const error = explain(await listenErrorOf("127.0.0.1", port), "127.0.0.1", port);
  taken.close();
  expect(error).toBeInstanceOf(StartError);
  expect(String(error)).toContain(
    `port ${port} of 127.0.0.1: somebody listens there already. End it, or set API_PORT (or API_HOST) to another one.`,
  );
});

test("where nobody can be told to end, the host is what is to be corrected", async () => {
  // An address that is kept for documents. What a resolver says of a name depends on the network.
  const noAddress = await listenErrorOf("192.0.2.1", 0);
  const noName = Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
  expect(String(explain(noAddress, "192.0.2.1", 80))).toMatch(/does not have that address\. Correct API_HOST: /);
  expect(String(explain(noName, "millrace.invalid", 80))).toMatch(/no machine has that name\. Correct API_HOST: /);
});

test("an error that is not about the address stays what it is", () => {
  const other = new Error("lost");
  expect(() => explainListenError(other, "API_PORT", "127.0.0.1", 80)).toThrow(other);
});
