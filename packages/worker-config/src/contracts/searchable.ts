/**
 * What an action's jobs can be found by: the value of one field, or several, out of the parsed data. `undefined` means that this job cannot be
 * found by it. Not more than ten values count, and none that is empty or longer than 500 characters.
 */
// Written as a method, so that a contract fits code that serves every contract.
export type SearchableField<Data> = {
  of(data: Data): string | readonly string[] | undefined;
}["of"];

/** The field under which the jobs of a workspace are found, where the contract names it. */
export const workspaceField = "workspaceId";

/** One thing by which a job can be found. */
export interface SearchEntry {
  readonly field: string;
  readonly value: string;
}

const mostValues = 10;
const longestValue = 500;

interface Searchable {
  workspaceId?(data: unknown): unknown;
  readonly searchable?: Readonly<Record<string, SearchableField<unknown>>> | undefined;
}

/** What a job is to be found by. A workspace that the data only refers to is none. */
export function searchEntriesOf(action: Searchable, data: unknown): SearchEntry[] {
  const workspaceId = action.workspaceId?.(data);
  const found: [string, unknown][] = Object.entries(action.searchable ?? {}).map(([field, of]) => [field, of(data)]);
  if (typeof workspaceId === "string") found.push([workspaceField, workspaceId]);
  return found.flatMap(([field, given]) =>
    [given]
      .flat()
      .slice(0, mostValues)
      .filter((value) => typeof value === "string")
      .filter((value) => value !== "" && value.length <= longestValue)
      .map((value) => ({ field, value })),
  );
}
