// Gemini's batches: requests in a body or a file, and a long-running operation with the results (API reference, "Batch
// API", and Google's own libraries, 2026-11).
import type { BatchCodec } from '../../codec/batch-codec.ts';
import { encodeBatch } from './encode-batch.ts';
import { decodeLine, encodeResult } from './lines.ts';

export const geminiBatches: BatchCodec = {
  idPrefix: 'gbatch_',
  counts: 'requests',
  splitsErrors: false,
  names: ['key', 'metadata'],
  line: decodeLine,
  encode: encodeBatch,
  encodeResult,
};

export { type BatchMethod, GEMINI_BATCH_METHODS } from './methods.ts';
export { decodeGeminiBatch, GEMINI_REQUESTS } from './decode-create.ts';
export { aroundResults, isInline } from './encode-batch.ts';
export { geminiUpstreamBatches } from './upstream-batches.ts';
