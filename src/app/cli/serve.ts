// `dragoman serve`: runs the gateway until stopped, as a single process or as one of several workers.
import type { Environment } from '../config/index.ts';
import { readEnvironment } from '../../base/runtime/environment.ts';
import { makeGlobals } from '../../base/runtime/globals.ts';
import { outliveOutput } from './log-output.ts';
import { parentProcess } from '../../base/runtime/worker-process.ts';
import { Siblings } from '../../cluster/workers/index.ts';
import { parseArguments, type Arguments, type RunCommand } from './command.ts';
import { SERVE_OPTIONS } from './options.ts';
import { printWelcome } from './print-welcome.ts';
import { runOnce } from '../../base/runtime/one-time-code.ts';
import { launcherPid, untilSignal } from './signals.ts';

export const serve: RunCommand = async (argv) => {
  outliveOutput();
  const args = parseArguments(argv, SERVE_OPTIONS);
  const environment = readEnvironment();
  const parent = parentProcess(environment);
  if (parent) return serveHere(args, environment, new Siblings(parent));
  const { config } = args.load();
  const { workers } = config.server;
  if (workers === null) return serveHere(args, environment, null);
  const { serveWorkers } = await import('./serve-workers.ts');
  return process.exit(await serveWorkers({ config, workers, argv, environment }));
};

async function serveHere(
  args: Arguments,
  environment: Environment,
  siblings: Siblings | null,
): Promise<number> {
  makeGlobals();
  const launcher = launcherPid(environment);
  // Loaded on demand, because a supervisor does not need it.
  const { composeGateway } = await runOnce(() => import('./compose/compose.ts'));
  const running = await runOnce(() =>
    composeGateway({
      environment,
      load: () => args.load(),
      prettyLog: process.stderr.isTTY === true,
      siblings,
    }),
  );
  // Registered before the gateway announces that it listens, because it may be stopped from then on.
  const stopped = untilSignal(launcher);
  const { origin, providers, firstKey, signInLink } = running;
  // A sign-in link must only be shown to the person at the terminal, because logs are read later and by others. A new
  // gateway has no secrets yet.
  const mayLink = process.stdout.isTTY || firstKey !== null;
  const link = mayLink ? signInLink() : null;
  const welcome = { origin, providers, firstKey, link };
  if (siblings) await siblings.listening(welcome);
  else printWelcome(welcome);
  await running.stop((await stopped) === 'SIGTERM');
  return process.exit(0);
}
