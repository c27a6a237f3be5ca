// Notices that a file of the configuration changed and asks for what is made of it. What is valid is swapped in as a
// whole; else it is refused and logged, and the old one stays. Knows nothing of what the files hold.
import { statSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { placedProblems } from './problem-places.ts';
import type { DurationMs } from '../../base/units.ts';

export interface WatchInput<T> {
  /** Name of what the files hold, for the log. Default: `configuration`. */
  readonly what?: string | undefined;
  /** The file; null when there is none, so that only a hangup signal reloads. */
  readonly path: string | null;
  /** Further files that a value is built from; they may come and go. */
  readonly also?: readonly string[] | undefined;
  /** Builds what replaces the current value; throws when the configuration is not valid. */
  readonly load: (revision: number) => T;
  readonly current: T & { readonly revision: number };
  /** Called after a swap. */
  readonly onSwap?: ((next: T) => void) | undefined;
  readonly log: (level: 'info' | 'error', message: string) => void;
  /** Calls back on every change near the file; returns how to stop. Default: looks at the file now and then. */
  readonly watchFile?: ((path: string, changed: () => void) => () => void) | undefined;
  /** Calls back on a hangup signal; returns how to stop. */
  readonly onHangup?: ((reload: () => void) => () => void) | undefined;
  /** Editors write in several steps: wait for this long a pause. Milliseconds. */
  readonly debounceMs?: DurationMs | undefined;
  /** Runs a function later; returns how to cancel it. */
  readonly schedule?: ((run: () => void, ms: DurationMs) => () => void) | undefined;
}

export interface Watched<T> {
  /** Value that is valid now. */
  current(): T;
  /** Reads the file again at once. True when a new snapshot is in force. */
  reload(): boolean;
  /** Stops watching. */
  close(): void;
}

/** Starts watching. */
export function watchConfig<T>(input: WatchInput<T>): Watched<T> {
  let current: T = input.current;
  let revision = input.current.revision;
  let cancel: (() => void) | undefined;
  const what = input.what ?? 'configuration';
  const schedule = input.schedule ?? scheduleTimer;

  function reload(): boolean {
    let next: T;
    try {
      next = input.load(revision + 1);
    } catch (error) {
      const problems = error instanceof ConfigError ? placedProblems(error, input.path) : null;
      const message = problems?.join('; ') ?? (error instanceof Error ? error.message : String(error));
      input.log(
        'error',
        `the changed ${what} is not valid and was refused; the old one stays in force: ${message}`,
      );
      return false;
    }
    revision += 1;
    current = next;
    input.log('info', `${what} ${revision} is in force`);
    input.onSwap?.(next);
    return true;
  }

  function changed(): void {
    cancel?.();
    cancel = schedule(() => {
      cancel = undefined;
      reload();
    }, input.debounceMs ?? 100);
  }

  const watchFile = input.watchFile ?? watchNamed;
  const stopFile = input.path === null ? undefined : watchFile(input.path, changed);
  const stopOthers = input.also?.map((path) => watchFile(path, changed));
  const stopHangup = input.onHangup?.(reload);
  return {
    current: () => current,
    reload,
    close: () => {
      cancel?.();
      stopFile?.();
      for (const stop of stopOthers ?? []) stop();
      stopHangup?.();
    },
  };
}

/** How often the file is looked at, in milliseconds. */
const LOOK_MS = 500;

/**
 * Looks at the file itself now and then, through links: that sees editors that replace it and mounts that swap a
 * link, works on every file system, and is not woken by the database beside it.
 */
function watchNamed(path: string, changed: () => void): () => void {
  let before = versionOf(path);
  const timer = setInterval(() => {
    const now = versionOf(path);
    // A file that is being replaced is gone for a moment: the new one will be seen.
    if (now === null || now === before) return;
    before = now;
    changed();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Digest that changes with every way of writing a file; null while there is none. */
function versionOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : null;
}

function scheduleTimer(run: () => void, ms: DurationMs): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
