// Toasts: short notes at the edge of the page on what was just done. Their view is loaded with the first.
import { useSyncExternalStore } from 'react';

export interface Said {
  readonly title: string;
  /** The way back, where there is one. */
  readonly undo?: () => void;
}

let waiting: readonly Said[] = [];
let show: ((said: Said) => void) | undefined;
let hasSaid = false;
const watchers = new Set<() => void>();

/** Says it for some seconds. */
export function toast(said: Said): void {
  if (show) return show(said);
  waiting = [...waiting, said];
  hasSaid = true;
  for (const watcher of watchers) watcher();
  return undefined;
}

/** Gives what was said so far, and what will be, to whatever shows it. */
export function showToasts(shows: (said: Said) => void): void {
  show = shows;
  for (const said of waiting) shows(said);
  waiting = [];
}

export function useHasToasts(): boolean {
  return useSyncExternalStore(watch, () => hasSaid);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}
