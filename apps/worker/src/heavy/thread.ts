import { serveTasks } from "./tasks/serve-tasks.ts";
import { tasks } from "./tasks.ts";

/** What runs in the pool's threads; a program of its own in the build. */
export default serveTasks(tasks);
