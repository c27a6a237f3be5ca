// Table of the members of a protocol's request body: support, type, range, and canonical parameter. Decoders, encoders,
// the relay lane, the API description and the reference pages are derived from it.
import {
  isJsonArray,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
} from '../../base/json/index.ts';
import {
  unsupportedExcept,
  PARAMETERS,
  type CanonicalRequest,
  type ClientNames,
  type Parameter,
  type Parameters,
  type Problems,
  type Report,
  type Target,
} from '../../canonical/index.ts';
import type { Kind } from './read-member.ts';

/** Canonical members that a row can set. */
export type Settings = Parameters & Pick<CanonicalRequest, 'maxOutputTokens'>;
export type Setting = keyof Settings;
export type MutableSettings = { -readonly [Name in Setting]?: Settings[Name] };

/** Context in which members are written. */
export interface WriteScope {
  readonly request: CanonicalRequest;
  readonly target: Target;
  readonly report: Report;
}

interface Row<Support extends string> {
  readonly name: string;
  /** How the gateway handles the member. */
  readonly support: Support;
  /** Note for the documentation: ranges, and what replaces the member. */
  readonly note: string;
}

/** A member that the protocol's own functions read and write. */
interface OwnRow<Support extends string> extends Row<Support> {
  readonly to?: undefined;
  /** Type that the table checks. Absent: the function that reads it checks it. */
  readonly is?: Kind<unknown> | undefined;
  /** JSON Schema for the API description, if it cannot be derived. */
  readonly shape?: JsonObject | undefined;
  /** Parameters that it contains, so that `lacks` leaves them out. */
  readonly holds?: readonly Parameter[] | undefined;
}

/** A member that sets one setting of the canonical request. */
type SettingRow<Support extends string> = {
  readonly [Name in Setting]-?: Row<Support> & {
    readonly to: Name;
    readonly is: Kind<NonNullable<Settings[Name]>>;
    /**
     * Returns the value to send; undefined: none. Absent: the value is sent unchanged. `elsewhere`: a function of the
     * protocol writes it.
     */
    readonly write?:
      | ((value: NonNullable<Settings[Name]>, scope: WriteScope) => JsonValue | undefined)
      | 'elsewhere'
      | undefined;
    /** True: servers of other vendors accept it, but the owner's own API does not. */
    readonly isForeign?: true | undefined;
  };
}[Setting];

export type Field<Support extends string> = OwnRow<Support> | SettingRow<Support>;

/** Creates a writer that clamps a value, with a report. @param most maximum that the API accepts */
export function atMost(
  name: string,
  most: number,
  reason: string,
): (value: number, scope: WriteScope) => number {
  return (value, { report }) => {
    if (value <= most) return value;
    report.add(name, 'clamped', reason);
    return most;
  };
}

type Reader = {
  readonly name: string;
  readonly path: string;
  readonly to: Setting;
  readonly is: Kind<unknown>;
};
type Writer = {
  readonly name: string;
  readonly to: Setting;
  readonly write: ((value: never, scope: WriteScope) => JsonValue | undefined) | undefined;
};

export interface TableOptions<Support extends string> {
  /** Member of the body that holds the object, e.g. `generationConfig`. Absent: the body itself. */
  readonly at?: string;
  /** Members that only some servers accept. They are sent to those, but clients cannot use them. */
  readonly foreign?: readonly SettingRow<Support>[];
}

export class FieldTable<Support extends string> {
  readonly fields: readonly Field<Support>[];
  /** Parameters that the protocol has. */
  readonly has: ReadonlySet<Parameter>;
  /** Names that clients of the protocol use for settings in reports. */
  readonly names: ClientNames;
  readonly #readers: readonly Reader[];
  readonly #checks: readonly { readonly name: string; readonly path: string; readonly is: Kind<unknown> }[];
  readonly #writers: readonly Writer[];

  /** @param fields every documented member, in the order of the documentation */
  constructor(fields: readonly Field<Support>[], { at, foreign = [] }: TableOptions<Support> = {}) {
    const pathOf = (name: string): string => (at === undefined ? name : `${at}.${name}`);
    const settings = inCanonicalOrder(fields.filter((field) => field.to !== undefined));
    this.fields = fields;
    this.#readers = settings.map(({ name, to, is }) => ({ name, path: pathOf(name), to, is }));
    this.#checks = fields.flatMap(({ name, to, is }) =>
      to === undefined && is ? [{ name, path: pathOf(name), is }] : [],
    );
    this.#writers = inCanonicalOrder([...settings, ...foreign]).flatMap(({ name, to, write }) =>
      write === 'elsewhere' ? [] : [{ name, to, write: write as Writer['write'] }],
    );
    this.has = new Set(fields.flatMap(parametersOf));
    this.names = Object.fromEntries(
      settings.flatMap(({ name, to }) => {
        const reported = reportedName(to);
        return reported === pathOf(name) ? [] : [[reported, [pathOf(name)]]];
      }),
    );
  }

  /** Returns the names of the members with any of these supports, in table order. */
  named(...supports: readonly Support[]): ReadonlySet<string> {
    return new Set(this.fields.filter(({ support }) => supports.includes(support)).map(({ name }) => name));
  }

  /** JSON Schema of the object that holds the members. It allows others. */
  get schema(): JsonObject {
    const properties = Object.fromEntries(
      this.fields.map((field) => [field.name, { ...schemaOf(field), description: field.note }]),
    );
    return { type: 'object', properties };
  }

  /** Parameters that no member expresses. */
  get lacks(): ReadonlySet<Parameter> {
    return unsupportedExcept(this.has);
  }

  /** Reads the settings, and adds a problem for each invalid one. */
  read(body: JsonObject, problems: Problems): MutableSettings {
    const settings: Record<string, unknown> = {};
    for (const { name, path, to, is } of this.#readers) {
      const value = body[name];
      if (value !== undefined) settings[to] = is.read(value, path, problems);
    }
    return settings;
  }

  /** Adds a problem for each other member with an invalid type. */
  check(body: JsonObject, problems: Problems): void {
    for (const { name, path, is } of this.#checks) {
      const value = body[name];
      if (value !== undefined) is.read(value, path, problems);
    }
  }

  /** Writes the settings that the request has. */
  write(body: MutableJsonObject, scope: WriteScope): void {
    const { request } = scope;
    for (const { name, to, write } of this.#writers) {
      const value = request[to];
      if (value === undefined) continue;
      const written = write ? write(value as never, scope) : (value as JsonValue);
      if (written !== undefined) body[name] = written;
    }
  }
}

function parametersOf(field: Field<string>): readonly Parameter[] {
  if (field.to === undefined) return field.holds ?? [];
  return field.to === 'maxOutputTokens' || field.isForeign ? [] : [field.to];
}

/** JSON Schema of a member for the API description; `{}` if any value is allowed. Null counts as absent. */
export function schemaOf(field: Field<string>): JsonObject {
  const schema = field.to === undefined ? (field.shape ?? field.is?.schema) : field.is.schema;
  if (!schema) return {};
  const { type, enum: words } = schema;
  if (typeof type !== 'string') return schema;
  return { ...schema, type: [type, 'null'], ...(isJsonArray(words) ? { enum: [...words, null] } : {}) };
}

/** Sorts rows into one fixed order for canonical requests and bodies, independent of the documentation's order. */
function inCanonicalOrder<Row extends { readonly to: Setting }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => ORDER.indexOf(one.to) - ORDER.indexOf(other.to));
}

const ORDER: readonly Setting[] = ['maxOutputTokens', ...(Object.keys(PARAMETERS) as Parameter[])];

/** Returns the name of a setting in reports. */
function reportedName(setting: Setting): string {
  return setting === 'maxOutputTokens' ? 'max_completion_tokens' : PARAMETERS[setting];
}
