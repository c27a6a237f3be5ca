// `dragoman serve`: runs the gateway until it is told to stop, alone or as one of several workers.
import { readEnvironment } from '../config/index.ts';
import { parentProcess } from '../runtime/worker-process.ts';
import { Siblings, type Welcome } from '../workers/index.ts';
import { parseArguments, type Arguments, type RunCommand } from './command.ts';
import { launcherPid, untilSignal } from './signals.ts';

export const serve: RunCommand = async (argv) => {
  const args = parseArguments(argv, { workers: { type: 'string' } });
  const environment = readEnvironment();
  const launcher = launcherPid(environment);
  const parent = parentProcess(environment);
  if (parent) return serveHere(args, launcher, new Siblings(parent));
  const { config } = args.load();
  const { workers } = config.server;
  if (workers === null) return serveHere(args, launcher, null);
  const { serveWorkers } = await import('./serve-workers.ts');
  return process.exit(await serveWorkers({ config, workers, argv, launcher, welcome: print }));
};

async function serveHere(
  args: Arguments,
  launcher: number | undefined,
  siblings: Siblings | null,
): Promise<number> {
  // A supervisor holds nothing of it.
  const { composeGateway } = await import('./compose.ts');
  const running = await composeGateway({
    environment: readEnvironment(),
    load: (draft) => args.load(draft),
    prettyLog: process.stderr.isTTY === true,
    siblings,
  });
  // Before anybody is told that it listens: from then on it may be stopped, or its launcher killed.
  const stopped = untilSignal(launcher);
  const { origin, firstKey, signInLink } = running;
  // A link that signs in is for who sees it now: logs are read later, and by others. A gateway that is new has no secrets yet.
  const mayLink = process.stdout.isTTY || firstKey !== null;
  const link = mayLink ? signInLink() : null;
  if (siblings) await siblings.listening({ origin, firstKey, link });
  else print({ origin, firstKey, link });
  await stopped;
  await running.stop();
  return process.exit(0);
}

function print({ origin, firstKey, link }: Welcome): void {
  process.stdout.write(`listening on ${origin}\n`);
  process.stdout.write(
    link === null
      ? `console: ${origin}/console (\`dragoman console\` prints a link that signs in)\n`
      : `console: ${link} (signs in once, within 15 minutes)\n`,
  );
  if (firstKey) process.stdout.write(welcome(origin, firstKey));
}

function welcome(origin: string, key: string): string {
  return `
Your first API key, shown only this once: ${key}

Try it with the built-in simulated provider:

curl ${origin}/v1/chat/completions -H "authorization: Bearer ${key}" -H "content-type: application/json" -d '{"model":"sim/chat","messages":[{"role":"user","content":"Hello!"}]}'

For a real provider, set its key (for example OPENAI_API_KEY) and start again.
`;
}
