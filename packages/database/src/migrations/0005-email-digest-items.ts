/** What is unsent is little beside what was sent, so the index that every look-up uses holds that alone. */
export const emailDigestItems: string = /* sql */ `
create table email_digest_items (
  id bigint generated always as identity primary key,
  workspace_id text,
  recipient text not null,
  topic text,
  text text not null,
  link text,
  created_at timestamptz not null default now(),
  claimed_by text,
  claimed_at timestamptz,
  sent_at timestamptz
);
create index email_digest_items_unsent on email_digest_items (recipient, id) where sent_at is null;
create index email_digest_items_claimed on email_digest_items (claimed_by) where sent_at is null;
create index email_digest_items_sent on email_digest_items (sent_at) where sent_at is not null;
`;
