export { type CheckOptions, type CheckParts, createPartsCheck } from "./parts-check.ts";
export { remember } from "./remember.ts";
