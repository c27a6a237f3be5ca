// Jobs that find no room where they are added begin at once at another replica: PostgreSQL tells the others (`NOTIFY`). What is lost
// is found by the look that each runner takes every second. A notice says nothing but that there is something to look for.
import type { NoticeListener, NoticeStore } from '../../../../accounts/ports/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import { background, type Part } from '../part.ts';

const NOTICE = 'jobs';
/** How often it is looked whether the connection still stands, in milliseconds. */
const LOOK_MS = 5_000;
/** Notices are not sent more often, in milliseconds: each is a commit of its own. */
const LEAST_MS = 50;

export interface JobNotices {
  /** Wakes the runners of other replicas. */
  readonly publish: () => void;
  /** Listens, from start to stop. @param wake is called where another replica published */
  listen(wake: () => void): Part;
}

export function openJobNotices(store: NoticeStore, clock: Clock): JobNotices {
  let publishedAt = -LEAST_MS;
  return {
    publish() {
      if (clock.now() - publishedAt < LEAST_MS) return;
      publishedAt = clock.now();
      store.publish(NOTICE).catch(() => {});
    },
    listen: (wake) =>
      background(() => {
        let listener: NoticeListener | null = null;
        let isOpening = false;
        let hasStopped = false;
        const look = async (): Promise<void> => {
          if (isOpening || listener?.isOpen) return;
          isOpening = true;
          listener = await store.subscribe((text) => text === NOTICE && wake()).catch(() => null);
          isOpening = false;
          if (hasStopped) listener?.close();
        };
        void look();
        const stopLooking = clock.every(LOOK_MS, () => void look());
        return () => {
          hasStopped = true;
          stopLooking();
          listener?.close();
        };
      }),
  };
}
