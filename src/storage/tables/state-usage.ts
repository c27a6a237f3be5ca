// Bytes that each project's stored responses, conversations, prompts and files occupy, and the quota over all of them. The counters
// change in the transactions of the stores. Responses give way when a project is full, first those that expire first.
import { type Kysely, sql } from 'kysely';
import type { GatewayError } from '../../canonical/index.ts';
import type { StateUsage } from '../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries, rowsOf, type Store } from './database.ts';
import { RESPONSE_IDS, RESPONSES, type ResponseHead } from './response-table.ts';
import { quotaRefusal } from './sizes.ts';
import { statement } from './statement.ts';
import { type SchemaOf, table } from './table.ts';

/** Bytes of a project's stored objects. A project has several rows; their sum counts. */
export const STATE_USAGE = table({
  name: 'state_usage',
  columns: {
    key_id: 'id',
    /** Processes count in rows of their own, so that they do not wait for each other. */
    writer: 'small',
    responses: 'number',
    /** Conversations, prompts and files, which never give way to something new. */
    kept: 'number',
  },
  key: ['key_id', 'writer'],
  clustered: true,
});

/** Rows that the processes of one PostgreSQL database spread over. */
const WRITERS = 32;
/** Projects of which it is remembered how much they keep. */
const MOST_KNOWN = 10_000;
/** The most responses that are looked at together where some give way. */
const GIVE_WAY = 50;

/** Bytes of a project. */
export interface Sums {
  readonly responses: number;
  readonly kept: number;
}

/** Its generators run inside transactions of the stores. */
export class UsageCounter implements StateUsage {
  readonly #database: Database;
  readonly #db: Kysely<SchemaOf<[typeof STATE_USAGE, typeof RESPONSES]>>;
  readonly #maxBytesPerKey: () => number;
  /** The row of this process. */
  readonly writer: number;
  readonly #lateWriter: number;
  /** Bytes of things that stay, as the last write has found them. */
  readonly #kept = new Map<string, number>();

  /** @param maxBytesPerKey the most that one project may store; asked at every write */
  constructor(database: Database, maxBytesPerKey: () => number) {
    this.#database = database;
    this.#db = database.on(STATE_USAGE, RESPONSES);
    this.#maxBytesPerKey = maxBytesPerKey;
    this.writer = database.kind === 'sqlite' ? 0 : Math.floor(Math.random() * WRITERS);
    this.#lateWriter = database.kind === 'sqlite' ? 0 : this.writer + WRITERS;
  }

  /** The most that one project may store, in whole bytes, as it is now. */
  get mostBytes(): number {
    return Math.floor(Math.min(this.#maxBytesPerKey(), Number.MAX_SAFE_INTEGER));
  }

  async bytes(projectId: string): Promise<number> {
    if (this.#database.kind === 'sqlite') await this.#database.indexer.caughtUp();
    const { responses, kept } = await this.#database.ask(() => this.#sumsOf(projectId));
    return responses + kept;
  }

  /**
   * Whether responses of so many bytes would find room if all others gave way, by what is known of the project: what other
   * processes keep is learned with the next write.
   * @returns null; or the refusal
   */
  async refusalOf(projectId: string, responses: number): Promise<GatewayError | null> {
    const known = this.#kept.get(projectId);
    const kept = known ?? this.#learn(projectId, await this.#database.ask(() => this.#sumsOf(projectId)));
    return kept + responses > this.mostBytes ? quotaRefusal(responses, kept, this.mostBytes) : null;
  }

  /**
   * Counts new bytes of responses and of things that stay until they are deleted. Responses of the project are deleted until
   * there is room.
   * @param own row of a response that is counted, which does not give way to itself
   * @throws GatewayError `quota` where there is no room even without any other response
   */
  *claim(projectId: string, responses: number, kept: number, own = 0): Queries<void> {
    const sums = yield* this.#add(projectId, responses, kept);
    const most = this.mostBytes;
    if (sums.responses + sums.kept > most && sums.kept + responses > most)
      throw quotaRefusal(responses + kept, sums.kept - kept, most);
    yield* this.#makeRoom(projectId, sums, own);
  }

  /** Counts what had room when it came. Other responses of the project give way. */
  *count(projectId: string, responses: number, kept: number): Queries<void> {
    // The row is its own: requests of this process do not wait for a long transaction of the journal.
    const sums = yield* this.#add(projectId, responses, kept, this.#lateWriter);
    yield* this.#makeRoom(projectId, sums, 0);
  }

  /** `claim` for something kept that changes its size. @param growth bytes, negative when it shrinks */
  *change(projectId: string, growth: number): Queries<void> {
    if (growth > 0) yield* this.claim(projectId, 0, growth);
    if (growth < 0) yield* this.release(projectId, 0, -growth);
  }

  /** Counts bytes that are gone. */
  *release(projectId: string, responses: number, kept: number): Queries<void> {
    yield* this.#add(projectId, -responses, -kept);
  }

  /** Deletes responses that the transaction holds, and where they are listed. They were not counted. */
  *deleteResponses(heads: readonly ResponseHead[]): Queries<void> {
    if (heads.length === 0) return;
    const rows = heads.map(({ row }) => row);
    yield this.#deleteIds({ rows });
    yield this.#deleteRows({ rows });
  }

  /** Deletes responses that the transaction holds. They count no more. */
  *removeResponses(heads: readonly ResponseHead[]): Queries<void> {
    yield* this.deleteResponses(heads);
    const freed = new Map<string, number>();
    for (const { key_id: projectId, bytes } of heads)
      freed.set(projectId, (freed.get(projectId) ?? 0) + bytes);
    // One order keeps two processes from waiting for each other.
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

  /** One that somebody else deletes just now is passed over: it is counted there. */
  *#makeRoom(projectId: string, { responses, kept }: Sums, own: number): Queries<void> {
    let left = responses + kept - this.mostBytes;
    for (let limit = 1; left > 0; limit = Math.min(GIVE_WAY, limit * 8)) {
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
      // SQLite has one writer. The rows of others are read as they are when the statement begins.
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
