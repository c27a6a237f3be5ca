// The key with which pages call models: a session may only manage, so it gives itself one of the role `models`, the same each
// time, for a working day. It stays in the memory of this page.
import { ask } from './client.ts';

const NAME = 'console playground';
const LIFETIME_MS = 8 * 3_600_000;
/** Another page may be using the secret of before. */
const GRACE_MS = 3_600_000;

let kept: Promise<string> | undefined;

/** The key; made or given another secret when it is first needed. @throws ApiError */
export async function modelsKey(): Promise<string> {
  kept ??= obtain().catch((error: unknown) => {
    kept = undefined;
    throw error;
  });
  return kept;
}

/** Forgets a key that was refused. */
export function forgetModelsKey(): void {
  kept = undefined;
}

async function obtain(): Promise<string> {
  const expires = { expires_at: new Date(Date.now() + LIFETIME_MS).toISOString() };
  const found = await existing();
  if (!found) return (await ask('POST /keys', { body: { name: NAME, ...expires } })).key;
  await ask('PATCH /keys/{id}', { params: { id: found }, body: expires });
  const rotated = await ask('POST /keys/{id}/rotate', {
    params: { id: found },
    body: { grace_ms: GRACE_MS },
  });
  return rotated.key;
}

/** Id of the key of before; null where there is none that can be used. */
async function existing(): Promise<string | null> {
  const { data } = await ask('GET /keys', { query: { name: NAME, state: 'unrevoked' } });
  return data.find(({ source }) => source === 'database')?.id ?? null;
}
