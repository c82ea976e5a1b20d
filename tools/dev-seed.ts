import {
  addDigestItem,
  connectDatabase,
  createWebhookEndpoint,
  type Database,
  deleteWebhookEndpoint,
  findEmailTemplate,
  listDigestRecipients,
  putEmailTemplate,
} from "@millrace/database";
import type { Receiver } from "@millrace/dev-services";
import { exampleWebhookEndpointId } from "@millrace/worker-config/contracts";

const reader = "ada@example.com";

/**
 * What the commands of the page of examples need to be there. Once more changes nothing that a person made: a template that somebody edited
 * stays, and there is something for a digest again where the last one was sent.
 *
 * @param databaseUrl of a database whose schema is up to date
 * @param receiver of this start, where the example's webhooks lead
 */
export async function seedDevelopment(databaseUrl: string, receiver: Pick<Receiver, "url" | "secret">): Promise<void> {
  const database = connectDatabase({ url: databaseUrl, poolMax: 1 });
  try {
    await seedTemplate(database);
    await seedDigest(database);
    await seedEndpoint(database, receiver);
  } finally {
    await database.close();
  }
}

async function seedTemplate(database: Database): Promise<void> {
  if (await findEmailTemplate(database, "welcome")) return;
  await putEmailTemplate(database, {
    id: "welcome",
    subject: "Welcome to {{ product }}, {{ name }}",
    html: "<h1>Hello {{ name }}</h1><p>It is good to have you with {{ product }}.</p>",
  });
}

async function seedDigest(database: Database): Promise<void> {
  const unsent = await listDigestRecipients(database, { until: new Date(), limit: 100 });
  if (unsent.some(({ recipient, workspaceId }) => recipient === reader && workspaceId === undefined)) return;
  const link = "https://example.com/library";
  await addDigestItem(database, { recipient: reader, topic: "Library", text: "Two new books", link });
}

/** Made anew each time, since address and secret of the receiver are others; its deliveries go with it, so that the examples work again. */
async function seedEndpoint(database: Database, receiver: Pick<Receiver, "url" | "secret">): Promise<void> {
  await deleteWebhookEndpoint(database, exampleWebhookEndpointId);
  await createWebhookEndpoint(database, {
    id: exampleWebhookEndpointId,
    url: receiver.url,
    secret: receiver.secret,
    events: ["*"],
    description: "The receiver of `pnpm dev`",
    ownerEmail: reader,
  });
}
