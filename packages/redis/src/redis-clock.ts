import { z } from "zod";

/** How far a machine's clock may be from Redis' before anything is done about it: less is what a synchronised fleet and a slow network show. */
const toleratedSkewMs = 1_000;
/** A measure is true to half of its round trip. One that took longer than this is taken again, a few times. */
const quickTripMs = 100;
const asksAtMost = 3;
/** Whoever waits for a measure waits until it is so old. */
const patienceMs = 500;
/** For so long a measure stands: clocks that run differently drift apart by a few hundred milliseconds in it at most. */
const standsForMs = 10 * 60_000;
const unknownForMs = 60_000;
/** The wall clock was set, or the machine slept, when it moved against the monotonic one by more than this. */
const jumpMs = 500;

const timeSchema = z.tuple([z.coerce.number().positive(), z.coerce.number().nonnegative()]);

/** Redis' clock as far as a process knows it. It is the clock that all who share a queue have in common. */
export interface RedisClock {
  /** Now, in milliseconds since 1970: by Redis' clock where this machine's is more than a second off, else by this machine's. */
  now(): number;
  /** What leads from this machine's time to `now`, in milliseconds. 0 where it is not off, and while that is not known. */
  correctionMs(): number;
  /** How far this machine's clock is ahead of Redis', in milliseconds; below 0 it is behind. Undefined while that is not known. */
  skewMs(): number | undefined;
  /** Resolves when a measure that is due has been taken, or half a second after it was begun. Never rejects. */
  settled(): Promise<void>;
  /** To be called where the connection is new: another Redis may be at its other end. */
  measureAnew(): void;
}

export interface RedisClockOptions {
  /** Sends the command TIME. Until it is answered the clock stays as it is known so far, and this machine's counts where it never was. */
  readonly askTime: () => Promise<unknown>;
  /** Told when this machine's clock is found to be more than a second off, and again only after it was right in between. */
  readonly onSkew: (message: string, skewMs: number) => void;
  /** Told once, when Redis does not let this user ask. */
  readonly onForbidden: (message: string) => void;
  /** This machine's clock. Defaults to `Date.now`. */
  readonly localNow?: () => number;
}

interface Measure {
  readonly skewMs: number;
  readonly correctionMs: number;
  /** This machine's time minus the monotonic clock's, by which a jump of either shows. */
  readonly wallMs: number;
}

/**
 * Measures how far this machine's clock is off: when `measureAnew` says so, when somebody asks ten minutes after the last measure, and when this
 * machine's clock has jumped. No timer, and no question to Redis in between. A clock of Redis that jumps is noticed after ten minutes.
 */
export function createRedisClock({
  askTime,
  onSkew,
  onForbidden,
  localNow = () => Date.now(),
}: RedisClockOptions): RedisClock {
  let known: Measure | undefined;
  let dueAt = Number.NEGATIVE_INFINITY;
  let measuring: Promise<void> | undefined;
  let begunAt = Number.NEGATIVE_INFINITY;
  let isOff = false;
  let isForbidden = false;
  const wallMs = () => localNow() - performance.now();

  function measure(): void {
    const taken = takeMeasure(askTime, localNow, wallMs, (trip) => {
      if (measuring === taken) learn(trip);
    }).then(
      () => {
        if (measuring === taken) settle(standsForMs);
      },
      (error: unknown) => {
        if (measuring !== taken) return;
        settle(unknownForMs);
        if (isForbidden || !isRefusedFor(error)) return;
        isForbidden = true;
        onForbidden(
          `Redis does not say its time (${error.message}): whether this machine's clock is right is not known. Grant it with ACL SETUSER … +time.`,
        );
      },
    );
    measuring = taken;
    begunAt = performance.now();
  }

  function learn({ skewMs, tripMs, wallMs: atMs }: Trip): void {
    // Beyond what the round trip leaves open.
    const isFound = Math.abs(skewMs) - tripMs / 2 > toleratedSkewMs;
    known = { skewMs, correctionMs: isFound ? -Math.round(skewMs) : 0, wallMs: atMs };
    if (isFound && !isOff) onSkew(describeSkew(skewMs), skewMs);
    isOff = isFound;
  }

  function settle(forMs: number): void {
    measuring = undefined;
    dueAt = performance.now() + forMs;
  }

  function current(): Measure | undefined {
    const jumpedMs = known ? wallMs() - known.wallMs : 0;
    if (known && Math.abs(jumpedMs) > jumpMs) {
      // Until it is measured, Redis' time goes on as the monotonic clock does: whichever way the machine's was set, nothing comes early.
      const skewMs = known.skewMs + jumpedMs;
      const correctionMs = Math.abs(skewMs) > toleratedSkewMs ? -Math.round(skewMs) : 0;
      known = { skewMs, correctionMs, wallMs: known.wallMs + jumpedMs };
      dueAt = Number.NEGATIVE_INFINITY;
    }
    if (!measuring && performance.now() >= dueAt) measure();
    return known;
  }

  const correctionMs = () => current()?.correctionMs ?? 0;
  return {
    now: () => localNow() + correctionMs(),
    correctionMs,
    skewMs: () => current()?.skewMs,
    settled: async () => {
      current();
      const leftMs = begunAt + patienceMs - performance.now();
      if (measuring && leftMs > 0) await settlesWithin(measuring, leftMs);
    },
    measureAnew: measure,
  };
}

interface Trip {
  readonly skewMs: number;
  readonly tripMs: number;
  readonly wallMs: number;
}

/**
 * The best of a few asks, or the first quick one. One across which this machine's clock was set, or it slept, says nothing.
 *
 * @param onBetter told of the first, and of each that is better than those before: who waits need not wait for all
 */
async function takeMeasure(
  askTime: () => Promise<unknown>,
  localNow: () => number,
  wallMs: () => number,
  onBetter: (trip: Trip) => void,
): Promise<void> {
  const ask = async (): Promise<Trip> => {
    const [askedAt, wallBefore] = [performance.now(), wallMs()];
    const [seconds, microseconds] = timeSchema.parse(await askTime());
    const [tripMs, wallAfter] = [performance.now() - askedAt, wallMs()];
    const isOneClock = Math.abs(wallAfter - wallBefore) <= jumpMs;
    const skewMs = localNow() - tripMs / 2 - (seconds * 1_000 + microseconds / 1_000);
    return { skewMs, tripMs: isOneClock ? tripMs : Number.POSITIVE_INFINITY, wallMs: wallAfter };
  };
  let best = Number.POSITIVE_INFINITY;
  for (let asks = 0; asks < asksAtMost && best > quickTripMs; asks += 1) {
    const trip = await ask().catch((error: unknown) => {
      if (best === Number.POSITIVE_INFINITY) throw error;
    });
    if (!trip || trip.tripMs >= best) continue;
    best = trip.tripMs;
    onBetter(trip);
  }
  if (best === Number.POSITIVE_INFINITY) throw new Error("This machine's clock was set during each of the asks.");
}

/** Redis' user may not ask, or there is no such command. Any other refusal, such as BUSY, is over some time. */
function isRefusedFor(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError" && /^NOPERM|unknown command/i.test(error.message);
}

async function settlesWithin(measuring: Promise<void>, ms: number): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  // After a process was busy for so long, what Redis has answered meanwhile is read before this.
  const timer = setTimeout(() => setImmediate(resolve), ms);
  await Promise.race([measuring, isOver]);
  clearTimeout(timer);
}

function describeSkew(skewMs: number): string {
  const seconds = (Math.abs(skewMs) / 1_000).toFixed(1);
  const side = skewMs > 0 ? "ahead of" : "behind";
  return `This machine's clock is ${seconds} s ${side} Redis': expected 1 s at most. Jobs go by Redis' time; set the clock of the machine that is wrong (NTP).`;
}
