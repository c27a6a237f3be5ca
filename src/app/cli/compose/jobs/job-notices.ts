// Wakes job runners of other replicas through PostgreSQL (`NOTIFY`) when the replica that added a job has no capacity.
// Notices carry no data. Lost ones are compensated by each runner's poll every second.
import type { NoticeListener, NoticeStore } from '../../../../accounts/ports/index.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import { background, type Part } from '../part.ts';

const NOTICE = 'jobs';
/** Interval of checking the connection, in milliseconds. */
const LOOK_MS = 5_000;
/** Minimum interval between notices in milliseconds, because each is a separate commit. */
const LEAST_MS = 50;

export interface JobNotices {
  /** Wakes the runners of other replicas. */
  readonly publish: () => void;
  /** Listens while started. @param wake called when another replica published */
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
