export const agentRuns: string = /* sql */ `
create table agent_runs (
  id text primary key,
  queue text not null,
  job_id text not null,
  action text not null,
  workspace_id text,
  created_at timestamptz not null default now()
);
create index agent_runs_by_age on agent_runs (created_at);
create index agent_runs_of_workspace on agent_runs (workspace_id) where workspace_id is not null;
create table agent_steps (
  run_id text not null references agent_runs on delete cascade,
  step integer not null,
  response text not null,
  input_tokens integer not null,
  output_tokens integer not null,
  cost_usd double precision not null,
  duration_ms integer not null,
  created_at timestamptz not null default now(),
  primary key (run_id, step)
);
create table agent_tool_calls (
  run_id text not null,
  step integer not null,
  position integer not null,
  tool text not null,
  begun_at timestamptz not null default now(),
  output text,
  duration_ms integer,
  primary key (run_id, step, position),
  foreign key (run_id, step) references agent_steps on delete cascade
);
create table agent_approvals (
  id text primary key,
  position bigint generated always as identity unique,
  run_id text not null references agent_runs on delete cascade,
  workspace_id text,
  queue text not null,
  action text not null,
  data text not null,
  reason text not null,
  state text not null default 'pending',
  decided_by text,
  decided_at timestamptz,
  job_id text,
  created_at timestamptz not null default now()
);
create index agent_approvals_of_run on agent_approvals (run_id);
create index agent_approvals_by_state on agent_approvals (state, position);
`;
