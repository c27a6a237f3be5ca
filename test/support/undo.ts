// Steps that end what tests have started: added as it starts, run in reverse order.
import { afterAll, afterEach } from 'bun:test';

type Steps = (() => unknown)[];

/** Steps that run after each test of the file. */
export function undoAfterEach(): Steps {
  const steps: Steps = [];
  afterEach(() => undo(steps));
  return steps;
}

/** Steps that run after all tests of the file. */
export function undoAfterAll(): Steps {
  const steps: Steps = [];
  afterAll(() => undo(steps));
  return steps;
}

async function undo(steps: Steps): Promise<void> {
  for (const step of steps.splice(0).toReversed()) await step();
}
