// `dragoman check`: validates the configuration and says what it would serve.
import { readCertificate } from '../config/index.ts';
import { systemClock } from '../runtime/clock.ts';
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
    const providers = [
      ...new Set(models.flatMap((model) => model.endpoints.map((endpoint) => endpoint.provider))),
    ];
    const credentials = catalog.credentialOrigins();
    if (args.json) {
      const found = { providers, models: models.length, credentials: Object.fromEntries(credentials) };
      process.stdout.write(`${JSON.stringify({ valid: true, path, ...found })}\n`);
      return 0;
    }
    process.stdout.write(
      `${path ?? 'the built-in defaults'}: valid; ${models.length} models of ${providers.join(', ')}\n`,
    );
    for (const [provider, origin] of credentials) process.stdout.write(`${provider}: signed by ${origin}\n`);
    return 0;
  },
};
