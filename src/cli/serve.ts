// `dragoman serve`: runs the gateway until it is told to stop.
import { readEnvironment } from '../config/index.ts';
import { parseArguments, type RunCommand } from './command.ts';
import { composeGateway, type RunningGateway } from './compose.ts';
import { launcherPid, untilSignal } from './signals.ts';

export const serve: RunCommand = async (argv) => {
  const args = parseArguments(argv);
  const environment = readEnvironment();
  const launcher = launcherPid(environment);
  const running = await composeGateway({
    environment,
    load: (draft) => args.load(draft),
    prettyLog: process.stderr.isTTY === true,
  });
  // Before anybody is told that it listens: from then on it may be stopped, or its launcher killed.
  const stopped = untilSignal(launcher);
  process.stdout.write(`listening on ${running.origin}\n`);
  process.stdout.write(`console: ${consoleAddress(running)}\n`);
  if (running.firstKey) process.stdout.write(welcome(running.origin, running.firstKey));
  await stopped;
  await running.stop();
  return process.exit(0);
};

/** A link that signs in is for who sees it now: logs are read later, and by others. A gateway that is new has no secrets yet. */
function consoleAddress({ origin, firstKey, signInLink }: RunningGateway): string {
  return process.stdout.isTTY || firstKey !== null
    ? `${signInLink()} (signs in once, within 15 minutes)`
    : `${origin}/console (\`dragoman console\` prints a link that signs in)`;
}

function welcome(origin: string, key: string): string {
  return `
Your first API key, shown only this once: ${key}

Try it with the built-in simulated provider:

curl ${origin}/v1/chat/completions -H "authorization: Bearer ${key}" -H "content-type: application/json" -d '{"model":"sim/chat","messages":[{"role":"user","content":"Hello!"}]}'

For a real provider, set its key (for example OPENAI_API_KEY) and start again.
`;
}
