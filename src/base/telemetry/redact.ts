// Masks keys in free text, such as an upstream's error message that repeats the key it refused. By value for the
// keys we know, by shape for those we do not. Secrets of type `Secret` never get here: they do not print.
import type { Secret } from './secret.ts';

export type Redact = (text: string) => string;

/** Stands in the place of a secret. */
export const MASK = '[secret]';
/** Below this, a value is too common to be replaced wherever it occurs. */
const SHORTEST_VALUE = 8;

// Shapes of well-known keys. Each needs a run long enough not to hit words; none can backtrack.
const SHAPES: readonly RegExp[] = [
  // OpenAI, Anthropic, DeepSeek, OpenRouter and ours: sk-…; also pk-, rk-.
  /\b[spr]k-[A-Za-z0-9_-]{12,}/g,
  // xAI, Groq, Cerebras, Perplexity, NVIDIA, Hugging Face, GitHub.
  /\b(?:xai-|gsk_|csk-|pplx-|nvapi-|hf_|gh[pousr]_|github_pat_)[A-Za-z0-9_-]{16,}/g,
  // Google.
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  // Tokens that were fetched: Google's own, and signed ones (JWT), as Microsoft's are.
  /\bya29\.[A-Za-z0-9._-]{16,}/g,
  /\beyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+){0,2}/g,
  // AWS access key ids.
  /\bA[KS]IA[A-Z0-9]{16}\b/g,
];
/** Schemes, headers and parameters of addresses, whose value is masked and whose name stays. */
const LABELLED =
  /(\bbearer |\b(?:x-api-key|x-goog-api-key|api[-_]key)["']?\s?[:=]\s?["']?|[?&](?:key|access_token)=)[A-Za-z0-9._~+/=-]{8,}/gi;

/**
 * A function that masks the given values and everything that looks like a key.
 * @param secrets read once; make a new redactor when the configuration changes
 */
export function createRedactor(secrets: Iterable<Secret | string>): Redact {
  const values = new Set<string>();
  for (const secret of secrets) {
    const value = typeof secret === 'string' ? secret : secret.reveal();
    if (value.length >= SHORTEST_VALUE) values.add(value);
  }
  // The longest first: one key may contain another.
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
    // JSON may write any character in another way, and a key so written is a key all the same.
    const plain = withoutEscapes(safe);
    const plainSafe = masked(plain);
    return plainSafe === plain ? safe : plainSafe;
  };
}

/** The same JSON without the escapes of visible characters that need none; quotes and backslashes stay escaped. */
function withoutEscapes(json: string): string {
  return json.replace(/\\(?:u00([2-7][\da-f])|([^]))/gi, (escape, code: string | undefined, character) => {
    if (code === undefined) return character === '/' ? '/' : escape;
    const plain = String.fromCharCode(Number.parseInt(code, 16));
    return plain === '"' || plain === '\\' || plain === '\x7f' ? escape : plain;
  });
}
