export const emailSuppressions: string = /* sql */ `
create table email_suppressions (
  address text primary key,
  reason text not null,
  code text,
  job_id text,
  created_at timestamptz not null default now()
);
`;
