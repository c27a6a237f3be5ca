// `dragoman models`: lists the models that this configuration serves.
import { GatewayError } from '../../../canonical/index.ts';
import { diffCatalogs, type Catalog, type Endpoint, type Model } from '../../../catalog/index.ts';
import { ConfigError, readKnownPrices, type Config } from '../../config/index.ts';
import { findDiagnosis, type Diagnosis } from '../../../operations/doctor/index.ts';
import { parseArguments, printRows, type RunCommand } from '../command.ts';
import { MODELS_OPTIONS } from '../options.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import { UpstreamClient } from '../../../upstream/client.ts';
import { withFindings } from '../compose/open-findings.ts';
import { offlineSnapshot } from './offline-snapshot.ts';
import { nameOfSource, readPriceSource } from '../compose/price-source.ts';

export const models: RunCommand = async (argv) => {
  const args = parseArguments(argv, MODELS_OPTIONS);
  const { config } = args.load();
  const word = args.words[0]?.toLowerCase() ?? '';
  if (args.flag('diff')) return printDiff(config, word, args.json);
  const { diagnoses } = await withFindings(config, (findings) => findings.read());
  const { catalog } = offlineSnapshot(config, undefined, diagnoses);
  const find = findDiagnosis(diagnoses);
  const probed = (endpoint: Endpoint): string => {
    const found = find(endpoint);
    return found ? `, probed ${new Date(found.probedAt).toISOString().slice(0, 10)}` : '';
  };
  const rows = [...catalog.list(), ...probedBesides(catalog, diagnoses)]
    .filter((model) => model.id.toLowerCase().includes(word))
    .map((model) => ({
      id: model.id,
      context: model.contextLength,
      output: model.maxOutputTokens,
      reasoning: model.reasoningStyle,
      endpoints: model.endpoints
        .map((endpoint) => `${endpoint.slug} (${endpoint.protocol}${probed(endpoint)})`)
        .join(', '),
    }));
  printRows(rows, ['id', 'context', 'output', 'reasoning', 'endpoints'], args.json);
  return 0;
};

/** Prints the changes that the source would make to the models of this configuration, without applying them. */
async function printDiff(config: Config, word: string, json: boolean): Promise<number> {
  const { refresh } = config.catalog;
  if (refresh === null)
    throw new ConfigError('catalog.refresh', 'required for --diff: set it to an address or a file');
  const known = readKnownPrices(config.dataDir, refresh);
  const client = new UpstreamClient(systemClock.now, { network: () => config.upstream.network });
  try {
    const book = await readPriceSource(refresh, known.book, { client, clock: systemClock });
    const before = offlineSnapshot(config, known.book).catalog;
    const changes = diffCatalogs(before, offlineSnapshot(config, book).catalog).filter(({ model }) =>
      model.toLowerCase().includes(word),
    );
    if (!json) process.stdout.write(`${known.book.version} → ${book.version}: ${changes.length} changes\n`);
    if (json || changes.length > 0)
      printRows(
        changes.map((change) => ({ ...change })),
        ['model', 'change', 'before', 'after'],
        json,
      );
    return 0;
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    process.stderr.write(`cannot use ${nameOfSource(refresh)}: ${error.message}\n`);
    return 1;
  } finally {
    client.close();
  }
}

/** Unlisted models that the doctor has probed and that are still served. */
function probedBesides(catalog: Catalog, diagnoses: readonly Diagnosis[]): readonly Model[] {
  const found = new Map<string, Model>();
  for (const { provider, model: name, baseUrl } of diagnoses) {
    if (!catalog.hasProvider(provider)) continue;
    const model = catalog.find(`${provider}/${name}`);
    const isThere = model?.endpoints.some((endpoint) => endpoint.baseUrl === baseUrl) === true;
    if (model && isThere && !catalog.isListed(model.id)) found.set(model.id, model);
  }
  return [...found.values()];
}
