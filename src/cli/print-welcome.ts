// What a person who starts the gateway is told on standard output.
import type { Welcome } from '../workers/index.ts';

/** Tells where it listens, how to sign in, and the key that was made, if one was. */
export function printWelcome({ origin, firstKey, link }: Welcome): void {
  process.stdout.write(`listening on ${origin}\n`);
  process.stdout.write(
    link === null
      ? `console: ${origin}/console (\`dragoman console\` prints a link that signs in)\n`
      : `console: ${link} (signs in once, within 15 minutes)\n`,
  );
  if (firstKey) process.stdout.write(firstSteps(origin, firstKey));
}

function firstSteps(origin: string, key: string): string {
  return `
Your first API key, shown only this once: ${key}

Try it with the built-in simulated provider:

curl ${origin}/v1/chat/completions -H "authorization: Bearer ${key}" -H "content-type: application/json" -d '{"model":"sim/chat","messages":[{"role":"user","content":"Hello!"}]}'

For a real provider, set its key (for example OPENAI_API_KEY) and start again.
`;
}
