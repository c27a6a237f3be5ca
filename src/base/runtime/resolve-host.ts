// Resolves host names with the system's resolver. The only file that does: connections to an address from a request must go
// to an address that was checked.

/** Resolves a name to all of its IPv4 and IPv6 addresses. Rejects if there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const found = await Bun.dns.lookup(host);
  return found.map(({ address }) => address);
};
