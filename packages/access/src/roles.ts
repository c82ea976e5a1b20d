import { z } from "zod";

/**
 * What a key is for. viewer: looks. producer: enqueues, and follows single jobs. operator: looks, enqueues and operates (cancel, replay,
 * schedules, endpoints). admin: everything, keys included.
 */
export const roles = z.enum(["viewer", "producer", "operator", "admin"]);
export type Role = z.infer<typeof roles>;
