import { createHmac, timingSafeEqual } from "node:crypto";

/** Remembers in a browser's cookie who has shown a key. The cookie holds the key's id and never the key. */
export interface Sessions {
  /** The `set-cookie` header that begins a session. */
  begin(keyId: string): string;
  /** The `set-cookie` header that ends it. */
  end(): string;
  /** The key's id out of a `cookie` header; nothing where there is no session of ours, or its time is over. */
  read(cookieHeader: string | undefined): string | undefined;
}

const lifetimeSeconds = 8 * 60 * 60;

/**
 * Sessions that every process with the same secret understands, since nothing of them is stored. They last eight hours, and end with their
 * key, which is looked up at each request.
 *
 * @param options.isSecure whether the cookie goes over TLS alone, as it must in production
 * @param options.now the clock, in milliseconds. Defaults to the machine's
 */
export function createSessions(
  secret: string,
  { isSecure, now = Date.now }: { readonly isSecure: boolean; readonly now?: () => number },
): Sessions {
  // With this prefix a browser takes the cookie from this host alone, whatever another one of its domain sets.
  const name = isSecure ? "__Host-millrace-session" : "millrace-session";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  const sign = (text: string) => createHmac("sha256", secret).update(`session:${text}`).digest("base64url");
  return {
    begin: (keyId) => {
      const text = `${keyId}.${now() + lifetimeSeconds * 1_000}`;
      return `${name}=${text}.${sign(text)}; Max-Age=${lifetimeSeconds}; ${attributes}`;
    },
    end: () => `${name}=; Max-Age=0; ${attributes}`,
    read: (cookieHeader = "") => {
      const cookies = cookieHeader.split(";").map((cookie) => cookie.trim());
      const value = cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1);
      const [, text, keyId, endsMs, signature] = /^(([\w-]+)\.(\d+))\.([\w-]+)$/.exec(value ?? "") ?? [];
      if (text === undefined || signature === undefined) return undefined;
      const [given, own] = [Buffer.from(signature), Buffer.from(sign(text))];
      const isOurs = given.length === own.length && timingSafeEqual(given, own);
      return isOurs && now() < Number(endsMs) ? keyId : undefined;
    },
  };
}
