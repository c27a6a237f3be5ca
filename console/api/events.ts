// What happens in the gateway, told to pages as it happens: one stream for all of them, of what they listen to and nothing else,
// open while somebody listens.
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { addressOf, type Answer } from './client.ts';

/** As it stands in a list. */
export type GenerationEvent = Answer<'GET /generations'>['data'][number];

interface Events {
  readonly generation: GenerationEvent;
  readonly alert: { readonly type: string; readonly message: string };
  /** Parts of the management API that may answer otherwise than before, by the first word of their paths. */
  readonly activity: { readonly changed: readonly string[] };
}

type Type = keyof Events;
type Listener = (event: MessageEvent<string>) => void;

/** After which a stream that was refused (by a gateway that starts, or stops) is asked for again. */
const AGAIN_MS = 5_000;

const listeners: Readonly<Record<Type, Set<Listener>>> = {
  generation: new Set(),
  alert: new Set(),
  activity: new Set(),
};
const watchers = new Set<() => void>();

let source: EventSource | null = null;
/** The types that it was opened for. */
let told = '';
let again: ReturnType<typeof setTimeout> | undefined;
let isChanging = false;

/**
 * Hears of one kind of events while the page is there.
 * @param when false: not now
 */
export function useEvents<T extends Type>(type: T, when: boolean, hear: (event: Events[T]) => void): void {
  const heard = useEffectEvent(hear);
  useEffect(() => {
    if (!when) return undefined;
    const listener: Listener = ({ data }) => heard(JSON.parse(data) as Events[T]);
    listeners[type].add(listener);
    changed();
    return () => {
      listeners[type].delete(listener);
      changed();
    };
  }, [type, when]);
}

/** Whether the gateway tells what happens at present. False while nobody listens, too. */
export function useIsHeard(): boolean {
  return useSyncExternalStore(watch, isOpen);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function isOpen(): boolean {
  return source?.readyState === EventSource.OPEN;
}

/** Those who listen are others. Looked at when all of a page have come, and those of the page before have gone. */
function changed(): void {
  if (isChanging) return;
  isChanging = true;
  queueMicrotask(() => {
    isChanging = false;
    const types = (Object.keys(listeners) as Type[]).filter((type) => listeners[type].size > 0).join(',');
    if (types !== told) open(types);
  });
}

/** @param types behind commas; none: nothing is wanted any more */
function open(types: string): void {
  clearTimeout(again);
  source?.close();
  told = types;
  source = types === '' ? null : new EventSource(addressOf(`/events?types=${types}`));
  if (source) hear(source);
  tellWatchers();
}

function hear(mine: EventSource): void {
  for (const [type, all] of Object.entries(listeners))
    mine.addEventListener(type, (event) => {
      for (const listener of all) listener(event as MessageEvent<string>);
    });
  mine.addEventListener('open', tellWatchers);
  mine.addEventListener('error', () => {
    // A connection that breaks is made again by the browser; what was refused is not.
    if (mine === source && mine.readyState === EventSource.CLOSED)
      again = setTimeout(() => open(told), AGAIN_MS);
    tellWatchers();
  });
}

function tellWatchers(): void {
  for (const watcher of watchers) watcher();
}
