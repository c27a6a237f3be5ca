// The addresses of a host name, as this machine's resolver tells them. The only file that asks for them: connections
// that go where a request says must be made to an address that was looked at.

/** Gives every address of a name, IPv4 and IPv6. Rejects when there is none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const found = await Bun.dns.lookup(host);
  return found.map(({ address }) => address);
};
