/** The fields of ours on a job's record: how often it was replayed, and when last, in milliseconds since 1970. BullMQ leaves fields that it does not know alone. */
export const replayFields = { count: "mr:replays", at: "mr:replayedAt" } as const;
