/** Versions come from one sequence, so that a template that was deleted and made again never repeats one. */
export const emailTemplates: string = /* sql */ `
create sequence email_template_versions as integer;
create table email_templates (
  id text not null,
  locale text not null,
  version integer not null default nextval('email_template_versions'),
  subject text not null,
  html text,
  text text,
  updated_at timestamptz not null default now(),
  primary key (id, locale),
  check (html is not null or text is not null)
);
alter sequence email_template_versions owned by email_templates.version;
`;
