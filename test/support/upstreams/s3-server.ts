// A bucket in memory that speaks as much S3 as an upload needs, and checks every signature as AWS describes it ("AWS
// Signature Version 4 for API requests"). For tests.
import { createHash, createHmac } from 'node:crypto';

const PART = /<PartNumber>(\d+)<\/PartNumber>/g;

export interface S3Server extends AsyncDisposable {
  readonly origin: string;
  readonly secret: string;
  readonly objects: Map<string, Buffer>;
  /** Method and path with query of every request, in order. */
  readonly requests: string[];
  /** Largest body of a request so far, in bytes. */
  largest: number;
  /** Answer to every request from now on; null: as it should. */
  failing: 'AccessDenied' | 'silence' | null;
}

/** Starts one. The bucket is `box`, the region `eu-test-1`, the access key `id-test`. */
export function startS3(): S3Server {
  const uploads = new Map<string, Map<number, Buffer>>();
  const server: S3Server = {
    origin: '',
    secret: 'sk-s3-test',
    objects: new Map(),
    requests: [],
    largest: 0,
    failing: null,
    async [Symbol.asyncDispose]() {
      await listener.stop(true);
    },
  };
  const listener = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 60, fetch: answer });

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    server.requests.push(`${request.method} ${url.pathname}${url.search}`);
    server.largest = Math.max(server.largest, body.length);
    if (server.failing === 'silence') return new Promise(() => {});
    if (server.failing) return refusal(403, server.failing);
    if (!isSigned(request, url, server.secret)) return refusal(403, 'SignatureDoesNotMatch');
    const [, bucket, ...steps] = url.pathname.split('/').map(decodeURIComponent);
    if (bucket !== 'box') return refusal(404, 'NoSuchBucket');
    const key = steps.join('/');
    const upload = url.searchParams.get('uploadId');
    if (url.searchParams.has('uploads')) {
      const id = `upload-${uploads.size}`;
      uploads.set(id, new Map());
      return xml(
        `<InitiateMultipartUploadResult><Bucket>box</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (upload !== null && request.method === 'PUT') {
      uploads.get(upload)?.set(Number(url.searchParams.get('partNumber')), body);
      return new Response('', { headers: { etag: '"part"' } });
    }
    if (upload !== null && request.method === 'POST') {
      const parts = [...body.toString().matchAll(PART)].map(
        ([, number]) => uploads.get(upload)?.get(Number(number)) ?? Buffer.alloc(0),
      );
      server.objects.set(key, Buffer.concat(parts));
      return xml('<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>');
    }
    if (request.method === 'PUT') {
      server.objects.set(key, body);
      return new Response('', { headers: { etag: '"whole"' } });
    }
    if (request.method === 'DELETE') {
      server.objects.delete(key);
      return new Response(null, { status: 204 });
    }
    const found = server.objects.get(key);
    return found ? new Response(new Uint8Array(found)) : refusal(404, 'NoSuchKey');
  }

  return Object.assign(server, { origin: listener.url.origin });
}

function xml(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'application/xml' } });
}

function refusal(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>no</Message></Error>`, { status });
}

function isSigned({ headers, method }: Request, url: URL, secret: string): boolean {
  const authorization = headers.get('authorization') ?? '';
  const [, scope = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=id-test\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      authorization,
    ) ?? [];
  const [day = '', region = '', service = ''] = scope.split('/');
  if (region !== 'eu-test-1' || service !== 's3' || !names.includes('host')) return false;
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const canonical = [
    method,
    url.pathname,
    query,
    ...names.split(';').map((name) => `${name}:${headers.get(name) ?? ''}`),
    '',
    names,
    headers.get('x-amz-content-sha256') ?? '',
  ].join('\n');
  const toSign = `AWS4-HMAC-SHA256\n${headers.get('x-amz-date')}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    (with_, text) => createHmac('sha256', with_).update(text).digest(),
    `AWS4${secret}`,
  );
  return createHmac('sha256', key).update(toSign).digest('hex') === signature;
}
