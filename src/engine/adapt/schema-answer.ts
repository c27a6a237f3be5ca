// What is asked of the process that checks a value by a large schema, and what it says: loaded in both, hence nothing else.
import type { JsonObject, JsonValue } from '../../canonical/index.ts';

/** Largest schema that is compiled, in characters. */
export const MAX_SCHEMA_CHARS = 100_000;

export interface SchemaQuestion {
  readonly schema: JsonObject;
  /** Absent: whether the schema can be used at all. */
  readonly value?: JsonValue;
}

export type SchemaAnswer =
  | {
      /** What is wrong with the value. */
      readonly problem: string | null;
      readonly unchecked: readonly string[];
    }
  /** Why the schema cannot be used. */
  | { readonly unusable: string };
