// Client of the management API, authenticated by the session.
import type { Operations } from './schema.ts';

const BASE = '/console/api/v1/management';

/** Error response of the gateway, with its message. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Machine-readable code; null if there is none. */
  readonly code: string | null;
  /** Invalid member of the request; null if there is none. */
  readonly param: string | null;

  constructor(status: number, message: string, code: string | null = null, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

interface Session {
  readonly signed_in: boolean;
  readonly session_id?: string;
  readonly actor?: { readonly id: string; readonly name: string; readonly roles: readonly string[] };
  readonly csrf?: string;
  /** Proof that a page opened later has this origin. Only returned by a sign-in. */
  readonly tab?: string;
  readonly ends_at?: string;
}

/** CSRF token of the session, sent with every request. */
let csrf = '';
/** Local storage key of the proof with which a page gets the CSRF token. Other ports cannot read this storage. */
const TAB_KEY = 'dragoman-session';
let onEnded = (): void => {};

/** Sets a callback for responses which say that the session has ended. */
export function whenSessionEnds(ended: () => void): void {
  onEnded = ended;
}

export async function readSession(signal?: AbortSignal): Promise<Session> {
  const body = { tab: localStorage.getItem(TAB_KEY) ?? '' };
  return keepCsrf((await sendJson('POST', '/console/session/token', body, {}, signal)) as Session);
}

/** Signs in with a key, or with the code from a sign-in link. @throws ApiError */
export async function signIn(credential: { key: string } | { code: string }): Promise<Session> {
  return keepCsrf((await sendJson('POST', '/console/session', credential)) as Session);
}

export async function signOut(): Promise<void> {
  await sendJson('DELETE', '/console/session', undefined);
  localStorage.removeItem(TAB_KEY);
}

function keepCsrf(session: Session): Session {
  csrf = session.csrf ?? '';
  if (session.tab !== undefined) localStorage.setItem(TAB_KEY, session.tab);
  return session;
}

export type Name = keyof Operations;
export type Answer<N extends Name> = Operations[N]['answer'];
export type Query<N extends Name> = Operations[N]['query'];

export interface Asked<N extends Name> {
  /** Path parameters. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query<N>;
  readonly body?: Operations[N]['body'];
  /** Version of the object to change, sent as `if-match`. */
  readonly version?: number | null | undefined;
  readonly signal?: AbortSignal;
}

/** Calls an operation. @throws ApiError for an error response */
export async function ask<N extends Name>(name: N, asked: Asked<N> = {}): Promise<Answer<N>> {
  const [method = 'GET', template = ''] = name.split(' ');
  const path = template.replace(/\{(\w+)\}/g, (_, param: string) =>
    // Model ids contain slashes.
    (asked.params?.[param] ?? '').split('/').map(encodeURIComponent).join('/'),
  );
  const query = searchOf(asked.query ?? {});
  const url = BASE + path + (query === '' ? '' : `?${query}`);
  if (method === 'GET') return (await send(url, { signal: asked.signal ?? null })) as Answer<N>;
  const version: Record<string, string> =
    asked.version === undefined || asked.version === null ? {} : { 'if-match': `"${asked.version}"` };
  return (await sendJson(method, url, asked.body, version)) as Answer<N>;
}

/** Opens a stream of the management API. @throws ApiError for an error response */
export async function openStream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const init = { headers: { 'x-csrf-token': csrf }, credentials: 'same-origin', signal } as const;
  const answer = await fetch(BASE + path, init);
  if (answer.ok && answer.body) return answer.body;
  throw refused(answer.status, await answer.text());
}

function searchOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

async function sendJson(
  method: string,
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<unknown> {
  return send(url, {
    method,
    signal: signal ?? null,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function send(url: string, init: RequestInit): Promise<unknown> {
  const headers = { ...(init.headers as Record<string, string> | undefined), 'x-csrf-token': csrf };
  const answer = await fetch(url, { ...init, headers, credentials: 'same-origin' }).catch(
    (error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new ApiError(0, 'The gateway is unreachable. Check that it is running.');
    },
  );
  const text = await answer.text();
  if (answer.ok) return text === '' ? null : JSON.parse(text);
  throw refused(answer.status, text);
}

/** Creates the error for a response. Calls `onEnded` if this page is no longer signed in. */
function refused(status: number, text: string): ApiError {
  const error = refusal(status, text);
  if (error.code === 'session_ended' || error.code === 'csrf_token') onEnded();
  return error;
}

/** Error of a response in any protocol. @param text body of the response */
export function refusal(status: number, text: string): ApiError {
  const { message, code, param } = errorIn(text);
  return new ApiError(
    status,
    message ?? `The gateway responded with status ${status}.`,
    code ?? null,
    param ?? null,
  );
}

interface ErrorBody {
  readonly message?: string;
  readonly code?: string | null;
  readonly param?: string | null;
}

function errorIn(text: string): ErrorBody {
  try {
    return (JSON.parse(text) as { error?: ErrorBody }).error ?? {};
  } catch {
    return {};
  }
}
