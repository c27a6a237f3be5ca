// Live events of the gateway. All pages share one stream. It carries only the types that have listeners, and is
// closed while there are none.
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { openStream, type Answer } from './client.ts';

/** Same form as in a list. */
export type GenerationEvent = Answer<'GET /generations'>['data'][number];

interface Events {
  readonly generation: GenerationEvent;
  readonly alert: { readonly type: string; readonly message: string };
  /** Resources whose responses may have changed, by the first segment of their paths. */
  readonly activity: { readonly changed: readonly string[] };
}

type Type = keyof Events;
type Listener = (data: string) => void;

/** Milliseconds until a stream that ended or was refused is opened again, for example during a restart. */
const RECONNECT_MS = 5_000;
/** Milliseconds after which a stream that has not opened counts as missing, for example behind a proxy that buffers. */
const LATE_MS = 5_000;

const listeners: Readonly<Record<Type, Set<Listener>>> = {
  generation: new Set(),
  alert: new Set(),
  activity: new Set(),
};
const watchers = new Set<() => void>();

let reading: AbortController | null = null;
let isReceiving = false;
/** True: the stream has failed, ended or not opened in time, and none has opened since. */
let isAway = false;
/** Types of the current stream, separated by commas. */
let notified = '';
let again: ReturnType<typeof setTimeout> | undefined;
let isChanging = false;
/** False: the user paused live updates. */
let isLive = true;

/**
 * Receives events of one type while the component is mounted.
 * @param when false: not subscribed
 */
export function useEvents<T extends Type>(type: T, when: boolean, receive: (event: Events[T]) => void): void {
  const received = useEffectEvent(receive);
  const isWanted = useIsLive() && when;
  useEffect(() => {
    if (!isWanted) return undefined;
    const listener: Listener = (data) => received(JSON.parse(data) as Events[T]);
    listeners[type].add(listener);
    changed();
    return () => {
      listeners[type].delete(listener);
      changed();
    };
  }, [type, isWanted]);
}

/** True while pages follow live events. */
export function useIsLive(): boolean {
  return useSyncExternalStore(watch, () => isLive);
}

export function setLive(next: boolean): void {
  isLive = next;
  notifyWatchers();
}

/** True while events arrive. Also false while there are no listeners. */
export function useIsReceiving(): boolean {
  return useSyncExternalStore(watch, isOpen);
}

/** True while the stream is missing. Unlike `useIsReceiving`, false while a first stream opens and without listeners. */
export function useIsAway(): boolean {
  return useSyncExternalStore(watch, () => isAway);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function isOpen(): boolean {
  return isReceiving;
}

/** Opens the stream again if the types changed. Waits a microtask, so that a change of pages opens it only once. */
function changed(): void {
  if (isChanging) return;
  isChanging = true;
  queueMicrotask(() => {
    isChanging = false;
    const types = (Object.keys(listeners) as Type[]).filter((type) => listeners[type].size > 0).join(',');
    if (types !== notified) open(types);
  });
}

/** @param types separated by commas; empty: closes the stream */
function open(types: string): void {
  clearTimeout(again);
  reading?.abort();
  notified = types;
  reading = types === '' ? null : new AbortController();
  if (!reading) isAway = false;
  say(false);
  if (reading) void receive(types, reading);
}

/** Reads the stream until it ends, then schedules another attempt unless a newer stream has replaced it. */
async function receive(types: string, mine: AbortController): Promise<void> {
  const late = setTimeout(() => mine.signal.aborted || say(false, true), LATE_MS);
  try {
    const stream = await openStream(`/events?types=${types}`, mine.signal);
    clearTimeout(late);
    say(true, false);
    for await (const [type, data] of eventsOf(stream))
      if (type in listeners) for (const listener of listeners[type as Type]) listener(data);
  } catch {
    // Any failure is followed by another attempt.
  }
  clearTimeout(late);
  if (mine.signal.aborted) return;
  say(false, true);
  again = setTimeout(() => open(notified), RECONNECT_MS);
}

/** Parses server-sent events (HTML standard), each with one line of data. */
async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<readonly [string, string]> {
  const reader = stream
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader();
  let rest = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const events = (rest + read.value).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const [, type] = /^event: ?(.*)$/m.exec(event) ?? [];
      const [, data] = /^data: ?(.*)$/m.exec(event) ?? [];
      if (type !== undefined && data !== undefined) yield [type, data];
    }
  }
}

function say(received: boolean, away = isAway): void {
  isReceiving = received;
  isAway = away;
  notifyWatchers();
}

function notifyWatchers(): void {
  for (const watcher of watchers) watcher();
}
