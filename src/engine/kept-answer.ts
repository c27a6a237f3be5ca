// An answer as it was kept for its client.
import type { JsonObject } from '../base/json/index.ts';

export interface KeptAnswer {
  /** With every member that a later request may ask for. */
  readonly response: JsonObject;
  /** Its JSON; undefined where nobody has made it. */
  readonly text: string | undefined;
}
