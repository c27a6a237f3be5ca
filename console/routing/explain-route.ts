// Asks how a request would be routed, with the playground's key: only keys of the role `models` may.
import { refusal } from '../api/client.ts';
import { modelsKey } from '../api/models-key.ts';
import type { RouteTable } from '../ui/why-here.tsx';

/** @param body JSON of a request @throws ApiError */
export async function explainRoute(body: string): Promise<RouteTable> {
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
