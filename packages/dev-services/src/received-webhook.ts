/** A webhook as the receiver shows it and gives it out as JSON. */
export interface ReceivedWebhook {
  readonly id: string;
  /** ISO 8601, in UTC. */
  readonly receivedAt: string;
  readonly path: string;
  /** Whether it was signed with the receiver's secret, else why not. */
  readonly signature: string;
  /** What was answered. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
