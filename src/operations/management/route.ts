// Route of the management API, with what it has besides every route: who asks, what is changed, versions. Knows no route.
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

/** Change by a request, as the audit log has it: without secrets. */
export interface Change {
  /** Action and kind of thing, e.g. `key.create`. */
  readonly action: string;
  /** Id of the thing. */
  readonly target: string;
  /** As it was; null where there was nothing. */
  readonly before: JsonObject | null;
  /** As it is; null where there is nothing any more. */
  readonly after: JsonObject | null;
}

/** Reader of an answer that goes on. */
export interface Reader {
  /** Aborted when they leave. */
  readonly signal: AbortSignal;
  /** Lets the connection be silent for as long as it likes. */
  stays(): void;
  /** False once their key or session is no longer good. */
  mayRead(): boolean;
}

/** One request, before its query and body are checked. */
export interface RawCall extends AnyCall {
  readonly deps: ManagementDependencies;
  /** Operations on keys and projects; changes are in the audit log as of who asks. */
  readonly keys: KeyCommands;
  readonly projects: ProjectCommands;
  /** How long requests usually take. */
  readonly usual: UsualTimes;
  /** How providers do. */
  readonly states: ProviderStates;
  /** Time zone of days and months in reports. */
  readonly timeZone: string;
  readonly now: UnixMs;
  /** The `If-Match` of a change; null where it has none. */
  readonly ifMatch: string | null;
  /** The `Accept` of the request; empty where it has none. */
  readonly accept: string;
  /** Caller, for answers that go on. */
  readonly reader: Reader;
  /** Writes into the audit log what has been changed. To be awaited: it is there before the answer. */
  readonly record: (change: Change) => Promise<void>;
}

interface Versioning {
  /** True: the answer has a `version`, which is its `ETag`. */
  readonly tagged?: true | undefined;
  /** True: it changes the version that `If-Match` names, or none. */
  readonly conditional?: true | undefined;
  /** True: the same request with the same `Idempotency-Key` is answered once. */
  readonly idempotent?: true | undefined;
}

/** A route as those see it who serve and describe all of them. */
export interface Route extends AnyRoute<RawCall>, Versioning {}

const make = routesOf<RawCall>(z.strictObject({}));

/** Makes a route of its specification, whose path is below `/management`. */
export function route<
  Query extends z.ZodType = z.ZodType<Record<string, never>>,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>(specification: Specification<RawCall, Query, Body, Answer> & Versioning): Route {
  const { tagged, conditional, idempotent, refusals = [], tag } = specification;
  const headers = {
    ...(conditional && { 'if-match': { description: 'The version to change; absent: any.' } }),
    ...(idempotent && {
      'idempotency-key': {
        description: 'The same request with the same key is answered once.',
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

/** `GET /keys/{id}` is `manageGetKeysById`. */
function idOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words = path
    .replace(/\{(\w+)\}/g, 'by_$1')
    .split(/[/_]/)
    .filter(Boolean);
  return `manage${[method, ...words].map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')}`;
}
