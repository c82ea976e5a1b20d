import { type Command, Option } from "@commander-js/extra-typings";
import { createApiKey, listApiKeys, revokeApiKey, roles } from "@millrace/access";
import { parseDuration, parsePageSize } from "../arguments.ts";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { operate } from "../operate.ts";
import { renderPage } from "../page.ts";

/** `keys create | list | revoke`: who may use the API. */
export function keyCommands(program: Command, cli: Cli): void {
  const group = program
    .command("keys")
    .description("Keys of the API: create, list, revoke. Those of API_KEYS are not among them.");
  group
    .command("create")
    .description("Makes a key and prints it, once: nobody can read it again.")
    .argument("<name>", "who has it, or what for")
    .addOption(new Option("--role <role>", "what it is for").choices(roles.options).makeOptionMandatory())
    .option("--workspace <id>", "for this workspace alone")
    .option("--expires-in <duration>", "how long it holds; for ever without it", parseDuration)
    .addHelpText(
      "after",
      examples(
        "millrace keys create 'web shop' --role producer --workspace ws-7 --expires-in 90d",
        "millrace keys create ci --role viewer --json | jq -r .key",
      ),
    )
    .action(async (name, { role, workspace, expiresIn }) => {
      await operate(cli, { action: "key.create", target: {} }, async () => {
        const { key, apiKey } = await createApiKey({
          name,
          role,
          ...(workspace !== undefined && { workspaceId: workspace }),
          ...(expiresIn !== undefined && { expiresAt: new Date(Date.now() + expiresIn).toISOString() }),
        });
        return {
          document: { ...apiKey, key },
          text: `${key}\nid ${apiKey.id}, ${apiKey.role}. This is the only time that the key is shown.`,
          facts: { id: apiKey.id, name: apiKey.name, role: apiKey.role },
        };
      });
    });
  group
    .command("list")
    .description("Lists keys, by their ids. The keys themselves are kept nowhere.")
    .option("--limit <number>", "keys at most, 200 or fewer", parsePageSize, 50)
    .option("--cursor <cursor>", "where an earlier page ended")
    .addHelpText("after", examples("millrace keys list", "millrace keys list --json | jq -r '.items[].name'"))
    .action(async ({ limit, cursor }) => {
      const page = await listApiKeys({ limit, cursor });
      cli.show(page, () => {
        const head = ["id", "role", "workspace", "created", "expires", "last used", "name"];
        const rows = page.items.map(({ id, role, workspaceId, createdAt, expiresAt, lastUsedAt, name }) => [
          ...[id, role, workspaceId ?? "-", createdAt, expiresAt ?? "never", lastUsedAt ?? "never", name],
        ]);
        return renderPage(cli, { head, rows, cursor: page.nextCursor, empty: "no keys" });
      });
    });
  group
    .command("revoke")
    .description("Takes a key out of force, in every process within five seconds.")
    .argument("<id>", "the key's id, as the list shows it")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("millrace keys revoke 0123456789abcdef --yes"))
    .action(async (id, { yes }) => {
      await confirm(cli, `Revoke key ${id}?`, yes);
      await operate(cli, { action: "key.revoke", target: { id } }, async () => {
        const revoked = await revokeApiKey(id);
        if (!revoked) {
          throw new CliError(
            exitCodes.notFound,
            "unknown_key",
            `There is no key with the id ${id}. It never was, or it was revoked.`,
          );
        }
        const { name, role } = revoked;
        return {
          document: { outcome: "revoked", ...revoked },
          text: `${id}: revoked (${name}, ${role})`,
          facts: { name, role },
        };
      });
    });
}
