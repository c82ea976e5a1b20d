export { createJobEventFeed, type JobEventFeed, type JobEventFeedOptions } from "./create-job-event-feed.ts";
export {
  createJobEventWriter,
  type JobEvent,
  type JobEventWriter,
  type JobEventWriterOptions,
} from "./create-job-event-writer.ts";
export { isEventId } from "./event-id.ts";
export type { FollowOptions } from "./follow-job.ts";
export type { JobNews } from "./job-news.ts";
export { hasEnded } from "./job-source.ts";
export type { WaitOptions } from "./wait-for-end.ts";
