// Lets other work run between the steps of a long one.

/** Resolves when the event loop has seen to what is waiting. */
export function othersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
