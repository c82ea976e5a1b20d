import { once } from "node:events";
import { createServer } from "node:net";

export interface HoldingMailServer {
  readonly smtpUrl: string;
  /** Resolves when a mail has been sent in full and its sender waits for the answer. */
  readonly mailSent: Promise<void>;
  /** Answers the mail that waits. */
  accept(): void;
  close(): void;
}

/** A mail server that takes its time: it answers a mail's end only when told. So a job is held in the middle of its work. */
export async function startHoldingMailServer(): Promise<HoldingMailServer> {
  const { promise: mailSent, resolve } = Promise.withResolvers<void>();
  let answer = () => {};
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write("220 hi\r\n");
    socket.on("data", (chunk) => {
      for (const line of chunk.toString().split("\r\n").filter(Boolean)) {
        if (/^(EHLO|MAIL|RCPT|QUIT)/.test(line)) socket.write("250 ok\r\n");
        else if (line === "DATA") socket.write("354 go\r\n");
        else if (line === ".") {
          answer = () => socket.write("250 taken\r\n");
          resolve();
        }
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { smtpUrl: `smtp://127.0.0.1:${port}`, mailSent, accept: () => answer(), close: () => server.close() };
}
