import { lookup } from "node:dns/promises";
import { buildConnector, Client } from "undici";
import { beforeAll, expect, test } from "vitest";
import { startServer } from "../test/start-server.ts";
import { isPublicAddress } from "./address-rule.ts";
import { guardConnector, type ResolveName } from "./guarded-connector.ts";
import { createSafeClient } from "./safe-client.ts";

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer((request, response) => {
    const status = Number(request.url?.slice(1));
    if (status >= 300) response.writeHead(status, { location: `http://127.0.0.1:${server.port}/reached` }).end();
    else response.end("reached");
  });
});

/** Asks the server that is there, under this host, and expects that it never hears of it. */
async function expectRefused(
  host: string,
  code: string,
  resolve: ResolveName = neverAsked,
  scheme = "http",
): Promise<void> {
  const before = server.connections();
  const request = createSafeClient({ resolve })(`${scheme}://${host}:${server.port}/`);
  await expect(request).rejects.toMatchObject({ name: "SafeHttpError", code });
  expect(server.connections()).toBe(before);
}

const neverAsked: ResolveName = (hostname) => Promise.reject(new Error(`expected no look-up, got one of ${hostname}`));
const resolvesTo =
  (...addresses: string[]): ResolveName =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test.each([
  // This machine, in every way to write it.
  ["127.0.0.1"],
  ["127.1"],
  ["127.255.255.254"],
  ["2130706433"],
  ["0x7f000001"],
  ["0x7f.0.0.1"],
  ["0177.0.0.1"],
  ["017700000001"],
  ["127.0.0.1."],
  ["%31%32%37.0.0.1"],
  ["①②⑦.⓪.⓪.①"],
  ["127。0。0。1"],
  ["0.0.0.0"],
  ["0"],
  // Private, shared and link-local networks, metadata services.
  ["10.0.0.1"],
  ["172.16.0.1"],
  ["172.31.255.255"],
  ["192.168.1.1"],
  ["100.64.0.1"],
  ["169.254.169.254"],
  ["0xa9fea9fe"],
  ["100.100.100.200"],
  ["168.63.129.16"],
  ["0xa83f8110"],
  ["[::ffff:168.63.129.16]"],
  // Nobody's.
  ["192.0.0.1"],
  ["192.0.2.1"],
  ["198.18.0.1"],
  ["203.0.113.1"],
  ["192.88.99.1"],
  ["224.0.0.1"],
  ["240.0.0.1"],
  ["255.255.255.255"],
  // IPv6.
  ["[::1]"],
  ["[::]"],
  ["[0:0:0:0:0:0:0:1]"],
  ["[::ffff:127.0.0.1]"],
  ["[::ffff:7f00:1]"],
  ["[::127.0.0.1]"],
  ["[::ffff:0:127.0.0.1]"],
  ["[64:ff9b::127.0.0.1]"],
  ["[64:ff9b:1::7f00:1]"],
  ["[2002:7f00:1::]"],
  ["[2001:0:7f00:1::]"],
  ["[fe80::1]"],
  ["[fec0::1]"],
  ["[fc00::1]"],
  ["[fd00:ec2::254]"],
  ["[ff02::1]"],
  ["[2001:db8::1]"],
  ["[100::1]"],
])("the address %s is refused before anything is connected", async (host) => {
  await expectRefused(host, "address_refused");
});

test.each([
  ["file:///etc/passwd"],
  ["gopher://127.0.0.1/"],
  ["ftp://example.com/"],
  ["ws://example.com/"],
  ["http://user@example.com/"],
  ["http://example.com:password@127.0.0.1/"],
  ["http://example.com@127.0.0.1/"],
  ["http://example.com:25/"],
  ["http://example.com:22/"],
  ["https://example.com:1023/"],
  ["http://[fe80::1%25eth0]/"],
  ["http://[::1"],
  ["http://256.0.0.1/"],
  ["//example.com/"],
  ["example.com"],
  [""],
])("the URL %j is refused", async (url) => {
  await expect(createSafeClient({ resolve: neverAsked })(url)).rejects.toMatchObject({ code: "url_refused" });
});

test.each([
  ["a private address", ["10.0.0.1"]],
  ["this machine", ["127.0.0.1"]],
  ["this machine in IPv6", ["::1"]],
  ["a mapped address", ["::ffff:127.0.0.1"]],
  ["a link-local address with its zone", ["fe80::1%eth0"]],
  ["a public address and a private one", ["93.184.216.34", "10.0.0.1"]],
  ["what is no address", ["localhost"]],
])("a name that resolves to %s is refused", async (_, addresses) => {
  await expectRefused("innocent.example", "address_refused", resolvesTo(...addresses));
  await expectRefused("innocent.example", "address_refused", resolvesTo(...addresses), "https");
  await expectRefused("innocent.example.", "address_refused", resolvesTo(...addresses));
});

test("localhost is refused as the system resolves it", async () => {
  await expectRefused("localhost", "address_refused", (name) => lookup(name, { all: true }));
});

test("a name without an address, or that cannot be asked for, is told apart", async () => {
  await expectRefused("nowhere.example", "dns_failed", resolvesTo());
  await expectRefused("nowhere.example", "dns_failed", async () => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND nowhere.example"), { code: "ENOTFOUND" });
  });
});

test("a name that changes from a good address to a bad one is asked once per request, and refused at the second", async () => {
  const answers = [["127.0.0.1"], ["127.0.0.2"]];
  let asked = 0;
  // Here 127.0.0.1 stands for the public internet.
  const connect = guardConnector(
    (address) => address === "127.0.0.1",
    async () => {
      asked += 1;
      return (answers.shift() ?? []).map((address) => ({ address, family: 4 }));
    },
  );
  const ask = async () => {
    const client = new Client(`http://rebinding.example:${server.port}`, { connect, pipelining: 0 });
    try {
      return await (await client.request({ method: "GET", path: "/" })).body.text();
    } finally {
      await client.destroy();
    }
  };
  expect(await ask()).toBe("reached");
  expect(asked).toBe(1);
  const before = server.connections();
  await expect(ask()).rejects.toMatchObject({ code: "address_refused" });
  expect([asked, server.connections()]).toEqual([2, before]);
});

test("a socket that ended up elsewhere than was checked is refused before anything is sent", async () => {
  // As where something between resolves and connects by itself: whatever was asked for, this connector goes to 127.0.0.1.
  const connect = guardConnector(isPublicAddress, resolvesTo("93.184.216.34"), () => {
    const direct = buildConnector({});
    return (options, callback) => direct({ ...options, hostname: "127.0.0.1" }, callback);
  });
  const client = new Client(`http://innocent.example:${server.port}`, { connect });
  await expect(client.request({ method: "GET", path: "/" })).rejects.toMatchObject({ code: "address_refused" });
  await client.destroy();
});

test.each([301, 302, 303, 307, 308])("a redirect with %i is an answer and is not followed", async (status) => {
  const before = server.connections();
  const response = await createSafeClient({ allowPrivate: true })(`http://127.0.0.1:${server.port}/${status}`);
  expect(response.status).toBe(status);
  expect(server.connections()).toBe(before + 1);
});

test.each([
  "169.254.169.254",
  "168.63.129.16",
  "100.100.100.200",
  "[::ffff:100.100.100.200]",
  "[fd00:ec2::254]",
  "[fd00:0ec2:0:0::0254]",
  "0.0.0.0",
  "224.0.0.1",
  "[fe80::1]",
  "[64:ff9b::7f00:1]",
])("where private networks are allowed, %s is still refused", async (host) => {
  const request = createSafeClient({ allowPrivate: true })(`http://${host}/`);
  await expect(request).rejects.toMatchObject({ code: "address_refused" });
});

test.each(["93.184.216.34", "168.63.129.17", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1"])(
  "%s is a public address",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);
