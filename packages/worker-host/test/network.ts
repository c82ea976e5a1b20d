import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Network {
  readonly port: number;
  /** Ends the connection instead of passing on the next reply that holds the text. Resolves when that has happened. */
  dropReplyWith(text: string): Promise<void>;
  /** Keeps the next reply that holds the text back. Resolves, when it is there, with what lets it through. */
  holdReplyWith(text: string): Promise<() => void>;
  /** Ends all connections and takes no new one until `mend`. */
  cut(): void;
  mend(): void;
  /** Passes nothing on any more, and ends nothing: what a lost route does, or a frozen server. */
  freeze(): void;
  /** Lets a command be refused, by default as by a Redis whose ACL does not allow it. Returns what lets it pass again. */
  forbid(command: string, refusal?: string): () => void;
  connections(): number;
  close(): void;
}

/** What happens to a reply instead of its passing on. */
interface Trap {
  readonly text: string;
  spring(client: Socket, reply: Buffer): void;
}

/** A network between a client and a Redis, which breaks, or is slow, after a command was carried out and before its reply arrives. */
export async function startNetwork(redis: { readonly host: string; readonly port: number }): Promise<Network> {
  let trap: Trap | undefined;
  let isCut = false;
  let isFrozen = false;
  let forbidden: string | undefined;
  let refusal = "";
  // A command that no Redis knows stands in for the forbidden one, so that answers keep their order.
  const standIn = "$6\r\nnoperm\r\n";
  const withStandIn = (commands: Buffer) =>
    forbidden === undefined
      ? commands
      : Buffer.from(
          commands.toString("latin1").replaceAll(`$${forbidden.length}\r\n${forbidden}\r\n`, standIn),
          "latin1",
        );
  const asForbidden = (reply: Buffer) =>
    forbidden === undefined
      ? reply
      : Buffer.from(
          reply.toString("latin1").replaceAll(/-ERR unknown command 'noperm'[^\r]*/g, `-${refusal}`),
          "latin1",
        );
  const sockets = new Set<Socket>();
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    if (isCut) return client.destroy();
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
    client.on("data", (commands) => !isFrozen && upstream.write(withStandIn(commands)));
    upstream.on("data", (reply) => {
      if (isFrozen) return false;
      if (!trap || !reply.includes(trap.text)) return client.write(asForbidden(reply));
      const sprung = trap;
      trap = undefined;
      return sprung.spring(client, reply);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    dropReplyWith: (text) =>
      new Promise((dropped) => {
        const spring = (client: Socket) => {
          dropped();
          client.destroy();
        };
        trap = { text, spring };
      }),
    holdReplyWith: (text) =>
      new Promise((held) => {
        trap = { text, spring: (client, reply) => held(() => client.write(reply)) };
      }),
    cut: () => {
      isCut = true;
      breakAll();
    },
    mend: () => {
      isCut = false;
    },
    freeze: () => {
      isFrozen = true;
    },
    forbid: (command, words = `NOPERM no permissions to run the '${command}' command`) => {
      forbidden = command;
      refusal = words;
      return () => {
        forbidden = undefined;
      };
    },
    connections: () => sockets.size,
    close: () => {
      server.close();
      breakAll();
    },
  };
}
