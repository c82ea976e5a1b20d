import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { z } from "zod";

const attributeSchema = z.object({
  key: z.string(),
  value: z.object({ stringValue: z.string().optional(), intValue: z.union([z.number(), z.string()]).optional() }),
});
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: z.array(attributeSchema),
  status: z.object({ code: z.number().optional() }),
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attributeSchema) }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

export interface CollectedSpan extends Omit<z.infer<typeof spanSchema>, "attributes" | "status"> {
  readonly service: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly isError: boolean;
}

export interface TraceCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** All that was received, as it came. */
  readonly received: readonly string[];
  close(): void;
}

/** Takes traces as an OpenTelemetry collector does: OTLP over HTTP, in JSON. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await json(request);
    received.push(JSON.stringify(body));
    for (const { resource, scopeSpans } of exportSchema.parse(body).resourceSpans) {
      const service = String(valuesOf(resource.attributes)["service.name"]);
      for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
        const { attributes, status, ...rest } = span;
        spans.push({ ...rest, service, attributes: valuesOf(attributes), isError: status.code === 2 });
      }
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on host and port has an address of this form.
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, spans, received, close };
}

function valuesOf(attributes: readonly z.infer<typeof attributeSchema>[]): CollectedSpan["attributes"] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? undefined : Number(intValue)),
    ]),
  );
}
