/** What a script can tell an ending by. `millrace help` and docs/cli.md list them. */
export const exitCodes = {
  done: 0,
  /** The job failed or was called off, or there was nothing to do. */
  failed: 1,
  /** The command line, the data or a variable of the environment is not valid. */
  usage: 2,
  notFound: 3,
  redisUnavailable: 4,
  /** A database is configured and took no row, so nothing was done. */
  auditUnavailable: 5,
  /** A fault of the program itself (EX_SOFTWARE of sysexits.h). */
  fault: 70,
  /** SIGINT, as shells number it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeHelp = `
Exit codes:
  0    done; of a watched job: it succeeded or was skipped
  1    the job failed or was called off, or there was nothing to do
  2    the command, the data or a setting is not valid; nothing was done
  3    no such job, key or schedule
  4    Redis does not answer
  5    the audit log takes no row; nothing was done
  70   a fault of the program
  130  interrupted`;
