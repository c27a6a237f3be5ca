// What is asked of the process that checks a value by a large schema, and what it says. Types only: loaded in both.
import type { JsonObject, JsonValue } from '../../canonical/index.ts';

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
