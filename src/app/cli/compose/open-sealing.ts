// Sealing with the secrets of the installation: the newest one seals, earlier ones still open.
import { Envelope } from '../../../engine/state/envelope.ts';
import { Vault } from '../../../engine/state/vault.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Time for which signed reasoning can be restored. */
const VAULT_TTL_MS = 7 * 24 * 3_600_000;

export interface Sealing {
  /** Reasoning of turns with tools, stored here. */
  readonly vault: Vault;
  /** Seals data that passes through clients. */
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
