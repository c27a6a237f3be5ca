// The moment at which the least is lost with a socket that listens: the system has accepted connections for it that the process
// takes at the beginning of each turn of the loop, and what comes from then on until the socket closes is reset.
import { nextTurn } from './clock.ts';

/** So short is a turn in which hardly anything was done, in milliseconds; each time it is not, a longer one will do. */
const SHORT_MS = 0.2;
const GROWTH = 1.2;
/** The longest that it is waited for, in milliseconds. */
const PATIENCE_MS = 250;

export interface TurnParts {
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
  /** Calls back once, after the sockets and timers that are due had their turn. */
  readonly turn: (run: () => void) => void;
}

/**
 * Calls back at the end of a turn of the loop that was short: connections that came before it are taken, and hardly any have
 * come since. On a process that is never idle, at the end of one of the shorter turns; within a quarter of a second.
 */
export function onQuietTurn(
  run: () => void,
  { elapsed, turn }: TurnParts = { elapsed: () => performance.now(), turn: nextTurn },
): void {
  const until = elapsed() + PATIENCE_MS;
  let short = SHORT_MS;
  const look = (): void => {
    const from = elapsed();
    turn(() => {
      const now = elapsed();
      if (now - from < short || now >= until) return run();
      short *= GROWTH;
      look();
    });
  };
  // What is left of the turn that runs may end without a look at the sockets.
  turn(look);
}
