import { connectDatabase, createWebhookEndpoint, deleteWebhookEndpoint, migrateDatabase } from "@millrace/database";
import type { Receiver } from "@millrace/dev-services";
import { exampleWebhookEndpointId } from "@millrace/worker-config/contracts";

/**
 * What the examples need to be there: an endpoint that leads to this start's receiver. Made anew each time, since address and secret of the
 * receiver are others; its deliveries go with it, so that the examples work again. Whatever else is in the database stays.
 */
export async function seedDatabase(url: string, receiver: Pick<Receiver, "url" | "secret">): Promise<void> {
  await migrateDatabase(url);
  const database = connectDatabase({ url, poolMax: 1 });
  try {
    await deleteWebhookEndpoint(database, exampleWebhookEndpointId);
    await createWebhookEndpoint(database, {
      id: exampleWebhookEndpointId,
      url: receiver.url,
      secret: receiver.secret,
      events: ["*"],
      description: "The receiver of `pnpm dev`",
      ownerEmail: "ada@example.com",
    });
  } finally {
    await database.close();
  }
}
