// Converts vectors to the format that the client requested, whatever format its upstream returned.
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import type {
  ElementType,
  Embeddings,
  EmbeddingsRequest,
  Vector,
} from '../../../protocols/tasks/embeddings/model.ts';

type Asked = Pick<EmbeddingsRequest, 'format' | 'elements' | 'dimensions'>;
type BytesType = Exclude<ElementType, 'opaque'>;

/** Alphabet of base64. `Buffer` silently skips other characters. */
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Number of elements per byte. */
const PER_BYTE: Readonly<Record<BytesType, number>> = {
  float32: 1 / 4,
  int8: 1,
  uint8: 1,
  binary: 8,
  ubinary: 8,
};

/** Smallest and largest element of a list. `float32` is checked by rounding. */
const RANGES: Readonly<Record<Exclude<BytesType, 'float32'>, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  binary: [-128, 127],
  ubinary: [0, 255],
};

/**
 * Converts the vectors to the client's format. Base64 contains the requested element type, or else 32-bit floats;
 * numbers of higher precision are rounded. Opaque elements are passed unchanged.
 * @throws GatewayError `upstream_unavailable` for base64 without whole elements, a different length than requested, and
 * elements that are not finite numbers
 */
export function formatVectors({ vectors, elements }: Embeddings, asked: Asked): readonly Vector[] {
  return vectors.map((vector) => {
    if (elements === 'opaque') return vector;
    const numbers = typeof vector === 'string' ? decode(vector, elements) : vector;
    checkNumbers(numbers, elements, asked);
    if (asked.format !== 'base64') return numbers;
    const wanted = asked.elements?.type === elements ? elements : 'float32';
    return typeof vector === 'string' && wanted === elements ? vector : encode(numbers, wanted);
  });
}

function checkNumbers(numbers: readonly number[], elements: BytesType, { dimensions }: Asked): void {
  if (!numbers.every(Number.isFinite)) throw broken('an embedding with elements other than finite numbers');
  if (dimensions === undefined) return;
  const isPacked = elements === 'binary' || elements === 'ubinary';
  const expected = isPacked ? Math.ceil(dimensions / PER_BYTE[elements]) : dimensions;
  if (numbers.length !== expected)
    throw broken(`an embedding of ${numbers.length} numbers instead of ${expected} (\`dimensions\`)`);
}

function decode(base64: string, elements: BytesType): readonly number[] {
  const bytes = BASE64.test(base64) ? Buffer.from(base64, 'base64') : Buffer.alloc(0);
  if (elements !== 'float32') {
    if (bytes.length === 0) throw broken('an embedding in invalid base64');
    return Array.from(elements === 'uint8' || elements === 'ubinary' ? bytes : new Int8Array(bytes));
  }
  const size = 1 / PER_BYTE.float32;
  if (bytes.length === 0 || bytes.length % size !== 0) throw broken('an embedding in invalid base64');
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += size) numbers.push(bytes.readFloatLE(at));
  return numbers;
}

function encode(numbers: readonly number[], elements: BytesType): string {
  if (elements === 'float32') {
    const floats = Float32Array.from(numbers);
    if (!floats.every(Number.isFinite))
      throw broken('an embedding with a number too large for 32-bit floats');
    const bytes = Buffer.allocUnsafe(floats.byteLength);
    floats.forEach((number, at) => bytes.writeFloatLE(number, at * floats.BYTES_PER_ELEMENT));
    return bytes.toString('base64');
  }
  const [least, most] = RANGES[elements];
  if (!numbers.every((number) => Number.isInteger(number) && number >= least && number <= most))
    throw broken(`an embedding whose elements are not ${elements}`);
  return Buffer.from(Uint8Array.from(numbers)).toString('base64');
}

function broken(what: string): GatewayError {
  return new GatewayError('upstream_unavailable', TEXTS.upstreamAnswered(what));
}
