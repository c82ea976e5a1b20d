import type { FastifySchema, FastifySchemaCompiler } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import type { z } from "zod";

/** For a route that documents its body and checks it itself. Every other part of a request is checked as everywhere. */
export const uncheckedBody: FastifySchemaCompiler<FastifySchema> = ({ schema, ...part }) =>
  // Fastify calls with the schema of one part of the request, which is zod's wherever a route has one.
  part.httpPart === "body" ? (value) => ({ value }) : validatorCompiler({ ...part, schema: schema as z.ZodType });
