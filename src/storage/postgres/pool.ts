// PostgreSQL connection pool: limits the number of connections, limits the time of each statement, and closes
// connections that did not answer in time. The only file that depends on the driver.
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, Pool, types, type PoolClient } from 'pg';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { NoticeListener } from '../../accounts/ports/index.ts';
import { databaseAway } from '../database-away.ts';
import { explained, isAnswer } from './failures.ts';
import type { DurationMs } from '../../base/units.ts';

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`, with query parameters of the driver. */
  readonly url: string;
  readonly max: number;
  /**
   * Milliseconds after which the server cancels a statement; the client waits slightly longer, in case the server does
   * not respond. 0: no limit.
   */
  readonly statementMs: DurationMs;
  /** Milliseconds for getting a free or new connection; 5 seconds by default. */
  readonly connectMs?: DurationMs | undefined;
  /** `search_path` of all connections. Absent: the default of the URL or the server. */
  readonly searchPath?: string | undefined;
  /** Receives the outcome of each statement: its error, or undefined. */
  readonly seen?: ((error: unknown) => void) | undefined;
}

const CONNECT_MS = 5_000;
/** Milliseconds after which an unused connection is closed. */
const IDLE_MS = 60_000;
/** Milliseconds that the client waits longer than the server. */
const PATIENCE_MS = 1_000;
/**
 * Milliseconds after which an idle transaction is aborted. Its process was probably stopped, and its locks must be
 * released.
 */
const IDLE_IN_TRANSACTION_MS = 30_000;

/**
 * Session settings, made by a statement because poolers reject them as startup parameters. The indexes of records
 * contain everything that lists filter by, and are a fifth of the table's size. With the default page cost, PostgreSQL
 * would scan tables instead. Compiling a query to machine code takes longer than any of these queries runs, because each
 * partition is compiled separately. Values configured by an operator are kept.
 */
const SETTINGS = `
  select pg_catalog.set_config('search_path', $1, false),
    (select count(pg_catalog.set_config(name, case name when 'jit' then 'off' else '1.1' end, false))
      from pg_catalog.pg_settings
      where name operator(pg_catalog.=) any (array['random_page_cost', 'jit'])
        and source operator(pg_catalog.=) 'default')`;

/** Type of times and sums. */
const INT8: number = types.builtins.INT8;

/** Opens a pool, which connects on first use. @throws GatewayError `invalid_request` for an invalid URL */
export function openPool({
  url,
  max,
  statementMs,
  connectMs = CONNECT_MS,
  searchPath,
  seen = () => {},
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
      query_timeout: statementMs + PATIENCE_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    }),
    ...(searchPath !== undefined && {
      // The pool waits for it, although the type of this option does not say so.
      onConnect: (client): unknown => client.query(SETTINGS, [searchPath]),
    }),
    keepAlive: true,
    // Idle connections do not keep a command running.
    allowExitOnIdle: true,
    types: { getTypeParser: parserOf },
  });
  // The pool has already removed the broken idle connection.
  pool.on('error', () => {});
  return {
    async connect() {
      try {
        return new WatchedClient(await pool.connect(), seen);
      } catch (error) {
        throw explained(error);
      }
    },
    end: () => pool.end(),
  };
}

/** Connects and listens on a channel. @throws GatewayError 503 */
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

/** Members that the driver's types omit. */
interface WithSocket {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** A connection that is closed instead of being reused if it did not answer in time. */
class WatchedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #seen: (error: unknown) => void;
  #isBroken = false;

  constructor(client: PoolClient, seen: (error: unknown) => void) {
    this.#client = client;
    this.#seen = seen;
    // Errors between two statements must be handled as well, because the pool does not listen while the client is in
    // use.
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
    if (typeof text !== 'string') throw new TypeError('streaming queries are not supported here');
    return this.#ask(text, values);
  }

  async #ask<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    try {
      if (this.#isBroken) throw databaseAway(TEXTS.connectionBroke);
      const answer: unknown = await this.#client.query(text, values.map(bindable));
      this.#seen(undefined);
      return answer as PostgresQueryResult<Row>;
    } catch (error) {
      const meaning = explained(error);
      if (GatewayError.is(meaning)) this.#isBroken ||= !isAnswer(error);
      this.#seen(meaning);
      throw meaning;
    }
  }

  release(): void {
    this.#client.off('error', this.#broke);
    // A broken connection may emit another error when it is closed.
    if (this.#isBroken) this.#client.on('error', () => {});
    // Destroyed instead of ended, because an unresponsive server would not confirm.
    if (this.#isBroken) (this.#client as unknown as WithSocket).connection.stream.destroy();
    this.#client.release(this.#isBroken);
  }
}

/**
 * Replaces NUL, which clients may send in ids or names, and which PostgreSQL does not allow in text. JSON escapes it.
 */
function bindable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bindable);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}

/** Parses 64-bit integers as numbers, because times and sums are below 2^53. By default the driver returns strings. */
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
  // The message omits the URL, because it contains a password.
  throw new GatewayError(
    'invalid_request',
    'must be an address such as postgres://user:password@host:5432/database',
    { param: 'database_url' },
  );
}

/** TLS parameters that the driver knows, and the values of `sslmode` (pg-connection-string 2, README, 2026-11). */
const TLS_PARAMETERS = ['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'];
const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/**
 * Rejects unknown TLS parameters. The driver ignores them, so that with a typo it would send the password unencrypted.
 */
function refuseUnknownTls(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    if (!/^ssl/i.test(name)) continue;
    const isKnown = TLS_PARAMETERS.includes(name);
    if (isKnown && (name !== 'sslmode' || TLS_MODES.includes(value))) continue;
    const choice = (isKnown ? TLS_MODES : TLS_PARAMETERS).join(', ');
    const message = `\`${name}\` in the address ${isKnown ? 'must be one of' : 'is unknown; known parameters are'} ${choice}`;
    throw new GatewayError('invalid_request', message, { param: 'database_url' });
  }
}
