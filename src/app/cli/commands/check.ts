// `dragoman check`: validates the configuration and shows what it would serve.
import { systemClock } from '../../../base/runtime/clock.ts';
import { type Network, proxyOn } from '../../../upstream/network.ts';
import { BUNDLED_PRICES, type Endpoint } from '../../../catalog/index.ts';
import {
  parsePriceData,
  readCertificate,
  readKnownPrices,
  readPriceFile,
  type Config,
} from '../../config/index.ts';
import { parseArguments, type RunCommand } from '../command.ts';
import { offlineSnapshot } from './offline-snapshot.ts';
import { isAddress } from '../compose/price-source.ts';
import { errorText } from '../../../base/lib/errors.ts';

export const check: RunCommand = async (argv) => {
  const args = parseArguments(argv);
  const { config, path } = args.load();
  const { catalog } = offlineSnapshot(config);
  const certificate = config.server.tls && readCertificate(config.server.tls, systemClock.wall());
  for (const sentence of certificate?.warnings ?? []) process.stderr.write(`${sentence}\n`);
  const prices = await checkPrices(config);
  const models = catalog.list();
  const endpoints = models.flatMap((model) => model.endpoints);
  // Some have no listed models: any name works with them.
  const providers = [...catalog.providers().keys()].toSorted();
  const proxies = proxiesOf(endpoints, config.upstream.network);
  const credentials = catalog.credentialOrigins();
  if (args.json) {
    const found = {
      prices,
      providers,
      models: models.length,
      credentials: Object.fromEntries(credentials),
      proxies: Object.fromEntries(proxies),
    };
    process.stdout.write(`${JSON.stringify({ valid: prices.problems.length === 0, path, ...found })}\n`);
    return prices.problems.length > 0 ? 1 : 0;
  }
  process.stdout.write(
    `${path ?? 'the built-in defaults'}: valid, ${models.length} models; providers: ${providers.join(', ') || 'none'}\n`,
  );
  if (prices.version !== BUNDLED_PRICES.version) process.stdout.write(`prices: ${prices.version}\n`);
  for (const problem of prices.problems) process.stdout.write(`prices: ${problem}\n`);
  for (const [provider, origin] of credentials)
    process.stdout.write(`${provider}: credentials from ${origin}\n`);
  for (const [provider, proxy] of proxies) process.stdout.write(`${provider}: through ${proxy}\n`);
  return prices.problems.length > 0 ? 1 : 0;
};

/** Proxies by provider, without passwords. Providers with direct connections are omitted. */
function proxiesOf(endpoints: readonly Endpoint[], network: Network): ReadonlyMap<string, string> {
  const proxies = new Map<string, string>();
  for (const { provider, networkRoute, baseUrl } of endpoints) {
    const proxy = URL.canParse(baseUrl) ? proxyOn(networkRoute, network, new URL(baseUrl)) : null;
    if (proxy) proxies.set(provider, proxy.address);
  }
  return proxies;
}

/** Newer prices with their problems: stored ones, and those of a source file. */
async function checkPrices({
  dataDir,
  catalog: { refresh },
}: Config): Promise<{ readonly version: string; readonly problems: readonly string[] }> {
  const { book, problem } = readKnownPrices(dataDir, refresh);
  const problems = problem === null ? [] : [problem];
  if (refresh !== null && !isAddress(refresh))
    try {
      await parsePriceData(readPriceFile(refresh));
    } catch (error) {
      problems.push(`cannot use ${refresh}: ${errorText(error)}`);
    }
  return { version: book.version, problems };
}
