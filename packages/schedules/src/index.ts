export type { Cadence, DueTime } from "./cadence/index.ts";
export { addSchedule, readClock, removeSchedule, removeSchedulesOf, replaceSchedule } from "./change-schedules.ts";
export { type CodeSchedule, defineSchedule, type ScheduleDeclaration } from "./define-schedule.ts";
export { type PauseOutcome, pauseSchedule, type ResumeOutcome, resumeSchedule } from "./pause-schedule.ts";
export { findSchedule, listSchedules, type ScheduleList, scheduleCursorSchema } from "./read-schedules.ts";
export { planSchedules, type Registration, type RegistrationPlan, registerSchedules } from "./register-schedules.ts";
export { RunSkippedError, runLocked } from "./run-locked.ts";
export { type RunNow, runScheduleNow } from "./run-schedule-now.ts";
export {
  type MissedPolicy,
  missedPolicies,
  type OverlapPolicy,
  overlapPolicies,
  refinePolicies,
  type Schedule,
} from "./schedule.ts";
export { createScheduler, type Scheduler, type SchedulerOptions } from "./scheduler.ts";
export type { LastRun, LastSkip, StoredSchedule } from "./stored-schedule.ts";
