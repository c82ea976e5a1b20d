export const outbox: string = /* sql */ `
create table outbox (
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
create index outbox_due on outbox (due_at, position);

create function outbox_notify() returns trigger language plpgsql as $$
begin
  notify millrace_outbox;
  return null;
end $$;
create trigger outbox_added after insert on outbox for each statement execute function outbox_notify();
`;
