export { addToOutbox, type OutboxOptions, type RunStatement } from "./add-to-outbox.ts";
export { type OutboxRelay, type OutboxRelayOptions, startOutboxRelay } from "./start-outbox-relay.ts";
