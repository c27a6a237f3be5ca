// The names that the runtime gives to every program, `URL` and `clearInterval` among them.

/**
 * Makes every one of them now. The runtime makes each when a program first says its name, which changes the object that
 * they all stand on, and compiled code knows that object by its shape: whatever says such a name has to be compiled
 * again, hundreds of functions, because some request was the first to take a rare way.
 */
export function makeGlobals(): void {
  for (const name of Object.getOwnPropertyNames(globalThis)) Reflect.get(globalThis, name);
}
