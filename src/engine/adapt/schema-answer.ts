// Messages between the gateway and the process that checks values by large schemas. Both load this file, so it holds
// nothing else.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';

/** Largest schema that is compiled, in characters. */
export const MAX_SCHEMA_CHARS = 100_000;

export interface SchemaQuestion {
  readonly schema: JsonObject;
  /** Absent: whether the schema can be used at all. */
  readonly value?: JsonValue;
}

export type SchemaAnswer =
  | {
      /** Problem of the value. Null: it matches. */
      readonly problem: string | null;
      readonly unchecked: readonly string[];
    }
  /** Why the schema cannot be used. */
  | { readonly unusable: string };
