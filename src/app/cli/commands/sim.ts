// `dragoman sim`: runs only the simulated provider, to test clients or gateways.
import { parseArguments, type RunCommand } from '../command.ts';
import { originOf } from '../listen-or-explain.ts';
import { listenSim } from './sim-server.ts';
import { launcherPid, untilSignal } from '../signals.ts';
import { portOf } from '../../config/index.ts';
import { readEnvironment } from '../../../base/runtime/environment.ts';

export const sim: RunCommand = async (argv) => {
  const args = parseArguments(argv);
  const launcher = launcherPid(readEnvironment());
  const listener = listenSim(args.host ?? '127.0.0.1', portOf(args.port, '--port') ?? 4010);
  const stopped = untilSignal(launcher);
  process.stdout.write(
    `listening on ${originOf(listener)}\n` +
      '  OpenAI-style clients: base URL …/openai/v1; Anthropic-style clients: base URL …/anthropic; ' +
      'Google-style clients: base URL …/google\n',
  );
  await stopped;
  await listener.stop();
  return 0;
};
