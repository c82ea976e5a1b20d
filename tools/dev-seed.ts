import {
  addDigestItem,
  connectDatabase,
  findEmailTemplate,
  listDigestRecipients,
  putEmailTemplate,
} from "@millrace/database";

const reader = "ada@example.com";

/**
 * What the commands of the page of examples need to be there. Once more changes nothing: a template that somebody edited stays, and there is
 * something for a digest again where the last one was sent.
 *
 * @param databaseUrl of a database whose schema is up to date
 */
export async function seedDevelopment(databaseUrl: string): Promise<void> {
  const database = connectDatabase({ url: databaseUrl, poolMax: 1 });
  try {
    if (!(await findEmailTemplate(database, "welcome"))) {
      await putEmailTemplate(database, {
        id: "welcome",
        subject: "Welcome to {{ product }}, {{ name }}",
        html: "<h1>Hello {{ name }}</h1><p>It is good to have you with {{ product }}.</p>",
      });
    }
    const unsent = await listDigestRecipients(database, { until: new Date(), limit: 100 });
    if (unsent.some(({ recipient, workspaceId }) => recipient === reader && workspaceId === undefined)) return;
    const link = "https://example.com/library";
    await addDigestItem(database, { recipient: reader, topic: "Library", text: "Two new books", link });
  } finally {
    await database.close();
  }
}
