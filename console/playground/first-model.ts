// Initial model of the playground: the one in the address, else the last used one, else the first that is not
// simulated.
import { useRead } from '../api/queries.ts';

const KEY = 'dragoman.model';
const SIMULATED = 'sim/chat';

export function rememberModel(model: string): void {
  localStorage.setItem(KEY, model);
}

interface FirstModel {
  /** Empty while loading, and if models cannot be read. */
  readonly model: string;
  /** Why models cannot be read; null: they can. */
  readonly error: Error | null;
}

/** @param given model in the address */
export function useFirstModel(given: string | undefined): FirstModel {
  const kept = localStorage.getItem(KEY);
  const { data, error } = useRead('GET /models', { query: { limit: 100 } });
  const ids = data?.data.map(({ id }) => id) ?? [];
  const isThere = kept !== null && (ids.includes(kept) || data?.has_more === true);
  const found = ids.find((id) => !id.startsWith('sim/')) ?? (data ? SIMULATED : '');
  return { model: given ?? (isThere ? kept : found), error };
}

/** A different model, for the second side. */
export function useOtherModel(model: string): string {
  const { data } = useRead('GET /models', { query: { limit: 100 } });
  const ids = data?.data.map(({ id }) => id) ?? [];
  const others = ids.filter((id) => id !== model && !/error|empty|cut/.test(id));
  return others.find((id) => !id.startsWith('sim/')) ?? others[0] ?? model;
}
