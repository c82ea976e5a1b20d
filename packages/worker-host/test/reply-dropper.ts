import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface ReplyDropper {
  readonly port: number;
  /** Ends the connection instead of passing on the next reply that holds the text. Resolves when that has happened. */
  dropReplyWith(text: string): Promise<void>;
  /** Keeps back the next reply that holds the text. Resolves when that has happened, with what lets it go. */
  holdReplyWith(text: string): Promise<() => void>;
  close(): void;
}

/** A network between a client and a Redis, which breaks, or is slow, after a command was carried out and before its reply arrives. */
export async function startReplyDropper(redis: {
  readonly host: string;
  readonly port: number;
}): Promise<ReplyDropper> {
  let armed: { text: string; dropped: () => void } | undefined;
  let holding: { text: string; held: (release: () => void) => void } | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(redis.port, redis.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      if (holding && chunk.includes(holding.text)) {
        upstream.pause();
        holding.held(() => {
          client.write(chunk);
          upstream.resume();
        });
        holding = undefined;
        return;
      }
      if (!armed || !chunk.includes(armed.text)) return client.write(chunk);
      armed.dropped();
      armed = undefined;
      return client.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    dropReplyWith: (text) => new Promise((dropped) => (armed = { text, dropped })),
    holdReplyWith: (text) => new Promise((held) => (holding = { text, held })),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
