import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A mail server that says what the test wants, line by line, and keeps every line that it got.
 *
 * @param onLine null cuts the connection, an empty text says nothing
 */
export async function startScriptedSmtp(onLine: (line: string) => string | null, greeting: string | null = "220 hi") {
  const lines: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (greeting !== null) socket.write(`${greeting}\r\n`);
    socket.on("data", (chunk) => {
      for (const line of chunk.toString().split("\r\n").filter(Boolean)) {
        lines.push(line);
        const reply = onLine(line);
        if (reply === null) socket.destroy();
        else if (reply !== "") socket.write(`${reply}\r\n`);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return { smtpUrl: `smtp://127.0.0.1:${port}`, lines, close: () => server.close() };
}

/** Takes every recipient and content, but for what `replies` says to the line that begins so; `.` is the end of the content. */
export function answering(replies: Record<string, string | null>): (line: string) => string | null {
  return (line) => {
    for (const [beginning, reply] of Object.entries(replies)) {
      if (beginning === "." ? line === "." : line.startsWith(beginning)) return reply;
    }
    if (line === "DATA") return "354 go";
    if (line === "QUIT") return "221 bye";
    return line === "." || /^(EHLO|MAIL|RCPT|RSET)/.test(line) ? "250 ok" : "";
  };
}
