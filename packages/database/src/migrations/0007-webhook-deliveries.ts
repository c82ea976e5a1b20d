export const webhookDeliveries: string = /* sql */ `
create table webhook_deliveries (
  id text primary key,
  position bigint generated always as identity,
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  event text not null,
  event_id text not null,
  occurred_at timestamptz not null,
  payload text not null,
  job_id text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  http_status integer,
  duration_ms integer,
  excerpt text,
  error_code text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index webhook_deliveries_of_endpoint on webhook_deliveries (endpoint_id, position);
create index webhook_deliveries_by_age on webhook_deliveries (created_at);
`;
