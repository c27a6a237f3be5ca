// API key with which pages call models. A session may only call the management API, so it creates a key of the role
// `models`. The key is reused by name, expires after 8 hours, and is kept only in the memory of this page.
import { ask } from './client.ts';

const NAME = 'console playground';
const LIFETIME_MS = 8 * 3_600_000;
/** Another page may still use the previous secret. */
const GRACE_MS = 3_600_000;

let kept: Promise<string> | undefined;

/** The key. Created, or rotated if it exists, on first use. @throws ApiError */
export async function modelsKey(): Promise<string> {
  kept ??= obtain().catch((error: unknown) => {
    kept = undefined;
    throw error;
  });
  return kept;
}

/** Discards a key that was rejected. */
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

/** Id of the existing key; null if there is no usable one. */
async function existing(): Promise<string | null> {
  const { data } = await ask('GET /keys', { query: { name: NAME, state: 'unrevoked' } });
  return data.find(({ source }) => source === 'database')?.id ?? null;
}
