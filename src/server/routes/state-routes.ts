// Shared parts of routes for stored state: dependencies, and reading and showing of stored items.
import type { Storage } from '../../accounts/ports/index.ts';
import type { Batches } from '../../engine/index.ts';
import type { Files } from '../../engine/state/files.ts';
import type { PromptLibrary } from '../../engine/state/prompt-library.ts';
import { keepingProtocol, type StoredItems } from '../../protocols/index.ts';
import type { BodyReader } from '../body/body-reader.ts';
import type { ReplyDependencies } from '../reply.ts';
import type { StreamDependencies } from './kept-streams.ts';
import type { UnixMs } from '../../base/units.ts';

export interface StateDependencies extends ReplyDependencies, StreamDependencies {
  readonly state: Pick<Storage, 'responses' | 'conversations'>;
  readonly prompts: PromptLibrary;
  readonly files: Files;
  readonly batches: Batches;
  /** Expiry of what is stored at `now`. Null: never. */
  readonly expiresAt: (now: UnixMs) => UnixMs | null;
  readonly bodies: BodyReader;
  /** True: kept streams are replayed in the protocol's open variant, regardless of the client. */
  readonly readsOpenWords: () => boolean;
}

/** How stored items are read and shown. */
export const storedItems: StoredItems = keepingProtocol.server.items;

/** A time in RFC 3339. @param ms Unix milliseconds */
export function isoOf(ms: UnixMs): string {
  return new Date(ms).toISOString();
}
