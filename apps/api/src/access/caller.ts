import type { Role } from "@millrace/access";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** Who asks: the key that a request carries. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly role: Role;
  /** Set: the key is for this workspace alone. */
  readonly workspaceId?: string;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks. Reading it in a public route is a fault of the route, and throws. */
    readonly access: Caller;
  }
}

const callers = new WeakMap<FastifyRequest, Caller>();

export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

export function decorateCaller(app: FastifyInstance): void {
  app.decorateRequest("access", {
    getter() {
      const caller = callers.get(this);
      if (caller) return caller;
      throw new Error(`The route ${this.routeOptions.url} takes no key, so that nobody in particular asks.`);
    },
  });
}
