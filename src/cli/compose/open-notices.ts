// What happens, told through PostgreSQL where there is no Valkey: to replicas on all machines.
import type { Config } from '../../config/index.ts';
import type { EventHub } from '../../events/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { newId } from '../../runtime/ids.ts';
import { MOST_NOTICE_BYTES, type Storage } from '../../storage/ports.ts';

interface NoticeParts {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly storage: Pick<Storage, 'notices'>;
}

export interface OpenNotices {
  /** What happens here is told to others while somebody watches there, and the other way round, from now on. */
  shareEvents(events: EventHub): void;
  /** Says what is left to say. */
  close(): void;
}

/** Beside the text: who tells it. */
const SENDER_BYTES = 64;

/** Null where something else carries it, or there is nobody. */
export async function openNotices({ config, clock, storage }: NoticeParts): Promise<OpenNotices | null> {
  const store = storage.notices;
  const { redisUrl, counters } = config();
  if (store === null || redisUrl !== null) return null;
  const { EventExchange } = await import('../../exchange/events/index.ts');
  const { NoticeBulletin } = await import('./notice-bulletin.ts');
  const bulletin = new NoticeBulletin(store, { self: newId('proc_'), clock });
  let exchange: InstanceType<typeof EventExchange> | undefined;
  return {
    shareEvents(events) {
      exchange = new EventExchange({
        bulletin,
        events,
        clock,
        mostBytes: MOST_NOTICE_BYTES - SENDER_BYTES,
        processes: () => counters.processes,
      });
    },
    close() {
      exchange?.stop();
      bulletin.close();
    },
  };
}
