import swagger from "@fastify/swagger";
import scalar from "@scalar/fastify-api-reference";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";

/** Every named schema comes twice, as it is written and as it is read ("JobInput", "Job"): those that nothing refers to are left out. */
const withoutUnusedSchemas: typeof jsonSchemaTransformObject = (document) => {
  const whole = jsonSchemaTransformObject(document);
  const schemas = ("components" in whole && whole.components?.schemas) || {};
  const text = JSON.stringify(whole);
  for (const name of Object.keys(schemas)) {
    if (!text.includes(`"#/components/schemas/${name}"`)) delete schemas[name];
  }
  return whole;
};

/** Collects the schemas of all routes registered after it into one OpenAPI document. */
export async function collectOpenApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Millrace",
        version: "0.1.0",
        description: "Enqueue jobs and follow them. The data of each action is its contract's schema.",
      },
      components: { securitySchemes: { apiKey: { type: "http", scheme: "bearer" } } },
      security: [{ apiKey: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: withoutUnusedSchemas,
  });
}

/** `/openapi.json` for programs and `/docs` for people. */
export async function documentationRoutes(app: FastifyInstance): Promise<void> {
  const config = { access: "any", workspace: "own", isPage: true } as const;
  app.get("/openapi.json", { config, schema: { hide: true } }, async () => app.swagger());
  app.decorate("foreignRoutes", config);
  await app.register(scalar, {
    routePrefix: "/docs",
    // Fonts, telemetry and tools of the page's maker would tell a third party who reads it, and what.
    configuration: {
      url: "/openapi.json",
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: "never",
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
}
