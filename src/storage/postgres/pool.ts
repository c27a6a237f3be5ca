// Connections to PostgreSQL: so many and not more, each statement with an end, and none used again that did not answer in
// time. The only file that names the driver. Knows no tables.
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, Pool, types, type PoolClient } from 'pg';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { NoticeListener } from '../../accounts/ports/index.ts';
import { databaseAway } from '../database-away.ts';
import { explained } from './failures.ts';
import type { DurationMs } from '../../base/units.ts';

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of the driver. */
  readonly url: string;
  readonly max: number;
  /** Milliseconds after which the server gives a statement up; the driver waits a little longer for a server that is silent. 0: never. */
  readonly statementMs: DurationMs;
  /** Milliseconds that it may take to get a connection, a free one or a new one; 5 seconds by default. */
  readonly connectMs?: DurationMs | undefined;
  /** `search_path` of every connection; absent: what the address or the server says. */
  readonly searchPath?: string | undefined;
}

const CONNECT_MS = 5_000;
/** A connection that nobody needs for so long is closed. */
const IDLE_MS = 60_000;
/** Milliseconds that this side waits longer than the server. */
const PATIENCE_MS = 1_000;
/** A transaction that stands still for so long is one whose process was stopped: its locks go. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * Settings of a connection. A statement sets them, not parameters of the connection: poolers refuse parameters there. Indexes
 * hold all that lists of records filter by, and are a fifth of their tables: at the server's own default price of a page it would
 * read the tables as a whole. A price that an operator has set stays.
 */
const SETTINGS = `
  select pg_catalog.set_config('search_path', $1, false),
    (select pg_catalog.set_config('random_page_cost', '1.1', false) from pg_catalog.pg_settings
      where name operator(pg_catalog.=) 'random_page_cost' and source operator(pg_catalog.=) 'default')`;

/** The type of times and sums; a table of the driver's own for all others. */
const INT8: number = types.builtins.INT8;

/**
 * A pool that connects when it is first asked.
 * @throws GatewayError `invalid_request` for what is no address of a database
 */
export function openPool({
  url,
  max,
  statementMs,
  connectMs = CONNECT_MS,
  searchPath,
}: PoolOptions): PostgresPool {
  checkAddress(url);
  const pool = new Pool({
    connectionString: url,
    max,
    application_name: 'dragoman',
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: IDLE_MS,
    ...(statementMs > 0 && {
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    }),
    keepAlive: true,
    // A connection that waits for work does not keep a command alive.
    allowExitOnIdle: true,
    types: { getTypeParser: parserOf },
  });
  // A connection that breaks while nobody uses it is gone from the pool, which is all that there is to do.
  pool.on('error', () => {});
  const settled = new WeakSet<PoolClient>();
  const connect = async (): Promise<PostgresPoolClient> => {
    const raw = await pool.connect();
    const client = new BoundedClient(raw, statementMs > 0 ? statementMs + PATIENCE_MS : 0);
    if (searchPath === undefined || settled.has(raw)) return client;
    try {
      await client.query(SETTINGS, [searchPath]);
    } catch (error) {
      client.release();
      throw error;
    }
    settled.add(raw);
    return client;
  };
  return {
    async connect() {
      try {
        return await connect();
      } catch (error) {
        throw explained(error);
      }
    },
    end: () => pool.end(),
  };
}

/** Connects, and hears what is told on a channel from then on. @throws GatewayError 503 */
export async function listenTo(
  url: string,
  channel: string,
  listener: (text: string) => void,
): Promise<NoticeListener> {
  checkAddress(url);
  const client = new Client({
    connectionString: url,
    application_name: 'dragoman',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  let isOpen = true;
  client.on('error', () => (isOpen = false));
  client.on('end', () => (isOpen = false));
  client.on('notification', ({ payload }) => listener(payload ?? ''));
  const close = (): void => {
    isOpen = false;
    client.end().catch(() => {});
  };
  try {
    await client.connect();
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
  } catch (error) {
    close();
    throw explained(error);
  }
  return {
    get isOpen() {
      return isOpen;
    },
    close,
  };
}

/** Members of a client that the driver's types leave out. */
interface WithSocket {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** A connection that is closed, and not given back, when it does not answer in time. */
class BoundedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #deadlineMs: DurationMs;
  #isBroken = false;

  constructor(client: PoolClient, deadlineMs: DurationMs) {
    this.#client = client;
    this.#deadlineMs = deadlineMs;
    // It may break between two statements as well; nobody else listens while it is in use.
    client.on('error', this.#broke);
  }

  readonly #broke = (): void => {
    this.#isBroken = true;
  };

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    text: string | PostgresCursor<Row>,
    values: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof text !== 'string') throw new TypeError('rows come all at once here: ask for few');
    return this.#ask(text, values);
  }

  async #ask<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    if (this.#isBroken) throw databaseAway(TEXTS.connectionBroke);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const answer = this.#client.query(text, values.map(bindable)) as unknown as Promise<
        PostgresQueryResult<Row>
      >;
      if (this.#deadlineMs === 0) return await answer;
      // Whichever comes second is of no use any more.
      answer.catch(() => {});
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(databaseAway('it does not answer')), this.#deadlineMs);
      });
      return await Promise.race([answer, late]);
    } catch (error) {
      const meaning = explained(error);
      if (GatewayError.is(meaning)) this.#isBroken ||= !isAnswer(error);
      throw meaning;
    } finally {
      clearTimeout(timer);
    }
  }

  release(): void {
    this.#client.off('error', this.#broke);
    // A broken one may say so once more when it is closed.
    if (this.#isBroken) this.#client.on('error', () => {});
    // Its end is not waited for: a server that is silent would not say good-bye either.
    if (this.#isBroken) (this.#client as unknown as WithSocket).connection.stream.destroy();
    this.#client.release(this.#isBroken);
  }
}

/** Whether the server itself said so: then its connection is as good as before. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** PostgreSQL's texts have no NUL, which a client may write into an id or a name; JSON spells it without. */
function bindable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bindable);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}

/** Times and sums are below 2^53: numbers, which the driver alone would not dare to make of them. */
function parserOf(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  return type === INT8
    ? Number
    : (types.getTypeParser as (of: number, as?: string) => (text: string) => unknown)(type, format);
}

function checkAddress(url: string): void {
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    refuseUnknownTls(new URL(url).searchParams);
    return;
  }
  // The address itself is left out: it holds a password.
  throw new GatewayError(
    'invalid_request',
    'must be an address like postgres://user:password@host:5432/database',
    { param: 'database_url' },
  );
}

/** Parameters about TLS that the driver knows, and the modes of one (pg-connection-string 2, README, 2026-11). */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'];
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The driver ignores a parameter that it does not know: a misspelt one would send the password in clear. */
function refuseUnknownTls(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    if (!/^ssl/i.test(name)) continue;
    const isKnown = TLS_PARAMETERS.includes(name);
    if (isKnown && (name !== 'sslmode' || TLS_MODES.includes(value))) continue;
    const choice = (isKnown ? TLS_MODES : TLS_PARAMETERS).join(', ');
    const message = `\`${name}\` in the address is ${isKnown ? 'none of' : 'unknown; known are'} ${choice}`;
    throw new GatewayError('invalid_request', message, { param: 'database_url' });
  }
}
