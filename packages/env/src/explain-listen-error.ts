import { StartError } from "./start-error.ts";

/**
 * Says what a person can do where a server cannot listen.
 *
 * @param variable what sets the port, such as `API_PORT`; the host's is named alike, such as `API_HOST`
 * @throws StartError where `error` is about the address, else `error`
 */
export function explainListenError(error: unknown, variable: string, host: string, port: number): never {
  const hostVariable = variable.replace("PORT", "HOST");
  const otherAddress = `set ${variable} (or ${hostVariable}) to another one`;
  const otherHost = `Correct ${hostVariable}: an address of this machine, or 0.0.0.0 for all of them.`;
  const reasons = new Map([
    ["EADDRINUSE", `somebody listens there already. End it, or ${otherAddress}.`],
    ["EACCES", `this user may not listen there. Start as one who may, or ${otherAddress}.`],
    ["EADDRNOTAVAIL", `this machine does not have that address. ${otherHost}`],
    ["ENOTFOUND", `no machine has that name. ${otherHost}`],
  ]);
  const reason = error instanceof Error && "code" in error ? reasons.get(String(error.code)) : undefined;
  if (reason === undefined) throw error;
  throw new StartError(`Cannot listen on port ${port} of ${host}: ${reason}`, { cause: error });
}
