import { z } from "zod";

/**
 * Whether requests may go to private networks, as a variable says: false by default, and in production anything else is refused. Every
 * process that takes or reaches URLs that others chose goes by this one.
 */
export function allowPrivateSchema({ isProduction }: { readonly isProduction: boolean }): z.ZodType<boolean> {
  const schema = z.stringbool({ error: "expected true or false" }).default(false);
  if (!isProduction) return schema;
  return schema.refine((isAllowed) => !isAllowed, {
    message:
      "expected false in production: whoever registers an endpoint could reach the network that the worker runs in",
  });
}
