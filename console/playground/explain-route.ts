// Asks how a request would be routed, with the playground's key: only keys of the role `models` may.
import type { RouteTable } from '../ui/why-here.tsx';
import { playgroundKey } from './playground-key.ts';
import { messageIn, Refused } from './stream.ts';

/** @param body JSON of a request @throws Refused */
export async function explainRoute(body: string): Promise<RouteTable> {
  const answer = await fetch('/v1/route/explain', {
    method: 'POST',
    headers: { authorization: `Bearer ${await playgroundKey()}`, 'content-type': 'application/json' },
    body,
    credentials: 'omit',
  });
  const text = await answer.text();
  if (!answer.ok) throw new Refused(answer.status, messageIn(text));
  return JSON.parse(text) as RouteTable;
}
