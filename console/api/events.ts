// What happens in the gateway, told to pages as it happens: one stream for all of them, open while somebody listens.
import { useEffect, useEffectEvent, useState } from 'react';
import { addressOf, type Answer } from './client.ts';

/** As it stands in a list. */
export type GenerationEvent = Answer<'GET /generations'>['data'][number];

interface Events {
  readonly generation: GenerationEvent;
  /** An endpoint whose breaker has another state. */
  readonly endpoint: { readonly model: string; readonly endpoint: string; readonly state: string };
  readonly alert: { readonly type: string; readonly message: string };
}

type Listener = (event: MessageEvent<string>) => void;

let stream: EventSource | null = null;
let listeners = 0;

/**
 * Hears of one kind of events while the page is there.
 * @param when false: not now
 * @returns whether the gateway tells them at present
 */
export function useEvents<Type extends keyof Events>(
  type: Type,
  when: boolean,
  hear: (event: Events[Type]) => void,
): boolean {
  const [isOpen, setOpen] = useState(false);
  const heard = useEffectEvent(hear);
  useEffect(() => {
    if (!when) return undefined;
    stream ??= new EventSource(addressOf('/events'));
    const source = stream;
    listeners += 1;
    const listener: Listener = ({ data }) => heard(JSON.parse(data) as Events[Type]);
    const opened = (): void => setOpen(source.readyState === EventSource.OPEN);
    source.addEventListener(type, listener);
    source.addEventListener('open', opened);
    source.addEventListener('error', opened);
    opened();
    return () => {
      source.removeEventListener(type, listener);
      source.removeEventListener('open', opened);
      source.removeEventListener('error', opened);
      listeners -= 1;
      if (listeners > 0) return;
      source.close();
      stream = null;
    };
  }, [type, when]);
  return isOpen;
}
