// Masks API keys in free text, such as an upstream's error message that repeats the refused key. Known keys are found by
// value, others by shape. Values of type `Secret` need no masking, because they never print.
import type { Secret } from './secret.ts';

export type Redact = (text: string) => string;

/** Replacement for a secret. */
export const MASK = '[secret]';
/** Shorter values are too common to be replaced everywhere. */
const SHORTEST_VALUE = 8;

// Shapes of well-known keys. Each requires enough characters not to match words, and none can backtrack.
const SHAPES: readonly RegExp[] = [
  // OpenAI, Anthropic, DeepSeek, OpenRouter and Dragoman: sk-…; also pk-, rk-.
  /\b[spr]k-[A-Za-z0-9_-]{12,}/g,
  // xAI, Groq, Cerebras, Perplexity, NVIDIA, Hugging Face, GitHub.
  /\b(?:xai-|gsk_|csk-|pplx-|nvapi-|hf_|gh[pousr]_|github_pat_)[A-Za-z0-9_-]{16,}/g,
  // Google.
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  // Access tokens: Google's format, and JWTs such as Microsoft's.
  /\bya29\.[A-Za-z0-9._-]{16,}/g,
  /\beyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+){0,2}/g,
  // AWS access key ids.
  /\bA[KS]IA[A-Z0-9]{16}\b/g,
];
/** Schemes, headers and query parameters whose value is masked, while the name stays. */
const LABELLED =
  /(\bbearer |\b(?:x-api-key|x-goog-api-key|api[-_]key)["']?\s?[:=]\s?["']?|[?&](?:key|access_token)=)[A-Za-z0-9._~+/=-]{8,}/gi;

/**
 * Creates a function that masks the given values and everything that looks like a key.
 * @param secrets read once; create a new redactor when the configuration changes
 */
export function createRedactor(secrets: Iterable<Secret | string>): Redact {
  const values = new Set<string>();
  for (const secret of secrets) {
    const value = typeof secret === 'string' ? secret : secret.reveal();
    if (value.length >= SHORTEST_VALUE) values.add(value);
  }
  // Longest first, because one key may contain another.
  const ordered = [...values].sort((a, b) => b.length - a.length);
  const masked = (text: string): string => {
    let safe = text;
    for (const value of ordered) if (safe.includes(value)) safe = safe.replaceAll(value, MASK);
    safe = safe.replace(LABELLED, `$1${MASK}`);
    for (const shape of SHAPES) safe = safe.replace(shape, MASK);
    return safe;
  };
  return (text) => {
    const safe = masked(text);
    if (!safe.includes('\\')) return safe;
    // JSON can escape any character, also within a key.
    const plain = withoutEscapes(safe);
    const plainSafe = masked(plain);
    return plainSafe === plain ? safe : plainSafe;
  };
}

/** Removes unnecessary escapes of visible characters from JSON. Quotes and backslashes stay escaped. */
function withoutEscapes(json: string): string {
  return json.replace(/\\(?:u00([2-7][\da-f])|([^]))/gi, (escape, code: string | undefined, character) => {
    if (code === undefined) return character === '/' ? '/' : escape;
    const plain = String.fromCharCode(Number.parseInt(code, 16));
    return plain === '"' || plain === '\\' || plain === '\x7f' ? escape : plain;
  });
}
