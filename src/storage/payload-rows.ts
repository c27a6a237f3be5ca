// Payloads as rows of a table, whatever the database: one row for each, in the order of their requests.
import { PAYLOAD_STAGES, type StoredPayload } from './payload-ports.ts';

/** In the place of an attempt, where there is none: before all of them. */
const NO_ATTEMPT = -1;

/** Behind every id of a request. */
export const BEHIND_ALL = 'g';
/** Requests that are forgotten in one go. */
export const FORGOTTEN_AT_ONCE = 20;

export interface PayloadRow {
  /** Begins with the time. */
  generation_id: string;
  /** -1: of none. */
  attempt: number;
  /** Its place in the list of stages, which is stored: it gets no second meaning. */
  stage: number;
  /** Of head and body. */
  bytes: number;
  head: string;
  body: Uint8Array;
}

/** Only the stores of payloads know the table. */
export interface PayloadTables {
  payloads: PayloadRow;
}

export function rowsOf(generationId: string, payloads: readonly StoredPayload[]): readonly PayloadRow[] {
  return payloads.map(({ stage, attempt, head, body }) => ({
    generation_id: generationId,
    attempt: attempt ?? NO_ATTEMPT,
    stage: PAYLOAD_STAGES.indexOf(stage),
    bytes: head.length + body.length,
    head,
    body,
  }));
}

export function payloadsOf(
  rows: readonly Pick<PayloadRow, 'attempt' | 'stage' | 'head' | 'body'>[],
): readonly StoredPayload[] {
  return rows.flatMap(({ attempt, stage, head, body }) => {
    const name = PAYLOAD_STAGES[stage];
    return name ? { stage: name, attempt: attempt === NO_ATTEMPT ? null : attempt, head, body } : [];
  });
}
