// An answer as stored for its client.
import type { JsonObject } from '../base/json/index.ts';

export interface KeptAnswer {
  /** Contains every member that a later request may include. */
  readonly response: JsonObject;
  /** Its JSON text. Undefined: not serialised yet. */
  readonly text: string | undefined;
}
