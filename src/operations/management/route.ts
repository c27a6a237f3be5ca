// A route of the management API, with its caller, audit log and versions.
import { z } from 'zod';
import type { KeyCommands, ProjectCommands } from '../../accounts/auth/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import {
  type RawCall as AnyCall,
  type Route as AnyRoute,
  routesOf,
  type Specification,
} from '../../server/routes/route.ts';
import type { ManagementDependencies } from './dependencies.ts';
import { IDEMPOTENCY_KEY } from './idempotent-answers.ts';
import type { ProviderStates } from './provider-states.ts';
import type { UsualTimes } from './usual-times.ts';
import type { UnixMs } from '../../base/units.ts';

/** A change for the audit log, without secrets. */
export interface Change {
  /** Kind of object and action, e.g. `key.create`. */
  readonly action: string;
  /** Id of the object. */
  readonly target: string;
  /** Previous state; null: created. */
  readonly before: JsonObject | null;
  /** New state; null: deleted. */
  readonly after: JsonObject | null;
}

/** Reader of a streamed answer. */
export interface Reader {
  /** Aborted when the reader disconnects. */
  readonly signal: AbortSignal;
  /** Disables the idle timeout of the connection. */
  stays(): void;
  /** False once the reader's key or session is no longer valid. */
  mayRead(): boolean;
}

/** A request before its query and body are validated. */
export interface RawCall extends AnyCall {
  readonly deps: ManagementDependencies;
  /** Operations on keys and projects, logged with the caller. */
  readonly keys: KeyCommands;
  readonly projects: ProjectCommands;
  /** Usual duration of requests. */
  readonly usual: UsualTimes;
  /** States of providers. */
  readonly states: ProviderStates;
  /** Time zone of days and months in reports. */
  readonly timeZone: string;
  readonly now: UnixMs;
  /** `If-Match`; null: absent. */
  readonly ifMatch: string | null;
  /** `Accept`; empty: absent. */
  readonly accept: string;
  /** The caller, for streamed answers. */
  readonly reader: Reader;
  /** Adds a change to the audit log. Must be awaited, so that it is stored before the answer. */
  readonly record: (change: Change) => Promise<void>;
}

interface Versioning {
  /** True: the answer has a `version`, which is its `ETag`. */
  readonly tagged?: true | undefined;
  /** True: honours `If-Match`. */
  readonly conditional?: true | undefined;
  /** True: repeated requests with the same `Idempotency-Key` get the same answer. */
  readonly idempotent?: true | undefined;
}

/** A route without its type parameters. */
export interface Route extends AnyRoute<RawCall>, Versioning {}

const make = routesOf<RawCall>(z.strictObject({}));

/** Makes a route from its specification. Its path is relative to `/management`. */
export function route<
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>(specification: Specification<RawCall, Query, Body, Answer> & Versioning): Route {
  const { tagged, conditional, idempotent, refusals = [], tag } = specification;
  const headers = {
    ...(conditional && {
      'if-match': { description: 'Version of the object to change. Absent: any version.' },
    }),
    ...(idempotent && {
      'idempotency-key': {
        description: 'A repeated request with the same key gets the stored response of the first one.',
        pattern: IDEMPOTENCY_KEY.source,
      },
    }),
  };
  return {
    ...make(specification),
    id: idOf(specification),
    tag: `Management: ${tag}`,
    refusals: [...refusals, ...(conditional ? [412 as const] : [])],
    headers,
    tagged,
    conditional,
    idempotent,
  };
}

/** `GET /keys/{id}` becomes `manageGetKeysById`. */
function idOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .replace(/\{(\w+)\}/g, 'by_$1')
    .split(/[/_]/)
    .filter(Boolean);
  return `manage${[method, ...words].map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`;
}
