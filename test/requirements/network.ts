// Requirements on networks as companies have them: proxies in front of upstreams, authorities of their own, certificates for
// clients.
import { shown, type Requirements } from './requirement.ts';

const COMPANIES = 'where companies run it';
const PROXIES = 'test/socket/upstream/proxies.test.ts';
const SETTINGS = 'test/unit/upstream/proxy-settings.test.ts';
const COMMANDS = 'test/socket/upstream/proxy-commands.test.ts';

export const networkRequirements: Requirements = {
  'contract.network.proxies': shown(
    COMPANIES,
    'Upstreams are asked through the proxy of the environment or of their provider, with credentials, over shared connections.',
    `${PROXIES}: is asked in absolute form, by the proxy of the provider, over connections that are kept`,
    `${PROXIES}: is asked through a tunnel, of which the proxy sees the name alone`,
    `${PROXIES}: streams through a %s, large bodies included`,
    `${PROXIES}: connections are used again on the same road only`,
    `${COMMANDS}: passes %s as "%s" on: %p`,
  ),
  'contract.network.environment': shown(
    COMPANIES,
    '`HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read as other programs read them; this machine is never behind a proxy.',
    `${SETTINGS}: sends %s with %j through %s`,
    `${SETTINGS}: with NO_PROXY=%p, %s is asked straight: %p`,
    `${SETTINGS}: never sends %s through a proxy`,
    `${PROXIES}: is never asked for through the proxy of the environment when it is on this machine`,
    `${COMMANDS}: of a token service come through the proxy of the provider; those of the machine come straight`,
  ),
  'contract.network.certificates': shown(
    COMPANIES,
    'Upstreams are verified inside the tunnel, by authorities of the operator as well, and shown the certificate of the provider.',
    `${PROXIES}: is refused through a %s for a wrong certificate`,
    `${PROXIES}: is asked nothing through a proxy whose own certificate is wrong`,
    `${PROXIES}: is shown the certificate of the provider, and checked by its authorities alone`,
    `${SETTINGS}: authorities for everything are read from one file or several`,
  ),
  'contract.network.secrets': shown(
    COMPANIES,
    'What is wrong with a proxy is told by name, before the start or as a failure to connect, without its password.',
    `${SETTINGS}: %s is refused in the environment`,
    `${SETTINGS}: %s is refused in the configuration`,
    `${PROXIES}: %s as "%s": is explained, and told to nobody`,
    `${COMMANDS}: check says through which proxy a provider is asked, and refuses one that is none, without its password`,
  ),
  'contract.network.hostile': shown(
    COMPANIES,
    'A hostile proxy can break a connection, within bounds of bytes and time, and nothing else.',
    `${PROXIES}: that %s breaks the connection and nothing else`,
    `${PROXIES}: that is silent is waited for as long as a connection may take: %s`,
  ),
  'contract.network.guard': shown(
    COMPANIES,
    'Addresses of requests are checked here, and the proxy is asked for the address that was checked.',
    `${PROXIES}: on %s go through the proxy to the address that was checked, under their own name`,
    `${PROXIES}: %s is refused before the proxy hears of it`,
    `${PROXIES}: that the operator exempts are connected to straight`,
  ),
};
