// Signatures of AWS against the vectors that AWS publishes (aws-sig-v4-test-suite, and the example of the IAM
// documentation), and what Bedrock adds: paths with escapes, temporary keys.
import { slicesOf } from '../../../src/base/lib/bytes.ts';
import { describe, expect, test } from 'bun:test';
import { Secret } from '../../../src/base/telemetry/secret.ts';
import type { UnsignedRequest } from '../../../src/upstream/credential.ts';
import { AwsSigner } from '../../../src/upstream/sign-aws.ts';

const TIME = Date.UTC(2015, 7, 30, 12, 36, 0);

function sign(
  request: Partial<UnsignedRequest>,
  keys: { service?: string; token?: string; now?: () => number } = {},
): Readonly<Record<string, string>> {
  const signer = new AwsSigner(
    {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'),
      sessionToken: keys.token === undefined ? null : new Secret(keys.token),
      region: 'us-east-1',
      service: keys.service ?? 'service',
    },
    keys.now ?? (() => TIME),
  );
  return signer.headers({
    method: 'GET',
    url: 'https://example.amazonaws.com/',
    headers: {},
    body: [],
    ...request,
  });
}

const signatureOf = (headers: Readonly<Record<string, string>>): string =>
  headers['authorization']?.split('Signature=')[1] ?? '';

describe("AWS's own vectors", () => {
  test.each([
    ['get-vanilla', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', { method: 'POST' }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'get-vanilla-query-order-key-case',
      { url: 'https://example.amazonaws.com/?Param2=value2&Param1=value1' },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'get-vanilla-query-order-key',
      { url: 'https://example.amazonaws.com/?Param1=value2&Param1=Value1' },
      'eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1',
    ],
    [
      'post-x-www-form-urlencoded',
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: slicesOf('Param1=value1'),
      },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ] satisfies [string, Partial<UnsignedRequest>, string][])('%s', (_, request, signature) => {
    expect(signatureOf(sign(request))).toBe(signature);
  });

  test('include the example of the documentation', () => {
    const headers = sign(
      {
        url: 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      },
      { service: 'iam' },
    );
    expect(headers).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    });
  });
});

describe('a signature', () => {
  test('covers the token of temporary keys, which is sent', () => {
    const headers = sign({}, { token: 'AQoDYXdz' });
    expect(headers['x-amz-security-token']).toBe('AQoDYXdz');
    expect(headers['authorization']).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token,');
    expect(signatureOf(headers)).not.toBe(signatureOf(sign({})));
  });

  test('depends on every byte of the body and of the path', () => {
    const bodies = ['{}', '{"a":1}', 'ü', 'u'].map((body) => signatureOf(sign({ body: slicesOf(body) })));
    const paths = ['/model/a%3A0/converse', '/model/a:0/converse', '/model/a%253A0/converse'].map((path) =>
      signatureOf(sign({ url: `https://example.amazonaws.com${path}` })),
    );
    expect(new Set(bodies).size).toBe(4);
    expect(new Set(paths).size).toBe(3);
  });

  test('is made with the signing key of its day', () => {
    let now = TIME;
    const clock = (): number => now;
    const signer = new AwsSigner(
      { accessKeyId: 'A', secretAccessKey: new Secret('s'), sessionToken: null, region: 'r', service: 's' },
      clock,
    );
    const request: UnsignedRequest = { method: 'POST', url: 'https://h.example/', headers: {}, body: [] };
    const first = signer.headers(request);
    now += 86_400_000;
    const next = signer.headers(request);
    expect(next['x-amz-date']).toBe('20150831T123600Z');
    expect(next['authorization']).toContain('/20150831/r/s/');
    now = TIME;
    expect(signer.headers(request)).toEqual(first);
  });
});
