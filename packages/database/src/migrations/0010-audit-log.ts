export const auditLog: string = /* sql */ `
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  key_id text not null,
  key_name text not null,
  workspace_id text,
  action text not null,
  target text not null,
  request_id text not null,
  outcome text,
  status integer,
  details text,
  ended_at timestamptz
);
create index audit_log_by_age on audit_log (at);
create index audit_log_by_action on audit_log (action, id);
create index audit_log_by_key on audit_log (key_id, id);
`;
