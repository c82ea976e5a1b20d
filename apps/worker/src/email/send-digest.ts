import { claimDigest, type Database, markDigestSent, whenAvailable } from "@millrace/database";
import type { emailContract } from "@millrace/worker-config/contracts";
import { type HandlersOf, SkippedError } from "@millrace/worker-host";
import { type FindTemplate, withText } from "./compose.ts";
import type { Deliver } from "./deliver.ts";
import { plainDigest } from "./digest-template.ts";
import { toMailbox } from "./mailbox.ts";
import { mailKeyOf, messageIdOf } from "./message-id.ts";

type SendDigest = HandlersOf<typeof emailContract>["sendDigest"];

/**
 * Sends what was collected for somebody in one mail. The items are the job's from its first attempt on, so that each attempt sends the same
 * ones, and are recorded as sent in one step with the mail.
 */
export function createSendDigest(
  database: Database,
  deliver: Deliver,
  findTemplate: FindTemplate,
  defaultFrom: string,
): SendDigest {
  return async ({ recipient, workspaceId, until, template, from, headers }, context) => {
    const messageId = messageIdOf(context, from?.address ?? defaultFrom);
    const key = mailKeyOf(context);
    const upTo = until === undefined ? context.createdAt : new Date(until);
    let count: number | undefined;
    const compose = async () => {
      const claim = () => claimDigest(database, key, { recipient, workspaceId, until: upTo });
      const { items } = await whenAvailable(claim);
      if (items.length === 0) {
        throw new SkippedError("Nothing has been collected for the recipient.", { code: "nothing_to_send" });
      }
      count = items.length;
      const rendering = template ? await findTemplate(template) : plainDigest;
      return withText(await rendering.render({ recipient, count, items: items.map(toVariables) }));
    };
    await deliver(
      {
        messageId,
        from: from ? toMailbox(from) : defaultFrom,
        to: toMailbox(recipient),
        ...(headers !== undefined && { headers }),
        compose,
        record: () => markDigestSent(database, key),
      },
      context,
    );
    return { messageId, ...(count !== undefined && { items: count }) };
  };
}

function toVariables({ text, topic, link, createdAt }: Awaited<ReturnType<typeof claimDigest>>["items"][number]) {
  return {
    text,
    ...(topic !== undefined && { topic }),
    ...(link !== undefined && { link }),
    createdAt: createdAt.toISOString(),
  };
}
