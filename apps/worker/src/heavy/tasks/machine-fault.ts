// What a native library, and a program's error as text, say of the system's own errors.
const ofTheSystem =
  /\b(?:ENOSPC|EDQUOT|EMFILE|ENFILE|ENOMEM|EIO)\b|system error: (?:No space left|Disk quota exceeded|Too many open files|Cannot allocate memory|Input\/output error)/;

/**
 * Whether the machine failed, and not what was read: no room, no memory, no handles. Nothing is said of the file then, and another attempt
 * may help.
 */
export function isMachineFault(error: unknown): boolean {
  // Errors of the file system carry the system's number.
  if (error instanceof Error && "errno" in error && typeof error.errno === "number") return true;
  return ofTheSystem.test(error instanceof Error ? error.message : String(error));
}
