// Asks the management API as who is signed in. Knows operations by their description, and no page.
import type { Operations } from './schema.ts';

const BASE = '/console/api/v1/management';

/** What the gateway says when it refuses. */
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
  readonly actor?: { readonly id: string; readonly name: string; readonly roles: readonly string[] };
  readonly csrf?: string;
  readonly ends_at?: string;
}

/** What every change carries; the session tells it. */
let csrf = '';
let onEnded = (): void => {};

/** Calls back when an answer says that the session has ended. */
export function whenSessionEnds(ended: () => void): void {
  onEnded = ended;
}

export async function readSession(signal?: AbortSignal): Promise<Session> {
  return keepCsrf((await send('/console/session', { signal: signal ?? null })) as Session);
}

/** Signs in with a key, or with the code of a link. @throws ApiError */
export async function signIn(credential: { key: string } | { code: string }): Promise<Session> {
  return keepCsrf((await sendJson('POST', '/console/session', credential)) as Session);
}

export async function signOut(): Promise<void> {
  await sendJson('DELETE', '/console/session', undefined);
}

function keepCsrf(session: Session): Session {
  csrf = session.csrf ?? '';
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

/** Where an operation is, for links and streams. */
export function addressOf(path: string): string {
  return BASE + path;
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
): Promise<unknown> {
  return send(url, {
    method,
    headers: {
      ...headers,
      'x-csrf-token': csrf,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function send(url: string, init: RequestInit): Promise<unknown> {
  const answer = await fetch(url, { ...init, credentials: 'same-origin' }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The gateway does not answer. Is it running?');
  });
  const text = await answer.text();
  if (answer.ok) return text === '' ? null : JSON.parse(text);
  const refused = refusal(answer.status, text);
  if (refused.code === 'session_ended') onEnded();
  throw refused;
}

/** What the gateway said instead of an answer, in whichever protocol. @param text its body */
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
