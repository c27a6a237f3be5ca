// Watches files of the configuration and reloads on changes. A valid result replaces the current one as a whole; an
// invalid one is refused and logged.
import { statSync } from 'node:fs';
import { ConfigError } from './config-error.ts';
import { placedProblems } from './problem-places.ts';
import type { DurationMs } from '../../base/units.ts';
import { errorText } from '../../base/lib/errors.ts';

export interface WatchInput<T> {
  /** Description of the files for the log. Default: `configuration`. */
  readonly what?: string | undefined;
  /** The file, which may not exist yet. Null: only SIGHUP reloads. */
  readonly path: string | null;
  /** Further input files, which may be created or deleted. */
  readonly also?: readonly string[] | undefined;
  /** Builds the new value. Throws when it is invalid. */
  readonly load: (revision: number) => T;
  readonly current: T & { readonly revision: number };
  /** Called after the value was replaced. */
  readonly onSwap?: ((next: T) => void) | undefined;
  readonly log: (level: 'info' | 'error', message: string) => void;
  /** Watches a file and returns a function that stops it. Default: polling. */
  readonly watchFile?: ((path: string, changed: () => void) => () => void) | undefined;
  /** Registers a callback for SIGHUP; returns a function that removes it. */
  readonly onHangup?: ((reload: () => void) => () => void) | undefined;
  /** Debounce in milliseconds, because editors write in several steps. */
  readonly debounceMs?: DurationMs | undefined;
  /** Schedules a function; returns a function that cancels it. */
  readonly schedule?: ((run: () => void, ms: DurationMs) => () => void) | undefined;
}

export interface Watched<T> {
  /** The current value. */
  current(): T;
  /** Reads the file again immediately. True: a new value is in force. */
  reload(): boolean;
  /** Stops watching. */
  close(): void;
}

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
      const message = problems?.join('; ') ?? errorText(error);
      input.log(
        'error',
        `the changed ${what} is invalid and was rejected; the previous one stays in use: ${message}`,
      );
      return false;
    }
    revision += 1;
    current = next;
    input.log('info', `${what} ${revision} is in use`);
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

/** Poll interval, in milliseconds. */
const LOOK_MS = 500;

/**
 * Polls the file itself through symbolic links. Detects editors that replace files and mounts that swap links, works on
 * every file system, and is not triggered by the database beside it. A change counts once two polls find the same version:
 * the beginning of a file that is being written may be a valid configuration without the limits that follow.
 */
function watchNamed(path: string, changed: () => void): () => void {
  let inForce = versionOf(path);
  let before = inForce;
  const timer = setInterval(() => {
    const now = versionOf(path);
    const isSettled = now === before;
    before = now;
    // While a file is being replaced, it may briefly not exist; the next poll finds the new one.
    if (now === null || now === inForce || !isSettled) return;
    inForce = now;
    changed();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Fingerprint that changes with every kind of write, also by tools that keep the time of modification, and when a file becomes
 * readable. Null: the file does not exist.
 */
function versionOf(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : null;
}

function scheduleTimer(run: () => void, ms: DurationMs): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
