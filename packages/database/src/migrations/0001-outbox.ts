export const outbox: string = /* sql */ `
create table millrace_outbox (
  position bigint generated always as identity primary key,
  queue text not null,
  action text not null,
  data text not null,
  options text not null,
  created_at timestamptz not null default now(),
  refusals integer not null default 0,
  refusal text,
  due_at timestamptz not null default now()
);
create index millrace_outbox_due on millrace_outbox (due_at, position);
`;
