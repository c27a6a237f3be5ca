// Members of the bodies of `embedContent` and `batchEmbedContents`.
import { GATEWAY } from '../../fields.ts';

/** Settings of embeddings, in the request itself or in `embedContentConfig`. */
export const EMBEDDING_SETTINGS = ['taskType', 'title', 'outputDimensionality', 'autoTruncate'] as const;

/** Members of `embedContentConfig`. */
export const EMBEDDING_SETTING_FIELDS: ReadonlySet<string> = new Set(EMBEDDING_SETTINGS);

/** Members of an `EmbedContentRequest` inside of a batch (API reference, "Embeddings", 2026-11). */
export const EMBEDDING_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'content',
  'embedContentConfig',
  ...EMBEDDING_SETTINGS,
]);

/** Members of one that is a body of its own. */
export const LONE_EMBEDDING_FIELDS: ReadonlySet<string> = new Set([...EMBEDDING_FIELDS, ...GATEWAY]);

/** Members of a batch. */
export const EMBEDDING_BATCH_FIELDS: ReadonlySet<string> = new Set(['model', 'requests', ...GATEWAY]);
