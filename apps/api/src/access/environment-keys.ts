import { createHash, timingSafeEqual } from "node:crypto";
import type { Caller } from "./caller.ts";

/** Looks a key up among those of API_KEYS: admin keys that are there before any other, and without Redis. */
export function environmentKeys(keys: readonly string[]): (given: string) => Caller | undefined {
  // Digests have one length, which the constant-time comparison needs.
  const known = keys.map((key, index) => ({ keyDigest: digest(key), keyName: `API_KEYS[${index}]` }));
  return (given) => {
    const givenDigest = digest(given);
    // All of them are compared, so that the time says nothing of which one.
    const [found] = known.filter(({ keyDigest }) => timingSafeEqual(keyDigest, givenDigest));
    if (!found) return undefined;
    // Of the digest, whose beginning tells nobody the key, and which stays when the list changes.
    return { keyId: `env-${givenDigest.toString("hex").slice(0, 12)}`, keyName: found.keyName, role: "admin" };
  };
}

function digest(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
