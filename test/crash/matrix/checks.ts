// Checks after a cause, by what clients received: the ledger, budgets, conversations, stored responses. Looks
// through the gateways' own interfaces.
import { readFileSync } from 'node:fs';
import { PATIENCE_MS } from './asks.ts';
import { ADMIN_KEY, type Cluster, LOAD_KEY, type Replica, USD_PER_TOKEN } from './cluster.ts';
import type { Note, Reported, Turn } from './load.ts';
import { ANSWER_TOKENS } from './upstream.ts';

/** A record, as far as it is compared. */
interface Listed {
  readonly id: string;
  readonly usage: number | null;
  readonly native_tokens: { readonly output: number };
}

export interface Ledger {
  /** How often each id is in it. */
  readonly counts: ReadonlyMap<string, number>;
  readonly records: ReadonlyMap<string, Listed>;
}

const PAGE = 100;

/** Asks a gateway as its operator. Throws when it does not answer with 200. */
export async function manage<T>(origin: string, path: string, key = ADMIN_KEY): Promise<T> {
  const response = await fetch(origin + path, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** All records since a time. */
export async function readLedger(origin: string, fromMs: number): Promise<Ledger> {
  const counts = new Map<string, number>();
  const records = new Map<string, Listed>();
  let after = '';
  for (;;) {
    const from = encodeURIComponent(new Date(fromMs).toISOString());
    const query = `limit=${PAGE}&order=asc&from=${from}${after}`;
    const page = await manage<{ data: Listed[]; has_more: boolean; last_id: string }>(
      origin,
      `/v1/management/generations?${query}`,
    );
    for (const record of page.data) {
      counts.set(record.id, (counts.get(record.id) ?? 0) + 1);
      records.set(record.id, record);
    }
    if (!page.has_more) return { counts, records };
    after = `&after=${page.last_id}`;
  }
}

/** Answers that arrived and are not in the ledger, nor, where the disk was full, in a log. */
export function missingOf(
  { counts }: Ledger,
  notes: readonly Note[],
  replicas: readonly Replica[],
): string[] {
  const missing = answered(notes).filter((id) => !counts.has(id));
  if (missing.length === 0) return [];
  const logs = replicas.map(({ log }) => readFileSync(log, 'utf8')).join('\n');
  return missing.filter((id) => !logs.includes(id));
}

/** Records that are there more than once, or say something else than what the client got. */
export function wrongOf({ counts, records }: Ledger, notes: readonly Note[]): string[] {
  const twice = [...counts].filter(([, count]) => count > 1).map(([id]) => `${id} is in the ledger twice`);
  const usd = ANSWER_TOKENS * USD_PER_TOKEN;
  const other = answered(notes).flatMap((id) => {
    const record = records.get(id);
    if (!record || Math.abs((record.usage ?? 0) - usd) < 1e-9) return [];
    return [`${id} cost ${record.usage} instead of ${usd}`];
  });
  return [...twice, ...other];
}

function answered(notes: readonly Note[]): string[] {
  return notes.flatMap(({ received }) => (received.kind === 'answered' ? [received.id] : []));
}

/** Money that a key has spent, in USD: by the ledger, and by what the upstream wrote. */
export async function spentOf(
  { replicas, upstream }: Cluster,
  key: string,
): Promise<{ readonly ledger: number; readonly upstream: number }> {
  const path = `/v1/management/usage?group_by=project&from=${encodeURIComponent(new Date(Date.now() - 86_400_000).toISOString())}&project=${key}`;
  const { data } = await manage<{ data: { usd: number }[] }>(replicas[0]?.origin ?? '', path);
  const tokens = [...upstream.bills.values()]
    .filter(({ tag }) => tag === key)
    .reduce((sum, bill) => sum + bill.tokens, 0);
  return { ledger: data.reduce((sum, { usd }) => sum + usd, 0), upstream: tokens * USD_PER_TOKEN };
}

interface ListedItem {
  readonly type: string;
  readonly role?: string;
  readonly content?: readonly { readonly text?: string }[];
}

/** Errors in conversations: turns that are missing, twice, out of order, or not followed by their answers. */
export async function wrongConversations(origin: string, reported: Reported): Promise<string[]> {
  const wrong: string[] = [];
  for (const [id, turns] of reported.conversations) {
    const { data } = await manage<{ data: ListedItem[] }>(
      origin,
      `/v1/conversations/${id}/items?order=asc&limit=100`,
      LOAD_KEY,
    );
    wrong.push(...wrongTurns(turns, data).map((what) => `${id}: ${what}`));
  }
  return wrong;
}

function wrongTurns(turns: readonly Turn[], items: readonly ListedItem[]): string[] {
  const texts = items.map(({ role, content }) => ({ role, text: content?.[0]?.text ?? '' }));
  const wrong: string[] = [];
  const places = turns.map(({ text }) =>
    texts.findIndex((item) => item.role === 'user' && item.text === text),
  );
  for (const [at, { text, received }] of turns.entries()) {
    const place = places[at] ?? -1;
    if (place < 0) {
      if (received.kind === 'answered') wrong.push(`"${text}" was answered and is not in it`);
      continue;
    }
    const answer = texts[place + 1];
    if (answer?.role !== 'assistant') wrong.push(`"${text}" has no answer behind it`);
    else if (received.kind === 'answered' && !answer.text.startsWith(`#${received.number}. `))
      wrong.push(
        `"${text}" has the answer "${answer.text.slice(0, 12)}" instead of number ${received.number}`,
      );
    if (texts.filter((item) => item.role === 'user' && item.text === text).length > 1)
      wrong.push(`"${text}" is in it twice`);
  }
  const there = places.filter((place) => place >= 0);
  if (there.some((place, at) => place < (there[at - 1] ?? -1))) wrong.push('its turns are not in order');
  if (texts.length !== 2 * there.length) wrong.push(`it has ${texts.length} items of ${there.length} turns`);
  return wrong;
}

/** Stored responses that arrived and cannot be read. */
export async function lostResponses(origin: string, ids: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (const id of ids) {
    const read = await manage(origin, `/v1/responses/${id}`, LOAD_KEY).then(
      () => null,
      (error: unknown) => String(error),
    );
    if (read !== null) lost.push(read);
  }
  return lost;
}
