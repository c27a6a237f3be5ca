// Asks the management API as who is signed in. Knows operations by their description, and no page.
import type { Operations } from './schema.ts';

const BASE = '/console/api/v1/management';

/** Refusal of the gateway, in its own words. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** A word for programs; null where there is none. */
  readonly code: string | null;
  /** The member that is wrong; null where none is. */
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
  /** Proof for a page that is opened later that it is one of this origin. Given at a sign-in only. */
  readonly tab?: string;
  readonly ends_at?: string;
}

/** Token that every request carries. The session gives it. */
let csrf = '';
/** Key in this origin's storage, which no other port can read, of the proof that a page shows to get the token. */
const TAB_KEY = 'dragoman-session';
let onEnded = (): void => {};

/** Calls back when an answer says that the session has ended. */
export function whenSessionEnds(ended: () => void): void {
  onEnded = ended;
}

export async function readSession(signal?: AbortSignal): Promise<Session> {
  const body = { tab: localStorage.getItem(TAB_KEY) ?? '' };
  return keepCsrf((await sendJson('POST', '/console/session/token', body, {}, signal)) as Session);
}

/** Signs in with a key, or with the code of a link. @throws ApiError */
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
  /** Parameters of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Query<N>;
  readonly body?: Operations[N]['body'];
  /** The version that is changed. */
  readonly version?: number | null | undefined;
  readonly signal?: AbortSignal;
}

/** Asks for an operation. @throws ApiError for a refusal */
export async function ask<N extends Name>(name: N, asked: Asked<N> = {}): Promise<Answer<N>> {
  const [method = 'GET', template = ''] = name.split(' ');
  const path = template.replace(/\{(\w+)\}/g, (_, param: string) =>
    // Ids of models hold slashes.
    (asked.params?.[param] ?? '').split('/').map(encodeURIComponent).join('/'),
  );
  const query = searchOf(asked.query ?? {});
  const url = BASE + path + (query === '' ? '' : `?${query}`);
  if (method === 'GET') return (await send(url, { signal: asked.signal ?? null })) as Answer<N>;
  const version: Record<string, string> =
    asked.version === undefined || asked.version === null ? {} : { 'if-match': `"${asked.version}"` };
  return (await sendJson(method, url, asked.body, version)) as Answer<N>;
}

/** Opens a stream of the management API. @throws ApiError for a refusal */
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
      throw new ApiError(0, 'The gateway does not answer. Is it running?');
    },
  );
  const text = await answer.text();
  if (answer.ok) return text === '' ? null : JSON.parse(text);
  throw refused(answer.status, text);
}

/** A refusal; one that says that this page is no longer signed in has that told. */
function refused(status: number, text: string): ApiError {
  const error = refusal(status, text);
  if (error.code === 'session_ended' || error.code === 'csrf_token') onEnded();
  return error;
}

/** Error of an answer in whichever protocol. @param text its body */
export function refusal(status: number, text: string): ApiError {
  const { message, code, param } = errorIn(text);
  return new ApiError(
    status,
    message ?? `The gateway answered with status ${status}.`,
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
