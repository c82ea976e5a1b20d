import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";

export interface RawSmtp {
  readonly socket: Socket;
  /** Sends a line and resolves with the last line of its answer. */
  say(line: string): Promise<string>;
  /** The last line of the next answer. */
  answer(): Promise<string>;
}

/** A client that speaks SMTP line by line, so that it can also stop in the middle. It has said hello. */
export async function connectSmtp(smtpUrl: string): Promise<RawSmtp> {
  const { hostname, port } = new URL(smtpUrl);
  const socket = connect(Number(port), hostname);
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw new Error("the server ended the connection");
    // `250-` announces more lines, `250 ` is the last one.
    return /^\d{3}-/.test(value) ? answer() : value;
  };
  const say = (line: string) => {
    socket.write(`${line}\r\n`);
    return answer();
  };
  await once(socket, "connect");
  await answer();
  await say("EHLO test");
  return { socket, say, answer };
}

/** As far as the mail itself: the next that the server expects is its text. */
export async function beginMail(smtpUrl: string): Promise<RawSmtp> {
  const client = await connectSmtp(smtpUrl);
  await client.say("MAIL FROM:<a@example.com>");
  await client.say("RCPT TO:<b@example.com>");
  await client.say("DATA");
  return client;
}
