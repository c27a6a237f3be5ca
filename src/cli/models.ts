// `dragoman models`: the models that this configuration serves.
import type { Endpoint } from '../catalog/index.ts';
import { findDiagnosis, readCapabilities } from '../doctor/index.ts';
import { parseArguments, printRows, type Command } from './command.ts';
import { offlineSnapshot } from './offline-snapshot.ts';

export const models: Command = {
  name: 'models',
  usage: 'models [WORD]',
  summary: 'list the models, or those whose id contains WORD',
  async run(argv) {
    const args = parseArguments(argv);
    const { config } = args.load();
    const { catalog } = offlineSnapshot(config);
    const find = findDiagnosis(readCapabilities(config.dataDir).diagnoses);
    const probed = (endpoint: Endpoint): string => {
      const found = find(endpoint);
      return found ? `, probed ${new Date(found.probedAt).toISOString().slice(0, 10)}` : '';
    };
    const word = args.words[0]?.toLowerCase() ?? '';
    const rows = catalog
      .list()
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
