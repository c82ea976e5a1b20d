export { documentText, mailText } from "./html-text.ts";
export { type HtmlLimits, HtmlTooCostlyError } from "./limits.ts";
export { pageText } from "./page-text.ts";
