// Asks how a request would be routed: as any key, or with the playground's, since only keys of the role `models` may ask themselves.
import { ask, refusal } from '../api/client.ts';
import { modelsKey } from '../api/models-key.ts';
import type { RouteTable } from '../ui/why-here.tsx';

/** @param body JSON of a request @param key id of the key that asks; empty: the playground's @throws ApiError */
export async function explainRoute(body: string, key: string): Promise<RouteTable> {
  if (key !== '') {
    const request = JSON.parse(body) as Record<string, unknown>;
    return (await ask('POST /route/explain', { body: { key, request } })) as unknown as RouteTable;
  }
  const answer = await fetch('/v1/route/explain', {
    method: 'POST',
    headers: { authorization: `Bearer ${await modelsKey()}`, 'content-type': 'application/json' },
    body,
    credentials: 'omit',
  });
  const text = await answer.text();
  if (!answer.ok) throw refusal(answer.status, text);
  return JSON.parse(text) as RouteTable;
}
