// Requests the routing decision for a request, for any key. By default it uses the playground's key, because only
// keys of the role `models` may call `/v1/route/explain`.
import { ask, refusal } from '../api/client.ts';
import { modelsKey } from '../api/models-key.ts';
import type { RouteTable } from '../ui/why-here.tsx';

/**
 * @param body JSON of a request
 * @param key id of the key to explain for; empty: the playground's
 * @throws ApiError
 */
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
