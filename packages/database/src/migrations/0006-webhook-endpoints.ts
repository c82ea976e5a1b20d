export const webhookEndpoints: string = /* sql */ `
create table webhook_endpoints (
  id uuid primary key default gen_random_uuid(),
  workspace_id text,
  url text not null,
  events text[] not null,
  description text,
  owner_email text,
  secret text not null,
  secret_created_at timestamptz not null default now(),
  previous_secret text,
  previous_secret_expires_at timestamptz,
  state text not null default 'active',
  state_reason text,
  state_since timestamptz not null default now(),
  failing_since timestamptz,
  created_at timestamptz not null default now()
);
create index webhook_endpoints_of_workspace on webhook_endpoints (workspace_id, id);
`;
