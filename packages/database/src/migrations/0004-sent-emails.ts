export const sentEmails: string = /* sql */ `
create table sent_emails (
  message_id text primary key,
  sent_at timestamptz not null default now()
);
create index sent_emails_sent_at on sent_emails (sent_at);
`;
