// `dragoman models`: the models that this configuration serves.
import type { Catalog, Endpoint, Model } from '../catalog/index.ts';
import { findDiagnosis, readCapabilities, type Diagnosis } from '../doctor/index.ts';
import { parseArguments, printRows, type Command } from './command.ts';
import { offlineSnapshot } from './offline-snapshot.ts';

export const models: Command = {
  name: 'models',
  usage: 'models [WORD]',
  summary: 'list the models, and what was probed besides, or those whose id contains WORD',
  async run(argv) {
    const args = parseArguments(argv);
    const { config } = args.load();
    const { catalog } = offlineSnapshot(config);
    const { diagnoses } = readCapabilities(config.dataDir);
    const find = findDiagnosis(diagnoses);
    const probed = (endpoint: Endpoint): string => {
      const found = find(endpoint);
      return found ? `, probed ${new Date(found.probedAt).toISOString().slice(0, 10)}` : '';
    };
    const word = args.words[0]?.toLowerCase() ?? '';
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
  },
};

/** Models that no list has, since they need no entry, but that the doctor examined where they are served now. */
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
