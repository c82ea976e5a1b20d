import { type TaskLoaders, TaskRefusal } from "./task.ts";

/** What is asked of a thread or a process. */
export interface TaskCall {
  readonly name: string;
  readonly input: unknown;
}

/** An error of its own loses its code on the way to another thread: a refusal travels as data. */
export type TaskAnswer =
  | { readonly value: unknown }
  | { readonly refusal: { readonly code: string; readonly message: string } };

/** Runs the task that is asked for. `tell` hears each whole percent once. */
export async function answerTask(
  loaders: TaskLoaders,
  { name, input }: TaskCall,
  tell: (percent: number) => void,
): Promise<TaskAnswer> {
  let told = 0;
  const progress = (percent: number) => {
    const whole = Math.min(Math.floor(percent), 100);
    if (whole <= told) return;
    told = whole;
    tell(whole);
  };
  try {
    const load = loaders[name];
    if (!load) throw new Error(`Expected one of ${Object.keys(loaders).join(", ")}, got a task of another name.`);
    const task = await load();
    // The caller's types tie a task's input to its name.
    return { value: await task(input as never, { progress }) };
  } catch (error) {
    if (!(error instanceof TaskRefusal)) throw error;
    return { refusal: { code: error.code, message: error.message } };
  }
}
