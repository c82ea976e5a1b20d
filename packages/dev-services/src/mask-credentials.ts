/**
 * A service's URL as it may be shown. The user's name counts as a secret: some hosts put a token there. So does the query, in which a
 * client reads a password too.
 */
export function maskCredentials(url: URL): string {
  const shown = new URL(url);
  if (shown.username) shown.username = "***";
  if (shown.password) shown.password = "***";
  shown.search = "";
  return shown.href;
}
