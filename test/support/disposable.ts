/** Makes a value that has `close` close at the end of its block: `await using storage = disposable(await open())`. */
export function disposable<Value extends object & { close(): Promise<void> }>(
  value: Value,
): Value & AsyncDisposable {
  return Object.assign(value, {
    // A spread copy runs its own `close`.
    async [Symbol.asyncDispose](this: { close(): Promise<void> }) {
      await this.close();
    },
  });
}
