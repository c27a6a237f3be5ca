// Reads the recorded exchanges that lie beside the repository. Knows their file format; judges nothing.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Loose } from './loose.ts';

const root = join(import.meta.dir, '../../../../shared/recordings');
const folder = join(root, 'corpus');
/** OpenAI's own description of its API. */
export const openaiSchemaFile = join(root, 'schemas/openai-openapi.json.gz');
/** The description of the Responses API that several vendors share. */
export const openResponsesSchemaFile = join(root, 'schemas/openresponses-2026-04-24.json.gz');

/** The three protocols that upstreams of the gateway speak. */
export type RecordedApi = 'chat' | 'responses' | 'messages';

export interface Recording {
  /** Twelve hexadecimal digits that name the exchange. */
  readonly case: string;
  /** The project that recorded it. */
  readonly source: string;
  /** `wire`: the bytes; `framed`: whole events; `sdk`: as a client library dumped them. */
  readonly fidelity: 'wire' | 'framed' | 'sdk';
  readonly provider: string;
  readonly api: RecordedApi;
  readonly status: number;
  readonly stream: boolean;
  readonly resHeaders: Readonly<Record<string, string>>;
  readonly res: {
    readonly kind: string;
    readonly json?: Loose;
    readonly text?: string;
    /** Set where the body is neither JSON nor text. */
    readonly bytes?: Buffer;
  };
}

/** Why the recordings cannot be replayed; undefined when they can. */
export const missing = existsSync(folder) ? undefined : `skipped: there are no recordings in ${folder}`;

/** Exchanges of the three protocols, or of one, in the order of the files. Long base64 is put back in its place. */
export function readRecordings(
  api: RecordedApi | 'chat|responses|messages' = 'chat|responses|messages',
): Recording[] {
  return readLines(new RegExp(`"api":"(${api})"`));
}

/** An exchange of Gemini's. */
export interface GeminiRecording extends Omit<Recording, 'api'> {
  readonly model: string;
  readonly path: string;
  readonly req?: Loose;
}

/** Every exchange of `generateContent` and `streamGenerateContent`. */
export function readGeminiRecordings(): GeminiRecording[] {
  return readLines(/"api":"generateContent"/);
}

/** An exchange of Bedrock's Converse, streamed in AWS's own framing. */
export interface ConverseRecording extends Omit<Recording, 'api' | 'res'> {
  readonly path: string;
  readonly req?: Loose;
  readonly res: {
    readonly kind: string;
    readonly json?: Loose;
    /** Pieces of the body as they came. */
    readonly base64?: string | readonly string[];
    /** Events without their framing, `{contentBlockDelta: …}`. */
    readonly values?: readonly Loose[];
  };
}

/** Every exchange of `Converse` and `ConverseStream`. */
export function readConverseRecordings(): ConverseRecording[] {
  return readLines(/"api":"converse"/);
}

function readLines<Found>(api: RegExp): Found[] {
  const blobs = new Map(
    lines('blobs.jsonl.gz')
      .map((line) => JSON.parse(line) as { k: string; v: string })
      .map(({ k, v }) => [k, v]),
  );
  const found: Found[] = [];
  for (const file of readdirSync(folder).sort()) {
    if (!file.endsWith('.jsonl.gz') || file === 'blobs.jsonl.gz') continue;
    for (const line of lines(file)) {
      if (!api.test(line)) continue;
      const whole = line.replace(/@@blob:([0-9a-f]{16})@@/g, (mark, key: string) => blobs.get(key) ?? mark);
      found.push(JSON.parse(whole) as Found);
    }
  }
  return found;
}

/** Bedrock's answer where the body of another vendor's protocol is posted to it. */
export interface InvokeRecording extends GeminiRecording {
  readonly api: 'invoke';
}

/** Every exchange of `InvokeModel` and its stream, of whatever vendor's model. */
export function readInvokeRecordings(): InvokeRecording[] {
  return readLines(/"api":"invoke"/);
}

/** The answer's body as it went over the wire. */
export function bytesOf({ res }: Pick<Recording, 'res'>): Buffer {
  return res.bytes ?? Buffer.from(res.text ?? JSON.stringify(res.json));
}

function lines(file: string): string[] {
  return gunzipSync(readFileSync(join(folder, file)))
    .toString()
    .split('\n')
    .filter(Boolean);
}
