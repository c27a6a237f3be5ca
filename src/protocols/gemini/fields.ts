// The members of Gemini's request bodies that mean something to the gateway, in lower camel case. Must not know how any of
// them is decoded.

/** Members that steer the gateway, which Google refuses. */
const GATEWAY = ['provider', 'models', 'usage', 'modelRoutingConfig'] as const;

/** The same in both spellings. */
export const GATEWAY_KEYS: ReadonlySet<string> = new Set([...GATEWAY, 'model_routing_config']);

/** Members of `generateContent`; all others are `extra`. */
export const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  ...GATEWAY,
]);

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
