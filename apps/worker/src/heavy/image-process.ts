import { serveProcess } from "./tasks/serve-process.ts";
import { imageTasks } from "./tasks.ts";

// What runs for one image; a program of its own in the build.
serveProcess(imageTasks);
