// Messages between the gateway and the process that checks values against large schemas. Both load this file, so it
// contains nothing else.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';

/** Maximum size of a schema that is compiled, in characters. */
export const MAX_SCHEMA_CHARS = 100_000;

export interface SchemaQuestion {
  readonly schema: JsonObject;
  /** Absent: only check whether the schema is usable. */
  readonly value?: JsonValue;
}

export type SchemaAnswer =
  | {
      /** Problem with the value. Null: it matches. */
      readonly problem: string | null;
      readonly unchecked: readonly string[];
    }
  /** Reason why the schema cannot be used. */
  | { readonly unusable: string };
