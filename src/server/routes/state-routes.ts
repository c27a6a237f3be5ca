// Parts that routes over stored state share: their dependencies, and how kept items are read and shown.
import type { Storage } from '../../accounts/ports/index.ts';
import { GatewayError } from '../../canonical/index.ts';
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
  /** When what is stored at `now` expires; null: never. */
  readonly expiresAt: (now: UnixMs) => UnixMs | null;
  readonly bodies: BodyReader;
  /** True: kept streams are replayed in the words of the protocol's open variant, whatever their client says. */
  readonly readsOpenWords: () => boolean;
}

/** How kept items are read and shown. */
export const storedItems: StoredItems = keepingProtocol.server.items;

/** Error for an id that names nothing of this key. @param what begins the sentence, e.g. `Response` */
export function notFound(what: string, id: string, param?: string): GatewayError {
  return new GatewayError('not_found', `${what} with id '${id.slice(0, 100)}' not found.`, { param });
}

/** A time in RFC 3339. @param ms Unix milliseconds */
export function isoOf(ms: UnixMs): string {
  return new Date(ms).toISOString();
}
