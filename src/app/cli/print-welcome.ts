// Output at startup: address, console link, enabled providers, first API key, a first request, and how to add a provider.
import { inThisShell } from './program-name.ts';
import type { Welcome } from '../../cluster/workers/index.ts';

/** Prints the address, how to sign in to the console, the providers, and the first API key if one was created. */
export function printWelcome({ origin, providers, firstKey, link }: Welcome): void {
  process.stdout.write(`listening on ${origin}\n`);
  process.stdout.write(
    link === null
      ? `console: ${fromHere(origin)}/console (\`${inThisShell('console')}\` prints a sign-in link)\n`
      : `console: ${fromHere(link)} (sign-in link, works once, expires in 15 minutes)\n`,
  );
  // Shows whether the variable of a provider was found.
  process.stdout.write(`providers: ${providers.join(', ') || 'none'}\n`);
  if (firstKey) process.stdout.write(firstSteps(fromHere(origin), firstKey));
}

/** The address with a host that is reachable from this machine, if the gateway listens on all hosts. */
function fromHere(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

function firstSteps(origin: string, key: string): string {
  return `
Two secrets:
  The console link is for you. It opens the console in a browser. \`${inThisShell('console')}\` prints a new link.
  The API key is for your programs. It calls models. \`${inThisShell('keys create NAME')}\` creates another key.

Your first API key (shown only once): ${key}

Try it with the built-in simulated model, which needs no account:

curl ${origin}/v1/chat/completions -H "authorization: Bearer ${key}" -H "content-type: application/json" -d '{"model":"sim/chat","messages":[{"role":"user","content":"Hello!"}]}'

Add a provider:
  With an account: restart with its variable, for example OPENAI_API_KEY=sk-…, and request "model": "openai/gpt-5".
  With your own server: add this to dragoman.yaml in this folder, and request "model": "my-vllm/…".
    providers: { my-vllm: { preset: vllm, base_url: "http://10.0.0.5:8000/v1" } }
  Budgets refuse models without a price: ${origin}/docs/guide/troubleshooting#why-this-price

Documentation: ${origin}/docs/guide
`;
}
