import { Gauge, type Registry } from "prom-client";
import { createHistogram, type Series } from "./histogram.ts";

/** A request that has come to its end. */
export interface AnsweredRequest {
  readonly method: string;
  /** The pattern of its route, such as `/jobs/:queue/:jobId`, and never its URL; undefined where it met none. */
  readonly route: string | undefined;
  /** As it was sent; 499 where the caller had left before. */
  readonly status: number;
  /** From its headers to the end of its answer, in milliseconds. */
  readonly durationMs: number;
}

export interface HttpMetrics {
  began(): void;
  /** To be called once for each `began`. */
  answered(request: AnsweredRequest): void;
}

// Most answers are a matter of milliseconds; beyond a minute are streams and files alone.
const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const unknown = "unknown";

/**
 * What a process tells of the requests that it answers: `http_request_duration_seconds`, `http_requests_in_flight`.
 *
 * Labels are the method, the route's pattern and the status. A request that met no route is `unknown` in method and route, so that its caller
 * invents no series; the routes and statuses that a process has bound the others. A request costs less than a microsecond.
 */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  let inFlight = 0;
  const all = new Map<string, Series>();
  const duration = createHistogram(registry, {
    name: "http_request_duration_seconds",
    help: "How long requests took to the end of their answers, streams included.",
    buckets: durationBuckets,
  });
  new Gauge({
    name: "http_requests_in_flight",
    help: "Requests that have begun and are not answered to the end.",
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });

  function seriesOf(method: string, route: string, status: number): Series {
    const name = `${status} ${method} ${route}`;
    const known = all.get(name);
    if (known) return known;
    const added = duration.series({ method, route, status: String(status) });
    all.set(name, added);
    return added;
  }

  return {
    began: () => {
      inFlight += 1;
    },
    answered: ({ method, route, status, durationMs }) => {
      inFlight -= 1;
      seriesOf(route === undefined ? unknown : method, route ?? unknown, status).observe(durationMs / 1_000);
    },
  };
}
