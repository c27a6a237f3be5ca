// Toasts: short notes about an action that was just done. Their view is loaded with the first one.
import { useSyncExternalStore } from 'react';

export interface ToastMessage {
  readonly title: string;
  /** Undoes the action; absent: cannot be undone. */
  readonly undo?: () => void;
}

let waiting: readonly ToastMessage[] = [];
let show: ((said: ToastMessage) => void) | undefined;
let hasSaid = false;
const watchers = new Set<() => void>();

/** Shows a toast for a few seconds. */
export function toast(said: ToastMessage): void {
  if (show) return show(said);
  waiting = [...waiting, said];
  hasSaid = true;
  for (const watcher of watchers) watcher();
  return undefined;
}

/** Sets the function that shows toasts, and passes earlier ones to it. */
export function showToasts(shows: (said: ToastMessage) => void): void {
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
