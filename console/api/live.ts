// Reads queries again when the gateway reports a possible change, and polls while no events arrive.
import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useEvents, useIsReceiving } from './events.ts';

/** Polling interval in milliseconds while no events arrive. */
export const AWAY_MS = 30_000;
/** Age in milliseconds below which a response counts as current when events begin to arrive. */
const JUST_READ_MS = 1_000;

/**
 * Reads a query again after events that may have changed its response. Must be called after the query.
 * @param key of the query; begins with the name of its operation
 * @param pauseMs minimum milliseconds between two reads; undefined: events are ignored
 */
export function useReadAgain(key: QueryKey, pauseMs: number | undefined): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef(0);
  const read = useEffectEvent(() => {
    timer.current = undefined;
    last.current = Date.now();
    // The response in flight may be older than the event.
    if (queries.isFetching({ queryKey: key, exact: true }) > 0) return readSoon();
    // While the page is hidden, the query is only marked as stale and is read when the user returns to it.
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
 * Calls `missed` when events arrive again after an interruption, because changes in between were not reported. Must
 * be called after the query.
 * @param key of the query whose response may be outdated
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
