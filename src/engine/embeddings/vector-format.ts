// Vectors in the form that a client asked for, whichever its upstream gave. Knows no protocol.
import { GatewayError, type Vector, type VectorFormat } from '../../canonical/index.ts';

const FLOAT_BYTES = 4;

/**
 * The vectors as `format` has them. Base64 holds 32-bit floats: numbers of a higher precision are rounded to these.
 * @throws GatewayError `upstream_unavailable` for base64 that holds no whole floats
 */
export function formatVectors(vectors: readonly Vector[], format: VectorFormat): readonly Vector[] {
  return vectors.map((vector) => {
    if (format === 'float') return typeof vector === 'string' ? decodeFloats(vector) : vector;
    return typeof vector === 'string' ? vector : encodeFloats(vector);
  });
}

function decodeFloats(base64: string): readonly number[] {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length === 0 || bytes.length % FLOAT_BYTES !== 0)
    throw new GatewayError(
      'upstream_unavailable',
      'the upstream answered with an embedding in broken base64',
    );
  const numbers: number[] = [];
  for (let at = 0; at < bytes.length; at += FLOAT_BYTES) numbers.push(bytes.readFloatLE(at));
  return numbers;
}

function encodeFloats(numbers: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT_BYTES);
  numbers.forEach((number, at) => bytes.writeFloatLE(number, at * FLOAT_BYTES));
  return bytes.toString('base64');
}
