import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, startCommand } from "./command.ts";

/** The dev command on ports and in a state folder of its own. */
export async function startDev(env: Record<string, string> = {}): Promise<Command> {
  const stateDir = await mkdtemp(join(tmpdir(), "millrace-dev-"));
  const command = startCommand(["dev"], {
    API_PORT: "0",
    DEV_INBOX_HTTP_PORT: "0",
    DEV_INBOX_SMTP_PORT: "0",
    DEV_RECEIVER_HTTP_PORT: "0",
    DEV_MODEL_HTTP_PORT: "0",
    DEV_STATE_DIR: stateDir,
    ...env,
  });
  return {
    ...command,
    remove: async () => {
      await command.remove();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}
