import { randomUUID } from "node:crypto";
import type { AuditFacts, AuditOutcome } from "@millrace/database";
import type { Cli } from "./cli.ts";
import { CliError, toCliError } from "./cli-error.ts";
import { readAuditEnv } from "./env.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** What an operator is about to do, as the audit log names it. */
export interface Operation {
  /** As the API's routes name it, such as `job.cancel`. */
  readonly action: string;
  readonly target: AuditFacts;
}

/** What came of it. */
export interface Effect {
  /** `failed` where there was nothing to do. Defaults to `done`. */
  readonly exitCode?: ExitCode;
  readonly document: unknown;
  readonly text: string;
  /** Cut off between two steps: the audit log says so. Defaults to false. */
  readonly isCutOff?: boolean;
  /** For the audit log: counts and ids, never a payload. */
  readonly facts?: AuditFacts;
}

/**
 * Does what an operator asked for and shows what came of it. Where a database is configured, the audit log has a row of it before it is done,
 * and how it ended afterwards; without one it says that none was written.
 *
 * @throws CliError `audit_unavailable` when the log took no row: nothing was done
 */
export async function operate(cli: Cli, operation: Operation, run: () => Promise<Effect>): Promise<void> {
  const { DATABASE_URL, AUDIT_KEEP_DAYS: keepDays } = readAuditEnv();
  if (DATABASE_URL === undefined) {
    cli.note("not_audited", "no audit row was written: DATABASE_URL is not set");
    return showEffect(cli, await run());
  }
  // A quarter of the program's start, for commands that change something alone.
  const { beginAuditEntry, connectDatabase, endAuditEntry, readDatabaseEnv } = await import("@millrace/database");
  const database = connectDatabase({ url: readDatabaseEnv().DATABASE_URL, poolMax: 1 });
  try {
    const entry = { keyId: "cli", keyName: cli.user, requestId: `cli-${randomUUID()}`, ...operation };
    const id = await beginAuditEntry(database, entry, { keepDays }).catch((cause: unknown) => {
      const advice =
        "Nothing was done. See that the database answers and that the API or a worker has brought its schema up to date; DATABASE_URL= (empty) acts without a row.";
      throw new CliError(exitCodes.auditUnavailable, "audit_unavailable", `The audit log took no row. ${advice}`, {
        cause,
      });
    });
    const end = async (exitCode: ExitCode, details: AuditFacts, isCutOff = false) => {
      const ending = isCutOff ? ({ outcome: "stopped", status: 200 } as const) : endings[exitCode];
      await endAuditEntry(database, id, { ...ending, details }).catch(() => {
        cli.note("audit_outcome_lost", "the audit log has the row, but not how this ended");
      });
    };
    try {
      const effect = await run();
      await end(effect.exitCode ?? exitCodes.done, effect.facts ?? {}, effect.isCutOff);
      showEffect(cli, effect);
    } catch (error) {
      const { exitCode, code } = toCliError(error);
      await end(exitCode, { code });
      throw error;
    }
  } finally {
    await database.close();
  }
}

/** Shows what came, or would come, of something. */
export function showEffect(cli: Cli, { exitCode = exitCodes.done, document, text }: Effect): void {
  cli.exitCode = exitCode;
  cli.show(document, () => text);
}

// The log has an HTTP status beside each outcome: the one that the API would have answered.
const failed = { outcome: "failed", status: 500 } as const;
const endings: Readonly<Record<ExitCode, { readonly outcome: AuditOutcome; readonly status: number }>> = {
  [exitCodes.done]: { outcome: "done", status: 200 },
  [exitCodes.failed]: { outcome: "refused", status: 409 },
  [exitCodes.usage]: { outcome: "refused", status: 400 },
  [exitCodes.notFound]: { outcome: "refused", status: 404 },
  [exitCodes.redisUnavailable]: { outcome: "failed", status: 503 },
  [exitCodes.auditUnavailable]: failed,
  [exitCodes.fault]: failed,
  [exitCodes.interrupted]: failed,
};
