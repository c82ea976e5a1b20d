/** The end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
