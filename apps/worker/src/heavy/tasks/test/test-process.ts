import { serveProcess } from "../serve-process.ts";
import { tasks } from "./test-thread.ts";

serveProcess(tasks);
