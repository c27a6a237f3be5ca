// A reader of standard output that has left, as `| head` does: the command ends, and says nothing of it.

/** Ends the process quietly when nobody reads its output any more. Safe to call again. */
export function endQuietly(): void {
  for (const stream of [process.stdout, process.stderr])
    if (stream.listenerCount('error') === 0)
      stream.on('error', (error: Error & { readonly code?: string }) => {
        // The reader has all that it wanted.
        if (error.code === 'EPIPE') process.exit(stream === process.stdout ? 0 : 1);
        throw error;
      });
}
