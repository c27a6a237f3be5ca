// What the rest of the gateway knows of the person or program behind a request. Knows nothing of keys' forms or
// storage.
/** Who is asking: one API key is one tenant. */
export interface Principal {
  readonly keyId: string;
  readonly name: string;
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  /** May this key use the model? Patterns with `*` were compiled when the key was loaded. */
  readonly mayUse: (modelId: string) => boolean;
  readonly logContent: boolean;
}
