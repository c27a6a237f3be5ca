// Code that runs once, as that of a start does, is not worth compiling.

/** How many times as often as usual something has to run before it is compiled. */
const JIT_DELAY_FACTOR = 8;

/** Runs what is seldom run twice, and with the compiler held back. @returns what it returns */
export async function runOnce<T>(step: () => Promise<T>): Promise<T> {
  Bun.unsafe.setJITPolicy(JIT_DELAY_FACTOR);
  try {
    return await step();
  } finally {
    Bun.unsafe.setJITPolicy(1);
  }
}
