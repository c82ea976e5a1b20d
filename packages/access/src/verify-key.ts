import { timingSafeEqual } from "node:crypto";
import type { ApiKey } from "./api-key.ts";
import {
  type KeyScript,
  parseRecord,
  readRecordScript,
  runKeyScript,
  type StoredKey,
  withoutDigest,
} from "./key-records.ts";
import { digestSecret, parseKeyText } from "./key-text.ts";

/** How long a process trusts what it knows of a key, and so the longest time for which a revoked one is still taken, in milliseconds. */
export const keyCacheMs = 5_000;

const maxCached = 1_000;
const markUseEveryMs = 60_000;

// A key revoked meanwhile must not come back as a record of this field alone.
const markUseScript: KeyScript = {
  name: "millraceMarkKeyUse",
  lua: `return redis.call("EXISTS", record(ARGV[1])) == 1 and redis.call("HSET", record(ARGV[1]), "lastUsedAt", ARGV[2])`,
};

/** Tells keys that are in force from all else. */
export interface KeyVerifier {
  /**
   * The record of a key that is in force, or nothing.
   *
   * @param text as its owner sent it, of whatever form
   * @throws QueueUnavailableError when Redis would have to be asked and does not answer
   */
  verify(text: string): Promise<ApiKey | undefined>;
  /** The same by its id alone, for what this house has signed itself. */
  find(id: string): Promise<ApiKey | undefined>;
}

interface Cached {
  readonly record: StoredKey;
  readonly untilMs: number;
  isUseMarked: boolean;
}

/**
 * A verifier that remembers keys for `keyCacheMs`, so that a request costs no round trip of its own, and in memory for 1,000 keys at most.
 * When a key was used last is written about once a minute.
 *
 * @param options.now the clock, in milliseconds. Defaults to the machine's
 */
export function createKeyVerifier({ now = Date.now }: { readonly now?: () => number } = {}): KeyVerifier {
  const cache = new Map<string, Cached>();
  const underWay = new Map<string, Promise<Cached | undefined>>();

  /** Requests that come together share one look-up. */
  async function lookUp(id: string): Promise<Cached | undefined> {
    const known = cache.get(id);
    if (known && now() < known.untilMs) return known;
    const shared = underWay.get(id) ?? read(id).finally(() => underWay.delete(id));
    underWay.set(id, shared);
    return shared;
  }

  /** Only what is found is remembered: whoever tries keys drives no good one out. */
  async function read(id: string): Promise<Cached | undefined> {
    // Counted from before Redis was asked: a key may be revoked right after its answer.
    const untilMs = now() + keyCacheMs;
    const record = parseRecord(await runKeyScript(readRecordScript, id));
    cache.delete(id);
    if (!record) return undefined;
    const entry: Cached = { record, untilMs, isUseMarked: false };
    cache.set(id, entry);
    const [oldest] = cache.keys();
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest);
    return entry;
  }

  async function readInForce(id: string, accepts: (record: StoredKey) => boolean): Promise<ApiKey | undefined> {
    const entry = await lookUp(id);
    if (!entry || !accepts(entry.record)) return undefined;
    const { record } = entry;
    if (record.expiresAt !== null && now() >= Date.parse(record.expiresAt)) return undefined;
    if (!entry.isUseMarked && isOlder(record.lastUsedAt, now() - markUseEveryMs)) {
      entry.isUseMarked = true;
      // That it is not written lets nobody in or out.
      runKeyScript(markUseScript, id, new Date(now()).toISOString()).catch(() => {});
    }
    return withoutDigest(record);
  }

  return {
    verify: async (text) => {
      const given = parseKeyText(text);
      return given && readInForce(given.id, ({ digest }) => isDigestOf(given.secret, digest));
    },
    find: (id) => readInForce(id, () => true),
  };
}

function isOlder(lastUsedAt: string | null, thanMs: number): boolean {
  return lastUsedAt === null || Date.parse(lastUsedAt) <= thanMs;
}

function isDigestOf(secret: string, digest: string): boolean {
  const [given, stored] = [digestSecret(secret), Buffer.from(digest, "hex")];
  return stored.length === given.length && timingSafeEqual(stored, given);
}
