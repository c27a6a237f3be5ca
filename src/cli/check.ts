// `dragoman check`: validates the configuration and says what it would serve.
import { buildSnapshot, readEnvironment } from '../config/index.ts';
import { presets } from '../providers/index.ts';
import { parseArguments, type Command } from './command.ts';
import { simBuiltIn } from './sim-server.ts';

export const check: Command = {
  name: 'check',
  usage: 'check',
  summary: 'validate the configuration and exit',
  async run(argv) {
    const args = parseArguments(argv);
    const { config, path } = args.load();
    const sim = simBuiltIn('http://127.0.0.1:0');
    const { catalog } = buildSnapshot({ config, presets, sim, environment: readEnvironment(), revision: 1 });
    const models = catalog.list();
    const providers = [
      ...new Set(models.flatMap((model) => model.endpoints.map((endpoint) => endpoint.provider))),
    ];
    if (args.json)
      process.stdout.write(`${JSON.stringify({ valid: true, path, providers, models: models.length })}\n`);
    else
      process.stdout.write(
        `${path ?? 'the built-in defaults'}: valid; ${models.length} models of ${providers.join(', ')}\n`,
      );
    return 0;
  },
};
