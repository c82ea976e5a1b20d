/** A program that starts a Redis, tells its URL and shrugs off a terminal's Ctrl-C, so that a test can end it as it likes. */
import { startRedis } from "@millrace/dev-services";

process.on("SIGINT", () => {});
const redis = await startRedis({ choice: process.argv[2] === "server" ? "server" : "embedded" });
process.stdout.write(`${redis.url}\n`);
setInterval(() => {}, 60_000);
