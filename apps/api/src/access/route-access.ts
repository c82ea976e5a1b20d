import type { Role } from "@millrace/access";
import type { FastifyContextConfig, FastifyInstance } from "fastify";
import type { Caller } from "./caller.ts";

/** Which roles may use a route that asks for this. `any`: whoever has a key. */
export const rolesFor = {
  any: ["viewer", "producer", "operator", "admin"],
  viewer: ["viewer", "operator", "admin"],
  producer: ["producer", "operator", "admin"],
  operator: ["operator", "admin"],
  admin: ["admin"],
} as const satisfies Record<string, readonly Role[]>;

/** `public`: without a key. */
export type RouteAccess = keyof typeof rolesFor | "public";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may use the route. */
    access: RouteAccess;
    /**
     * How the route keeps a workspace's key to its workspace. Without it such a key is refused.
     * `job`: by its parameters `:queue/:jobId`; a job of others is unknown, before the handler sees it.
     * `own`: the handler does, by `request.access`; `own-workspace.ts` has the rules.
     */
    workspace?: "job" | "own";
    /** The name of what an operator does here, such as `job.cancel`: each use leaves a row in the audit log. */
    audit?: `${string}.${string}`;
    /** Why a route that is not for looking alone leaves no row there. One of the two is required of it. */
    notAudited?: string;
    /** A person looks at it in a browser: the session's cookie and Basic are taken too, and who has no access is led to the login page. */
    isPage?: boolean;
  }
  interface FastifyInstance {
    /** What the routes of a foreign plugin in this scope are declared as, since it cannot say so itself. */
    foreignRoutes?: FastifyContextConfig;
  }
}

/** Registers no route that does not say who may use it, nor one that changes something and does not say how the audit log hears of it. Call it before there are routes. */
export function requireRouteAccess(app: FastifyInstance): void {
  app.addHook("onRoute", function (route) {
    const config: Partial<FastifyContextConfig> = { ...this.foreignRoutes, ...route.config };
    if (!isDeclared(config)) {
      throw new Error(
        `The route ${route.method} ${route.url} does not say who may use it: expected config: { access: ${["public", ...Object.keys(rolesFor)].map((access) => JSON.stringify(access)).join(" | ")} }.`,
      );
    }
    const isForLooking = [route.method].flat().every((method) => lookingMethods.has(method));
    if (!isForLooking && config.audit === undefined && config.notAudited === undefined) {
      throw new Error(
        `The route ${route.method} ${route.url} does not say what the audit log is to hold of it: expected config: { audit: "<thing>.<verb>" }, or { notAudited: "<why not>" }.`,
      );
    }
    route.config = config;
  });
}

/** What keeps a caller out of a route: its role, or that its key is for one workspace and the route for more. Nothing where it may come in. */
export function barrierOf(
  { role, workspaceId }: Caller,
  { access, workspace }: Pick<FastifyContextConfig, "access" | "workspace">,
): "role" | "workspace" | undefined {
  if (access === "public") return undefined;
  if (!rolesFor[access].some((allowed) => allowed === role)) return "role";
  return workspaceId !== undefined && workspace === undefined ? "workspace" : undefined;
}

// https://www.rfc-editor.org/rfc/rfc9110#name-safe-methods
const lookingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

function isDeclared(config: Partial<FastifyContextConfig>): config is FastifyContextConfig {
  return config.access !== undefined;
}
