// Events of the gateway as they happen: one stream for all pages, only of what they listen to,
// open while somebody listens.
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { openStream, type Answer } from './client.ts';

/** As it stands in a list. */
export type GenerationEvent = Answer<'GET /generations'>['data'][number];

interface Events {
  readonly generation: GenerationEvent;
  readonly alert: { readonly type: string; readonly message: string };
  /** Parts of the management API that may answer otherwise than before, by the first word of their paths. */
  readonly activity: { readonly changed: readonly string[] };
}

type Type = keyof Events;
type Listener = (data: string) => void;

/** After which a stream that broke, or was refused (by a gateway that starts, or stops), is asked for again. */
const AGAIN_MS = 5_000;

const listeners: Readonly<Record<Type, Set<Listener>>> = {
  generation: new Set(),
  alert: new Set(),
  activity: new Set(),
};
const watchers = new Set<() => void>();

let reading: AbortController | null = null;
let isReceiving = false;
/** The types that it was opened for. */
let notified = '';
let again: ReturnType<typeof setTimeout> | undefined;
let isChanging = false;
/** False: whoever looks wants pages to stay as they are. */
let isLive = true;

/**
 * Hears of one kind of events while the page is there.
 * @param when false: not now
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

/** Whether the gateway tells what happens at present. False while nobody listens, too. */
export function useIsReceiving(): boolean {
  return useSyncExternalStore(watch, isOpen);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

function isOpen(): boolean {
  return isReceiving;
}

/** Opens the stream anew for other listeners, once all of a page have come and those of the page before have gone. */
function changed(): void {
  if (isChanging) return;
  isChanging = true;
  queueMicrotask(() => {
    isChanging = false;
    const types = (Object.keys(listeners) as Type[]).filter((type) => listeners[type].size > 0).join(',');
    if (types !== notified) open(types);
  });
}

/** @param types behind commas; none: nothing is wanted any more */
function open(types: string): void {
  clearTimeout(again);
  reading?.abort();
  notified = types;
  reading = types === '' ? null : new AbortController();
  say(false);
  if (reading) void receive(types, reading);
}

/** Reads until the stream ends, and asks for it again unless another has taken its place. */
async function receive(types: string, mine: AbortController): Promise<void> {
  try {
    const stream = await openStream(`/events?types=${types}`, mine.signal);
    say(true);
    for await (const [type, data] of eventsOf(stream))
      if (type in listeners) for (const listener of listeners[type as Type]) listener(data);
  } catch {
    // The stream is asked for again, whatever broke it.
  }
  if (mine.signal.aborted) return;
  say(false);
  again = setTimeout(() => open(notified), AGAIN_MS);
}

/** Events of a stream in the form of the HTML standard ("Server-sent events"), each with one line of data. */
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

function say(received: boolean): void {
  isReceiving = received;
  notifyWatchers();
}

function notifyWatchers(): void {
  for (const watcher of watchers) watcher();
}
