// Delays the just-in-time compilers during a start, whose code runs only once.
//
// Gain: a start takes 290 instead of 400 ms of CPU (ten interleaved starts, `bench/start-up.ts`, Bun 1.4.5, 2026-11-23). Without it: the
// same results. To remove: this file and its two callers. Try without it with each new version of the runtime.

/** Factor by which code must run more often before it is compiled. */
const JIT_DELAY_FACTOR = 8;

/** Runs a step with delayed compilation. @returns its result */
export async function runOnce<T>(step: () => Promise<T>): Promise<T> {
  Bun.unsafe.setJITPolicy(JIT_DELAY_FACTOR);
  try {
    return await step();
  } finally {
    Bun.unsafe.setJITPolicy(1);
  }
}
