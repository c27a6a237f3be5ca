// `dragoman serve`: runs the gateway until it is told to stop.
import { readEnvironment } from '../config/index.ts';
import { parseArguments, type RunCommand } from './command.ts';
import { composeGateway } from './compose.ts';
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
  if (running.firstKey) process.stdout.write(welcome(running.origin, running.firstKey));
  await stopped;
  await running.stop();
  return process.exit(0);
};

function welcome(origin: string, key: string): string {
  return `
Your first API key, shown only this once: ${key}

Try it with the built-in simulated provider:

curl ${origin}/v1/chat/completions -H "authorization: Bearer ${key}" -H "content-type: application/json" -d '{"model":"sim/chat","messages":[{"role":"user","content":"Hello!"}]}'

For a real provider, set its key (for example OPENAI_API_KEY) and start again.
`;
}
