/** What a task gets beside its input. */
export interface TaskTools {
  /** 0 to 100. What is not more than the last one is not sent. */
  progress(percent: number): void;
}

/** What a thread does for one job. Input and answer are copied between the threads: plain data, and paths instead of bytes. */
export type Task<Input, Answer> = (input: Input, tools: TaskTools) => Promise<Answer>;

/** What a thread can do, by name. Each is loaded when it is first asked for, so that a thread holds no library that it does not use. */
export type TaskLoaders = Record<string, () => Promise<Task<never, unknown>>>;

type TaskOf<Loaders extends TaskLoaders, Name extends keyof Loaders> = Awaited<ReturnType<Loaders[Name]>>;
export type InputOf<Loaders extends TaskLoaders, Name extends keyof Loaders> = Parameters<TaskOf<Loaders, Name>>[0];
export type AnswerOf<Loaders extends TaskLoaders, Name extends keyof Loaders> = Awaited<
  ReturnType<TaskOf<Loaders, Name>>
>;

/** The file, or what was asked of it, cannot be served, however often it is tried. Its message tells nothing of the content. */
export class TaskRefusal extends Error {
  override readonly name = "TaskRefusal";
  readonly code: string;

  /** @param code lower case words joined by `_` */
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
