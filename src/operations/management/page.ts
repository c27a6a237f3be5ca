// Paginated lists: query parameters and envelope, as in OpenAI's administration API.
import { z } from 'zod';
import { GatewayError, TEXTS } from '../../canonical/index.ts';

const MOST = 100;

/** Query parameters of a page. */
export const PAGE = {
  limit: z.coerce.number().int().min(1).max(MOST).default(20).describe(TEXTS.pageSize),
  after: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe('Return the page after this entry: the `last_id` of a page.'),
  before: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe(
      'Return the page before this entry: the `first_id` of a page. Cannot be combined with `after`.',
    ),
};

/** Query parameter for a text search. */
export const SEARCH = z.string().max(200).optional();

/** True if a text contains the search text, ignoring case. */
export function isFound(search: string | undefined, ...texts: readonly string[]): boolean {
  return texts.some((text) => text.toLowerCase().includes((search ?? '').toLowerCase()));
}

export interface PageQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** Schema of a page. */
export function listOf<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    object: z.literal('list'),
    data: z.array(entry),
    first_id: z.string().nullable().describe('Id of the first entry; null if the page is empty.'),
    last_id: z.string().nullable().describe('Id of the last entry; null if the page is empty.'),
    has_more: z.boolean().describe('Whether there are more entries in the requested direction.'),
  });
}

/** Envelope of a page. */
export function pageWith<Entry>(data: readonly Entry[], idOf: (entry: Entry) => string, hasMore: boolean) {
  const [first, last] = [data[0], data.at(-1)];
  return {
    object: 'list' as const,
    data: [...data],
    first_id: first === undefined ? null : idOf(first),
    last_id: last === undefined ? null : idOf(last),
    has_more: hasMore,
  };
}

/** A page of a list in memory. @throws GatewayError `invalid_request` for an unknown cursor */
export function pageOf<Entry>(
  entries: readonly Entry[],
  idOf: (entry: Entry) => string,
  { limit, after, before }: PageQuery,
): ReturnType<typeof pageWith<Entry>> {
  refuseBoth({ after, before });
  if (before !== undefined) {
    const end = placeOf(before, 'before');
    const start = Math.max(0, end - limit);
    return pageWith(entries.slice(start, end), idOf, start > 0);
  }
  const start = after === undefined ? 0 : placeOf(after, 'after') + 1;
  const end = start + limit;
  return pageWith(entries.slice(start, end), idOf, end < entries.length);

  function placeOf(id: string, param: string): number {
    const place = entries.findIndex((entry) => idOf(entry) === id);
    if (place >= 0) return place;
    throw new GatewayError('invalid_request', `${param}: ${TEXTS.notInList(id)}`, { param });
  }
}

/** Reads at most `limit` stored entries after `after`, in order of creation. */
type ReadStored<Entry> = (part: {
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}) => Promise<{ readonly entries: readonly Entry[]; readonly hasMore: boolean }>;

/**
 * A page of a list in which a few entries in memory come before the stored ones.
 * @throws GatewayError `invalid_request` for an unknown cursor
 */
export async function pageOfBoth<Entry>(
  first: readonly Entry[],
  stored: ReadStored<Entry>,
  idOf: (entry: Entry) => string,
  query: PageQuery,
): Promise<ReturnType<typeof pageWith<Entry>>> {
  refuseBoth(query);
  const { limit, after, before } = query;
  const isFirst = (id: string | undefined): boolean => first.some((entry) => idOf(entry) === id);
  if (before !== undefined) {
    if (isFirst(before)) return pageOf(first, idOf, query);
    const part = await stored({ after: before, limit, order: 'desc' });
    const found = part.entries.toReversed();
    const room = limit - found.length;
    const shown = room > 0 ? first.slice(-room) : [];
    return pageWith([...shown, ...found], idOf, part.hasMore || shown.length < first.length);
  }
  const beginsInFirst = after === undefined || isFirst(after);
  const start = first.findIndex((entry) => idOf(entry) === after) + 1;
  const shown = beginsInFirst ? first.slice(start, start + limit) : [];
  const isCut = beginsInFirst && start + limit < first.length;
  // One more row than needed tells whether another page follows.
  const room = limit - shown.length;
  const part = await stored({ after: beginsInFirst ? undefined : after, limit: room || 1, order: 'asc' });
  const following = room === 0 ? [] : part.entries;
  const hasMore = isCut || part.hasMore || following.length < part.entries.length;
  return pageWith([...shown, ...following], idOf, hasMore);
}

/** @throws GatewayError `invalid_request` if both cursors are given */
export function refuseBoth({ after, before }: Pick<PageQuery, 'after' | 'before'>): void {
  if (after !== undefined && before !== undefined)
    throw new GatewayError('invalid_request', 'before: cannot be combined with `after`', { param: 'before' });
}
