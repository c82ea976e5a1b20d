/** An effect that must happen once, and the start of a job that is about to have it. */
export interface Effect {
  /** Names the effect over all jobs: queue, action, the contract's idempotency key and the workspace that it is for. */
  readonly key: string;
  /** The job: its own claim of an earlier start, which died, does not stand in its way. */
  readonly owner: string;
  /** This one start. What another start claimed in the meantime, this one can neither finish nor give up. */
  readonly token: string;
  /** Grows from start to start of the job, over its replays: the claim of an earlier one that comes late takes nothing over. */
  readonly start: number;
}

export type Claim =
  /** Nobody had the effect: whoever got this may. */
  | { readonly state: "claimed" }
  /** The effect has happened, and this is what it returned, as JSON. */
  | { readonly state: "done"; readonly byOwner: boolean; readonly result: string }
  /** Another job, or a later start of this one, is about to have it. */
  | { readonly state: "busy" };

/** Remembers which effects happened. Each of the three is one command. */
export interface EffectStore {
  /** @param leaseMs how long the claim stands if nobody finishes it or gives it up */
  claim(effect: Effect, leaseMs: number): Promise<Claim>;
  /**
   * What its caller sends next to the same Redis comes after it.
   *
   * @returns false when another has claimed or finished the effect since: what this one did came too late
   */
  finish(effect: Effect, result: string, lifetimeMs: number): Promise<boolean>;
  giveUp(effect: Effect): Promise<void>;
}
