// Answers that are read again when the gateway says that they may have changed; every so often only while it says nothing.
import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useEvents, useIsReceiving } from './events.ts';

/** Between two looks at an answer while the gateway cannot tell what happens. */
export const AWAY_MS = 30_000;
/** An answer that is younger when the gateway begins to tell has missed nothing. */
const JUST_READ_MS = 1_000;

/**
 * Reads the answer to a query again whenever something happened that may have changed it. To be called after the query.
 * @param key of the query; it begins with the name of its operation
 * @param pauseMs the least between two readings, in milliseconds; undefined: what happens does not change it
 */
export function useReadAgain(key: QueryKey, pauseMs: number | undefined): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  const read = useEffectEvent(() => {
    timer.current = undefined;
    last.current = Date.now();
    // The answer that is on its way may be of before.
    if (queries.isFetching({ queryKey: key, exact: true }) > 0) return readSoon();
    // A hidden page marks it as old and reads it when somebody looks.
    const refetchType = document.hidden ? 'none' : 'active';
    void queries.invalidateQueries({ queryKey: key, exact: true, refetchType });
  });
  const readSoon = useEffectEvent(() => {
    const due = last.current + (pauseMs ?? 0) - Date.now();
    timer.current ??= setTimeout(() => read(), Math.max(0, due));
  });
  useEvents('activity', pauseMs !== undefined, ({ changed }) => {
    if (changed.some((part) => key[0] === `GET /${part}` || String(key[0]).startsWith(`GET /${part}/`)))
      readSoon();
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  useMissed(key, () => pauseMs !== undefined && readSoon());
}

/**
 * Tells when the gateway, after a while in which it did not, tells again what happens: nobody told what happened meanwhile.
 * To be called after the query.
 * @param key of the query whose answer is from before
 */
export function useMissed(key: QueryKey, missed: () => void): void {
  const queries = useQueryClient();
  const isReceiving = useIsReceiving();
  const opened = useEffectEvent(() => {
    const readAt = queries.getQueryState(key)?.dataUpdatedAt ?? 0;
    const isRead = queries.isFetching({ queryKey: key, exact: true }) > 0;
    if (readAt > 0 && !isRead && Date.now() - readAt > JUST_READ_MS) missed();
  });
  useEffect(() => {
    if (isReceiving) opened();
  }, [isReceiving]);
}
