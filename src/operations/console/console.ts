// Serves `/console`: the page and its files, sign-in and sessions, and the management API below `/console/api` for
// signed-in users. A session only holds a key on the server instead of in the browser: it allows nothing that the key
// does not.
import { timingSafeEqual } from 'node:crypto';
import type { AdminSignIn, OneTimeCodes, Principal } from '../../accounts/auth/index.ts';
import { asObject, asString, type JsonObject } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { RefusedSignIns } from '../management/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Connection } from '../../base/runtime/http-server.ts';
import { newGenerationId } from '../../base/runtime/ids.ts';
import type { BodyReader } from '../../server/body/body-reader.ts';
import { announcedBytes, readBody } from '../../server/body/body.ts';
import type { MemoryBudget } from '../../server/body/memory-budget.ts';
import { errorResponse } from '../../server/reply.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { Assets } from './assets.ts';
import {
  CSRF_HEADER,
  clearCookie,
  isOwnPage,
  PAGE_HEADERS,
  refuseOtherSites,
  setCookie,
  tokenOf,
} from './browser.ts';
import { accountOf } from './session-list.ts';
import type { Session, Sessions } from './sessions.ts';

const ASSETS = '/console/assets/';
const TYPES: Readonly<Record<string, string>> = { '.css': 'text/css; charset=utf-8', '.woff2': 'font/woff2' };
const API = '/console/api';
const SESSION = '/console/session';
/** Path that gives the CSRF token to a page opened later. */
const TOKEN = `${SESSION}/token`;
/** Methods without side effects. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);
/** Maximum stored characters of a `User-Agent`. */
const MOST_AGENT = 200;
/** File names contain a hash of their contents. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

type Answering = (request: Request, connection: Connection) => Promise<Response>;

export interface ConsoleDependencies {
  readonly authenticateAdmin: AdminSignIn;
  readonly codes: OneTimeCodes;
  /** The operator's credential for requests within this process. */
  readonly inProcess: string;
  /** Sessions, shared by all processes. */
  readonly sessions: Sessions;
  /** Handler of the management API. */
  readonly management: Answering;
  readonly dataDir: string;
  readonly bodies: BodyReader;
  readonly memory: MemoryBudget;
  readonly clock: Pick<Clock, 'now' | 'wall' | 'every'>;
  readonly log: Logger;
}

/** @returns a handler for `/console` and everything below it; it never rejects */
export function openConsole(deps: ConsoleDependencies): Answering {
  const served = new Console(deps);
  return async (request, connection) => {
    try {
      return await served.answer(request, connection);
    } catch (error) {
      return errorResponse(deps, error, newGenerationId(deps.clock.wall()));
    }
  };
}

class Console {
  readonly #deps: ConsoleDependencies;
  readonly #sessions: Sessions;
  readonly #assets: Assets;
  readonly #refused: RefusedSignIns;

  constructor(deps: ConsoleDependencies) {
    this.#deps = deps;
    this.#sessions = deps.sessions;
    this.#assets = new Assets(deps.dataDir);
    this.#refused = new RefusedSignIns(deps.log);
  }

  async answer(request: Request, connection: Connection): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === SESSION) return this.#session(request, connection);
    if (pathname === TOKEN) return this.#token(request);
    if (pathname.startsWith(`${API}/`)) return this.#forward(request, connection);
    if (!SAFE.has(request.method))
      throw new GatewayError('not_found', `${request.method} ${pathname.slice(0, 200)} not found.`);
    if (pathname.startsWith(ASSETS)) return this.#file(pathname.slice(ASSETS.length));
    // All other paths are routes within the page.
    const headers = { ...PAGE_HEADERS, 'content-type': 'text/html; charset=utf-8' };
    return new Response(await this.#assets.page(), { headers });
  }

  async #file(name: string): Promise<Response> {
    return new Response(await this.#assets.file(name), {
      headers: {
        'content-type': TYPES[name.slice(name.lastIndexOf('.'))] ?? 'text/javascript; charset=utf-8',
        'content-encoding': 'gzip',
        'cache-control': IMMUTABLE,
      },
    });
  }

  async #session(request: Request, connection: Connection): Promise<Response> {
    refuseOtherSites(request);
    const token = tokenOf(request);
    switch (request.method) {
      case 'GET': {
        const found = await this.#find(token);
        return Response.json(found ? shown(found.session, found.principal) : SIGNED_OUT);
      }
      case 'POST': {
        const key = await this.#keyOf(await this.#read(request));
        const principal = this.#admin(key, connection);
        if (token !== null) await this.#sessions.end(token);
        const opened = await this.#sessions.open(key, {
          address: connection.address(),
          agent: request.headers.get('user-agent')?.slice(0, MOST_AGENT) ?? null,
        });
        const headers = { 'set-cookie': setCookie(request, opened.token) };
        const { csrf, tab } = opened.session;
        return Response.json({ ...shown(opened.session, principal), csrf, tab }, { headers });
      }
      case 'DELETE': {
        this.#refuseWithoutToken(request, (await this.#find(token))?.session);
        if (token !== null) await this.#sessions.end(token);
        return Response.json(SIGNED_OUT, { headers: { 'set-cookie': clearCookie(request) } });
      }
      default:
        throw new GatewayError('not_found', `${request.method} ${SESSION} not found.`);
    }
  }

  /**
   * CSRF token of a session, for a page opened after the sign-in. Servers on other ports of the host also receive the
   * cookie. The page must therefore prove that it can read the storage of its own origin.
   */
  async #token(request: Request): Promise<Response> {
    if (request.method !== 'POST')
      throw new GatewayError('not_found', `${request.method} ${TOKEN} not found.`);
    if (!isOwnPage(request)) refuseOtherPages();
    const { tab } = await this.#read(request);
    const found = await this.#find(tokenOf(request));
    if (!found || !isSame(asString(tab) ?? '', found.session.tab)) return Response.json(SIGNED_OUT);
    return Response.json({ ...shown(found.session, found.principal), csrf: found.session.csrf });
  }

  /** The request with the session's key, and without the browser's own headers. */
  async #forward(request: Request, connection: Connection): Promise<Response> {
    refuseOtherSites(request);
    const session = (await this.#find(tokenOf(request)))?.session;
    if (!session)
      throw new GatewayError(
        'authentication',
        'You are not signed in, or your session has ended. Sign in again.',
        {
          code: 'session_ended',
        },
      );
    const url = new URL(request.url);
    if (!isTable(request, url)) this.#refuseWithoutToken(request, session);
    url.pathname = url.pathname.slice(API.length);
    const headers = new Headers(request.headers);
    for (const name of ['cookie', CSRF_HEADER, 'x-api-key', 'x-goog-api-key']) headers.delete(name);
    headers.set('authorization', `Bearer ${session.key ?? this.#deps.inProcess}`);
    const signal = AbortSignal.any([request.signal, session.ended]);
    const { method, body } = request;
    return this.#deps.management(new Request(url, { method, headers, body, signal }), connection);
  }

  async #read(request: Request): Promise<JsonObject> {
    // Forms of other sites cannot send JSON.
    if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
      throw new GatewayError('invalid_request', 'content-type: must be application/json');
    const hold = this.#deps.memory.open('console');
    try {
      return asObject((await readBody(request, announcedBytes(request), this.#deps.bodies, hold)).json);
    } finally {
      hold.release();
    }
  }

  /** The given key; null if a sign-in code was given instead. @throws GatewayError `authentication` */
  async #keyOf({ key, code }: JsonObject): Promise<string | null> {
    const [given, once] = [asString(key), asString(code)];
    if (given !== undefined && given !== '') return given;
    if (once === undefined) return '';
    if (await this.#deps.codes.take(once)) return null;
    throw new GatewayError(
      'authentication',
      'The sign-in link has already been used or has expired. Create a new one with `dragoman console`.',
      {
        code: 'invalid_code',
      },
    );
  }

  /** @throws GatewayError `authentication` or `permission` */
  #admin(key: string | null, connection: Connection | null): Principal {
    try {
      return accountOf(key, this.#deps);
    } catch (error) {
      if (connection)
        this.#refused.note(GatewayError.from(error), connection.address(), this.#deps.clock.now());
      throw error;
    }
  }

  /** Finds a session whose key is still valid, and ends others. */
  async #find(
    token: string | null,
  ): Promise<{ readonly session: Session; readonly principal: Principal } | null> {
    const session = token === null ? null : await this.#sessions.find(token);
    if (token === null || !session) return null;
    try {
      return { session, principal: this.#admin(session.key, null) };
    } catch {
      await this.#sessions.end(token);
      return null;
    }
  }

  /** @throws GatewayError `permission` if the CSRF header does not match the session */
  #refuseWithoutToken(request: Request, session: Session | undefined): void {
    if (session && isSame(request.headers.get(CSRF_HEADER) ?? '', session.csrf)) return;
    throw new GatewayError('permission', `${CSRF_HEADER}: must be the token of the session`, {
      code: 'csrf_token',
      param: CSRF_HEADER,
    });
  }
}

const SIGNED_OUT: JsonObject = { signed_in: false };

/** True for CSV downloads. The page opens them as links, which cannot carry a custom header. */
function isTable(request: Request, url: URL): boolean {
  return SAFE.has(request.method) && url.searchParams.get('format') === 'csv' && isOwnPage(request);
}

function refuseOtherPages(): never {
  throw new GatewayError('permission', TEXTS.ownPageOnly, { code: 'cross_site' });
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function shown({ id, endsAt }: Session, { keyId, name, roles }: Principal): JsonObject {
  return {
    signed_in: true,
    session_id: id,
    actor: { id: keyId, name, roles: [...roles] },
    ends_at: new Date(endsAt).toISOString(),
  };
}
