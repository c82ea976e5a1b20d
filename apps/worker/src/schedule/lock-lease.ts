/**
 * Shorter than the lock that a job's worker holds on it (30 s): a run that begins anew after a crash does not find its dead self in the
 * way. One that lives extends it for as long as it works.
 */
export const lockLease = { timeoutInSeconds: 20 };
