// Global names that Bun provides, such as `URL` and `clearInterval`.

/**
 * Creates all of them now. Bun creates each on its first use, which changes the shape of the global object. Compiled code
 * depends on that shape, so that a rare path of one request would discard hundreds of compiled functions.
 */
export function makeGlobals(): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) Reflect.get(globalThis, name);
}
