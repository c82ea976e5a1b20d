import { isIP } from "node:net";

/**
 * Who uses a connection. They want opposite things of an outage: a producer answers a request and fails now, a worker waits for
 * ever, because a worker that gives up is a queue that stands still.
 */
export type RedisRole = "producer" | "worker" | "events";

/** Plain options that both ioredis and BullMQ take. */
export interface RedisConnectionOptions {
  host: string;
  port: number;
  db: number;
  username?: string;
  password?: string;
  tls?: { servername?: string };
  connectTimeout: number;
  keepAlive: number;
  maxRetriesPerRequest: number | null;
  enableOfflineQueue: boolean;
  autoResendUnfulfilledCommands: boolean;
  retryStrategy: (attempt: number) => number;
  reconnectOnError: (error: Error) => false | 1 | 2;
}

const roleOptions = {
  // No offline queue and no resending: a command that outlives its caller's deadline would add a job after the caller was told
  // that it failed, and the caller's own retry would add it twice.
  producer: { maxRetriesPerRequest: 0, enableOfflineQueue: false, autoResendUnfulfilledCommands: false },
  // BullMQ refuses a worker whose commands can give up.
  worker: { maxRetriesPerRequest: null, enableOfflineQueue: true, autoResendUnfulfilledCommands: true },
  events: { maxRetriesPerRequest: null, enableOfflineQueue: true, autoResendUnfulfilledCommands: true },
} satisfies Record<RedisRole, Partial<RedisConnectionOptions>>;

/** 50 ms, doubling up to 1 s, less up to half at random so that a fleet does not return at one instant. */
export function reconnectDelayMs(attempt: number): number {
  // Shorter than a producer's deadline: once Redis is back, a call that waits for it is served.
  const ceilingMs = Math.min(25 * 2 ** Math.min(attempt, 10), 1_000);
  return Math.round(ceilingMs * (1 - Math.random() / 2));
}

/**
 * After a failover the old primary may live on as a replica and keep its connections: it refuses every write for ever, while the name it was
 * reached by leads to the new primary. So a refused write looks the name up anew, once a second. It did nothing, so that a worker's is sent
 * again; a producer tells its caller.
 */
function leaveReplica(role: RedisRole): Pick<RedisConnectionOptions, "retryStrategy" | "reconnectOnError"> {
  let isRefused = false;
  return {
    reconnectOnError: (error) => {
      if (!error.message.startsWith("READONLY")) return false;
      isRefused = true;
      return role === "producer" ? 1 : 2;
    },
    retryStrategy: (attempt) => {
      const delayMs = reconnectDelayMs(isRefused ? 10 : attempt);
      isRefused = false;
      return delayMs;
    },
  };
}

/**
 * Turns `REDIS_URL` into connection options for a role.
 *
 * @throws Error when the URL is not `redis:` or `rediss:`, names no host, or carries a query: options from a query arrive as strings
 *   (`"null"`, `"false"`) and silently mean something else. No part of the URL is repeated: a password with an unescaped `?` or `#`
 *   in it looks like a query.
 */
export function redisConnectionOptions(role: RedisRole, redisUrl: string): RedisConnectionOptions {
  const url = URL.parse(redisUrl);
  if (!url?.hostname || !/^rediss?:$/.test(url.protocol)) {
    throw new Error("REDIS_URL: expected redis://host:port[/db] or rediss://host:port[/db].");
  }
  if (url.search || url.hash) {
    throw new Error("REDIS_URL: expected nothing after the database number. In a password, ? is %3F and # is %23.");
  }
  const db = url.pathname.slice(1);
  if (!/^\d{0,3}$/.test(db))
    throw new Error("REDIS_URL: expected a database number after the host, as in redis://host:6379/0.");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: Number(url.port || 6379),
    db: Number(db),
    ...(url.username && { username: decode(url.username) }),
    ...(url.password && { password: decode(url.password) }),
    // A server name is a name: TLS does not take an address for one.
    ...(url.protocol === "rediss:" && { tls: isIP(host) ? {} : { servername: host } }),
    connectTimeout: 5_000,
    keepAlive: 10_000,
    ...leaveReplica(role),
    ...roleOptions[role],
  };
}

/** Which Redis a connection leads to, as it may be shown: `host:port/db`, and nothing of user or password. */
export function redisAddress({ host, port, db }: Pick<RedisConnectionOptions, "host" | "port" | "db">): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}/${db}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("REDIS_URL: expected %25 where the user or the password holds a % of its own.");
  }
}
