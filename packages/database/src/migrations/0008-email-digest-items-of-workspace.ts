/** A workspace that is deleted loses what is unsent. */
export const emailDigestItemsOfWorkspace: string = /* sql */ `
create index email_digest_items_of_workspace on email_digest_items (workspace_id) where sent_at is null;
`;
