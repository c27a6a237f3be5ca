// For work that is done in steps.

/** Resolves when the event loop has seen to what is waiting. */
export function othersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
