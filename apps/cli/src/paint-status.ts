import type { JobStatusName } from "@millrace/job-admin";
import type { Cli, Style } from "./cli.ts";
import type { Cell } from "./table.ts";

const styles: Readonly<Record<JobStatusName, Style>> = {
  pending: "dim",
  running: "cyan",
  retrying: "yellow",
  success: "green",
  failed: "red",
  cancelled: "yellow",
  skipped: "dim",
};

export function paintStatus(cli: Cli, status: JobStatusName): Cell {
  return { text: status, paint: (text) => cli.paint(styles[status], text) };
}
