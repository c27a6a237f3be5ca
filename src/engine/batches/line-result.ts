// Result of a line, as stored until the files of its batch are written.
import { compress, decompress } from '../../base/lib/gzip.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { GatewayError } from '../../canonical/index.ts';
import type { LineFailure, LineKind } from '../../accounts/ports/index.ts';
import type { LineEnd, UnansweredEnd } from '../../protocols/index.ts';

/** Maximum characters of a reason stored for operators. */
const LONGEST_MESSAGE = 1_000;

/** A stored result. */
export interface StoredEnd {
  readonly end: LineEnd;
  /** Members that the result repeats, for a batch whose input file is lost. Null: unknown. */
  readonly named: JsonObject | null;
}

/** @param named members of the line that the result repeats; null: unknown */
export function encodeEnd(end: LineEnd, named: JsonObject | null): Promise<Uint8Array> {
  return compress(Buffer.from(JSON.stringify({ ...end, named })), 1);
}

export async function decodeEnd(bytes: Uint8Array): Promise<StoredEnd> {
  const text = (await decompress(bytes)).toString();
  // Results of earlier versions have no names.
  const { named = null, ...end } = JSON.parse(text) as LineEnd & Partial<Pick<StoredEnd, 'named'>>;
  return { end, named };
}

/** Result of a line for which no upstream request was made. */
export function refusedEnd({ kind, code, message, param }: GatewayError): UnansweredEnd {
  return { type: 'refused', code: code ?? kind, message, param: param ?? null };
}

/**
 * Failure reason of a line, for operators.
 * @param name its `custom_id`; null: absent or unreadable
 * @param generation id of the record of its last try; null: no upstream request was made
 */
export function failureOf(
  { code, kind, message }: GatewayError,
  name: string | null,
  generation: string | null,
  status: number | null,
): LineFailure {
  return { name, generation, status, code: code ?? kind, message: message.slice(0, LONGEST_MESSAGE) };
}

export function kindOf(end: LineEnd): LineKind {
  if (end.type === 'answered') return end.status < 400 ? 'succeeded' : 'failed';
  return end.type === 'refused' ? 'failed' : end.type;
}
