// The shape of everything that a gateway is composed of. `compose.ts` lists the parts in order and walks that list.
import type { Snapshot } from '../../config/index.ts';

/** One part of a running gateway. Each step is optional: many parts only have to be stopped. */
export interface Part {
  /** Starts work, after all parts were created and before clients are served. Throws when that is impossible. */
  start?(): void;
  /** Applies a new configuration. Never throws. */
  reload?(snapshot: Snapshot): void;
  /** Stops work. The next part stops afterwards. */
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

/** Background work between start and stop. @param begin returns a function that ends it */
export function background(begin: () => () => void): Part {
  let end: (() => void) | undefined;
  return {
    start() {
      end = begin();
    },
    stop: () => end?.(),
  };
}
