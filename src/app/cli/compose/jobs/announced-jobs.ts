// Job store that announces each change made by this process once it is durable.
import type { JobStore } from '../../../../accounts/ports/index.ts';

/** @param changed called when a job was added or changed its state */
export function announcedJobs(store: JobStore, changed: () => void): JobStore {
  const then = <T>(changing: Promise<T>, isChange: (result: T) => boolean = () => true): Promise<T> =>
    changing.then((result) => {
      if (isChange(result)) changed();
      return result;
    });
  return {
    ...store,
    add: (...job) => then(store.add(...job)),
    claim: (options) => then(store.claim(options), (taken) => taken.length > 0),
    wait: (...wait) => then(store.wait(...wait)),
    finish: (...end) => then(store.finish(...end)),
    cancel: (...job) => then(store.cancel(...job)),
    retry: (...job) => then(store.retry(...job)),
  };
}
