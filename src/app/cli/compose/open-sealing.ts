// Sealing under the secrets of the installation: new data under the newest, while data under earlier ones opens, too.
import { Envelope } from '../../../engine/state/envelope.ts';
import { Vault } from '../../../engine/state/vault.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { UnixMs } from '../../../base/units.ts';

/** How long signed reasoning can be given back to a client that lost it. */
const VAULT_TTL_MS = 7 * 24 * 3_600_000;

export interface Sealing {
  /** Reasoning of turns with tools, which stays here. */
  readonly vault: Vault;
  /** Seal of data that travels through clients. */
  readonly compaction: Envelope;
  readonly reasoning: Envelope;
}

/** @param now Unix milliseconds */
export async function openSealing(
  storage: Pick<Storage, 'vault' | 'secret' | 'earlierSecrets'>,
  now: () => UnixMs,
): Promise<Sealing> {
  const envelope = async (purpose: 'compaction' | 'reasoning'): Promise<Envelope> =>
    new Envelope(await storage.secret(purpose), purpose, await storage.earlierSecrets(purpose));
  const vault = new Vault(storage.vault, await storage.secret('vault'), {
    ttlMs: VAULT_TTL_MS,
    now,
    earlierKeys: await storage.earlierSecrets('vault'),
  });
  return { vault, compaction: await envelope('compaction'), reasoning: await envelope('reasoning') };
}
