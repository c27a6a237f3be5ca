// `dragoman check`: validates the configuration and says what it would serve.
import type { Endpoint } from '../catalog/index.ts';
import { readCertificate } from '../config/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { type Network, proxyOn } from '../upstream/network.ts';
import { parseArguments, type Command } from './command.ts';
import { offlineSnapshot } from './offline-snapshot.ts';

export const check: Command = {
  name: 'check',
  usage: 'check',
  summary: 'validate the configuration and exit',
  async run(argv) {
    const args = parseArguments(argv);
    const { config, path } = args.load();
    const { catalog } = offlineSnapshot(config);
    const certificate = config.server.tls && readCertificate(config.server.tls, systemClock.now());
    for (const sentence of certificate?.warnings ?? []) process.stderr.write(`${sentence}\n`);
    const models = catalog.list();
    const endpoints = models.flatMap((model) => model.endpoints);
    const providers = [...new Set(endpoints.map((endpoint) => endpoint.provider))];
    const proxies = proxiesOf(endpoints, config.upstream.network);
    const credentials = catalog.credentialOrigins();
    if (args.json) {
      const found = {
        providers,
        models: models.length,
        credentials: Object.fromEntries(credentials),
        proxies: Object.fromEntries(proxies),
      };
      process.stdout.write(`${JSON.stringify({ valid: true, path, ...found })}\n`);
      return 0;
    }
    process.stdout.write(
      `${path ?? 'the built-in defaults'}: valid; ${models.length} models of ${providers.join(', ')}\n`,
    );
    for (const [provider, origin] of credentials) process.stdout.write(`${provider}: signed by ${origin}\n`);
    for (const [provider, proxy] of proxies) process.stdout.write(`${provider}: through ${proxy}\n`);
    return 0;
  },
};

/** By provider: the proxy through which it is asked, without its password. Those that are asked straight are not here. */
function proxiesOf(endpoints: readonly Endpoint[], network: Network): ReadonlyMap<string, string> {
  const proxies = new Map<string, string>();
  for (const { provider, road, baseUrl } of endpoints) {
    const proxy = URL.canParse(baseUrl) ? proxyOn(road, network, new URL(baseUrl)) : null;
    if (proxy) proxies.set(provider, proxy.address);
  }
  return proxies;
}
