// Declaration of a table for both databases: columns and keys as data. It creates the table, gives the type of its rows, and
// controls how they are moved and backed up.
import { type Generated, type Selectable, sql } from 'kysely';
import type { Queries } from './database.ts';

/** Kinds of databases. */
export type Kind = 'sqlite' | 'postgres';

/**
 * Column types. `id`: text compared byte by byte. `number`: 64 bits (Unix milliseconds, bytes, counts). `small`: 32 bits.
 * `row`: number assigned by the database, in order of insertion.
 */
type BaseType = 'id' | 'text' | 'number' | 'small' | 'real' | 'bytes' | 'row';

/** A column type; `?`: nullable. */
export type ColumnType = BaseType | `${Exclude<BaseType, 'row'>}?`;

type Plain<Type> = Type extends 'id' | 'text' ? string : Type extends 'bytes' ? Uint8Array : number;

type Value<Type> = Type extends `${infer Base}?` ? Plain<Base> | null : Plain<Type>;

/** Kysely's type of a row. Columns with a default need no value. */
export type RowOf<Columns, Defaulted = never> = {
  -readonly [Name in keyof Columns]: Columns[Name] extends 'row'
    ? Generated<number>
    : Name extends Defaulted
      ? Generated<Value<Columns[Name]>>
      : Value<Columns[Name]>;
};

export interface TableDeclaration {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** Columns of the primary key. Rows are moved and backed up in this order. */
  readonly key: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  /** Columns of indexes, by index name. */
  readonly indexes?: Readonly<Record<string, readonly string[]>>;
  /** Default values of columns. */
  readonly defaults?: Readonly<Record<string, number>>;
  /** True: SQLite stores rows in the index of the key (`without rowid`). For small rows. */
  readonly clustered?: boolean;
  /** End of `create table`, e.g. `partition by range (id)`. */
  readonly ending?: Partial<Record<Kind, string>>;
  /** Database that has this table; absent: both. */
  readonly only?: Kind;
  /** Schema version that added the table; default: 1. */
  readonly since?: number;
  /** Nullable columns that were added later, with their schema versions. */
  readonly added?: Readonly<Record<string, number>>;
  /**
   * True for rows that are specific to their database, and so neither moved nor backed up.
   */
  readonly isLocal?: boolean;
  /** Columns that the database renumbers when rows are moved. They are not compared. */
  readonly renumbered?: readonly string[];
  /** Further statements after the table is created, specific to a database. */
  readonly extras?: Partial<Record<Kind, readonly string[]>>;
}

/** A declared table. */
export interface Table<Name extends string = string, Row = unknown> extends TableDeclaration {
  readonly name: Name;
  /** Type of a row. Never has a value. */
  readonly row?: Row;
}

/** A row as read from a table. */
export type RowIn<Of extends Table> = Selectable<NonNullable<Of['row']>>;

/** Kysely's type of a list of tables. */
export type SchemaOf<Tables extends readonly Table[]> = {
  [T in Tables[number] as T['name']]: NonNullable<T['row']>;
};

/** Declares a table. */
export function table<
  const Name extends string,
  const Columns extends Readonly<Record<string, ColumnType>>,
  const Defaulted extends string = never,
>(
  declaration: Omit<TableDeclaration, 'name' | 'columns' | 'defaults'> & {
    readonly name: Name;
    readonly columns: Columns;
    readonly defaults?: Readonly<Record<Defaulted, number>>;
  },
): Table<Name, RowOf<Columns, Defaulted>> {
  return declaration;
}

/** SQL type of a value, and further clauses of the column. */
const TYPES: Readonly<Record<Kind, Readonly<Record<BaseType, readonly [type: string, also?: string]>>>> = {
  sqlite: {
    id: ['text'],
    text: ['text'],
    number: ['integer'],
    small: ['integer'],
    real: ['real'],
    bytes: ['blob'],
    row: ['integer'],
  },
  postgres: {
    id: ['text', 'collate "C"'],
    text: ['text'],
    number: ['bigint'],
    small: ['integer'],
    real: ['double precision'],
    bytes: ['bytea'],
    row: ['bigint', 'generated always as identity'],
  },
};

/** SQL type of a column's values. */
export function castType(kind: Kind, type: ColumnType): string {
  return TYPES[kind][baseOf(type)][0];
}

/** True for columns of text, which databases may compare differently. */
export function isText(type: ColumnType | undefined): boolean {
  return type !== undefined && castType('sqlite', type) === 'text';
}

function baseOf(type: ColumnType): BaseType {
  return type.replace('?', '') as BaseType;
}

/** Column names in order. */
export function columnsOf(declared: TableDeclaration): readonly string[] {
  return Object.keys(declared.columns);
}

/** Name of the column of type `row`. At most one. */
export function rowColumn(declared: TableDeclaration): string | undefined {
  return columnsOf(declared).find((name) => declared.columns[name] === 'row');
}

/** Adds the columns that are newer than a schema version. */
export function* addColumns(
  kind: Kind,
  { name, columns, added = {} }: TableDeclaration,
  from: number,
): Queries<void> {
  for (const [column, since] of Object.entries(added)) {
    const type = columns[column];
    if (since <= from || type === undefined) continue;
    const what = `${quoted(column)} ${TYPES[kind][baseOf(type)].join(' ')}`;
    yield sql.raw(`alter table ${quoted(name)} add column ${what}`);
  }
}

/** Schema version of a table's latest change. */
export function latestOf({ since = 1, added = {} }: TableDeclaration): number {
  return Math.max(since, ...Object.values(added));
}

/** Creates a table and its indexes. */
export function* makeTable(kind: Kind, declared: TableDeclaration): Queries<void> {
  for (const statement of statementsOf(kind, declared)) yield sql.raw(statement);
}

function statementsOf(kind: Kind, declared: TableDeclaration): readonly string[] {
  const { name, key, unique = [], indexes = {}, defaults = {}, ending = {}, extras = {} } = declared;
  const columns = Object.entries(declared.columns).map(([column, type]) => {
    const notNull = type.endsWith('?') ? '' : ' not null';
    const standard = column in defaults ? ` default ${defaults[column]}` : '';
    return `${quoted(column)} ${TYPES[kind][baseOf(type)].join(' ')}${notNull}${standard}`;
  });
  const uniques = unique.map((of) => `unique (${list(of)})`);
  const clustered = kind === 'sqlite' && declared.clustered === true ? 'without rowid' : '';
  const end = ending[kind] ?? clustered;
  const row = rowColumn(declared);
  return [
    `create table ${quoted(name)} (${[...columns, `primary key (${list(key)})`, ...uniques].join(', ')}) ${end}`,
    ...Object.entries(indexes).map(([index, of]) => {
      // SQLite's indexes implicitly end with the row number.
      const written = kind === 'sqlite' && of.at(-1) === row ? of.slice(0, -1) : of;
      return `create index ${quoted(index)} on ${quoted(name)} (${list(written)})`;
    }),
    ...(extras[kind] ?? []),
  ];
}

function list(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}

/** Quotes a name. Only for names of the program's own tables. */
export function quoted(name: string): string {
  return `"${name}"`;
}
