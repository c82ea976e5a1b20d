export { cacheTemplates } from "./cache-templates.ts";
export { type MailTemplate, type MailTemplateSource, parseMailTemplate, type RenderedMail } from "./mail-template.ts";
export { TemplateError, type TemplateErrorCode } from "./template-error.ts";
