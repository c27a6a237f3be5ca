// The shape of everything that a gateway is composed of. `compose.ts` lists the parts in order and walks that list.
import type { Snapshot } from '../../config/index.ts';

/** One part of a running gateway. Each step is optional: many parts only have to be stopped. */
export interface Part {
  /** Begins its work, once all parts are there and before clients are served. Throws where that is not possible. */
  start?(): void;
  /** Takes over a configuration that is in force from now on. Never throws. */
  reload?(snapshot: Snapshot): void;
  /** Ends its work. The next part stops when this is done. */
  stop?(): void | Promise<void>;
}

/** Starts parts, in order. */
export function startAll(parts: readonly Part[]): void {
  for (const part of parts) part.start?.();
}

/** Hands a configuration to parts, in order. */
export function reloadAll(parts: readonly Part[], snapshot: Snapshot): void {
  for (const part of parts) part.reload?.(snapshot);
}

/** Stops parts, one after the other, in order. */
export async function stopAll(parts: readonly Part[]): Promise<void> {
  for (const part of parts) await part.stop?.();
}

/** Work that runs in the background from start to stop. @param begin returns what ends it */
export function background(begin: () => () => void): Part {
  let end: (() => void) | undefined;
  return {
    start() {
      end = begin();
    },
    stop: () => end?.(),
  };
}
