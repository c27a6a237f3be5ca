// Publishes events to replicas on all machines through PostgreSQL, if there is no Valkey.
import type { Config } from '../../../config/index.ts';
import type { EventHub } from '../../../../operations/events/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import { newId } from '../../../../base/runtime/ids.ts';
import { MOST_NOTICE_BYTES, type Storage } from '../../../../accounts/ports/index.ts';

export interface NoticeParts {
  readonly config: () => Config;
  readonly clock: Clock;
  readonly storage: Pick<Storage, 'notices' | 'secret' | 'earlierSecrets'>;
}

export interface OpenNotices {
  /** Starts exchanging events with other processes while they have subscribers. */
  shareEvents(events: EventHub): void;
  /** Sends what is still pending. */
  close(): void;
}

/** Null: another channel is used, or there are no other processes. */
export async function openNotices({ config, clock, storage }: NoticeParts): Promise<OpenNotices | null> {
  const store = storage.notices;
  const { redisUrl, counters } = config();
  if (store === null || redisUrl !== null) return null;
  const { EventExchange } = await import('../../../../cluster/exchange/events/index.ts');
  const { messageSecrets, MessageSignature, SIGNATURE_BYTES } =
    await import('../../../../cluster/exchange/index.ts');
  const { NoticePubSub } = await import('./notice-pub-sub.ts');
  const self = newId('proc_');
  const secrets = await messageSecrets(storage);
  const signature = new MessageSignature({ self, secrets, now: clock.now });
  const pubSub = new NoticePubSub(store, { self, clock, signature });
  let exchange: InstanceType<typeof EventExchange> | undefined;
  return {
    shareEvents(events) {
      exchange = new EventExchange({
        pubSub,
        events,
        clock,
        mostBytes: MOST_NOTICE_BYTES - SIGNATURE_BYTES,
        processes: () => counters.processes,
      });
    },
    close() {
      exchange?.stop();
      pubSub.close();
    },
  };
}
