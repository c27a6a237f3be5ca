// Looks up the names of keys by id. Ids requested at the same time share one request, and names are cached.
import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { ask } from './client.ts';

/** Maximum number of ids per request. */
const MOST = 100;
/** Milliseconds for which a name is cached. Names rarely change. */
const GOOD_MS = 5 * 60_000;

interface Named {
  readonly id: string;
  /** Null if there is no such key. */
  readonly name: string | null;
}

type Names = ReadonlyMap<string, string>;

/** Names by id. Ids that are unknown or still loading are missing. @param ids may contain duplicates and nulls */
export function useKeyNames(ids: readonly (string | null | undefined)[]): Names {
  const different = [...new Set(ids)].filter(isId);
  return useQueries({
    queries: different.map((id) => ({
      queryKey: ['name of key', id],
      queryFn: () => read(id),
      staleTime: GOOD_MS,
      retry: false,
    })),
    combine: namesOf,
  });
}

function isId(id: string | null | undefined): id is string {
  return id != null && id !== '';
}

function namesOf(results: readonly UseQueryResult<Named>[]): Names {
  return new Map(results.flatMap(({ data }) => (data?.name == null ? [] : [[data.id, data.name] as const])));
}

interface Question {
  readonly ids: Set<string>;
  readonly answer: Promise<Names>;
}

/** The request that is not yet sent. */
let open: Question | null = null;

async function read(id: string): Promise<Named> {
  if (!open || open.ids.size >= MOST) {
    const ids = new Set<string>();
    const question: Question = { ids, answer: Promise.resolve().then(() => send(question)) };
    open = question;
  }
  open.ids.add(id);
  const names = await open.answer;
  return { id, name: names.get(id) ?? null };
}

async function send(question: Question): Promise<Names> {
  if (open === question) open = null;
  const { data } = await ask('GET /key-names', { query: { id: [...question.ids].join(',') } });
  return new Map(data.map(({ id, name }) => [id, name]));
}
