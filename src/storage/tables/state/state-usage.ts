// Quota of a project's stored responses, conversations, prompts and files. Counters change in the transactions of the
// stores. If a project is full, responses are evicted, first those that expire first.
import { type Kysely, sql } from 'kysely';
import type { GatewayError } from '../../../canonical/index.ts';
import type { StateUsage } from '../../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries, rowsOf, type Store } from '../database.ts';
import { RESPONSE_IDS, RESPONSES, type ResponseHead } from './response-table.ts';
import { quotaRefusal } from '../sizes.ts';
import { statement } from '../statement.ts';
import { type SchemaOf, table } from '../table.ts';

/** Bytes of a project's stored objects. A project has several rows, which are summed. */
export const STATE_USAGE = table({
  name: 'state_usage',
  columns: {
    key_id: 'id',
    /** Each process writes its own row, so that they do not wait for each other. */
    writer: 'small',
    responses: 'number',
    /** Bytes of conversations, prompts and files, which are never evicted. */
    kept: 'number',
  },
  key: ['key_id', 'writer'],
  clustered: true,
});

/** Number of rows per project over which the processes of a PostgreSQL database are distributed. */
const WRITERS = 32;
/** Maximum number of projects with cached sizes. */
const MOST_KNOWN = 10_000;
/** Responses per query when some have to be evicted. */
const EVICTED_PER_QUERY = 50;

/** Bytes of a project. */
export interface Sums {
  readonly responses: number;
  readonly kept: number;
}

/** Counts the usage of projects. Its generators run within transactions of the stores. */
export class UsageCounter implements StateUsage {
  readonly #database: Database;
  readonly #db: Kysely<SchemaOf<[typeof STATE_USAGE, typeof RESPONSES]>>;
  readonly #maxBytesPerKey: () => number;
  /** Row number of this process. */
  readonly writer: number;
  readonly #lateWriter: number;
  /** Bytes of objects that are never evicted, as of the last write. */
  readonly #kept = new Map<string, number>();

  /** @param maxBytesPerKey quota of one project in bytes, read at every write */
  constructor(database: Database, maxBytesPerKey: () => number) {
    this.#database = database;
    this.#db = database.on(STATE_USAGE, RESPONSES);
    this.#maxBytesPerKey = maxBytesPerKey;
    this.writer = database.kind === 'sqlite' ? 0 : Math.floor(Math.random() * WRITERS);
    this.#lateWriter = database.kind === 'sqlite' ? 0 : this.writer + WRITERS;
  }

  /** Current quota of one project in bytes. */
  get mostBytes(): number {
    return Math.floor(Math.min(this.#maxBytesPerKey(), Number.MAX_SAFE_INTEGER));
  }

  async bytes(projectId: string): Promise<number> {
    if (this.#database.kind === 'sqlite') await this.#database.indexer.caughtUp();
    const { responses, kept } = await this.#database.ask(() => this.#sumsOf(projectId));
    return responses + kept;
  }

  /**
   * Checks whether responses of this size would fit if all others were evicted. Usage of other processes is as of the last
   * write.
   * @returns null, or the error
   */
  async refusalOf(projectId: string, responses: number): Promise<GatewayError | null> {
    const known = this.#kept.get(projectId);
    const kept = known ?? this.#learn(projectId, await this.#database.ask(() => this.#sumsOf(projectId)));
    return kept + responses > this.mostBytes ? quotaRefusal(responses, kept, this.mostBytes) : null;
  }

  /**
   * Counts new bytes of responses and of other objects. Evicts responses of the project as needed.
   * @param own row of the new response, which is not evicted itself
   * @throws GatewayError `quota` if it does not fit even without any other response
   */
  *claim(projectId: string, responses: number, kept: number, own = 0): Queries<void> {
    const sums = yield* this.#add(projectId, responses, kept);
    const most = this.mostBytes;
    if (sums.responses + sums.kept > most && sums.kept + responses > most)
      throw quotaRefusal(responses + kept, sums.kept - kept, most);
    yield* this.#makeRoom(projectId, sums, own);
  }

  /** Counts objects that were already accepted. Evicts other responses of the project as needed. */
  *count(projectId: string, responses: number, kept: number): Queries<void> {
    // Uses a separate row, so that requests of this process do not wait for a long transaction of the journal.
    const sums = yield* this.#add(projectId, responses, kept, this.#lateWriter);
    yield* this.#makeRoom(projectId, sums, 0);
  }

  /** `claim` for an object that changes its size. @param growth bytes; negative if it shrinks */
  *change(projectId: string, growth: number): Queries<void> {
    if (growth > 0) yield* this.claim(projectId, 0, growth);
    if (growth < 0) yield* this.release(projectId, 0, -growth);
  }

  /** Subtracts deleted bytes. */
  *release(projectId: string, responses: number, kept: number): Queries<void> {
    yield* this.#add(projectId, -responses, -kept);
  }

  /** Deletes locked responses and their index rows, without counting. */
  *deleteResponses(heads: readonly ResponseHead[]): Queries<void> {
    if (heads.length === 0) return;
    const rows = heads.map(({ row }) => row);
    yield this.#deleteIds({ rows });
    yield this.#deleteRows({ rows });
  }

  /** Deletes locked responses, and subtracts their bytes. */
  *removeResponses(heads: readonly ResponseHead[]): Queries<void> {
    yield* this.deleteResponses(heads);
    const freed = new Map<string, number>();
    for (const { key_id: projectId, bytes } of heads)
      freed.set(projectId, (freed.get(projectId) ?? 0) + bytes);
    // Fixed order, to avoid deadlocks between processes.
    for (const [projectId, bytes] of [...freed].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      yield* this.release(projectId, bytes, 0);
  }

  *#add(projectId: string, responses: number, kept: number, writer = this.writer): Queries<Sums> {
    const added = yield* firstOf(this.#adding({ projectId, writer, responses, kept }));
    const sums = added ?? { responses: 0, kept: 0 };
    this.#learn(projectId, sums);
    return sums;
  }

  *#sumsOf(projectId: string): Queries<Sums> {
    return (yield* firstOf(this.#sums({ projectId }))) ?? { responses: 0, kept: 0 };
  }

  #learn(projectId: string, { kept }: Sums): number {
    if (this.#kept.size >= MOST_KNOWN) this.#kept.clear();
    this.#kept.set(projectId, kept);
    return kept;
  }

  /** Evicts responses. Skips those that another transaction is deleting, because it subtracts them. */
  *#makeRoom(projectId: string, { responses, kept }: Sums, own: number): Queries<void> {
    let left = responses + kept - this.mostBytes;
    for (let limit = 1; left > 0; limit = Math.min(EVICTED_PER_QUERY, limit * 8)) {
      const going: ResponseHead[] = [];
      for (const head of yield* rowsOf(this.#oldest({ projectId, own, limit }))) {
        if (left <= 0) break;
        going.push(head);
        left -= head.bytes;
      }
      if (going.length === 0) return;
      yield* this.removeResponses(going);
    }
  }

  readonly #sums = statement((v: { projectId: string }) =>
    this.#db
      .selectFrom('state_usage')
      .select([sumOf('responses').as('responses'), sumOf('kept').as('kept')])
      .where('key_id', '=', v.projectId),
  );

  readonly #adding = statement(
    (v: { projectId: string; writer: number; responses: number; kept: number }) => {
      const add = sql<Sums>`
        insert into state_usage as s (key_id, writer, responses, kept)
        values (${v.projectId}, ${v.writer}, ${v.responses}, ${v.kept})
        on conflict (key_id, writer) do update
          set responses = s.responses + excluded.responses, kept = s.kept + excluded.kept
        returning responses, kept`;
      // SQLite has one writer, so that the statement sees all rows.
      if (this.#database.kind === 'sqlite') return add;
      return sql<Sums>`
        with added as (${add})
        select (a.responses + coalesce(sum(o.responses), 0))::bigint as responses,
          (a.kept + coalesce(sum(o.kept), 0))::bigint as kept
        from added as a left join state_usage as o on o.key_id = ${v.projectId} and o.writer <> ${v.writer}
        group by a.responses, a.kept`;
    },
  );

  readonly #oldest = statement((v: { projectId: string; own: number; limit: number }) =>
    this.#database.dialect.heldFree(
      this.#db
        .selectFrom('responses')
        .select(['row', 'key_id', 'bytes'])
        .where('key_id', '=', v.projectId)
        .where('row', '<>', v.own)
        .orderBy('expires_at')
        .orderBy('row')
        .limit(v.limit),
    ),
  );

  readonly #deleteIds = statement((v: { rows: readonly number[] }) => {
    const { dialect } = this.#database;
    return sql`
      delete from ${sql.table(RESPONSE_IDS.name)} where (place, key_id, response_row) in (
        select p.value, r.key_id, r.row from responses as r, ${dialect.elements('r.places')}
        where ${dialect.among('r.row', v.rows)})`;
  });

  readonly #deleteRows = statement((v: { rows: readonly number[] }) =>
    this.#db.deleteFrom('responses').where(this.#database.dialect.among('row', v.rows)),
  );
}

function sumOf(column: 'responses' | 'kept') {
  return sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`;
}

export const stateUsage: Store<StateUsage> = { tables: [STATE_USAGE], open: ({ usage }) => usage };
