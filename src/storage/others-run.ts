// Yields to the event loop between the steps of long work.

/** Resolves after pending events have been handled. */
export function othersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
